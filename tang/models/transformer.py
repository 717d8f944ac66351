"""The transformer: pre-norm blocks of multi-head attention and a GELU MLP, and their losses.

Defines `transformer_block`, `transformer`, `transformer_loss`, `language_model` and
`language_model_loss`. Relies on the shared parts; attention is written naively (scores, max, exp,
sum, divide, product). Gradients are made from the losses by `tg.grad`, and nothing is fused here.

Vaswani et al., Attention Is All You Need (2017); the norms stand before the sublayers, as in
Xiong et al., On Layer Normalization in the Transformer Architecture (2020). Names in shapes:
B batch, T length, C width. A query without any key under the mask gives NaN.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tang.errors import GraphError
from tang.frontend.build import compute
from tang.frontend.dims import dim, dims, extent, real
from tang.frontend.functions import exp as exponential
from tang.frontend.functions import gelu, log, select
from tang.frontend.graph import Graph
from tang.frontend.reductions import max as largest
from tang.frontend.reductions import sum as total
from tang.frontend.tensors import Tensor, input
from tang.ir import graph as ir
from tang.ir.extent import PolyLike
from tang.models.parts import add, from_heads, layer_norm, linear, softmax


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformerSizes:
    """Sizes of a transformer: batch and seq may be symbols, the others are ints.

    width    C, divisible by heads
    hidden   of the MLP
    """

    batch: PolyLike = "batch"
    seq: PolyLike = "seq"
    width: int = 64
    heads: int = 4
    hidden: int = 256

    def __post_init__(self) -> None:
        if self.heads < 1 or self.width % self.heads:
            raise GraphError(f"width {self.width} cannot be split evenly into {self.heads} heads")


def transformer_block(sizes: TransformerSizes) -> ir.Graph:
    """One block: x (B, T, C), mask (B, T, T) bool → y (B, T, C).

    mask[b, t, s] says whether query t sees key s. Parameters are called block.….
    """
    x, mask = _data(sizes)
    return Graph(y=_block(x, mask, sizes, "block"))


def transformer(layers: int, sizes: TransformerSizes) -> ir.Graph:
    """`layers` blocks and a final norm: x (B, T, C), mask (B, T, T) bool → y (B, T, C)."""
    x, mask = _data(sizes)
    return Graph(y=_stack(x, mask, layers, sizes))


def transformer_loss(layers: int, sizes: TransformerSizes) -> ir.Graph:
    """The mean squared distance of `transformer` from target (B, T, C): → loss ().

    `tg.grad(graph, "loss", wrt)` gives gradients for x and for any parameter.
    """
    x, mask = _data(sizes)
    y = _stack(x, mask, layers, sizes)
    target = input("target", y.shape)
    b, t, c = dims("b t c")
    gap = y[b, t, c] - target[b, t, c]
    count = real(extent(b) * extent(t) * extent(c))
    return Graph(loss=compute("mean_square", (), total(gap * gap / count, (b, t, c))))


def language_model(layers: int, vocabulary: int, sizes: TransformerSizes) -> ir.Graph:
    """tokens (B, T) index, mask (B, T, T) bool → logits (B, T, vocabulary).

    Learned positions (seq, C); the table of embeddings is also the last layer (tied weights).
    """
    return Graph(logits=_logits(layers, vocabulary, sizes))


def language_model_loss(layers: int, vocabulary: int, sizes: TransformerSizes) -> ir.Graph:
    """The mean cross entropy of `language_model` at targets (B, T) index: → loss ()."""
    logits = _logits(layers, vocabulary, sizes)
    targets = input("targets", logits.shape[:2], "index")
    b, t, v = dims("b t v")
    top = compute("logits.max", (b, t), largest(logits[b, t, v], v))
    power = compute("logits.exp", (b, t, v), exponential(logits[b, t, v] - top[b, t]))
    mass = compute("logits.sum", (b, t), total(power[b, t, v], v))
    here = logits[b, t, targets[b, t]]
    cost = compute("cost", (b, t), log(mass[b, t]) + top[b, t] - here)
    mean = total(cost[b, t] / real(extent(b) * extent(t)), (b, t))
    return Graph(loss=compute("cross_entropy", (), mean))


def _data(sizes: TransformerSizes) -> tuple[Tensor, Tensor]:
    x = input("x", (sizes.batch, sizes.seq, sizes.width))
    return x, _mask(sizes)


def _mask(sizes: TransformerSizes) -> Tensor:
    return input("mask", (sizes.batch, sizes.seq, sizes.seq), "bool")


def _logits(layers: int, vocabulary: int, sizes: TransformerSizes) -> Tensor:
    tokens = input("tokens", (sizes.batch, sizes.seq), "index")
    table = input("token.weight", (vocabulary, sizes.width))
    place = input("position.weight", (sizes.seq, sizes.width))
    b, t, c, v = dims("b t c v")
    x = compute("embedded", (b, t, c), table[tokens[b, t], c] + place[t, c])
    y = _stack(x, _mask(sizes), layers, sizes)
    return compute("logits", (b, t, v), total(y[b, t, c] * table[v, c], c))


def _stack(x: Tensor, mask: Tensor, layers: int, sizes: TransformerSizes) -> Tensor:
    if layers < 0:
        raise GraphError(f"a transformer has 0 layers or more, not {layers}")
    for n in range(layers):
        x = _block(x, mask, sizes, f"layers.{n}")
    return layer_norm(x, "norm")


def _block(x: Tensor, mask: Tensor, sizes: TransformerSizes, name: str) -> Tensor:
    seen = layer_norm(x, f"{name}.attention_norm")
    x = add(x, _attention(seen, mask, sizes, f"{name}.attention"), f"{name}.middle")
    seen = layer_norm(x, f"{name}.mlp_norm")
    return add(x, _mlp(seen, sizes.hidden, f"{name}.mlp"), name)


def _attention(x: Tensor, mask: Tensor, sizes: TransformerSizes, name: str) -> Tensor:
    depth = sizes.width // sizes.heads
    q, k, v = (linear(x, sizes.width, f"{name}.{part}") for part in ("query", "key", "value"))
    b, t, s = dims("b t s")
    h, d, e = dim("h", sizes.heads), dim("d", depth), dim("e", depth)
    score = total(q[b, t, h * depth + d] * k[b, s, h * depth + d], d) / math.sqrt(depth)
    masked = select(mask[b, t, s], score, float("-inf"))
    scores = compute(f"{name}.scores", (b, h, t, s), masked)
    weight = softmax(scores, 1, f"{name}.weights")
    value = total(weight[b, h, t, s] * v[b, s, h * depth + e], s)
    heads = compute(f"{name}.heads", (b, t, h, e), value)
    return from_heads(heads, sizes.width, f"{name}.output", bias=True)


def _mlp(x: Tensor, hidden: int, name: str) -> Tensor:
    up = linear(x, hidden, f"{name}.up")
    b, t, f = dims("b t f")
    bent = compute(f"{name}.gelu", (b, t, f), gelu(up[b, t, f]))
    return linear(bent, x.shape[-1], f"{name}.down")
