"""Rearrangements of tensors, each a map over an affine view.

Defines permute, expand_dims, squeeze, slice, flip, concatenate, broadcast_to, split_axis and
merge_axes. Relies on `compute`; merging two axes gathers the quotient, since a quotient is not
affine. General reshapes are compositions of these.
"""

from __future__ import annotations

from collections.abc import Sequence

from tang.frontend.build import make
from tang.frontend.dims import dim, size
from tang.frontend.elementwise import axes_of, axis_of, broadcast_shapes, dims_of, read_broadcast
from tang.frontend.functions import select
from tang.frontend.site import failure
from tang.frontend.tensors import Tensor
from tang.frontend.values import Value
from tang.ir.derived import zero
from tang.ir.expr import BOOL
from tang.ir.extent import Poly, PolyLike, poly


def permute(x: Tensor, axes: Sequence[int], name: str | None = None) -> Tensor:
    """The axes of x in a new order: axis n of the result is axis `axes[n]` of x."""
    order = [axis_of(x, a) for a in axes]
    if sorted(order) != list(range(x.rank)):
        raise failure(f"permute of {x.name!r} needs each of its {x.rank} axes once, not {axes!r}")
    dims = dims_of(x.shape)
    return make(name or "permute", [dims[a] for a in order], x[dims], auto=True)


def transpose(x: Tensor, name: str | None = None) -> Tensor:
    """The last two axes exchanged."""
    if x.rank < 2:
        raise failure(f"transpose of {x.name!r} needs rank 2 or more, not {x.rank}")
    order = [*range(x.rank - 2), x.rank - 1, x.rank - 2]
    return permute(x, order, name or "transpose")


def expand_dims(x: Tensor, axis: int, name: str | None = None) -> Tensor:
    """An axis of extent 1 inserted before `axis` of the result."""
    if not -x.rank - 1 <= axis <= x.rank:
        raise failure(f"expand_dims of {x.name!r}: axis {axis} is not in the result")
    at = axis % (x.rank + 1)
    dims = dims_of(x.shape)
    return make(name or "expand_dims", [*dims[:at], dim("one", 1), *dims[at:]], x[dims], auto=True)


def squeeze(x: Tensor, axis: int | Sequence[int], name: str | None = None) -> Tensor:
    """Axes of extent 1 removed."""
    axes = axes_of(x, axis)
    for a in axes:
        if x.shape[a] != poly(1):
            raise failure(f"squeeze of {x.name!r}: axis {a} has extent {x.shape[a]}, not 1")
    dims = dims_of(x.shape)
    at = tuple(0 if a in axes else d for a, d in enumerate(dims))
    kept = [d for a, d in enumerate(dims) if a not in axes]
    return make(name or "squeeze", kept, x[at], auto=True)


def broadcast_to(x: Tensor, shape: Sequence[PolyLike], name: str | None = None) -> Tensor:
    """x repeated along axes of extent 1 and along new leading axes."""
    target = tuple(poly(e) for e in shape)
    if broadcast_shapes(x.shape, target) != target:
        raise failure(f"{x.name!r} of shape {x.shape} does not broadcast to {target}")
    dims = dims_of(target)
    return make(name or "broadcast_to", dims, read_broadcast(x, dims, target), auto=True)


