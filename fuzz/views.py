"""Random reads: a tensor and a view of every kind the IR has.

Defines `draw_read` over a `Frame` (dims with sizes, in-range by construction) and its coordinates.
Relies on the program for tensors; an input is made to fit the view, a tensor that exists is read
through a view made to fit it. Shrinks to an unguarded read by the node's own dims.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from tang.fuzz.program import Program, Size, Tensor, fixed
from tang.fuzz.ranges import Range, hull, point, unbounded
from tang.fuzz.source import Source, between, chance, choose, weighted
from tang.ir.expr import BOOL, INDEX, Expr, Sort, boolean, index, real
from tang.ir.extent import poly
from tang.ir.view import GATHERED, Affine, Interval, Read, View, constant, variable

MAX_ELEMENTS: Final = 4000


@dataclass(frozen=True, slots=True)
class Frame:
    """The dims over which a view is drawn, in order, with their sizes."""

    program: Program
    dims: tuple[tuple[str, Size], ...]

    def of_size(self, size: Size) -> list[str]:
        return [name for name, s in self.dims if s.poly == size.poly]

    def concrete(self) -> list[tuple[str, int]]:
        return [(name, s.value) for name, s in self.dims if not s.is_symbolic]


@dataclass(slots=True)
class _Shape:
    """A view under construction."""

    coords: list[Affine] = field(default_factory=list)
    sizes: list[Size] = field(default_factory=list)
    guard: list[Interval] = field(default_factory=list)
    gathers: list[Read] = field(default_factory=list)

    def add(self, form: Affine, size: Size) -> None:
        self.coords.append(form)
        self.sizes.append(size)

    def add_guarded(self, form: Affine, size: Size) -> None:
        self.add(form, size)
        self.guard.append(Interval(form, poly(0), size.poly))


def draw_read(source: Source, frame: Frame, sort: Sort) -> tuple[Read, Range]:
    """A read of that sort; shrinks to a new input read by the dims as they are."""
    program = frame.program
    known = [t for t in program.tensors if t.sort is sort]
    if known and (program.is_full or chance(source, 60)):
        return _read_known(source, frame, _favoured(source, program, known))
    return _read_new(source, frame, sort)


def _favoured(source: Source, program: Program, known: list[Tensor]) -> Tensor:
    """Mostly a node's result that nobody reads yet, so that programs are chains, not heaps."""
    unread = [t for t in known if t.ref.node in program.unread]
    states = [t for t in known if t.is_state]
    if states and chance(source, 15):
        return choose(source, states)
    if unread and chance(source, 75):
        return choose(source, unread)
    return choose(source, known)


# --- new inputs: the view first, then a shape that fits it ---------------------------------------


def _read_new(source: Source, frame: Frame, sort: Sort) -> tuple[Read, Range]:
    shape = _Shape()
    if chance(source, 70):
        _all_dims(source, frame, shape)
    else:
        for _ in range(weighted(source, ((30, 1), (45, 2), (15, 3), (10, 0)))):
            _new_coordinate(source, frame, shape)
    _maybe_guard(source, frame, shape)
    tensor = _new_tensor(source, frame.program, sort, tuple(shape.sizes))
    return _finish(source, frame.program, tensor, shape)


def _new_tensor(source: Source, program: Program, sort: Sort, shape: tuple[Size, ...]) -> Tensor:
    if sort is INDEX:
        low, high = choose(source, ((0, 8), (-20, 20), (0, 1)))
        return program.add_index(shape, low, high)
    return program.add_input(source, sort, shape)


def _all_dims(source: Source, frame: Frame, shape: _Shape) -> None:
    """Every dim once, perhaps in another order, perhaps without some of them."""
    dims = list(frame.dims)
    while dims:
        name, size = dims.pop(0 if not chance(source, 30) else source.below(len(dims)))
        if not chance(source, 16):
            shape.add(variable(name), size)


def _new_coordinate(source: Source, frame: Frame, shape: _Shape) -> None:
    kinds = _NEW if frame.dims else _NEW_WITHOUT_DIMS
    weighted(source, kinds)(source, frame, shape)
    if _elements(shape) > MAX_ELEMENTS:
        shape.coords[-1], shape.sizes[-1] = constant(0), fixed(1)


