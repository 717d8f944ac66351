"""Strided axes of transposed convolutions.

Defines `Line`, one output axis p of y[p] = Σ x[q] w[p + before − stride·q], split into
p + before = stride·m + phase so that every coordinate is affine, and `spread`, which dilates a
kernel. Relies on index notation; gathers of quotients put the phases in order.
"""

from __future__ import annotations

from dataclasses import dataclass

from tang.frontend.build import make
from tang.frontend.dims import dim
from tang.frontend.elementwise import dims_of
from tang.frontend.reductions import sum as total
from tang.frontend.shapes import floored, quotients
from tang.frontend.site import failure
from tang.frontend.tensors import Tensor
from tang.frontend.values import Value
from tang.ir.extent import Poly


@dataclass(frozen=True, slots=True)
class Line:
    """One output axis: dims of the phased result, coordinates in x and w, and the order."""

    point: tuple[Value, ...]
    over: tuple[Value, ...]
    of_x: Value
    of_w: Value
    length: Poly
    stride: int
    before: int
    quotient: Tensor | None

    @property
    def phased(self) -> bool:
        return self.quotient is not None

    def coordinates(self, p: Value) -> tuple[Value, ...]:
        """Where output position p is found in the phased result."""
        if self.quotient is None:
            return (p,)
        m = self.quotient[p + self.before]
        return m, p + self.before - self.stride * m


def line(name: str, extent: Poly, taps: Poly, stride: int, before: int, trimmed: int) -> Line:
    """The axis of length stride·(extent − 1) + taps − trimmed; taps are already dilated."""
    length = (extent - 1) * stride + taps - trimmed
    if length.is_constant and length.constant < 0:
        raise failure(f"{name}: the output would have {length} elements: reduce the padding")
    if stride == 1:
        p, t = dim("p", length), dim("t", taps)
        at = p if before == 0 else p + before
        return Line((p,), (t,), at - t, t + 0, length, 1, before, None)
    if not taps.is_constant:
        raise failure(f"{name}: a strided axis needs a known number of taps, not {taps}")
    whole = length + before
    rounds = floored(whole + (stride - 1), stride, f"{name}: ({whole})/{stride}")
    m, phase = dim("m", rounds), dim("f", stride)
    t = dim("t", -(-taps.constant // stride))
    order = quotients(whole, stride, name)
    return Line((m, phase), (t,), m - t, stride * t + phase, length, stride, before, order)


def spread(w: Tensor, axis: int, dilation: int, name: str) -> Tensor:
    """w with dilation − 1 zeros between neighbours along an axis."""
    if dilation == 1:
        return w
    length = (w.shape[axis] - 1) * dilation + 1
    dims = dims_of([length if n == axis else e for n, e in enumerate(w.shape)])
    r = dim("r", w.shape[axis])
    at = tuple(r if n == axis else d for n, d in enumerate(dims))
    here = [dims[axis] == dilation * r]
    return make(name, dims, total(w[at], r, here), auto=True)
