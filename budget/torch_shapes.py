"""What PyTorch's operations on shapes mean, over tensors of the frontend.

Defines the handlers of view, permute, expand, cat, slices and their kin. Relies on the frontend's
rearrangements; a general reshape merges and splits axes where the row-major orders agree. It moves
elements and computes none.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from tang.errors import GraphError
from tang.frontend import shapes
from tang.frontend.build import make
from tang.frontend.elementwise import dims_of
from tang.frontend.tensors import Tensor


def sizes_of(x: Tensor) -> list[int]:
    """The shape as numbers, which it always is here."""
    return [p.constant for p in x.shape]


def axis_in(axis: int, rank: int) -> int:
    """An axis counted from the front."""
    if not -rank <= axis < rank:
        raise GraphError(f"axis {axis} of a tensor of rank {rank}")
    return axis % rank


def reshape(x: Tensor, shape: Sequence[int], name: str) -> Tensor:
    """The same elements in row-major order under another shape; one size may be −1."""
    wanted = _complete(sizes_of(x), list(shape))
    have = sizes_of(x)
    if wanted == have:
        return x
    groups = _groups(have, wanted)
    for start, count, parts in reversed(groups):
        for _ in range(count - 1):
            x = shapes.merge_axes(x, start, name)
        x = _split(x, start, parts, name)
    return x


def _complete(have: list[int], shape: list[int]) -> list[int]:
    total = prod(have)
    if -1 in shape:
        known = prod(n for n in shape if n != -1)
        shape[shape.index(-1)] = total // known if known else 0
    if prod(shape) != total or min(shape, default=0) < 0:
        raise GraphError(f"a tensor of shape {have} has no view of shape {shape}")
    if not total:
        raise GraphError("views of empty tensors are not supported")
    return shape


def _groups(have: Sequence[int], wanted: Sequence[int]) -> list[tuple[int, int, list[int]]]:
    """Runs of axes that hold the same elements: where they start, how many, what they become."""
    found, i, j = [], 0, 0
    while i < len(have) or j < len(wanted):
        start, first = i, j
        left = have[i] if i < len(have) else 1
        right = wanted[j] if j < len(wanted) else 1
        i, j = min(i + 1, len(have)), min(j + 1, len(wanted))
        while left != right:
            if left < right:
                left, i = left * have[i], i + 1
            else:
                right, j = right * wanted[j], j + 1
        found.append((start, i - start, list(wanted[first:j])))
    return found


def _split(x: Tensor, axis: int, parts: Sequence[int], name: str) -> Tensor:
    """One axis as several; an axis that is missing before or after has extent 1."""
    if x.rank == axis and parts:
        x = shapes.expand_dims(x, axis, name)
    if not parts:
        return x if x.rank == axis else shapes.squeeze(x, axis, name)
    for inner in reversed(parts[1:]):
        x = shapes.split_axis(x, axis, inner, name)
    return x


def transpose(x: Tensor, first: int, second: int, name: str) -> Tensor:
    order = list(range(x.rank))
    a, b = axis_in(first, x.rank), axis_in(second, x.rank)
    order[a], order[b] = order[b], order[a]
    return shapes.permute(x, order, name)


def expand(x: Tensor, shape: Sequence[int], name: str) -> Tensor:
    """Axes of extent 1 repeated; −1 keeps an axis."""
    new = len(shape) - x.rank
    have = [1] * new + sizes_of(x)
    wanted = [h if n == -1 else n for h, n in zip(have, shape, strict=True)]
    return shapes.broadcast_to(x, wanted, name)


def squeeze(x: Tensor, axes: Sequence[int] | None, name: str) -> Tensor:
    """Axes of extent 1 removed: those of `axes` that have it, or all."""
    have = sizes_of(x)
    asked = range(x.rank) if axes is None else [axis_in(a, x.rank) for a in axes]
    gone = [a for a in asked if have[a] == 1]
    return shapes.squeeze(x, gone, name) if gone else x


def unsqueeze(x: Tensor, axis: int, name: str) -> Tensor:
    return shapes.expand_dims(x, axis, name)


def select(x: Tensor, axis: int, at: int, name: str) -> Tensor:
    """One position of an axis, which goes."""
    a, length = axis_in(axis, x.rank), sizes_of(x)[axis_in(axis, x.rank)]
    if not -length <= at < length:
        raise GraphError(f"position {at} of an axis of {length}")
    dims = list(dims_of(x.shape))
    where = tuple(at % length if n == a else d for n, d in enumerate(dims))
    return make(name, [d for n, d in enumerate(dims) if n != a], x[where], auto=True)


def cut(x: Tensor, axis: int, start: int | None, stop: int | None, step: int, name: str) -> Tensor:
    """Positions start, start + step … below stop, as Python counts them."""
    a = axis_in(axis, x.rank)
    low, high, by = slice(start, stop, step).indices(sizes_of(x)[a])
    if by < 1:
        raise GraphError(f"a slice with step {step}")
    if (low, max(low, high), by) == (0, sizes_of(x)[a], 1):
        return x
    return shapes.slice(x, a, low, max(low, high), by, name)


def parts(x: Tensor, sizes: Sequence[int], axis: int, name: str) -> list[Tensor]:
    """Consecutive parts of an axis."""
    found, at = [], 0
    for n in sizes:
        found.append(cut(x, axis, at, at + n, 1, name))
        at += n
    return found


def chunks(x: Tensor, size: int, axis: int, name: str) -> list[Tensor]:
    """Parts of equal size, the last one perhaps smaller."""
    total = sizes_of(x)[axis_in(axis, x.rank)]
    many = [min(size, total - at) for at in range(0, total, size)]
    return parts(x, many, axis, name)
