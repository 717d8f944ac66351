"""Random nodes: maps and reductions over what the program holds so far.

Defines `draw_node`, which appends one comprehension and the tensors it makes. Relies on the
strategies for expressions, views and monoids. It chooses no graph outputs. A node shrinks to a map
over no dims that copies one read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from math import prod
from typing import Final

from tang.fuzz import ranges as rg
from tang.fuzz.expressions import Draw, Value, draw_value, fit_index, tame
from tang.fuzz.monoids import Reduction, draw_reduction
from tang.fuzz.program import POINTS, Program, Size, Tensor, fixed
from tang.fuzz.ranges import Range
from tang.fuzz.source import Source, between, chance, choose, weighted
from tang.fuzz.views import Frame, draw_read
from tang.ir.expr import BOOL, INDEX, REAL, Expr, Sort, apply, arg, extent, iota, real
from tang.ir.extent import poly
from tang.ir.graph import Comprehension, Dim
from tang.ir.view import Affine, Read, Ref, View, constant, variable

_POINT_NAMES: Final = ("i", "j", "k")
_REDUCE_NAMES: Final = ("r", "s")
_MAP_OUTPUTS: Final = ("y", "z", "w")
_LARGEST_STORED: Final = 2.0**100

Dims = tuple[tuple[str, Size], ...]


@dataclass(slots=True)
class _NodeScope:
    """The scope of one node's expressions: its dims, and reads made on demand."""

    frame: Frame
    axes: frozenset[str] = frozenset()
    reuse: int = 18
    reads: list[Read] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)

    @property
    def sizes(self) -> dict[str, int]:
        return {name: size.value for name, size in self.frame.dims}

    @property
    def clean(self) -> bool:
        return self.frame.program.clean

    @property
    def wide(self) -> bool:
        return self.frame.program.formats.i64

    def read(self, source: Source, sort: Sort) -> Value:
        known = [v for v in self.values if v.expr.sort is sort]
        if known and chance(source, self.reuse):
            return choose(source, known)
        read, bounds = source.part(lambda s: draw_read(s, self.frame, sort))
        if sort is INDEX and not self.wide:
            bounds = rg.ANY_INDEX  # all that a compiler knows
        value = Value(arg(len(self.reads), sort), bounds)
        self.reads.append(read)
        self.values.append(value)
        return value


def draw_node(source: Source, program: Program, name: str) -> None:
    """Append a random node to the program; shrinks to a map."""
    if chance(source, 62):
        _draw_reduction_node(source, program, name)
    else:
        _draw_map(source, program, name)


# --- maps ----------------------------------------------------------------------------------------


def _draw_map(source: Source, program: Program, name: str) -> None:
    followed = _followed(source, program) if chance(source, 85) else None
    if followed is None:
        rank = weighted(source, ((12, 0), (38, 1), (35, 2), (15, 3)))
        dims = _draw_dims(source, program, _POINT_NAMES[:rank], POINTS)
    else:
        sizes = followed.shape[: len(program.nodes[-1].point)]
        dims = tuple(zip(_POINT_NAMES, sizes, strict=False))
    scope = _NodeScope(Frame(program, dims), reuse=18 if followed is None else 65)
    count = weighted(source, ((76, 1), (17, 2), (7, 3)))
    if followed is not None:
        _follow(scope, followed)
    values = [source.part(partial(_map_value, scope)) for _ in range(count)]
    if followed is not None:
        values[0] = _with_followed(scope, values[0])
    if not scope.reads:
        values[0] = _anchored(source, scope, values[0])
    node = Comprehension(
        name,
        _ir_dims(dims),
        tuple(scope.reads),
        tuple(v.expr for v in values),
        outputs=_MAP_OUTPUTS[:count],
    )
    _append(program, node, dict(dims), [rg.computed(v.range) for v in values])


