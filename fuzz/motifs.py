"""Motifs: programs as people write them, which the recognising rules are there for.

Defines `draw_motif`: a random spelling of a pattern (softmax over values, logsumexp, moments,
argmax, cumulative sums, scaled and paired products, chains of views) with random masks, sizes and
names. Relies on the frontend. It draws neither a schedule nor data, and it rewrites nothing.
"""

from __future__ import annotations

from typing import Final

import tang as tg
from tang.fuzz.draft import Draft, Kind, Motif, Tensor, Value
from tang.fuzz.motifs_gradients import GRADIENTS
from tang.fuzz.motifs_rules import ON_REQUEST, PATTERNS
from tang.fuzz.program import Size
from tang.fuzz.source import Source, between, choose, weighted
from tang.ir.expr import BOOL, INDEX
from tang.ir.graph import Graph


def draw_motif(source: Source) -> Motif:
    """A random motif; shrinks to the softmax of a single score."""
    draft = Draft(source)
    aim = weighted(source, _AIMS)
    found = choose(source, _BY_AIM[aim])(draft)
    if isinstance(found, Graph):
        graph = found
    else:
        graph = tg.Graph(**{f"out{n}": t for n, t in enumerate(found)})
    read = {i.name for i in graph.inputs}
    symbols = graph.symbols
    return Motif(
        graph,
        tuple(p for p in draft.plans if p.name in read),
        {s: n for s, n in draft.sizes.items() if s in symbols},
        aim,
    )


# --- softmax, logsumexp --------------------------------------------------------------------------


def _scores(d: Draft, rows: Size, keys: Size, i: Value, k: Value) -> Value:
    """Scores at (row, key): given, or products, scaled, biased and masked, stored or in place."""
    e = tg.dim("e")
    if d.yes(60):
        s = d.input(rows, keys)
    else:
        depth = d.size(1, 3)
        q, key = d.input(rows, depth), d.input(keys, depth)
        s = d.node((i, k), tg.sum(q[i, e] * key[k, e], over=e))
    value: Value = s[i, k]
    plain = True
    if d.yes(40):
        value, plain = value * choose(d.source, (0.5, 0.25, 2.0)), False
    if d.yes(30):
        value, plain = d.either(value, d.input(keys)[k], lambda a, b: a + b), False
    if d.yes(30):
        mask = d.input(rows, keys, sort=BOOL)
        value, plain = tg.select(mask[i, k], value, float("-inf")), False
    return value if plain or d.yes() else d.node((i, k), value)[i, k]


def _kept(d: Draft, i: Value, k: Value) -> list[Value]:
    """No condition, a causal one, or a window."""
    shift = between(d.source, 0, 2)
    return choose(d.source, ([], [], [k <= i + shift], [k <= i + shift, i <= k + 2]))


def _exp(d: Draft, s: Value, top: Value) -> Value:
    """exp(s − top) in one of its spellings."""
    log2e = 1.4426950408889634
    kind = between(d.source, 0, 3)
    if kind == 0:
        return tg.exp(s - top)
    if kind == 1:
        return tg.exp((s - top) * d.pick((0.5, 2.0)))
    return tg.exp2((s - top) * log2e) if kind == 2 else tg.exp(-(top - s))


def _softmax(d: Draft) -> list[Tensor]:
    rows, keys = d.size(symbol="n"), d.size(1, 8, symbol="m")
    i, k = tg.dim("i", rows.poly), tg.dim("k", keys.poly)
    s = _scores(d, rows, keys, i, k)
    keep = _kept(d, i, k)
    wide = d.yes(70)
    width = d.size(1, 3)
    e = tg.dim("e", width.poly)
    v = d.input(keys, width) if wide else d.input(keys)
    point = (i, e) if wide else (i,)
    at = v[k, e] if wide else v[k]
    top = d.node((i,), tg.max(s, over=k, where=keep))
    weight = _exp(d, s, top[i])
    mass = d.node((i,), tg.sum(weight, over=k, where=keep))
    total = tg.sum(d.either(weight, at, lambda a, b: a * b), over=k, where=keep)
    if d.yes():
        held = d.node(point, total)
        out = d.node(point, held[point] / mass[i])
    else:
        out = d.node(point, total / mass[i])
    return [out, mass] if d.yes(20) else [out]


