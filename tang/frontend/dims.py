"""Dims, and the casts between their coordinates and other values.

Defines `dim`, `dims`, `extent`, `size`, `real` and `index`. Relies on values and leaves; extents
that are not given are inferred in `compute`. A dim is not a tensor: it belongs to every
comprehension that names it, and may have another extent in another one.
"""

from __future__ import annotations

from typing import Any

from tang.errors import GraphError
from tang.frontend.leaves import SERIALS, Dim, Extent
from tang.frontend.site import failure
from tang.frontend.values import Operand, Value, as_value, combine, placeholder
from tang.ir import expr
from tang.ir.expr import BOOL, INDEX, REAL
from tang.ir.extent import Poly, PolyLike, poly


def dim(name: str, extent: PolyLike | None = None) -> Value:
    """One dim under any name, with an extent or with one to be inferred from plain uses."""
    if not isinstance(name, str) or not name:
        raise failure(f"a dim needs a non-empty name, not {name!r}")
    size = None if extent is None else as_extent(extent, f"dim {name!r}")
    serial = next(SERIALS)
    record = Dim(name, size, serial)
    return placeholder(expr.iota(f"{name}${serial}"), record)


def as_extent(x: object, what: str) -> Poly:
    """An extent that is not negative; the error names `what`."""
    try:
        size = poly(x)  # type: ignore[arg-type]
    except GraphError as e:
        raise failure(f"{what}: {e}") from None
    if size.is_constant and size.constant < 0:
        raise failure(f"{what} has the negative extent {size}")
    return size


def dims(names: str = "", **extents: PolyLike) -> Any:  # noqa: ANN401 - one Value or a tuple
    """Dims by name: `dims("i j k")`, `dims(i=64)`, `dims("i j", r=3)`; a single one comes bare."""
    if not isinstance(names, str):
        raise failure(f'tg.dims takes names, "i j k", not {names!r}; an extent is tg.dims(i=64)')
    found = [dim(n) for n in names.replace(",", " ").split()]
    found += [dim(n, e) for n, e in extents.items()]
    if not found:
        raise failure('tg.dims needs a name: tg.dims("i j k") or tg.dims(i=64)')
    return found[0] if len(found) == 1 else tuple(found)


def as_dim(x: object, what: str) -> Dim:
    """The dim that a value is; the error names `what`."""
    leaf = x.leaves.get(x.expr) if isinstance(x, Value) else None
    if not isinstance(leaf, Dim):
        raise failure(f"{what} takes dims made by tg.dims, not {x!r}")
    return leaf


def as_dims(x: object, what: str) -> tuple[Dim, ...]:
    """Dims from one or several; raises GraphError when one occurs twice."""
    many = tuple(x) if isinstance(x, (tuple, list)) else (x,)
    found = tuple(as_dim(d, what) for d in many)
    for d in found:
        if [f is d for f in found].count(True) > 1:
            raise failure(f"{what} names the dim {d.name!r} twice: use two different dims")
    return found


def extent(of: Value) -> Value:
    """The size of a dim, as an index."""
    leaf = Extent(as_dim(of, "tg.extent"))
    return placeholder(expr.extent(f"${next(SERIALS)}"), leaf)


def size(of: PolyLike) -> Value:
    """A symbolic or known size as an index: a number, a symbol's name or an entry of a shape."""
    p: Poly = poly(of)
    if p.is_constant:
        return Value(expr.index(p.constant))
    return placeholder(expr.extent(f"${next(SERIALS)}"), Extent(p))


def real(x: Operand) -> Value:
    """An index as a real; reals stay, bools become 1 and 0."""
    value = as_value(x)
    if value.sort is INDEX:
        return combine(lambda e: expr.apply("to_real", e), value)
    if value.sort is BOOL:
        return combine(lambda e: expr.apply("select", e, expr.real(1), expr.real(0)), value)
    return value


def index(x: Operand) -> Value:
    """The floor of a real as an index (saturating, NaN gives −1); indices stay, bools are 1, 0."""
    value = as_value(x, INDEX)
    if value.sort is REAL:
        return combine(lambda e: expr.apply("to_index", e), value)
    if value.sort is BOOL:
        return combine(lambda e: expr.apply("select", e, expr.index(1), expr.index(0)), value)
    return value
