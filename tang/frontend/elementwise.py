"""Whole tensors, element by element, with NumPy's broadcasting.

Defines `elementwise`, the broadcasting of shapes and the subscripts that carry it out. Relies on
`compute`; extents of 1 are read at 0, and symbolic extents must agree as polynomials. It knows
no function in particular.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tang.frontend.build import make
from tang.frontend.dims import dim
from tang.frontend.site import failure
from tang.frontend.tensors import Tensor
from tang.frontend.values import Operand, Value
from tang.ir.extent import Poly, poly

Shape = tuple[Poly, ...]
_ONE = poly(1)


def elementwise(
    f: Callable[..., Operand], *operands: Operand | Tensor, name: str | None = None
) -> Tensor:
    """f over the elements of tensors broadcast against each other; scalars are passed as they are.

    Shapes: as in NumPy. A `name` of None takes a made-up one.
    """
    tensors = [t for t in operands if isinstance(t, Tensor)]
    if not tensors:
        raise failure("tg.elementwise needs at least one tensor")
    shape = broadcast_shapes(*(t.shape for t in tensors))
    dims = dims_of(shape)
    values = [read_broadcast(x, dims, shape) if isinstance(x, Tensor) else x for x in operands]
    return make(name or "elementwise", dims, f(*values), auto=True)


def dims_of(shape: Sequence[Poly], prefix: str = "i") -> tuple[Value, ...]:
    """Fresh dims of the given extents."""
    return tuple(dim(f"{prefix}{n}", e) for n, e in enumerate(shape))


def read_broadcast(x: Tensor, dims: Sequence[Value], shape: Sequence[Poly]) -> Value:
    """The element of x at a point of a shape to which x broadcasts."""
    skip = len(dims) - x.rank
    pairs = zip(dims[skip:], x.shape, shape[skip:], strict=True)
    return x[tuple(0 if e == _ONE and whole != _ONE else d for d, e, whole in pairs)]


def broadcast_shapes(*shapes: Shape) -> Shape:
    """The common shape; raises GraphError when two extents differ and neither is 1."""
    rank = max(len(s) for s in shapes)
    padded = [(_ONE,) * (rank - len(s)) + s for s in shapes]
    return tuple(_joint(column, shapes) for column in zip(*padded, strict=True))


def _joint(extents: Sequence[Poly], shapes: Sequence[Shape]) -> Poly:
    wide = [e for e in extents if e != _ONE]
    if any(e != wide[0] for e in wide):
        shown = " and ".join("(" + ", ".join(map(str, s)) + ")" for s in shapes)
        raise failure(f"shapes {shown} do not broadcast: {wide[0]} meets {wide[-1]}")
    return wide[0] if wide else _ONE


def axis_of(x: Tensor, axis: int) -> int:
    """The axis counted from the front; raises GraphError when x has no such axis."""
    whole = not isinstance(axis, bool) and hasattr(axis, "__index__")
    if not whole or not -x.rank <= axis < x.rank:
        raise failure(
            f"{x.name!r} has rank {x.rank}: axis is from {-x.rank} to {x.rank - 1}, not {axis!r}"
        )
    return axis % x.rank


def axes_of(x: Tensor, axis: int | Sequence[int] | None) -> tuple[int, ...]:
    """Several distinct axes in increasing order; None means all."""
    if axis is None:
        return tuple(range(x.rank))
    many = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    found = sorted(axis_of(x, a) for a in many)
    if len(set(found)) != len(found):
        raise failure(f"axis {axis!r} of {x.name!r} names one axis twice")
    return tuple(found)
