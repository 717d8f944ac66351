"""Pieces that several models share, each written out as plain comprehensions.

Defines linear layers, normalisations, softplus, short causal convolutions and row-wise maxima
with their exponentials. Relies on index notation alone. Nothing is fused here: softmax, norms and
gates stand as textbooks have them, and finding better forms is the work of rewrites.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from tang.frontend.build import compute
from tang.frontend.dims import dim, extent, real
from tang.frontend.elementwise import dims_of
from tang.frontend.functions import absolute, exp, log, maximum, silu, sqrt
from tang.frontend.reductions import max as largest
from tang.frontend.reductions import sum as total
from tang.frontend.tensors import Tensor, input
from tang.frontend.values import Value
from tang.ir.extent import PolyLike


def linear(x: Tensor, outputs: PolyLike, name: str, *, bias: bool = True) -> Tensor:
    """x (…, C) → (…, outputs): Σ_c x[…, c] · W[o, c] + b[o].

    Parameters: NAME.weight (outputs, C) and, with `bias`, NAME.bias (outputs,).
    """
    *rest, c = dims_of(x.shape)
    o = dim("o", outputs)
    w = input(f"{name}.weight", (outputs, x.shape[-1]))
    y = total(x[(*rest, c)] * w[o, c], c)
    if bias:
        y = y + input(f"{name}.bias", (outputs,))[o]
    return compute(name, [*rest, o], y)


def to_heads(x: Tensor, heads: int, depth: int, name: str, *, bias: bool = False) -> Tensor:
    """x (B, T, C) → (B, T, heads, depth): a linear layer whose rows are split among the heads.

    Parameters: NAME.weight (heads·depth, C) and, with `bias`, NAME.bias (heads·depth,).
    """
    b, t, c = dims_of(x.shape)
    h, d = dim("h", heads), dim("d", depth)
    w = input(f"{name}.weight", (heads * depth, x.shape[2]))
    y = total(x[b, t, c] * w[h * depth + d, c], c)
    if bias:
        y = y + input(f"{name}.bias", (heads * depth,))[h * depth + d]
    return compute(name, (b, t, h, d), y)


def from_heads(x: Tensor, outputs: PolyLike, name: str, *, bias: bool = False) -> Tensor:
    """x (B, T, …) → (B, T, outputs): a linear layer over all further axes, row-major, uncopied.

    Parameters: NAME.weight (outputs, their product) and, with `bias`, NAME.bias (outputs,).
    """
    b, t, *heads = dims_of(x.shape)
    o = dim("o", outputs)
    sizes = [e.constant for e in x.shape[2:]]
    w = input(f"{name}.weight", (outputs, math.prod(sizes)))
    at = heads[0]
    for d, size in zip(heads[1:], sizes[1:], strict=True):
        at = at * size + d
    y = total(x[(b, t, *heads)] * w[o, at], heads)
    if bias:
        y = y + input(f"{name}.bias", (outputs,))[o]
    return compute(name, (b, t, o), y)


def add(x: Tensor, y: Tensor, name: str) -> Tensor:
    """x + y of one shape."""
    at = dims_of(x.shape)
    return compute(name, at, x[at] + y[at])


def layer_norm(x: Tensor, name: str, eps: float = 1e-5) -> Tensor:
    """(x − mean) / √(variance + eps) over the last axis, times weight, plus bias.

    Ba, Kiros & Hinton (2016), mean and variance in two passes. Parameters: NAME.weight, NAME.bias.
    """
    at = dims_of(x.shape)
    *rest, c = at
    n = real(extent(c))
    mean = compute(f"{name}.mean", rest, total(x[at], c) / n)
    centred = x[at] - mean[tuple(rest)]
    spread = compute(f"{name}.variance", rest, total(centred * centred, c) / n)
    w, b = input(f"{name}.weight", (x.shape[-1],)), input(f"{name}.bias", (x.shape[-1],))
    y = centred / sqrt(spread[tuple(rest)] + eps)
    return compute(name, at, y * w[c] + b[c])


def rms_norm(x: Tensor, name: str, eps: float = 1e-6, axes: int = 1) -> Tensor:
    """x / √(mean of x² + eps) over the last `axes` axes, times weight.

    Zhang & Sennrich (2019). Parameter: NAME.weight, of the shape of these axes.
    """
    at = dims_of(x.shape)
    rest, last = at[: len(at) - axes], at[len(at) - axes :]
    w = input(f"{name}.weight", x.shape[len(rest) :])
    return compute(name, at, x[at] / sqrt(_mean_square(x[at], last) + eps) * w[last])


def _mean_square(value: Value, over: Sequence[Value]) -> Value:
    n = extent(over[0])
    for d in over[1:]:
        n = n * extent(d)
    return total(value * value, over) / real(n)


def softmax(x: Tensor, axes: int, name: str) -> Tensor:
    """exp(x − max) / Σ exp(x − max) over the last `axes` axes, step by step; masked rows are NaN.

    Nodes: NAME.max, NAME.exp, NAME.sum, NAME.
    """
    at = dims_of(x.shape)
    rest, last = at[: len(at) - axes], at[len(at) - axes :]
    top = compute(f"{name}.max", rest, largest(x[at], last))
    power = compute(f"{name}.exp", at, exp(x[at] - top[rest]))
    mass = compute(f"{name}.sum", rest, total(power[at], last))
    return compute(name, at, power[at] / mass[rest])


def swiglu(x: Tensor, hidden: PolyLike, name: str) -> Tensor:
    """Down(silu(gate x) · up x), without biases (Shazeer 2020): (…, C) → (…, C)."""
    gate = linear(x, hidden, f"{name}.gate", bias=False)
    up = linear(x, hidden, f"{name}.up", bias=False)
    at = dims_of(gate.shape)
    gated = compute(f"{name}.gated", at, silu(gate[at]) * up[at])
    return linear(gated, x.shape[-1], f"{name}.down", bias=False)


def softplus(x: Value) -> Value:
    """log(1 + eˣ), written so that nothing overflows."""
    return maximum(x, 0.0) + log(1.0 + exp(-absolute(x)))


def causal_conv(x: Tensor, taps: int, name: str) -> Tensor:
    """silu(b[c] + Σ_r w[c, r] · x[·, t + r − taps + 1, c]): depthwise, over the past alone.

    x (B, T, C) → (B, T, C). Parameters: NAME.weight (C, taps) and NAME.bias (C,).
    """
    b, t, c = dims_of(x.shape)
    r = dim("r", taps)
    w, bias = input(f"{name}.weight", (x.shape[2], taps)), input(f"{name}.bias", (x.shape[2],))
    y = total(x.at(b, t + r - (taps - 1), c, fill=0) * w[c, r], r) + bias[c]
    before = compute(f"{name}.before", (b, t, c), y)
    return compute(name, (b, t, c), silu(before[b, t, c]))
