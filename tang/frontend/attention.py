"""Scaled dot-product attention, with grouped heads, masks and biases.

Defines `attention`. Relies on `compute`; scores are stabilised by their maximum, and causal
masking is a `where`, so that keys in the future are not read at all. It is written as three
reductions; fusing them is the work of rewrites and schedules.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tang.frontend.build import make
from tang.frontend.dims import dim, size
from tang.frontend.elementwise import broadcast_shapes, dims_of, read_broadcast
from tang.frontend.functions import exp, select
from tang.frontend.reductions import max as largest
from tang.frontend.reductions import sum as total
from tang.frontend.shapes import merge_axes
from tang.frontend.site import failure
from tang.frontend.tensors import Tensor
from tang.frontend.values import Value
from tang.ir.expr import BOOL
from tang.ir.extent import Poly, poly

_NOTHING = float("-inf")


def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    mask: Tensor | None = None,
    bias: Tensor | None = None,
    scale: float | None = None,
    causal: bool = False,
    masked: bool = False,
    name: str | None = None,
) -> Tensor:
    """softmax(scale · q kᵀ + bias, where the mask holds) v.

    Shapes: q (…, H, L, D), k (…, G, S, D), v (…, G, S, E) → (…, H, L, E), where G divides H
    (grouped heads: query head h reads head h // (H/G)); rank 2 has no heads. Mask (bool, true is
    kept) and bias broadcast to (…, H, L, S). `causal` keeps s ≤ t + S − L. A row without keys is
    NaN, or 0 with `masked=True`. The scale is 1/√D unless given.
    """
    _check(q, k, v, mask)
    label = name or "attention"
    at = _points(q, k)
    score = _score(q, k, at, mask, bias, _scale(q, scale))
    scores = make(f"{label}.scores", [*at.rows, at.s], score, auto=True)
    keep = [at.s <= at.t + size(k.shape[-2] - q.shape[-2])] if causal else []
    e = dim("e", v.shape[-1])
    s = scores[(*at.rows, at.s)]
    top = make(f"{label}.max", at.rows, largest(s, at.s, keep), auto=True)[at.rows]
    weight = exp(s - (select(top == _NOTHING, 0.0, top) if masked else top))
    mass = total(weight, at.s, keep)
    value = total(weight * v[(*at.keys, at.s, e)], at.s, keep)
    out = value / mass
    if masked:
        out = select(top == _NOTHING, 0.0, out)
    grouped = at.group > 1
    result = make(f"{label}.grouped" if grouped else label, [*at.rows, e], out, auto=True)
    return merge_axes(result, q.rank - 3, label) if grouped else result


@dataclass(frozen=True, slots=True)
class _Points:
    """Dims of the scores: rows (…, key head, query head in the group, query), then the key s."""

    rows: tuple[Value, ...]
    queries: tuple[Value, ...]
    keys: tuple[Value, ...]
    t: Value
    s: Value
    group: int


def _points(q: Tensor, k: Tensor) -> _Points:
    t, s = dim("t", q.shape[-2]), dim("s", k.shape[-2])
    if q.rank == 2:
        return _Points((t,), (), (), t, s, 1)
    batch = dims_of(q.shape[:-3], "b")
    group = _group(q.shape[-3], k.shape[-3])
    head = dim("h", k.shape[-3])
    if group == 1:
        return _Points((*batch, head, t), (*batch, head), (*batch, head), t, s, 1)
    member = dim("g", group)
    queries = (*batch, head * group + member)
    return _Points((*batch, head, member, t), queries, (*batch, head), t, s, group)


def _group(heads: Poly, groups: Poly) -> int:
    if heads == groups:
        return 1
    known = heads.is_constant and groups.is_constant and groups.constant > 0
    if not known or heads.constant % groups.constant:
        raise failure(f"attention: {heads} query heads cannot share {groups} key heads evenly")
    return heads.constant // groups.constant


def _score(
    q: Tensor,
    k: Tensor,
    at: _Points,
    mask: Tensor | None,
    bias: Tensor | None,
    scale: float,
) -> Value:
    d = dim("d", q.shape[-1])
    score = total(q[(*at.queries, at.t, d)] * k[(*at.keys, at.s, d)], d) * scale
    if bias is not None:
        score = score + _broadcast("bias", bias, q, k, at)
    if mask is None:
        return score
    return select(_broadcast("mask", mask, q, k, at), score, _NOTHING)


def _broadcast(what: str, x: Tensor, q: Tensor, k: Tensor, at: _Points) -> Value:
    shape = (*q.shape[:-1], k.shape[-2])
    if broadcast_shapes(x.shape, shape) != shape:
        raise failure(f"attention: {what} {x!r} does not broadcast to {shape}")
    return read_broadcast(x, (*at.queries, at.t, at.s), shape)


def _scale(q: Tensor, scale: float | None) -> float:
    if scale is not None:
        return float(scale)
    if not q.shape[-1].is_constant or q.shape[-1].constant < 1:
        raise failure(f"attention: give the scale, 1/√D is unknown for D = {q.shape[-1]}")
    return 1.0 / math.sqrt(q.shape[-1].constant)


def _check(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> None:
    if not q.rank == k.rank == v.rank or q.rank < 2:
        raise failure(f"attention: {q!r}, {k!r} and {v!r} need one rank, at least 2")
    _agree("depths of q and k", q.shape[-1:], k.shape[-1:])
    _agree("keys of k and v", k.shape[:-1], v.shape[:-1])
    _agree("batches of q and k", q.shape[:-3], k.shape[:-3])
    if mask is not None and mask.sort is not BOOL:
        raise failure(f"attention: {mask!r} is no mask: declare it with sort bool, or pass a bias")


def _agree(what: str, a: Sequence[Poly], b: Sequence[Poly]) -> None:
    if tuple(map(poly, a)) != tuple(map(poly, b)):
        raise failure(f"attention: {what} differ: {tuple(a)} and {tuple(b)}")