def _followed(source: Source, program: Program) -> Tensor | None:
    """A result of the last node, with all its points, for a map over the same points."""
    if not program.nodes:
        return None
    last = program.nodes[-1]
    points = tuple(d.extent for d in last.point)
    own = [t for t in program.tensors if t.ref.node == last.name and t.sort is REAL]
    whole = [t for t in own if tuple(s.poly for s in t.shape[: len(points)]) == points]
    return choose(source, whole) if whole else None


def _follow(scope: _NodeScope, tensor: Tensor) -> None:
    """Make the first read of a map that of a result at the map's own point."""
    names = [variable(name) for name, _ in scope.frame.dims]
    axes = [constant(0)] * (len(tensor.shape) - len(names))
    scope.reads.append(Read(tensor.ref, View((*names, *axes))))
    scope.values.append(Value(arg(0, tensor.sort), tensor.range))
    scope.frame.program.unread.discard(tensor.ref.node)


def _with_followed(scope: _NodeScope, value: Value) -> Value:
    """The value, or of another sort instead a function of the first read, combined with that."""
    read = _bounded(scope.values[0], 2.0**30)
    if value.expr.sort is not REAL:
        return read
    value = _bounded(value, 2.0**30)
    bounds = rg.plus(value.range, read.range)
    return _bounded(Value(apply("add", value.expr, read.expr), bounds), _LARGEST_STORED)


def _map_value(scope: _NodeScope, source: Source) -> Value:
    sort = weighted(source, ((66, REAL), (16, INDEX), (18, BOOL)))
    return _bounded(_draw_body(source, scope, sort), _LARGEST_STORED)


def _draw_body(source: Source, scope: _NodeScope, sort: Sort) -> Value:
    fuel = weighted(source, ((20, 1), (40, 2), (30, 3), (10, 4)))
    return draw_value(Draw(source, scope, fuel), sort)


def _bounded(value: Value, limit: float) -> Value:
    """The value within ±limit: scaled when it is real, reduced when it is an index."""
    if value.expr.sort is REAL:
        return tame(value, limit)
    return fit_index(value, min(int(limit), rg.I32_HIGH)) if value.expr.sort is INDEX else value


def _anchored(source: Source, scope: _NodeScope, value: Value) -> Value:
    """The value combined with a read: no node is a constant."""
    read = _bounded(scope.read(source, value.expr.sort), 2.0**30)
    value = _bounded(value, 2.0**30)
    if value.expr.sort is BOOL:
        return Value(apply("eq", value.expr, read.expr), rg.BOOLEAN)
    bounds = rg.plus(value.range, read.range)
    return _bounded(Value(apply("add", value.expr, read.expr), bounds), _LARGEST_STORED)


# --- reductions ----------------------------------------------------------------------------------