def _elements(shape: _Shape) -> int:
    total = 1
    for s in shape.sizes:
        total *= max(s.value, 1)
    return total


def _pick(source: Source, frame: Frame, shape: _Shape) -> None:
    name, size = choose(source, frame.dims)
    shape.add(variable(name), size)


def _reversed(source: Source, frame: Frame, shape: _Shape) -> None:
    name, size = choose(source, frame.dims)
    shape.add(variable(name, -1) + (size.poly - 1), size)


def _strided(source: Source, frame: Frame, shape: _Shape) -> None:
    """a·d + b, and for a concrete dim a source that may end exactly there."""
    name, size = choose(source, frame.dims)
    a, b = between(source, 1, 3), between(source, 0, 2)
    if size.is_symbolic:
        _pick(source, frame, shape)
        return
    end = a * max(size.value - 1, 0) + b + 1
    shape.add(variable(name, a) + b, fixed(end + source.below(2)))


def _window(source: Source, frame: Frame, shape: _Shape) -> None:
    """a·d + e: two dims along one coordinate (equal ones give a stride)."""
    dims = frame.concrete()
    if not dims:
        _pick(source, frame, shape)
        return
    (d, size), (e, other) = choose(source, dims), choose(source, dims)
    a = choose(source, (1, 2, max(other, 1)))
    end = a * max(size - 1, 0) + max(other - 1, 0) + 1
    shape.add(variable(d, a) + variable(e), fixed(end))


def _constant(source: Source, frame: Frame, shape: _Shape) -> None:
    at = source.below(3)
    shape.add(constant(at), fixed(at + 1 + source.below(2)))


def _guarded(source: Source, frame: Frame, shape: _Shape) -> None:
    """A form that may leave its source on both sides."""
    size = frame.program.size(source, 40)
    shape.add_guarded(_free_form(source, frame), size)


def _free_form(source: Source, frame: Frame) -> Affine:
    name, size = choose(source, frame.dims)
    a = weighted(source, ((60, 1), (12, 2), (14, -1), (8, 3), (6, -2)))
    form = variable(name, a) + choose(source, (0, -1, 1, 2, -2))
    if a < 0:
        form = form + max(size.value - 1, 0) * -a
    if chance(source, 30):
        form = form + variable(choose(source, frame.dims)[0])
    return form


def _gathered(source: Source, frame: Frame, shape: _Shape) -> None:
    size = frame.program.size(source, 40)
    _gather(source, frame, shape, size)


_Coordinate = Callable[[Source, Frame, _Shape], None]
_NEW: Final[tuple[tuple[int, _Coordinate], ...]] = (
    (20, _pick),
    (12, _strided),
    (10, _reversed),
    (12, _window),
    (8, _constant),
    (14, _guarded),
    (18, _gathered),
)
_NEW_WITHOUT_DIMS: Final[tuple[tuple[int, _Coordinate], ...]] = ((3, _constant), (1, _gathered))

# --- known tensors: the shape first, then a view that fits it ------------------------------------


def _read_known(source: Source, frame: Frame, tensor: Tensor) -> tuple[Read, Range]:
    shape = _Shape()
    for size in tensor.shape:
        _fit_coordinate(source, frame, shape, size)
    _maybe_guard(source, frame, shape)
    frame.program.unread.discard(tensor.ref.node)
    return _finish(source, frame.program, tensor, shape)


def _fit_coordinate(source: Source, frame: Frame, shape: _Shape, size: Size) -> None:
    same = frame.of_size(size)
    if same and chance(source, 75):
        free = [n for n in same if not any(n in c.variables for c in shape.coords)]
        name = choose(source, free or same)
        backwards = chance(source, 12)
        shape.add(variable(name, -1) + (size.poly - 1) if backwards else variable(name), size)
        return
    fits = _fitting_forms(frame, size)
    kind = weighted(source, ((50, "fit"), (28, "guard"), (22, "gather")))
    if kind == "gather":
        _gather(source, frame, shape, size)
    elif fits and (kind == "fit" or not frame.dims):
        shape.add(choose(source, fits), size)
    elif frame.dims:
        shape.add_guarded(_free_form(source, frame), size)
    else:
        shape.add_guarded(constant(source.below(2)), size)


