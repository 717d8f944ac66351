"""Statistics and normalisations over axes.

Defines mean, var, layer_norm, rms_norm, softmax, log_softmax and masked_softmax. Relies on
`compute` and the stock monoids: mean and variance are one stable Welford pass. Fully masked rows
are NaN in `softmax` and exactly 0 in `masked_softmax`.
"""

from __future__ import annotations

from collections.abc import Sequence

from tang.frontend.build import make
from tang.frontend.dims import extent, real
from tang.frontend.elementwise import (
    axes_of,
    axis_of,
    broadcast_shapes,
    dims_of,
    read_broadcast,
)
from tang.frontend.functions import exp, log, select, sqrt
from tang.frontend.reduce import Dims
from tang.frontend.reductions import Axes, over_axes, welford
from tang.frontend.reductions import max as largest
from tang.frontend.reductions import sum as total
from tang.frontend.site import failure
from tang.frontend.tensors import Tensor
from tang.frontend.values import Operand, Value
from tang.ir.expr import BOOL

_NOTHING = float("-inf")


def mean(x: Tensor, axis: Axes = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """The average over axes; of nothing, NaN."""
    return over_axes(x, axis, keepdims, lambda v, d: welford(v, d), name or "mean")


def var(
    x: Tensor,
    axis: Axes = None,
    ddof: float = 0,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """Σ (x − mean)² / (n − ddof) over axes; NaN where n ≤ ddof."""

    def fold(v: Operand, dims: Dims) -> Value:
        found = welford(v, dims)
        if ddof == 0:
            return found.output("variance")
        n = found.output("n")
        return select(n > float(ddof), found.output("m2") / (n - float(ddof)), float("nan"))

    return over_axes(x, axis, keepdims, fold, name or "var")


def layer_norm(
    x: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    axis: int | Sequence[int] = -1,
    eps: float = 1e-5,
    name: str | None = None,
) -> Tensor:
    """(x − mean) / √(variance + eps) over axes, times weight, plus bias.

    Weight and bias have the shape of the axes, or broadcast against x.
    """
    dims = dims_of(x.shape)
    axes = axes_of(x, axis)
    average = welford(x[dims], [dims[a] for a in axes])
    spread = average.output("variance")
    y = (x[dims] - average) / sqrt(spread + float(eps))
    return make(name or "layer_norm", dims, _scaled(y, x, dims, axes, weight, bias), auto=True)


def rms_norm(
    x: Tensor,
    weight: Tensor | None = None,
    axis: int | Sequence[int] = -1,
    eps: float = 1e-6,
    name: str | None = None,
) -> Tensor:
    """x / √(mean of x² + eps) over axes, times weight."""
    dims = dims_of(x.shape)
    axes = axes_of(x, axis)
    over = [dims[a] for a in axes]
    n = extent(over[0])
    for d in over[1:]:
        n = n * extent(d)
    y = x[dims] / sqrt(total(x[dims] * x[dims], over) / real(n) + float(eps))
    return make(name or "rms_norm", dims, _scaled(y, x, dims, axes, weight, None), auto=True)


def _scaled(
    y: Value,
    x: Tensor,
    dims: tuple[Value, ...],
    axes: tuple[int, ...],
    weight: Tensor | None,
    bias: Tensor | None,
) -> Value:
    if weight is not None:
        y = y * _parameter(weight, x, dims, axes)
    return y if bias is None else y + _parameter(bias, x, dims, axes)


def _parameter(p: Tensor, x: Tensor, dims: tuple[Value, ...], axes: tuple[int, ...]) -> Value:
    if p.shape == tuple(x.shape[a] for a in axes):
        return p[tuple(dims[a] for a in axes)]
    if broadcast_shapes(p.shape, x.shape) != x.shape:
        raise failure(f"{p!r} fits neither the axes {axes} of {x!r} nor the whole")
    return read_broadcast(p, dims, x.shape)


def softmax(x: Tensor, axis: int = -1, name: str | None = None) -> Tensor:
    """exp(x − max) / Σ exp(x − max) over an axis; a row of −inf alone is NaN."""
    dims = dims_of(x.shape)
    k = dims[axis_of(x, axis)]
    e = exp(x[dims] - largest(x[dims], k))
    return make(name or "softmax", dims, e / total(e, k), auto=True)


def log_softmax(x: Tensor, axis: int = -1, name: str | None = None) -> Tensor:
    """x − max − log Σ exp(x − max) over an axis; a row of −inf alone is NaN."""
    dims = dims_of(x.shape)
    k = dims[axis_of(x, axis)]
    shifted = x[dims] - largest(x[dims], k)
    return make(name or "log_softmax", dims, shifted - log(total(exp(shifted), k)), auto=True)


def masked_softmax(
    x: Tensor, mask: Tensor | None = None, axis: int = -1, name: str | None = None
) -> Tensor:
    """Softmax over the elements where the mask holds; others, and rows without any, are 0.

    Elements at −inf count as masked. What is masked is not looked at, so a NaN there is harmless.
    """
    if mask is not None and mask.sort is not BOOL:
        raise failure(f"masked_softmax: {mask!r} is no mask: declare it with sort bool")
    dims = dims_of(x.shape)
    k = dims[axis_of(x, axis)]
    if mask is not None and broadcast_shapes(mask.shape, x.shape) != x.shape:
        raise failure(f"masked_softmax: {mask!r} does not broadcast to {x!r}")
    live = None if mask is None else read_broadcast(mask, dims, x.shape)
    score = x[dims] if live is None else select(live, x[dims], _NOTHING)
    top = largest(score, k)
    e = exp(score - select(top == _NOTHING, 0.0, top))
    p = select(top == _NOTHING, 0.0, e / total(e, k))
    masked = p if live is None else select(live, p, 0.0)
    return make(name or "masked_softmax", dims, masked, auto=True)
