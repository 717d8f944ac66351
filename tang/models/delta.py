"""The gated delta rule layer: a matrix state, sequential or in chunks.

Defines `gated_delta_layer` and the monoid of affine maps with a matrix, `matrix_scan`. Relies on
the shared parts. The sequential form folds affine maps under a monoid whose state is a matrix and
whose combine sums over a static axis; the chunked form solves each chunk by a product of powers,
unrolled, and folds chunks under the same monoid. The state starts at zero and is not returned.

Yang, Kautz & Hatamizadeh, Gated Delta Networks (2024); the chunks as in Yang et al., Parallelizing
Linear Transformers with the Delta Rule (2024). Names in shapes: B batch, T length, H heads, K and V
depths of keys and values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tang.errors import GraphError
from tang.frontend.build import compute
from tang.frontend.dims import dim, dims
from tang.frontend.elementwise import dims_of
from tang.frontend.functions import exp, select, sigmoid, silu, sqrt
from tang.frontend.graph import Graph
from tang.frontend.reduce import reduce
from tang.frontend.reductions import sum as total
from tang.frontend.tensors import Tensor, input
from tang.frontend.values import Operand, Value
from tang.ir import graph as ir
from tang.ir.derived import select as choose
from tang.ir.expr import REAL, apply, arg, fold, iota, real, state
from tang.ir.extent import PolyLike
from tang.ir.monoid import Axis, Component, Monoid
from tang.models.chunks import Chunks, chunks
from tang.models.parts import causal_conv, from_heads, linear, rms_norm, softplus

Form = Literal["sequential", "chunked"]


def matrix_scan(size: int) -> Monoid:
    """Affine maps x ↦ x A + u of row vectors, composed in order: state (A, u), output u.

    Inputs: an entry of A, over the static axes row and col, and an entry of u, over col. The
    identity is (I, 0); the last u is the row after all maps, begun at 0. Not commutative, and the
    laws hold over finite values. A combine costs size³ for A and size² for u.
    """
    row, col, mid = iota("row"), iota("col"), iota("mid")
    left, right = state(0, 0, REAL, (row, mid)), state(1, 0, REAL, (mid, col))
    through = fold("mid", size, apply("mul", left, right))
    moved = fold("mid", size, apply("mul", state(0, 1, REAL, (mid,)), right))
    diagonal = choose(apply("eq", row, col), real(1), real(0))
    return Monoid(
        f"matrix_scan_{size}",
        inputs=(REAL, REAL),
        components=(Component("A", REAL, ("row", "col")), Component("u", REAL, ("col",))),
        lift=(arg(0), arg(1)),
        identity=(diagonal, real(0)),
        combine=(through, apply("add", moved, state(1, 1, REAL, (col,)))),
        outputs=(Component("value", REAL, ("col",)),),
        project=(state(0, 1, REAL, (col,)),),
        commutative=False,
        axes=(Axis("row", size), Axis("col", size), Axis("mid", size)),
        strict=False,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DeltaSizes:
    """Sizes of a gated delta rule layer; batch and length may be symbols.

    keys, values  K and V of a head    taps  of the causal convolutions
    chunk         Q of the chunked form; a symbolic length is then a multiple of it
    """

    batch: PolyLike = "batch"
    length: PolyLike = "length"
    width: int = 32
    heads: int = 2
    keys: int = 8
    values: int = 16
    taps: int = 4
    chunk: int = 8

    def __post_init__(self) -> None:
        if min(self.width, self.heads, self.keys, self.values, self.taps, self.chunk) < 1:
            raise GraphError(f"every size of a gated delta layer is at least 1: {self}")


def gated_delta_layer(sizes: DeltaSizes, form: Form = "sequential") -> ir.Graph:
    """x (B, T, C) → y (B, T, C).

    S_t = α_t S_{t−1} (I − β_t k_t k_tᵀ) + β_t v_t k_tᵀ per head, of shape (V, K), o_t = S_t q_t;
    then RMS norm of o, times silu(gate), and a linear layer. q, k and v pass a causal convolution
    with SiLU, q and k are scaled to length 1, q also by 1/√K; β = sigmoid(linear), and
    α = exp(−softplus(linear + bias)·e^decay). Work per step and head: sequential K³ + V·K² (a fold
    of maps; only splits need the K³), chunked Q·(K + V) + log₂Q·Q², and (K³ + V·K²)/Q for the fold.
    """
    x = input("x", (sizes.batch, sizes.length, sizes.width))
    rule = _project(x, sizes)
    seen = (_sequential if form == "sequential" else _chunked)(rule, sizes)
    b, t, h, v = dims_of(seen.shape)
    gate = linear(x, sizes.heads * sizes.values, "gate", bias=False)
    normed = rms_norm(seen, "norm", 1e-5)
    value = normed[b, t, h, v] * silu(gate[b, t, h * sizes.values + v])
    return Graph(y=from_heads(compute("gated", (b, t, h, v), value), sizes.width, "output"))


@dataclass(frozen=True, slots=True)
class _Rule:
    """What the recurrence takes: query and key (B, T, H, K), value (B, T, H·V), β, log α (BTH)."""

    query: Tensor
    key: Tensor
    value: Tensor
    beta: Tensor
    log_alpha: Tensor


def _project(x: Tensor, sizes: DeltaSizes) -> _Rule:
    def convolved(part: str, depth: int) -> Tensor:
        flat = linear(x, sizes.heads * depth, part, bias=False)
        return causal_conv(flat, sizes.taps, f"{part}.conv")

    query = _unit(convolved("query", sizes.keys), sizes, "query.unit", sizes.keys**-0.5)
    key = _unit(convolved("key", sizes.keys), sizes, "key.unit", 1.0)
    raw = linear(x, sizes.heads, "beta", bias=False)
    b, t, h = dims_of(raw.shape)
    beta = compute("betas", (b, t, h), sigmoid(raw[b, t, h]))
    step, rate = linear(x, sizes.heads, "alpha"), input("head.decay", (sizes.heads,))
    log_alpha = compute("log_alpha", (b, t, h), -(softplus(step[b, t, h]) * exp(rate[h])))
    return _Rule(query, key, convolved("value", sizes.values), beta, log_alpha)


def _unit(x: Tensor, sizes: DeltaSizes, name: str, scale: float) -> Tensor:
    """(B, T, H·K) → (B, T, H, K): every head divided by √(its squares + 1e-6), times the scale."""
    b, t = dim("b", x.shape[0]), dim("t", x.shape[1])
    h, d = dim("h", sizes.heads), dim("d", sizes.keys)
    entry = x[b, t, h * sizes.keys + d]
    return compute(name, (b, t, h, d), entry * scale / sqrt(total(entry * entry, d) + 1e-6))


def _dims(sizes: DeltaSizes) -> tuple[Value, Value, Value, Value]:
    """Fresh dims: batch b, head h, row v of the state, column d of the state."""
    h, d = dim("h", sizes.heads), dim("d", sizes.keys)
    return dim("b", sizes.batch), h, dim("v", sizes.values), d


def _sequential(rule: _Rule, sizes: DeltaSizes) -> Tensor:
    """The definition: row v of the state goes through the maps of all steps so far, in order."""
    b, h, v, d = _dims(sizes)
    row, col = dims("row col")
    t, s = dim("t", sizes.length), dim("s", sizes.length)
    alpha, beta = exp(rule.log_alpha[b, s, h]), rule.beta[b, s, h]
    rank_one = beta * rule.key[b, s, h, row] * rule.key[b, s, h, col]
    matrix = alpha * (select(row == col, 1.0, 0.0) - rank_one)
    entry = beta * rule.value[b, s, h * sizes.values + v] * rule.key[b, s, h, col]
    fold_ = _maps(matrix, entry, s, [s <= t], (row, col), sizes)
    states = compute("states", (b, t, h, v), fold_)
    seen = total(states[b, t, h, v, d] * rule.query[b, t, h, d], d)
    return compute("seen", (b, t, h, v), seen)


def _maps(
    matrix: Operand,
    entry: Operand,
    over: Value,
    where: list[Value],
    axes: tuple[Value, Value],
    sizes: DeltaSizes,
) -> Value:
    """The rows of the state after the affine maps (matrix, entry) over a dim."""
    named = {"row": axes[0], "col": axes[1]}
    return reduce(matrix_scan(sizes.keys), matrix, entry, over=over, where=where, axes=named)


def _chunked(rule: _Rule, sizes: DeltaSizes) -> Tensor:
    """Solve every chunk for its updates, fold the chunks' maps, then read all steps at once.

    S_i = γ_i S_0 + Σ_{j ≤ i} γ_i/γ_j w_j k_jᵀ with γ_i = Π_{j ≤ i} α_j, where w solves
    w_i + β_i Σ_{j < i} γ_i/γ_j (k_i·k_j) w_j = β_i (v_i − γ_i S_0 k_i).
    """
    cut = chunks(sizes.length, sizes.chunk)
    gamma = cut.decays(rule.log_alpha, "log_gamma")
    solve = _inverse(_couplings(rule, gamma, cut, sizes), cut, sizes)
    b, h, v, d = _dims(sizes)
    k, i, j = cut.dims()
    beta = cut.at(rule.beta, k, j, h, b=b)
    value = cut.at(rule.value, k, j, h * sizes.values + v, b=b)
    key = cut.at(rule.key, k, j, h, d, b=b)
    part = solve[b, k, h, i, j] * beta
    fresh = compute("updates", (b, k, i, h, v), total(part * value, j, [j <= i]))
    fading = exp(gamma[b, k, j, h])
    old = compute("erased", (b, k, i, h, d), total(part * fading * key, j, [j <= i]))
    before = _incoming(rule, gamma, fresh, old, cut, sizes)
    return _outputs(rule, gamma, fresh, old, before, cut, sizes)


def _couplings(rule: _Rule, gamma: Tensor, cut: Chunks, sizes: DeltaSizes) -> Tensor:
    """−N (B, count, H, Q, Q), where N[i, j] = β_i γ_i/γ_j (k_i·k_j) below the diagonal, else 0."""
    b, h, _, d = _dims(sizes)
    k, i, j = cut.dims()
    near = total(cut.at(rule.key, k, i, h, d, b=b) * cut.at(rule.key, k, j, h, d, b=b), d)
    fading = exp(gamma[b, k, i, h] - gamma[b, k, j, h])
    entry = -(cut.at(rule.beta, k, i, h, b=b) * fading * near)
    return compute("power.0", (b, k, h, i, j), select(j < i, entry, 0.0))


def _inverse(power: Tensor, cut: Chunks, sizes: DeltaSizes) -> Tensor:
    """(I − P)⁻¹ = Π_n (I + P^(2ⁿ)) for P strictly lower triangular, whose Q-th power is 0."""
    b, h, _, _ = _dims(sizes)
    k, i, j = cut.dims()
    at, m = (b, k, h, i, j), dim("m", cut.size)
    inverse = compute("inverse.0", at, select(i == j, 1.0, power[at]))
    below = [j < m, m < i]
    for n in range(1, (cut.size - 1).bit_length()):
        square = total(power[b, k, h, i, m] * power[b, k, h, m, j], m, below)
        power = compute(f"power.{n}", at, square)
        more = total(inverse[b, k, h, i, m] * power[b, k, h, m, j], m, [j < m, m <= i])
        inverse = compute(f"inverse.{n}", at, inverse[at] + more)
    return inverse


def _incoming(
    rule: _Rule, gamma: Tensor, fresh: Tensor, old: Tensor, cut: Chunks, sizes: DeltaSizes
) -> Tensor:
    """The state (B, count, H, V, K) in which each chunk begins: the maps of the chunks before.

    A chunk maps S to S (γ_Q I − Σ_j γ_Q/γ_j erased_j k_jᵀ) + Σ_j γ_Q/γ_j update_j k_jᵀ.
    """
    b, h, v, d = _dims(sizes)
    k, _, j = cut.dims()
    e = dim("e", sizes.keys)
    last = gamma[b, k, cut.size - 1, h]
    faded = exp(last - gamma[b, k, j, h]) * cut.at(rule.key, k, j, h, d, b=b)
    removed = total(old[b, k, j, h, e] * faded, j)
    kept = select(e == d, exp(last), 0.0)
    maps = compute("chunk_maps", (b, k, h, e, d), kept - removed)
    adds = compute("chunk_states", (b, k, h, v, d), total(fresh[b, k, j, h, v] * faded, j))
    m, (row, col) = dim("m", cut.count), dims("row col")
    matrix, entry = maps[b, m, h, row, col], adds[b, m, h, v, col]
    return compute("incoming", (b, k, h, v), _maps(matrix, entry, m, [m < k], (row, col), sizes))


def _outputs(
    rule: _Rule,
    gamma: Tensor,
    fresh: Tensor,
    old: Tensor,
    before: Tensor,
    cut: Chunks,
    sizes: DeltaSizes,
) -> Tensor:
    """o_i = γ_i S_0 q_i + Σ_{j ≤ i} γ_i/γ_j (k_j·q_i) w_j, where w_j = update_j − S_0 erased_j."""
    b, h, v, d = _dims(sizes)
    k, i, j = cut.dims()
    wiped = total(before[b, k, h, v, d] * old[b, k, j, h, d], d)
    update = compute("w", (b, k, j, h, v), fresh[b, k, j, h, v] - wiped)
    query = cut.at(rule.query, k, i, h, d, b=b)
    near = compute("scores", (b, k, h, i, j), total(query * cut.at(rule.key, k, j, h, d, b=b), d))
    fading = exp(gamma[b, k, i, h] - gamma[b, k, j, h])
    within = total(fading * near[b, k, h, i, j] * update[b, k, j, h, v], j, [j <= i])
    across = total(before[b, k, h, v, d] * query, d)
    both = exp(gamma[b, k, i, h]) * across + within
    return cut.joined(compute("chunked", (b, k, i, h, v), both), "seen")