def _fitting_forms(frame: Frame, size: Size) -> list[Affine]:
    """Forms that stay inside a concrete size, the richest first."""
    if size.is_symbolic or size.value == 0:
        return []
    forms = []
    for name, extent in frame.concrete():
        last = max(extent - 1, 0)
        for a, b in ((2, 1), (1, 1), (1, 0), (2, 0), (3, 0)):
            if a * last + b < size.value:
                forms.append(variable(name, a) + b)
        if last < size.value:
            forms.append(variable(name, -1) + last)
    return [*forms, *(constant(c) for c in {0, size.value // 2, size.value - 1})]


# --- gathers, guards, fills ----------------------------------------------------------------------


def _gather(source: Source, frame: Frame, shape: _Shape, size: Size) -> None:
    """A coordinate from an index tensor: in range and unguarded, or guarded and perhaps outside."""
    name = f"{GATHERED}{len(shape.gathers)}"
    guarded = size.value == 0 or chance(source, 50)
    read, bounds = _index_read(source, frame, size, guarded)
    shape.gathers.append(read)
    safe = bounds.low >= 0 and bounds.high < size.value
    form = variable(name)
    if guarded and frame.dims and chance(source, 15):
        moved = form + variable(choose(source, frame.dims)[0])
        form = moved if frame.program.formats.i64 else form
    if guarded or not safe:
        shape.add_guarded(form, size)
    else:
        shape.add(form, size)


def _index_read(source: Source, frame: Frame, size: Size, guarded: bool) -> tuple[Read, Range]:
    known = [t for t in frame.program.tensors if t.sort is INDEX and len(t.shape) <= 2]
    if known and (frame.program.is_full or chance(source, 45)):
        return _simple_read(source, frame, choose(source, known))
    shape = _Shape()
    for name, extent in frame.dims[: 1 + source.below(2)]:
        shape.add(variable(name), extent)
    low, high = (-2, size.value + 1) if guarded else (0, size.value - 1)
    tensor = frame.program.add_index(tuple(shape.sizes), low, high)
    return Read(tensor.ref, View(tuple(shape.coords))), tensor.range


def _simple_read(source: Source, frame: Frame, tensor: Tensor) -> tuple[Read, Range]:
    """A read without a gather of its own."""
    shape = _Shape()
    for size in tensor.shape:
        forms = [variable(n) for n in frame.of_size(size)] or _fitting_forms(frame, size)
        if forms:
            shape.add(choose(source, forms), size)
        else:
            shape.add_guarded(constant(0), size)
    frame.program.unread.discard(tensor.ref.node)
    return _finish(source, frame.program, tensor, shape)


def _maybe_guard(source: Source, frame: Frame, shape: _Shape) -> None:
    """A condition that has nothing to do with the source's extents: a mask."""
    if frame.dims and chance(source, 7):
        form = _free_form(source, frame)
        low = between(source, -2, 1)
        shape.guard.append(Interval(form, poly(low), poly(low + between(source, 1, 12))))


def _finish(source: Source, program: Program, tensor: Tensor, shape: _Shape) -> tuple[Read, Range]:
    fill = _fill(source, tensor.sort, program.clean) if shape.guard else None
    view = View(
        tuple(shape.coords),
        tuple(shape.guard),
        None if fill is None else fill[0],
        tuple(shape.gathers),
    )
    bounds = tensor.range if fill is None else hull((tensor.range, fill[1]))
    return Read(tensor.ref, view), bounds


def _fill(source: Source, sort: Sort, clean: bool) -> tuple[Expr, Range]:
    if sort is BOOL:
        truth = chance(source, 50)
        return boolean(truth), point(float(truth))
    if sort is INDEX:
        number = choose(source, (0, -1, 3))
        return index(number), point(number)
    value = choose(source, (0.0, 1.0, -2.5, -0.0))
    if not clean and chance(source, 30):
        value = choose(source, (float("-inf"), float("inf"), float("nan")))
        return real(value), unbounded(point(0))
    return real(value), point(value)
