"""Functions along a sequence: cumulative sums and rotary positions.

Defines cumsum and rope. Relies on `compute`; a scan is a reduction
with `where s ≤ t`. Faster forms of scans are found by rewriting.
"""

from __future__ import annotations

import math

from tang.frontend.build import make
from tang.frontend.dims import dim, real
from tang.frontend.elementwise import axis_of, dims_of
from tang.frontend.functions import cos, exp2, select, sin
from tang.frontend.reductions import sum as total
from tang.frontend.site import failure
from tang.frontend.tensors import Tensor
from tang.frontend.values import Value
from tang.ir.expr import INDEX


def cumsum(
    x: Tensor,
    axis: int = -1,
    *,
    reverse: bool = False,
    exclusive: bool = False,
    name: str | None = None,
) -> Tensor:
    """Sums of all elements up to each one: from the end with `reverse`, without it if exclusive."""
    a = axis_of(x, axis)
    dims = dims_of(x.shape)
    s, t = dim("s", x.shape[a]), dims[a]
    at = tuple(s if n == a else d for n, d in enumerate(dims))
    low, high = (t, s) if reverse else (s, t)
    kept = low < high if exclusive else low <= high
    return make(name or "cumsum", dims, total(x[at], s, [kept]), auto=True)


def rope(
    x: Tensor,
    positions: Tensor | None = None,
    *,
    base: float = 10000.0,
    axis: int = -2,
    interleaved: bool = False,
    name: str | None = None,
) -> Tensor:
    """Rotary positions on the last axis: pairs (d, d + D/2), or (2d, 2d + 1) when interleaved.

    Pair n is turned by position · base^(−2n/D). Positions are the coordinates along `axis`, or
    an index tensor over it.
    """
    a, depth = axis_of(x, axis), x.shape[-1]
    if x.rank < 2 or a == x.rank - 1:
        raise failure(f"rope of {x!r} needs a position axis before the last one")
    if not depth.is_constant or depth.constant % 2:
        raise failure(f"rope of {x!r}: the last extent is a known even number, not {depth}")
    if positions is not None and (positions.sort is not INDEX or positions.shape != (x.shape[a],)):
        raise failure(f"rope: {positions!r} needs sort index and shape ({x.shape[a]},)")
    dims = dims_of(x.shape)
    where = real(dims[a] if positions is None else positions[dims[a]])
    turned = _interleaved if interleaved else _halves
    value = turned(x, dims, where, depth.constant, math.log2(base))
    return make(name or "rope", dims, value, auto=True)


def _angle(where: Value, pair: Value, depth: int, log_base: float) -> Value:
    return where * exp2(real(pair) * (-2.0 * log_base / depth))


def _halves(x: Tensor, dims: tuple[Value, ...], where: Value, depth: int, log_base: float) -> Value:
    d, half = dims[-1], depth // 2
    angle = _angle(where, d % half, depth, log_base) if half else where
    rest = dims[:-1]
    lower = x[dims] * cos(angle) - x.at(*rest, d + half, fill=0) * sin(angle)
    upper = x[dims] * cos(angle) + x.at(*rest, d - half, fill=0) * sin(angle)
    return select(d < half, lower, upper)


def _interleaved(
    x: Tensor, dims: tuple[Value, ...], where: Value, depth: int, log_base: float
) -> Value:
    d, rest = dims[-1], dims[:-1]
    angle = _angle(where, d // 2, depth, log_base)
    even = x[dims] * cos(angle) - x.at(*rest, d + 1, fill=0) * sin(angle)
    odd = x[dims] * cos(angle) + x.at(*rest, d - 1, fill=0) * sin(angle)
    return select(d % 2 == 0, even, odd)