def slice(  # the name is NumPy's word for it
    x: Tensor,
    axis: int,
    start: PolyLike = 0,
    stop: PolyLike | None = None,
    step: int = 1,
    name: str | None = None,
) -> Tensor:
    """Positions start, start + step … below stop of one axis; step > 0, bounds not negative.

    The length must be known: with step > 1 both bounds are ints.
    """
    a = axis_of(x, axis)
    lo, hi = poly(start), x.shape[a] if stop is None else poly(stop)
    if step < 1:
        raise failure(f"slice of {x.name!r}: step {step} is not positive; tg.flip reverses")
    length = hi - lo
    if length.is_constant:
        length = poly(max(0, -(-length.constant // step)))
    elif step > 1:
        raise failure(f"slice of {x.name!r}: ({length})/{step} is not known; bind the extents")
    shape = [length if n == a else e for n, e in enumerate(x.shape)]
    dims = dims_of(shape)
    at = [size(lo) + step * d if n == a else d for n, d in enumerate(dims)]
    return make(name or "slice", dims, x[tuple(at)], auto=True)


def flip(x: Tensor, axis: int, name: str | None = None) -> Tensor:
    """One axis in reverse order."""
    a = axis_of(x, axis)
    dims = dims_of(x.shape)
    at = [size(x.shape[n] - 1) - d if n == a else d for n, d in enumerate(dims)]
    return make(name or "flip", dims, x[tuple(at)], auto=True)


def concatenate(tensors: Sequence[Tensor], axis: int = 0, name: str | None = None) -> Tensor:
    """Tensors one behind the other along an axis; the other extents agree."""
    if not tensors:
        raise failure("tg.concatenate needs at least one tensor")
    first = tensors[0]
    a = axis_of(first, axis)
    for t in tensors[1:]:
        same = t.rank == first.rank and t.sort is first.sort
        if not same or any(n != a and e != t.shape[n] for n, e in enumerate(first.shape)):
            raise failure(f"concatenate: {t!r} does not fit {first!r} outside axis {a}")
    starts = [poly(0)]
    for t in tensors:
        starts.append(starts[-1] + t.shape[a])
    dims = dims_of([starts[-1] if n == a else e for n, e in enumerate(first.shape)])
    parts = [_shifted(t, a, start, dims) for t, start in zip(tensors, starts, strict=False)]
    whole = parts[-1]
    for end, part in reversed(list(zip(starts[1:], parts[:-1], strict=False))):
        whole = _before(dims[a], end, part, whole)
    return make(name or "concatenate", dims, whole, auto=True)


def _before(d: Value, end: Poly, part: Value, rest: Value) -> Value:
    """part where d < end, else rest; each is neutral (0 or False) where the other is read.

    A symbolic end is the extent of no dim here, so it cannot be compared with: both are joined.
    """
    if end.is_constant:
        return select(d < end.constant, part, rest)
    return part | rest if part.sort is BOOL else part + rest


def _shifted(t: Tensor, axis: int, start: PolyLike, dims: Sequence[Value]) -> Value:
    at = [d - size(start) if n == axis else d for n, d in enumerate(dims)]
    return t.subscript(tuple(at), zero(t.sort))


def split_axis(x: Tensor, axis: int, inner: int, name: str | None = None) -> Tensor:
    """One axis as two, (outer, inner): position outer·inner_extent + inner."""
    a = axis_of(x, axis)
    outer = divided(x.shape[a], inner, f"split_axis of {x.name!r}")
    dims = dims_of([*x.shape[:a], outer, poly(inner), *x.shape[a + 1 :]])
    at = (*dims[:a], dims[a] * inner + dims[a + 1], *dims[a + 2 :])
    return make(name or "split_axis", dims, x[at], auto=True)


def merge_axes(x: Tensor, axis: int, name: str | None = None) -> Tensor:
    """Axes `axis` and `axis + 1` as one, row-major; the second has a known extent."""
    a = axis_of(x, axis)
    if a + 1 >= x.rank or not x.shape[a + 1].is_constant:
        raise failure(f"merge_axes of {x.name!r}: axis {a + 1} needs to exist and a known extent")
    outer, inner = x.shape[a], x.shape[a + 1].constant
    label = name or "merge_axes"
    if inner == 1:
        return squeeze(x, a + 1, label)
    dims = dims_of([*x.shape[:a], outer * inner, *x.shape[a + 2 :]])
    quotient = quotients(outer * inner, inner, f"{label}.outer")[dims[a]]
    at = (*dims[:a], quotient, dims[a] - inner * quotient, *dims[a + 1 :])
    return make(label, dims, x[at], auto=True)


def quotients(length: PolyLike, divisor: int, name: str) -> Tensor:
    """The index tensor n // divisor for n below length: gathers by it are quotients."""
    n = dim("n", length)
    return make(name, n, n // divisor, auto=True)


def divided(extent: PolyLike, by: int, what: str) -> Poly:
    """extent / by when every coefficient is divisible; raises GraphError naming `what`."""
    p = poly(extent)
    if by < 1 or any(c % by for _, c in p.terms):
        raise failure(f"{what}: extent {p} is not divisible by {by}")
    return Poly(tuple((m, c // by) for m, c in p.terms))


def floored(extent: Poly, by: int, what: str) -> Poly:
    """⌊extent / by⌋ when the coefficients of symbols are divisible; else GraphError with `what`."""
    symbolic = [(m, c) for m, c in extent.terms if m]
    if any(c % by for _, c in symbolic):
        raise failure(f"{what} is not known: bind the extent first")
    rest = next((c for m, c in extent.terms if not m), 0)
    return Poly(tuple((m, c // by) for m, c in symbolic)) + rest // by
