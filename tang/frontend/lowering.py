"""From symbolic values to the reads and bodies of one comprehension.

Defines `Scope` (names and extents of the dims in reach) and `Lowering`, which numbers reads,
builds views with guards and gathers, and rewrites expressions over them. Relies on inferred
extents and on a callback for nested reductions. It does not decide which nodes there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from tang.frontend.describe import name_of_leaf
from tang.frontend.leaves import Dim, Extent, Leaf, Reduced, Reduction, TensorRead
from tang.frontend.site import failure
from tang.frontend.subscripts import affine
from tang.frontend.tensors import InputNode, Node, Tensor, result, token
from tang.frontend.values import Value
from tang.ir import expr
from tang.ir.expr import Expr
from tang.ir.extent import Poly, poly
from tang.ir.view import (
    GATHERED,
    Affine,
    Interval,
    Read,
    Ref,
    View,
    constant,
    is_gathered,
    variable,
)


@dataclass(frozen=True, slots=True)
class Scope:
    """The dims of one comprehension: names unique in it, and extents of all dims around."""

    node: str
    names: Mapping[Dim, str]
    extents: Mapping[Dim, Poly]
    partial: bool
    """Whether a `where` excludes points, so that ranges over the box are too wide."""

    def name(self, d: Dim, where: str | None = None) -> str:
        if d not in self.names:
            raise failure(
                f"{self.node!r}: dim {d.name!r} is not bound: add it to the point dims, or reduce "
                f"over it; bound here are {', '.join(sorted(self.names.values())) or 'none'}",
                where,
            )
        return self.names[d]

    def extent(self, leaf: Extent) -> Poly:
        return self.extents[leaf.of] if isinstance(leaf.of, Dim) else leaf.of

    def named_extents(self) -> dict[str, Poly]:
        return {n: self.extents[d] for d, n in self.names.items()}


def unique_names(dims: Iterable[Dim], reserved: Iterable[str]) -> dict[Dim, str]:
    """The dims' own names, with a number behind those that are taken."""
    taken = set(reserved)
    names: dict[Dim, str] = {}
    for d in dims:
        names[d] = unique(d.name.replace(GATHERED, "at_"), taken)
    return names


def unique(name: str, taken: set[str], joint: str = "_") -> str:
    """The name, or the name with the first free number ≥ 2; it is added to `taken`."""
    candidate, number = name, 2
    while candidate in taken:
        candidate, number = f"{name}{joint}{number}", number + 1
    taken.add(candidate)
    return candidate


@dataclass(slots=True)
class Lowering:
    """Collects what one comprehension reads."""

    scope: Scope
    node_of: Callable[[Reduction], Node]
    reads: list[Read] = field(default_factory=list)
    sources: dict[Node | InputNode, None] = field(default_factory=dict)
    _positions: dict[Read, int] = field(default_factory=dict)

    def body(self, value: Value) -> Expr:
        """The expression over `arg(i)`, `iota` and `extent` of this comprehension."""
        replacement = {key: self._leaf(leaf) for key, leaf in value.leaves.items()}
        return expr.substitute(value.expr, replacement)

    def form(self, value: Value) -> Affine:
        """An affine form over dims alone, as `where` needs it."""
        return affine(value, self.scope.node, self._dim_or_extent)

    def _leaf(self, leaf: Leaf) -> Expr:
        if isinstance(leaf, Dim):
            return expr.iota(self.scope.name(leaf))
        if isinstance(leaf, Extent):
            return _extent_value(self.scope, self.scope.extent(leaf))
        read, tensor = self._read(leaf)
        return expr.arg(self._number(read), tensor.sort)

    def _number(self, read: Read) -> int:
        position = self._positions.setdefault(read, len(self.reads))
        if position == len(self.reads):
            self.reads.append(read)
        return position

    def _read(self, leaf: TensorRead | Reduced) -> tuple[Read, Tensor]:
        if isinstance(leaf, Reduced):
            return self._reduced(leaf)
        gathers: list[Read] = []
        coords = [self._coordinate(leaf, s, gathers) for s in leaf.subscripts]
        guard = tuple(self._guards(leaf, coords))
        fill = leaf.fill if guard else None
        view = View(tuple(coords), guard, fill, tuple(gathers))
        return Read(self._source(leaf.tensor), view), leaf.tensor

    def _reduced(self, leaf: Reduced) -> tuple[Read, Tensor]:
        tensor = result(self.node_of(leaf.reduction), leaf.output)
        _refuse_axes(tensor, leaf)
        by_name = {n: d for d, n in point_names(leaf.reduction, self.scope).items()}
        dims = _result_dims(tensor)
        coords = tuple(variable(self.scope.name(by_name[n], leaf.reduction.site)) for n in dims)
        return Read(self._source(tensor), View(coords)), tensor

    def _source(self, tensor: Tensor) -> Ref:
        self.sources[tensor.node] = None
        return Ref(token(tensor.node), tensor.output_name)

    def _coordinate(self, leaf: TensorRead, s: Value, gathers: list[Read]) -> Affine:
        def form(_key: Expr, inner: Leaf) -> Affine:
            if isinstance(inner, (Dim, Extent)):
                return self._dim_or_extent(_key, inner, leaf.site)
            return variable(f"{GATHERED}{self._gather(inner, gathers)}")

        return affine(s, f"{leaf.tensor.name}[… {s!r} …]", form)

    def _gather(self, inner: TensorRead | Reduced, gathers: list[Read]) -> int:
        """The number of the gather; a gather's own gathers come before it in the same list."""
        if isinstance(inner, Reduced):
            read = self._reduced(inner)[0]
        else:
            coords = [self._coordinate(inner, s, gathers) for s in inner.subscripts]
            guard = tuple(self._guards(inner, coords))
            view = View(tuple(coords), guard, inner.fill if guard else None)
            read = Read(self._source(inner.tensor), view)
        if read not in gathers:
            gathers.append(read)
        return gathers.index(read)

    def _dim_or_extent(self, _key: Expr, leaf: Leaf, where: str | None = None) -> Affine:
        if isinstance(leaf, Dim):
            return variable(self.scope.name(leaf, where))
        if isinstance(leaf, Extent):
            return constant(self.scope.extent(leaf))
        raise failure(f"{name_of_leaf(leaf)} is no dim", where)

    def _guards(self, leaf: TensorRead, coords: list[Affine]) -> Iterable[Interval]:
        """Guards of the coordinates that can leave the source; unguarded reads must not."""
        for position, form in enumerate(coords):
            extent = leaf.tensor.shape[position]
            inside = _stays_inside(form, extent, self.scope.named_extents())
            if leaf.fill is not None and inside is not True:
                yield Interval(form, Poly(), extent)
            elif leaf.fill is None and inside is False and not self.scope.partial:
                raise _leaves_source(leaf, position)