def _draw_reduction_node(source: Source, program: Program, name: str) -> None:
    reduction = source.part(draw_reduction)
    axes: Dims = tuple((a.name, fixed(a.size)) for a in reduction.axes)
    budget = POINTS // prod(a.size for a in reduction.monoid.axes)
    reduce = _reduce_dims(source, program, reduction, budget)
    rank = weighted(source, ((22, 0), (48, 1), (30, 2)))
    spent = prod(max(s.value, 1) for _, s in reduce)
    point = _draw_dims(source, program, _POINT_NAMES[:rank], budget // spent)
    frame = Frame(program, (*point, *reduce, *axes))
    scope = _NodeScope(frame, frozenset(name for name, _ in axes))
    where = _draw_where(source, point, reduce)
    body = _reduction_body(source, scope, reduction, reduce)
    node = Comprehension(
        name,
        _ir_dims(point),
        tuple(scope.reads),
        tuple(v.expr for v in body),
        _ir_dims(reduce),
        where,
        reduction.monoid,
    )
    if not reduction.monoid.strict and not all(v.range.finite for v in body):
        program.in_order.add(name)
    count = prod(s.value for _, s in reduce)
    found = reduction.results(tuple(v.range for v in body), count)
    _append(program, node, dict(point), list(found))


def _reduce_dims(source: Source, program: Program, reduction: Reduction, budget: int) -> Dims:
    """One or two reduce dims with as many elements as the monoid needs."""
    rank = weighted(source, ((75, 1), (25, 2)))
    dims = _draw_dims(source, program, _REDUCE_NAMES[:rank], budget)
    if prod(s.value for _, s in dims) >= reduction.least:
        return dims
    return ((dims[0][0], fixed(max(reduction.least, 3))),)


def _draw_where(source: Source, point: Dims, reduce: Dims) -> tuple[Affine, ...]:
    """No condition, or a causal, a banded or some other affine one."""
    r = variable(reduce[0][0])
    if not chance(source, 28):
        return ()
    if not point:
        return (r - between(source, -2, 2),)
    i = variable(choose(source, point)[0])
    kind = weighted(source, ((45, "causal"), (30, "banded"), (25, "other")))
    if kind == "causal":
        return (i - r,)
    if kind == "banded":
        width = between(source, 0, 2)
        return (r - i + width, i - r + width)
    a, b = choose(source, (1, 2, -1)), choose(source, (1, -1, 2, -2))
    return (i.scale(a) + r.scale(b) + between(source, -2, 4),)


def _reduction_body(
    source: Source, scope: _NodeScope, reduction: Reduction, reduce: Dims
) -> list[Value]:
    count = prod(s.value for _, s in reduce)
    limits = reduction.limits(count)
    body = []
    for i, sort in enumerate(reduction.monoid.inputs):
        if i in reduction.ranks:
            body.append(_rank(reduce))
            continue
        value = source.part(partial(_draw_body, scope=scope, sort=sort))
        if i == 0 and not scope.reads:
            value = _anchored(source, scope, value)
        if i in reduction.exact and not value.range.exact:
            value = _tie_broken(value, reduce)
        body.append(_bounded(value, limits[i]))
    return body


def _rank(reduce: Dims) -> Value:
    """The position of the element in reduce order."""
    total = iota(reduce[0][0])
    for name, _ in reduce[1:]:
        total = apply("add", apply("mul", total, extent(name)), iota(name))
    return Value(total, Range(0, max(prod(s.value for _, s in reduce) - 1, 0)))


def _tie_broken(value: Value, reduce: Dims) -> Value:
    """The value plus a little that differs from element to element: inexact ties decide nothing."""
    rank = _rank(reduce)
    little: Expr = apply("mul", apply("to_real", rank.expr), real(Fraction(13, 9973)))
    top = rank.range.high * 13 / 9973
    value = tame(value, 2.0**8)
    bounds = rg.plus(value.range, Range(0, top, exact=False))
    return Value(apply("add", value.expr, little), bounds)


# --- dims and results ----------------------------------------------------------------------------


def _draw_dims(source: Source, program: Program, names: Sequence[str], budget: int) -> Dims:
    dims = []
    for name in names:
        size = program.size(source, budget)
        budget //= max(size.value, 1)
        dims.append((name, size))
    return tuple(dims)


def _ir_dims(dims: Dims) -> tuple[Dim, ...]:
    return tuple(Dim(name, size.poly) for name, size in dims)


def _append(
    program: Program, node: Comprehension, sizes: dict[str, Size], ranges: list[Range]
) -> None:
    """Record the node and its tensors; an output counts as unread until something reads it."""
    outputs = len(node.outputs if node.monoid is None else node.monoid.outputs)
    for at, (name, bounds) in enumerate(zip(node.output_names(), ranges, strict=True)):
        tensor = node.tensor(name)
        shape = tuple(sizes[d.name] for d in tensor.dims)
        shape += tuple(Size(n, poly(n)) for _, n in tensor.axes)
        made = Tensor(Ref(node.name, name), shape, tensor.sort, bounds, at >= outputs)
        program.tensors.append(made)
    program.nodes.append(node)
    program.unread.add(node.name)