def _logsumexp(d: Draft) -> list[Tensor]:
    rows, keys = d.size(symbol="n"), d.size(1, 8)
    i, k = tg.dim("i", rows.poly), tg.dim("k", keys.poly)
    s = _scores(d, rows, keys, i, k)
    keep = _kept(d, i, k)
    top = d.node((i,), tg.max(s, over=k, where=keep))
    mass = d.node((i,), tg.sum(_exp(d, s, top[i]), over=k, where=keep))
    log = tg.log(mass[i])
    return [d.node((i,), d.either(top[i], log, lambda a, b: a + b))]


# --- moments, winners, running sums --------------------------------------------------------------


def _moments(d: Draft) -> list[Tensor]:
    rows, length = d.size(symbol="n"), d.size(1, 8)
    x = d.input(rows, length)
    i, k = tg.dim("i", rows.poly), tg.dim("k", length.poly)
    count = float(length.value)
    mean = d.node((i,), tg.sum(x[i, k], over=k) / count)
    if d.yes(60):
        gap = x[i, k] - mean[i] if d.yes() else mean[i] - x[i, k]
        var = d.node((i,), tg.sum(gap * gap, over=k) / count)
    else:
        square = d.node((i,), tg.sum(x[i, k] * x[i, k], over=k) / count)
        var = d.node((i,), square[i] - mean[i] * mean[i])
    if d.yes():
        scaled = (x[i, k] - mean[i]) / tg.sqrt(var[i] + 1e-3)
        return [d.node((i, k), scaled)]
    return [mean, var]


def _winner(d: Draft) -> list[Tensor]:
    """The least position of a largest (or smallest) element, and what stands there."""
    rows, length = d.size(symbol="n"), d.size(1, 8)
    x = d.input(rows, length)
    i, k = tg.dim("i", rows.poly), tg.dim("k", length.poly)
    extremum = tg.max if d.yes(70) else tg.min
    top = d.node((i,), extremum(x[i, k], over=k))
    same = x[i, k] == top[i] if d.yes() else top[i] == x[i, k]
    first = d.node((i,), tg.min(tg.select(same, k, length.value), over=k))
    if d.yes(40):
        return [first, d.node((i,), x.at(i, first[i], fill=0.0))]
    return [first, top] if d.yes() else [first]


def _picks(d: Draft) -> list[Tensor]:
    """The two largest elements, one pick after the other."""
    rows, length = d.size(symbol="n"), d.size(2, 7)
    x = d.input(rows, length)
    i, k = tg.dim("i", rows.poly), tg.dim("k", length.poly)
    first = d.node((i,), tg.argmax(x[i, k], over=k))
    rest = tg.select(k == first[i], float("-inf"), x[i, k])
    second = d.node((i,), tg.argmax(rest, over=k))
    return [first, second]


def _running(d: Draft) -> list[Tensor]:
    """A running fold, its condition a `where` or a gate; or a decayed sum."""
    length, width = d.size(1, 8, symbol="n"), d.size(1, 3)
    x = d.input(length, width)
    t, s, c = tg.dim("t", length.poly), tg.dim("s", length.poly), tg.dim("c", width.poly)
    r = tg.dim("r", length.poly)
    if d.yes(40):
        a = d.input(length)
        decay = d.node((t, s), tg.prod(a[r], over=r, where=[s < r, r <= t]))
        term = d.either(decay[t, s], x[s, c], lambda p, q: p * q)
        return [d.node((t, c), tg.sum(term, over=s, where=[s <= t]))]
    kind = between(d.source, 0, 2)
    fold, neutral = ((tg.sum, 0.0), (tg.max, float("-inf")), (tg.min, float("inf")))[kind]
    until = s <= t - between(d.source, 0, 1)
    if d.yes():
        return [d.node((t, c), fold(x[s, c], over=s, where=[until]))]
    return [d.node((t, c), fold(tg.select(until, x[s, c], neutral), over=s))]