def point_names(reduction: Reduction, scope: Scope) -> dict[Dim, str]:
    """The names that the point dims of an anonymous node carry inside it."""
    axes = [a.name for a in reduction.monoid.axes]
    return unique_names(point_order(reduction, scope.extents), axes)


def point_order(reduction: Reduction, extents: Mapping[Dim, Poly]) -> tuple[Dim, ...]:
    """The free dims in the order in which the enclosing `compute` met them."""
    order = {d: n for n, d in enumerate(extents)}
    return tuple(sorted(reduction.free, key=lambda d: (order.get(d, len(order)), d.serial)))


def _refuse_axes(tensor: Tensor, leaf: Reduced) -> None:
    """Raise GraphError when the output has static axes, which an expression cannot hold."""
    if isinstance(tensor.node, InputNode):
        return
    axes = tensor.node.comprehension.tensor(leaf.output).axes
    if axes:
        raise failure(
            f"{leaf.reduction.monoid.name}.{leaf.output} has the static axis {axes[0][0]!r}: "
            "make it a tensor of its own with tg.compute, then subscript that",
            leaf.reduction.site,
        )


def _result_dims(tensor: Tensor) -> tuple[str, ...]:
    if isinstance(tensor.node, InputNode):
        return ()
    return tuple(d.name for d in tensor.node.comprehension.tensor(tensor.output_name).dims)


def _stays_inside(form: Affine, extent: Poly, dims: Mapping[str, Poly]) -> bool | None:
    """Whether 0 ≤ form < extent over the box of the dims; None when it is not known."""
    if is_gathered(form) or any(not c.is_constant for _, c in form.terms):
        return None
    if any(dims[v].is_constant and dims[v].constant == 0 for v in dims):
        return True
    lowest, highest = form.const, form.const
    for v, c in form.terms:
        reach = (dims[v] - 1) * c
        lowest, highest = (lowest + reach, highest) if c.constant < 0 else (lowest, highest + reach)
    room = extent - 1 - highest
    if (lowest.is_constant and lowest.constant < 0) or (room.is_constant and room.constant < 0):
        symbolic = any(not dims[v].is_constant for v in dims)
        return None if symbolic else False
    return True if lowest.is_constant and room.is_constant else None


def _leaves_source(leaf: TensorRead, position: int) -> Exception:
    t, s = leaf.tensor, leaf.subscripts[position]
    return failure(
        f"{t.name}[… {s!r} …] leaves axis {position} of {t.name!r}, whose extent is "
        f"{t.shape[position]}: guard it with {t.name}.at(…, fill=0), or give smaller extents",
        leaf.site,
    )


def _extent_value(scope: Scope, size: Poly) -> Expr:
    """A size as an index expression: an int, or made of the extents of this node's dims."""
    if size.is_constant:
        return expr.index(size.constant)
    holders = {e: n for n, e in scope.named_extents().items()}
    if size in holders:
        return expr.extent(holders[size])
    total: Expr | None = None
    for symbols, factor in size.terms:
        term = expr.index(factor)
        for s in symbols:
            if poly(s) not in holders:
                raise failure(
                    f"{scope.node!r}: the size {size} is symbolic, and no dim here has extent {s}: "
                    "use it in a computation over such a dim"
                )
            term = expr.apply("mul", term, expr.extent(holders[poly(s)]))
        total = term if total is None else expr.apply("add", total, term)
    return expr.index(0) if total is None else total
