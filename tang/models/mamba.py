"""The Mamba-2 layer: a state space duality (SSD) layer, sequential or in chunks.

Defines `mamba2_layer`. Relies on the shared parts; the sequential form is the affine scan that
defines the layer, the chunked form is the matrix form of the paper, equal over the reals. The
state starts at zero and is not returned; every head shares the same keys and queries.

Dao & Gu, Transformers are SSMs (2024), §6 and listing 1. Their X, B, C, Δ, A, D are here value,
key, query, step, −exp(decay) and skip. Names in shapes: B batch, T length, H heads, P depth of a
head, N size of the state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tang.errors import GraphError
from tang.frontend.build import compute
from tang.frontend.dims import dim
from tang.frontend.elementwise import dims_of
from tang.frontend.functions import exp, silu
from tang.frontend.graph import Graph
from tang.frontend.reductions import affine_scan
from tang.frontend.reductions import sum as total
from tang.frontend.tensors import Tensor, input
from tang.frontend.values import Value
from tang.ir import graph as ir
from tang.ir.extent import PolyLike
from tang.models.chunks import chunks
from tang.models.parts import causal_conv, from_heads, linear, rms_norm, softplus

Form = Literal["sequential", "chunked"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MambaSizes:
    """Sizes of a Mamba-2 layer; batch and length may be symbols.

    depth, state  P and N of a head    taps  of the causal convolution
    chunk         Q of the chunked form; a symbolic length is then a multiple of it
    """

    batch: PolyLike = "batch"
    length: PolyLike = "length"
    width: int = 32
    heads: int = 4
    depth: int = 16
    state: int = 16
    taps: int = 4
    chunk: int = 16

    def __post_init__(self) -> None:
        if min(self.width, self.heads, self.depth, self.state, self.taps, self.chunk) < 1:
            raise GraphError(f"every size of a Mamba-2 layer is at least 1: {self}")


def mamba2_layer(sizes: MambaSizes, form: Form = "sequential") -> ir.Graph:
    """x (B, T, C) → y (B, T, C).

    h_t = exp(−Δ_t·e^decay) h_{t−1} + Δ_t key_t value_tᵀ per head, of shape (N, P), and
    y_t = queryᵀ h_t + skip·value_t; then RMS norm of y·silu(gate) and a linear layer. Steps of work
    per head: sequential T·N·P in a scan, chunked T·Q·(N + P) in products and T/Q·N·P in a scan.
    Value, key and query pass a causal convolution with SiLU; Δ = softplus(linear + bias).
    """
    x = input("x", (sizes.batch, sizes.length, sizes.width))
    ssm = _project(x, sizes)
    mixed = (_sequential if form == "sequential" else _chunked)(ssm, sizes)
    gate = linear(x, sizes.heads * sizes.depth, "gate", bias=False)
    b, t, h, p = dims_of(mixed.shape)
    skip = input("head.skip", (sizes.heads,))
    flat = h * sizes.depth + p
    value = mixed[b, t, h, p] + skip[h] * ssm.value[b, t, flat]
    gated = compute("gated", (b, t, h, p), value * silu(gate[b, t, flat]))
    return Graph(y=from_heads(rms_norm(gated, "norm", 1e-5, axes=2), sizes.width, "output"))


@dataclass(frozen=True, slots=True)
class _Ssm:
    """What the recurrence takes: value (B, T, H·P), key, query (B, T, N), step, log_decay (BTH)."""

    value: Tensor
    key: Tensor
    query: Tensor
    step: Tensor
    log_decay: Tensor


def _project(x: Tensor, sizes: MambaSizes) -> _Ssm:
    def convolved(part: str, width: int) -> Tensor:
        return causal_conv(linear(x, width, part, bias=False), sizes.taps, f"{part}.conv")

    value = convolved("value", sizes.heads * sizes.depth)
    key, query = convolved("key", sizes.state), convolved("query", sizes.state)
    raw = linear(x, sizes.heads, "step")
    b, t, h = dims_of(raw.shape)
    step = compute("steps", (b, t, h), softplus(raw[b, t, h]))
    rate = input("head.decay", (sizes.heads,))
    log_decay = compute("log_decay", (b, t, h), -(step[b, t, h] * exp(rate[h])))
    return _Ssm(value, key, query, step, log_decay)


def _dims(sizes: MambaSizes) -> tuple[Value, Value, Value, Value]:
    """Fresh dims: batch b, head h, state n, depth p."""
    h, p = dim("h", sizes.heads), dim("p", sizes.depth)
    return dim("b", sizes.batch), h, dim("n", sizes.state), p


def _sequential(ssm: _Ssm, sizes: MambaSizes) -> Tensor:
    """The definition: every entry of the state is an affine scan over the past."""
    b, h, n, p = _dims(sizes)
    t, s = dim("t", sizes.length), dim("s", sizes.length)
    entry = ssm.step[b, s, h] * ssm.key[b, s, n] * ssm.value[b, s, h * sizes.depth + p]
    scan = affine_scan(exp(ssm.log_decay[b, s, h]), entry, s, [s <= t])
    state = compute("state", (b, t, h, n, p), scan)
    seen = total(ssm.query[b, t, n] * state[b, t, h, n, p], n)
    return compute("mixed", (b, t, h, p), seen)


def _chunked(ssm: _Ssm, sizes: MambaSizes) -> Tensor:
    """Within a chunk attention with decays; between chunks a scan over their states."""
    cut = chunks(sizes.length, sizes.chunk)
    decay = cut.decays(ssm.log_decay, "decays")
    before = _incoming(ssm, decay, sizes)
    b, h, n, p = _dims(sizes)
    k, i, j = cut.dims()
    product = cut.at(ssm.query, k, i, n, b=b) * cut.at(ssm.key, k, j, n, b=b)
    score = compute("scores", (b, k, i, j), total(product, n))
    fading = exp(decay[b, k, i, h] - decay[b, k, j, h]) * cut.at(ssm.step, k, j, h, b=b)
    value = cut.at(ssm.value, k, j, h * sizes.depth + p, b=b)
    within = total(score[b, k, i, j] * fading * value, j, [j <= i])
    across = total(cut.at(ssm.query, k, i, n, b=b) * before[b, k, h, n, p], n)
    both = within + exp(decay[b, k, i, h]) * across
    return cut.joined(compute("chunked", (b, k, i, h, p), both), "mixed")


def _incoming(ssm: _Ssm, decay: Tensor, sizes: MambaSizes) -> Tensor:
    """The state (B, count, H, N, P) in which each chunk begins."""
    cut = chunks(sizes.length, sizes.chunk)
    b, h, n, p = _dims(sizes)
    k, _, j = cut.dims()
    fading = exp(decay[b, k, sizes.chunk - 1, h] - decay[b, k, j, h])
    entry = cut.at(ssm.step, k, j, h, b=b) * cut.at(ssm.key, k, j, n, b=b)
    value = cut.at(ssm.value, k, j, h * sizes.depth + p, b=b)
    own = compute("chunk_states", (b, k, h, n, p), total(fading * entry * value, j))
    m = dim("m", cut.count)
    through = exp(decay[b, m, sizes.chunk - 1, h])
    scan = affine_scan(through, own[b, m, h, n, p], m, [m < k])
    return compute("incoming", (b, k, h, n, p), scan)