def _twins(d: Draft) -> list[Tensor]:
    """Operations on a value and itself: NaN and infinities tell x − x from 0, x / x from 1."""
    rows, cols = d.size(2, 4), d.size(1, 4)
    x = d.filled("nonfinite", rows, cols)
    i, k = tg.dim("i", rows.poly), tg.dim("k", cols.poly)
    y = x[i, k] if d.yes() else x[i, k] * d.real(1, 4)
    tests = (y < y, y <= y, y == y)
    sides = [d.node((i, k), v) for v in (y - y, y / y, tg.select(d.pick(tests), y, 2.0))]
    return [d.node((i,), tg.sum(side[i, k], over=k)) if d.yes(25) else side for side in sides]


# --- products, views -----------------------------------------------------------------------------


def _products(d: Draft) -> list[Tensor]:
    """Two products of one operand, scaled outside of the sum, then gated."""
    rows, depth, cols = d.size(symbol="n"), d.size(1, 5), d.size(1, 4)
    x, gate, up = d.input(rows, depth), d.input(depth, cols), d.input(depth, cols)
    i, k, j = tg.dim("i", rows.poly), tg.dim("k", depth.poly), tg.dim("j", cols.poly)
    scale = d.input(rows)
    a = d.node((i, j), tg.sum(scale[i] * x[i, k] * gate[k, j], over=k))
    term = d.either(x[i, k], up[k, j], lambda p, q: p * q)
    b = d.node((i, j), tg.sum(term, over=k))
    act = a[i, j] * tg.sigmoid(a[i, j]) if d.yes() else tg.maximum(a[i, j], 0.0)
    return [d.node((i, j), act * b[i, j])]


def _views(d: Draft) -> list[Tensor]:
    """A padded, shifted, flipped or gathered copy, read by a window of its own."""
    length = d.size(2, 7)
    n = length.value
    x = d.input(length)
    i = tg.dim("i", n)
    fill = choose(d.source, (0.0, 1.0, float("-inf")))
    kind = between(d.source, 0, 3)
    if kind == 0:
        p = tg.dim("p", n + 2)
        copy = d.node((p,), x.at(p - 1, fill=fill))
    elif kind == 1:
        copy = d.node((i,), x[n - 1 - i])
    elif kind == 2:
        rows = d.input(length, sort=INDEX, high=n - 1)
        copy = d.node((i,), x[rows[i]])
    else:
        copy = d.node((i,), x[i] + 1.0)
    taps = d.size(1, 3)
    w = d.input(taps)
    r = tg.dim("r", taps.poly)
    o = tg.dim("o", n)
    other = choose(d.source, (0.0, 2.0))
    out = tg.sum(copy.at(o + r - 1, fill=other) * w[r], over=r)
    return [d.node((o,), out)]


_KINDS: Final[tuple[Kind, ...]] = (
    _softmax, _softmax, _softmax, _softmax, _logsumexp, _moments, _winner,
    _picks, _picks, _running, _products, _views, _views,
)  # fmt: skip

_AIMS: Final = (
    (46, "rules"), (34, "gradient"), (7, "segment-sum"), (6, "chunk-scan"), (7, "compilers"),
)  # fmt: skip
_BY_AIM: Final[dict[str, tuple[Kind, ...]]] = {
    "rules": (*_KINDS, *PATTERNS),
    "gradient": (*GRADIENTS, *_KINDS[:: len(_KINDS) // 3]),
    "compilers": (_twins,),
    **ON_REQUEST,
}
