"""Reductions: folds of values over dims, as leaves of larger expressions.

Defines `reduce` for any monoid and the sort-dependent choice of the stock ones. Relies on values,
dims and `tang.ir.monoids`; `where` takes affine comparisons. A reduction becomes a comprehension
in `build`; nothing here knows extents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from tang.frontend.describe import describe_expr, name_of_leaf
from tang.frontend.dims import as_dims, extent
from tang.frontend.leaves import Dim, Extent, Leaf, Reduction
from tang.frontend.site import call_site, failure
from tang.frontend.subscripts import affine
from tang.frontend.values import Operand, Value, as_value, reduced, want
from tang.ir import expr, monoids
from tang.ir.derived import index_maximum, index_minimum
from tang.ir.expr import BOOL, INDEX, REAL, Expr
from tang.ir.extent import symbol
from tang.ir.monoid import Monoid
from tang.ir.view import Affine, constant, variable

Dims = Value | Sequence[Value]
Where = Value | Sequence[Value]

_ADD: Callable[[Expr, Expr], Expr] = lambda a, b: expr.apply("add", a, b)  # noqa: E731
_MUL: Callable[[Expr, Expr], Expr] = lambda a, b: expr.apply("mul", a, b)  # noqa: E731
INDEX_MONOIDS: Final[Mapping[str, Monoid]] = MappingProxyType({
    "sum": monoids.simple("index_sum", _ADD, expr.index(0)),
    "prod": monoids.simple("index_prod", _MUL, expr.index(1)),
    "max": monoids.simple("index_max", index_maximum, expr.index(-(2**31))),
    "min": monoids.simple("index_min", index_minimum, expr.index(2**31 - 1)),
})  # fmt: skip
"""Sum, product and extrema of indices; the empty extremum is the smallest or largest int32."""
REAL_MONOIDS: Final[Mapping[str, Monoid]] = MappingProxyType({
    "sum": monoids.SUM, "prod": monoids.PROD, "max": monoids.MAX, "min": monoids.MIN,
})  # fmt: skip


def reduce(
    monoid: Monoid,
    *inputs: Operand,
    over: Dims,
    where: Where = (),
    axes: Mapping[str, Value] | None = None,
) -> Value:
    """Fold `inputs` by a monoid over dims, at the points where every condition holds.

    The value is the monoid's first output; `.output(name)` gives the others and the state. `axes`
    names dims that run over the monoid's static axes and may be used in the inputs.
    """
    if not isinstance(monoid, Monoid):
        raise failure(f"tg.reduce takes a monoid of tg.monoid or tang.ir.monoids, not {monoid!r}")
    name = f"tg.reduce({monoid.name})"
    dims = as_dims(over, f"{monoid.name}(…, over=…)")
    if not dims:
        raise failure(f"{name}: over=… needs at least one dim")
    if len(inputs) != len(monoid.inputs):
        raise failure(f"{name} takes {len(monoid.inputs)} inputs, not {len(inputs)}")
    values = tuple(want(x, s, monoid.name) for x, s in zip(inputs, monoid.inputs, strict=True))
    conditions = list(where) if isinstance(where, (tuple, list)) else [where]
    forms = tuple(f for c in conditions for f in _forms(monoid.name, c))
    named = tuple((a, as_dims(d, name)[0]) for a, d in (axes or {}).items())
    bound = {*dims, *(d for _, d in named)}
    free = frozenset[Dim]().union(*(v.free for v in (*values, *forms))) - bound
    found = Reduction(monoid, values, dims, forms, call_site(), free, named)
    return reduced(found, monoid.outputs[0].name)


def stock(kind: str, x: Operand, over: Dims, where: Where) -> Value:
    """sum, prod, max or min of a real or an index."""
    value = as_value(x)
    if value.sort is BOOL:
        raise failure(
            f"tg.{kind} of the bool {value!r}: use tg.count, tg.any or tg.all, or cast with tg.real"
        )
    table = REAL_MONOIDS if value.sort is REAL else INDEX_MONOIDS
    return reduce(table[kind], value, over=over, where=where)


def position(over: Dims) -> Value:
    """The row-major position of a point among the reduce dims."""
    dims = [over] if isinstance(over, Value) else list(over)
    if not dims:
        raise failure("over=… needs at least one dim")
    as_dims(dims, "over=…")
    total = dims[0]
    for d in dims[1:]:
        total = total * extent(d) + d
    return total


def _forms(name: str, condition: object) -> tuple[Value, ...]:
    """The affine forms that are ≥ 0 where the condition holds."""
    forms = condition.relation if isinstance(condition, Value) else None
    if forms is None:
        raise failure(
            f"{name}(…, where=[{condition!r}]): where takes comparisons (<, <=, ==, >, >=) of sums "
            "of dims, joined by &; for other conditions reduce tg.select(condition, x, neutral)"
        )
    for f in forms:
        affine(f, f"{name}(…, where=…)", _dims_alone(f))
    return forms


def _dims_alone(value: Value) -> Callable[[Expr, Leaf], Affine]:
    def form(key: Expr, leaf: Leaf) -> Affine:
        if isinstance(leaf, Extent):
            return constant(symbol("n"))
        if isinstance(leaf, Dim):
            return variable(leaf.name)
        shown = describe_expr(value.expr, lambda e: name_of_leaf(value.leaves[e]))
        raise failure(
            f"where=[…]: {shown} reads {name_of_leaf(leaf)}; where compares dims only, so reduce "
            "tg.select(condition, x, neutral) instead"
        )

    return form


def index_of(value: Operand, what: str) -> Value:
    """A real operand of a search such as argmax."""
    found = as_value(value)
    if found.sort is INDEX:
        raise failure(f"{what} compares reals: cast the index {found!r} with tg.real(…)")
    return want(found, REAL, what)
