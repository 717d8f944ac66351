"""A decoder layer as in Llama and Qwen, with a dense or a paged cache of keys and values.

Defines `decoder_layer` and `paged_decoder_layer`. Relies on the shared parts: RMS norm, rotary
positions by rotating halves, grouped-query attention, optionally in a sliding window, SwiGLU.
A page table is read as a gather; storing what is new into pages is the caller's work.

Touvron et al., LLaMA (2023) and Llama 2 (2023); Yang et al., Qwen2 (2024) and Qwen3 (2025); Su et
al., RoFormer (2021); Ainslie et al., GQA (2023); Shazeer, GLU Variants (2020); Kwon et al.,
PagedAttention (2023). Names in shapes: B batch, T new tokens, C width, G key heads, D depth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tang.errors import GraphError
from tang.frontend.build import compute
from tang.frontend.dims import dim, dims, real
from tang.frontend.elementwise import dims_of
from tang.frontend.functions import cos, exp2, maximum, select, sin
from tang.frontend.graph import Graph
from tang.frontend.reductions import sum as total
from tang.frontend.tensors import Tensor, input
from tang.frontend.values import Value
from tang.ir import graph as ir
from tang.ir.extent import PolyLike
from tang.models.parts import add, from_heads, rms_norm, softmax, swiglu, to_heads


@dataclass(frozen=True, slots=True, kw_only=True)
class DecoderSizes:
    """Sizes and options of a decoder layer; batch and seq may be symbols.

    heads, groups  query heads and the key heads that they share evenly
    depth          of a head, even
    window         a query sees this many tokens, itself included; None: all up to itself
    base           of the rotary angles: pair j turns by position · base^(−2j/depth)
    bias           of query, key and value, as in Qwen2
    head_norm      RMS norm of every query and key head, as in Qwen3
    """

    batch: PolyLike = "batch"
    seq: PolyLike = "seq"
    width: int = 64
    heads: int = 4
    groups: int = 2
    depth: int = 16
    hidden: int = 128
    window: int | None = None
    base: float = 10000.0
    bias: bool = False
    head_norm: bool = False

    def __post_init__(self) -> None:
        if self.groups < 1 or self.heads % self.groups:
            raise GraphError(f"{self.heads} query heads cannot share {self.groups} key heads")
        if self.depth < 2 or self.depth % 2:
            raise GraphError(f"rotary positions need an even depth, not {self.depth}")
        if self.window is not None and self.window < 1:
            raise GraphError(f"a window holds one token or more, not {self.window}")


def decoder_layer(sizes: DecoderSizes, cache: PolyLike = "cache") -> ir.Graph:
    """x (B, T, C), start (B,) index, key_cache and value_cache (B, cache, G, D) → y, both caches.

    start[b] tokens of sequence b are in its cache; the new ones follow, start[b] + T ≤ cache.
    Outputs: y (B, T, C), and keys and values (B, cache, G, D) with the new tokens in place and
    zeros behind them. What the caches hold from start[b] on is not read.
    """
    new = _project(sizes)
    (s,) = place = (dim("s", cache),)
    since = _since(new, place, s)
    shape = (sizes.batch, cache, sizes.groups, sizes.depth)

    def joined(name: str, fresh: Tensor) -> Tensor:
        b, g, d = _of_key(sizes)
        old = input(f"{name}_cache", shape)[b, s, g, d]
        return _joined(f"{name}s", fresh, since, place, old, (b, g, d))

    keys, values = joined("key", new.key), joined("value", new.value)
    seen = _attend(new.query, keys, values, since, place, sizes)
    return Graph(y=_finish(new.x, seen, sizes), keys=keys, values=values)


def paged_decoder_layer(
    sizes: DecoderSizes,
    page: int = 16,
    pages: PolyLike = "pages",
    blocks: PolyLike = "blocks",
) -> ir.Graph:
    """The same with caches in pages: key_pages and value_pages (pages, page, G, D).

    page_table (B, blocks) index: block n of sequence b is in page page_table[b, n]; −1, or any
    index outside the pool, is an empty page and reads zeros. Outputs: y (B, T, C), and key and
    value (B, T, G, D) of the new tokens, which the caller stores in their pages.
    """
    if page < 1:
        raise GraphError(f"a page holds one token or more, not {page}")
    new = _project(sizes)
    n, o = place = (dim("n", blocks), dim("o", page))
    table = input("page_table", (sizes.batch, blocks), "index")
    since = _since(new, place, n * page + o)

    def joined(name: str, fresh: Tensor) -> Tensor:
        b, g, d = _of_key(sizes)
        pool = input(f"{name}_pages", (pages, page, sizes.groups, sizes.depth))
        old = pool.at(table[b, n], o, g, d, fill=0)
        return _joined(f"{name}s", fresh, since, place, old, (b, g, d))

    keys, values = joined("key", new.key), joined("value", new.value)
    seen = _attend(new.query, keys, values, since, place, sizes)
    return Graph(y=_finish(new.x, seen, sizes), key=new.key, value=new.value)


@dataclass(frozen=True, slots=True)
class _New:
    """The new tokens: their number so far, turned queries and keys, and values by head."""

    x: Tensor
    start: Tensor
    query: Tensor
    key: Tensor
    value: Tensor


def _project(sizes: DecoderSizes) -> _New:
    x = input("x", (sizes.batch, sizes.seq, sizes.width))
    start = input("start", (sizes.batch,), "index")
    seen = rms_norm(x, "attention_norm")
    turn = _turn(x, start, sizes)

    def heads(part: str, count: int) -> Tensor:
        return to_heads(seen, count, sizes.depth, f"attention.{part}", bias=sizes.bias)

    def turned(part: str, count: int) -> Tensor:
        straight = heads(part, count)
        if sizes.head_norm:
            straight = rms_norm(straight, f"attention.{part}_norm")
        return _turned(straight, turn, f"attention.{part}.turned")

    query, key = turned("query", sizes.heads), turned("key", sizes.groups)
    return _New(x, start, query, key, heads("value", sizes.groups))


def _turn(x: Tensor, start: Tensor, sizes: DecoderSizes) -> Tensor:
    """cos and sin (B, T, D) of the angles of positions start[b] + t; both halves are alike."""
    b, t, d = dim("b", x.shape[0]), dim("t", x.shape[1]), dim("d", sizes.depth)
    rate = exp2(real(d % (sizes.depth // 2)) * (-2.0 * math.log2(sizes.base) / sizes.depth))
    angle = (real(start[b]) + real(t)) * rate
    return compute("turn", (b, t, d), {"cos": cos(angle), "sin": sin(angle)})


def _turned(x: Tensor, turn: Tensor, name: str) -> Tensor:
    """x cos + rotate_half(x) sin, where rotate_half maps (lower, upper) to (−upper, lower)."""
    b, t, h, d = dims_of(x.shape)
    half = x.shape[3].constant // 2
    lower = -x.at(b, t, h, d + half, fill=0)
    upper = x.at(b, t, h, d - half, fill=0)
    rotated = select(d < half, lower, upper)
    value = x[b, t, h, d] * turn[b, t, d] + rotated * turn.output("sin")[b, t, d]
    return compute(name, (b, t, h, d), value)


def _of_key(sizes: DecoderSizes) -> tuple[Value, Value, Value]:
    return dim("b", sizes.batch), dim("g", sizes.groups), dim("d", sizes.depth)


def _since(new: _New, place: tuple[Value, ...], at: Value) -> Tensor:
    """(B, places…) index: how far a place is behind the first new token; below 0 it is cached.

    Kept as a tensor of its own, it is a difference in 32 bits; a negative start counts as 0.
    """
    b = dim("b", new.start.shape[0])
    return compute("since", (b, *place), at - maximum(new.start[b], 0))


def _joined(
    name: str,
    fresh: Tensor,
    since: Tensor,
    place: tuple[Value, ...],
    old: Value,
    of_key: tuple[Value, Value, Value],
) -> Tensor:
    """(B, places…, G, D): what is cached before start[b], then the new tokens, then zeros."""
    b, g, d = of_key
    behind = since[(b, *place)]
    value = select(behind < 0, old, fresh.at(b, behind, g, d, fill=0))
    return compute(name, (b, *place, g, d), value)


def _attend(
    query: Tensor,
    keys: Tensor,
    values: Tensor,
    since: Tensor,
    place: tuple[Value, ...],
    sizes: DecoderSizes,
) -> Tensor:
    """Grouped-query attention (B, T, G, H/G, D): query head g·(H/G) + r reads key head g."""
    share = sizes.heads // sizes.groups
    b, t, d = dims("b t d")
    g, r = dim("g", sizes.groups), dim("r", share)
    behind = since[(b, *place)]
    seen = behind <= t
    if sizes.window is not None:
        seen = seen & (t - sizes.window < behind)
    key = keys[(b, *place, g, d)]
    score = total(query[b, t, g * share + r, d] * key, d) / math.sqrt(sizes.depth)
    point = (b, g, r, t, *place)
    scores = compute("attention.scores", point, select(seen, score, float("-inf")))
    weight = softmax(scores, len(place), "attention.weights")
    value = total(weight[point] * values[(b, *place, g, d)], place)
    return compute("attention.heads", (b, t, g, r, d), value)


def _finish(x: Tensor, seen: Tensor, sizes: DecoderSizes) -> Tensor:
    middle = add(x, from_heads(seen, sizes.width, "attention.output"), "middle")
    return add(middle, swiglu(rms_norm(middle, "mlp_norm"), sizes.hidden, "mlp"), "layer")
