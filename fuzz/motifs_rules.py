"""Motifs for rules: patterns that they recognise, and near misses that they must leave alone.

Defines `PATTERNS`, and `ON_REQUEST`, those for rules that are applied only when named. Relies on
drafts. It draws neither schedules nor data, and it rewrites nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import tang as tg
from tang.fuzz.draft import Draft, Kind, Tensor, Value
from tang.fuzz.program import Size, fixed
from tang.ir.expr import BOOL, INDEX, REAL, apply, arg
from tang.ir.graph import Comprehension, Dim, Graph, Input, Output
from tang.ir.monoids import MAX, MIN, PROD, SUM, product
from tang.ir.view import Read, Ref, View, variable

# --- softmax and its kin -------------------------------------------------------------------------


def _plain_softmax(d: Draft) -> list[Tensor]:
    """Σ exp(x)·v / Σ exp(x) without a maximum; masks and conditions may differ between the two."""
    rows, keys = d.size(), d.size(2, 7)
    x, v = d.input(rows, keys), d.input(keys)
    mask = d.input(rows, keys, sort=BOOL)
    i, k = tg.dim("i", rows.poly), tg.dim("k", keys.poly)
    weight = tg.exp(x[i, k])
    masked = tg.select(mask[i, k], weight, 0.0)
    kind = d.number(0, 4)
    above, below = ((weight, weight), (masked, masked), (masked, weight), (weight, masked),
                    (weight, weight))[kind]  # fmt: skip
    keep = [k <= i + 1] if kind == 4 else []
    mass = d.node((i,), tg.sum(below, over=k, where=[] if d.yes(60) else keep))
    total = tg.sum(d.either(above, v[k], lambda a, b: a * b), over=k, where=keep)
    out = total / mass[i]
    return [d.node((i,), out * x[i, 0] if d.yes() else out)]


def _safe_softmax(d: Draft) -> list[Tensor]:
    """A stable softmax times other factors, its numerator and its mass masked alike or not."""
    rows, keys = d.size(), d.size(2, 7)
    x, v, gate = d.input(rows, keys), d.input(keys), d.input(rows)
    mask = d.input(rows, keys, sort=BOOL)
    i, k = tg.dim("i", rows.poly), tg.dim("k", keys.poly)
    top = d.node((i,), tg.max(x[i, k], over=k))
    weight = tg.exp(x[i, k] - top[i])
    masked = tg.select(mask[i, k], weight, 0.0)
    above = masked if d.yes() else weight
    below = masked if d.yes() else weight
    mass = d.node((i,), tg.sum(below, over=k))
    held = d.node((i,), tg.sum(above * v[k], over=k))
    out = held[i] / mass[i]
    return [d.node((i,), d.either(out, gate[i], lambda a, b: a * b))]


def _log_masses(d: Draft) -> list[Tensor]:
    """log Σ exp x beside other summands, with a maximum of x or of something else at hand."""
    rows, keys = d.size(), d.size(1, 6)
    x, bias = d.input(rows, keys), d.input(rows)
    i, k = tg.dim("i", rows.poly), tg.dim("k", keys.poly)
    top = d.node((i,), tg.max(x[i, k], over=k))
    mass = d.node((i,), tg.sum(tg.exp(x[i, k] - top[i]), over=k))
    log = d.either(top[i], tg.log(mass[i]), lambda a, b: a + b)
    kind = d.number(0, 2)
    if kind == 0:
        return [d.node((i,), d.either(bias[i], log, lambda a, b: a + b))]
    if kind == 1:
        return [d.node((i, k), x[i, k] - log)]
    other = d.node((i,), tg.max(x[i, k] * d.pick((2.0, -1.0, x[i, k])), over=k))
    lse = d.node((i,), tg.logsumexp(x[i, k], over=k))
    return [d.node((i,), d.either(other[i], lse[i], lambda a, b: a + b))]


def _kept_extremum(d: Draft) -> list[Tensor]:
    """A maximum of scores that an online softmax or an argmax of them keeps too."""
    rows, keys = d.size(symbol="n"), d.size(1, 6)
    x, v = d.input(rows, keys), d.input(keys)
    i, k = tg.dim("i", rows.poly), tg.dim("k", keys.poly)
    kind = d.number(0, 2)
    if kind == 0:
        whole = d.node((i,), tg.online_softmax(x[i, k], v[k], over=k))
    elif kind == 1:
        whole = d.node((i,), tg.logsumexp(x[i, k], over=k))
    else:
        at = d.node((i,), tg.argmax(x[i, k], over=k))
        whole = d.node((i,), tg.real(at[i]) * 0.5)
    top = d.node((i,), tg.max(x[i, k], over=k))
    return [d.node((i,), whole[i] - top[i])]


# --- moments -------------------------------------------------------------------------------------


def _some_moments(d: Draft) -> list[Tensor]:
    """Moments over some elements; the count is that of these, or, wrongly, of all."""
    rows, length = d.size(2, 5), d.size(2, 6)
    x = d.input(rows, length)
    i, k = tg.dim("i", rows.poly), tg.dim("k", length.poly)
    keep = [k <= i]
    size: Value = float(length.value)
    if d.yes(60):
        size = d.node((i,), tg.sum(1.0, over=k, where=keep))[i]
    mean = d.node((i,), tg.sum(x[i, k], over=k, where=keep) / size)
    if d.yes(60):
        gap = x[i, k] - mean[i]
        return [mean, d.node((i,), tg.sum(gap * gap, over=k, where=keep) / size)]
    square = d.node((i,), tg.sum(x[i, k] * x[i, k], over=k, where=keep) / size)
    return [mean, d.node((i,), square[i] - mean[i] * mean[i])]


def _all_moments(d: Draft) -> list[Tensor]:
    """Mean of squares − square of mean, or Σ x² − (Σ x)²/n."""
    rows, length = d.size(), d.size(1, 6)
    x = d.input(rows, length)
    i, k = tg.dim("i", rows.poly), tg.dim("k", length.poly)
    n = float(length.value)
    plain = d.node((i,), tg.sum(x[i, k], over=k))
    square = d.node((i,), tg.sum(x[i, k] * x[i, k], over=k))
    spread = square[i] - plain[i] * plain[i] / n
    return [d.node((i,), spread if d.yes() else spread / n), plain]


# --- winners -------------------------------------------------------------------------------------


def _position(d: Draft) -> list[Tensor]:
    """The least position of an extremum, or a number that may be a position itself."""
    rows, length = d.size(), d.size(2, 7)
    x = d.input(rows, length)
    i, k = tg.dim("i", rows.poly), tg.dim("k", length.poly)
    extremum = tg.max if d.yes(60) else tg.min
    top = d.node((i,), extremum(x[i, k], over=k))
    beyond = d.pick((length.value, length.value, 0, 1, 1))
    return [d.node((i,), tg.min(tg.select(x[i, k] == top[i], k, beyond), over=k))]


def _value_there(d: Draft) -> list[Tensor]:
    """What stands at an argmax."""
    rows, length = d.size(2, 4), d.size(2, 6)
    x = d.input(rows, length)
    i, k = tg.dim("i", rows.poly), tg.dim("k", length.poly)
    at = d.node((i,), (tg.argmax if d.yes(70) else tg.argmin)(x[i, k], over=k))
    return [d.node((i,), x[i, at[i]] * 2.0 + (0.0 if d.yes() else tg.real(at[i])))]


def _ranks(d: Draft) -> list[Tensor]:
    """Ranks by counting; of equal elements the first or the last comes first."""
    rows, length = d.size(1, 3), d.size(2, 5)
    x = d.input(rows, length)
    i, k, j = tg.dim("i", rows.poly), tg.dim("k", length.poly), tg.dim("j", length.poly)
    z = d.node((i, k), tg.floor(x[i, k] * 0.25))
    earlier = j < k if d.yes(60) else k < j
    before = (z[i, k] < z[i, j]) | ((z[i, j] == z[i, k]) & earlier)
    rank = d.node((i, k), tg.count(before, over=j))
    r = tg.dim("r", d.number(1, 2))
    return [d.node((i, r), tg.sum(tg.select(rank[i, k] == r, k, 0), over=k))]


# --- gates, siblings, products -------------------------------------------------------------------


def _gated(d: Draft) -> list[Tensor]:
    """A fold of what passes a gate on coordinates, else a value that is neutral or not."""
    length, width = d.size(2, 6), d.size(1, 3)
    x = d.input(length, width)
    t, s, c = tg.dim("t", length.poly), tg.dim("s", length.poly), tg.dim("c", width.poly)
    fold, neutral = d.pick(
        ((tg.sum, 0.0), (tg.max, float("-inf")), (tg.min, float("inf")), (tg.prod, 1.0),
         (tg.max, 0.0), (tg.max, 0.0), (tg.prod, 0.0), (tg.prod, 0.0))
    )  # fmt: skip
    test = d.pick((s < t, s <= t, t <= s, s == t, (s <= t) & (t <= s + 1)))
    value = x[s, c] - 6.0 if d.yes(60) else x[s, c]
    return [d.node((t, c), fold(tg.select(test, value, neutral), over=s))]


def _siblings(d: Draft) -> list[Tensor]:
    """Two folds, or two maps, with a common operand: over rows or columns, some points or all."""
    size = d.size(2, 5)
    x, scale = d.input(size, size), d.input(size)
    i, k = tg.dim("i", size.poly), tg.dim("k", size.poly)
    kind = d.number(0, 3)
    if kind == 0:
        rows = d.node((i,), tg.sum(x[i, k] * scale[0], over=k))
        return [rows, d.node((i,), tg.max(x[i, k] * scale[0], over=k))]
    if kind == 1:
        return [d.node((i,), tg.sum(x[i, k], over=k)), d.node((i,), tg.sum(x[k, i], over=k))]
    if kind == 2:
        upto, below = d.either([k <= i], [k < i], lambda a, b: (a, b))
        return [d.node((i,), tg.sum(x[i, k], over=k, where=w)) for w in (upto, below)]
    left = d.node((i, k), x[i, k] + scale[i])
    right = d.node((i, k), d.pick((x[i, k] * scale[i], x[k, i] + scale[i])))
    return [left, right, d.node((i,), tg.sum(left[i, k] * right[i, k], over=k))]


def _invariant(d: Draft) -> list[Tensor]:
    """Sums and maxima of products in which some factors stay the same."""
    rows, depth = d.size(), d.size(1, 5)
    x, a, b = d.input(rows, depth), d.input(rows), d.input(rows)
    i, k = tg.dim("i", rows.poly), tg.dim("k", depth.poly)
    first = -a[i] if d.yes() else a[i]
    term = d.either(first, x[i, k], lambda p, q: p * q)
    if d.yes(40):
        term = term * b[i]
    return [d.node((i,), (tg.sum if d.yes(75) else tg.max)(term, over=k))]


def _two_monoids(d: Draft) -> Graph:
    """A fold of a product of two monoids of which one result is wanted."""
    rows, length = d.size(1, 4), d.size(1, 5)
    name = d.input(rows, length).name
    pair = tuple(d.pick((SUM, PROD, MAX, MIN)) for _ in range(2))
    dims = (Dim("a", rows.poly), Dim("b", length.poly))
    read = Read(Ref(name, ""), View(tuple(variable(e.name) for e in dims)))
    body = (arg(0), apply("neg", arg(0)))
    node = Comprehension(d.name(), dims[:1], (read,), body, dims[1:], (), product(*pair))
    wanted = node.monoid.outputs[d.number(0, 1)].name if node.monoid else ""
    outputs = (Output("out0", Ref(node.name, wanted)),)
    shape = tuple(s.poly for s in (rows, length))
    return Graph((Input(name, shape, REAL),), (node,), outputs)


def _decayed(d: Draft) -> list[Tensor]:
    """Σ over s ≤ t of b(s) times the decay from s to t, in one of its spellings."""
    length, width = d.size(2, 6), d.size(1, 2)
    a, b = d.input(length), d.input(length, width)
    t, s, r = (tg.dim(n, length.poly) for n in "tsr")
    c = tg.dim("c", width.poly)
    kind = d.number(0, 3)
    if kind <= 1:
        keep = [s < r, r <= t] if kind == 0 else [s <= r, r <= t]
        decay = d.node((t, s), tg.prod(a[r], over=r, where=keep))[t, s]
    elif kind == 2:
        upto = d.node((t,), tg.prod(a[r] * a[r] + 0.5, over=r, where=[r <= t]))
        decay = upto[t] / upto[s]
    else:
        upto = d.node((t,), tg.sum(a[r] * 0.25, over=r, where=[r <= t]))
        decay = tg.exp(upto[t] - upto[s])
    term = d.either(decay, b[s, c], lambda p, q: p * q)
    return [d.node((t, c), tg.sum(term, over=s, where=[s <= t]))]


def _nearly_decayed(d: Draft) -> list[Tensor]:
    """The same with a decay that depends on its start too: no scan of the steps."""
    length = d.size(2, 5)
    a, b, c, x = d.input(length), d.input(length), d.input(length), d.input(length, length)
    t, s, r = (tg.dim(n, length.poly) for n in "tsr")
    between = [s < r, r <= t]
    kind = d.number(0, 4)
    if kind == 0:
        upto = d.node((t, s), tg.sum(a[r] * 0.25, over=r, where=between))
        decay = tg.exp2(c[s] * upto[t, s])
    elif kind == 1:
        decay = d.node((t, s), tg.prod(x[s, r], over=r, where=between))[t, s]
    elif kind == 2:
        decay = d.node((t, s), tg.prod(a[r] + c[s], over=r, where=between))[t, s]
    elif kind == 3:
        decay = d.node((t, s), tg.prod(a[r] + tg.real(r - s) * 0.5, over=r, where=between))[t, s]
    else:
        row = d.node((s, t), tg.sum(x[s, r] * 0.25, over=r, where=[r <= t]))
        decay = tg.exp(row[s, t] - row[s, s])
    term = d.either(decay, b[s], lambda p, q: p * q)
    return [d.node((t,), tg.sum(term, over=s, where=[s <= t]))]


# --- views ---------------------------------------------------------------------------------------


def _gathers(d: Draft) -> list[Tensor]:
    """A gather of a gather."""
    length, few = d.size(2, 6), d.size(1, 5)
    n = length.value
    x = d.input(length)
    p = d.input(length, sort=INDEX, high=n - 1)
    q = d.input(few, sort=INDEX, high=n - 1)
    i, j = tg.dim("i", n), tg.dim("j", few.poly)
    first = d.node((i,), x[p[i]])
    return [d.node((j,), first[q[j]] * 2.0)]


def _strided(d: Draft) -> list[Tensor]:
    """A map, or a copy, read at a·n + b·m."""
    a, b = d.pick(((2, 3), (1, 2), (2, 1), (3, 1), (3, 2)))
    many, taps = d.number(1, 4), d.number(1, 3)
    length = fixed(a * (many - 1) + b * (taps - 1) + 1)
    x = d.input(length)
    c, n, m = tg.dim("c", length.poly), tg.dim("n", many), tg.dim("m", taps)
    copy = d.node((c,), x[c] * 2.0 if d.yes() else x[c])
    if d.yes():
        w = d.input(fixed(taps))
        return [d.node((n,), tg.sum(copy[a * n + b * m] * w[m], over=m))]
    return [d.node((n, m), copy[a * n + b * m] * 0.5)]


def _reshaped(d: Draft) -> list[Tensor]:
    """A tensor as rows of a shorter length, folded, scaled, or read back flat."""
    rows, cols = d.number(2, 4), d.number(2, 3)
    flat = fixed(rows * cols)
    x = d.input(flat)
    p, q = tg.dim("p", rows), tg.dim("q", cols)
    kind = d.number(0, 2)
    if kind == 0:
        keep = [cols * p + q <= d.number(1, flat.value - 1)]
        return [d.node((), tg.sum(x[cols * p + q], over=[p, q], where=keep))]
    deep = d.input(flat, d.size(1, 3))
    e = tg.dim("e")
    held = d.node((p, q), tg.sum(deep[cols * p + q, e], over=e))
    f, g = tg.dim("f", rows), tg.dim("g", cols)
    if kind == 1:
        return [d.node((f, g), held[f, g] * 2.0 + x[cols * f + g])]
    return [d.node((g,), tg.sum(held[f, g] * x[cols * f + g], over=f))]


def _zero_gated(d: Draft) -> list[Tensor]:
    """A running sum, its condition an indicator that multiplies, at hand or in a map."""
    length, width = d.size(2, 7), d.size(1, 3)
    x = d.input(length, width)
    t, s, c = tg.dim("t", length.poly), tg.dim("s", length.poly), tg.dim("c", width.poly)
    bit = tg.select(d.pick((s <= t, s < t, t <= s)), d.pick((1.0, 1.0, 0.5)), 0.0)
    if d.yes():
        bit = d.node((t, s), bit)[t, s]
    return [d.node((t, c), tg.sum(d.either(bit, x[s, c], lambda p, q: p * q), over=s))]


# --- gradients written by hand -------------------------------------------------------------------


def _hand_written(d: Draft) -> list[Tensor]:
    """Softmax or logsumexp backward with the maximum's own gradient, which cancels or does not."""
    rows, keys = d.size(1, 4), d.size(2, 5)
    x, v, g = d.input(rows, keys), d.input(keys), d.input(rows)
    i, j = tg.dim("i", rows.poly), tg.dim("j", keys.poly)
    top = d.node((i,), tg.max(x[i, j], over=j))
    at = d.node((i,), tg.argmax(x[i, j], over=j))
    e = tg.exp(x[i, j] - top[i])
    mass = d.node((i,), tg.sum(e, over=j))
    wrong = d.yes(35)
    if d.yes():
        factor = 2.0 if wrong else 1.0
        total = d.node((i,), tg.sum(e * v[j], over=j))
        d_e = g[i] / mass[i] * v[j] - factor * g[i] * total[i] / (mass[i] * mass[i])
        lost = d.node((i,), tg.sum(-d_e * e, over=j))
        through = tg.select(at[i] == j, lost[i], 0.0)
        return [d.node((i, j), d.either(d_e * e, through, lambda a, b: a + b))]
    sign = g[i] if wrong else -g[i]
    lost = d.node((i,), sign + tg.sum(g[i] / mass[i] * e, over=j))
    if d.yes(40):
        return [lost, mass]
    through = tg.select(j == at[i], -lost[i], 0.0)
    return [d.node((i, j), g[i] / mass[i] * e + through)]


# --- on request ----------------------------------------------------------------------------------

LONG: Final = (66, 68, 70, 72)
"""Lengths of scans that are worth cutting, with few elements in each."""


def _long_scan(d: Draft) -> list[Tensor]:
    """A scan longer than a chunk: of sums, products, extrema, affine maps, logsumexps."""
    n = d.pick(LONG)
    length = fixed(n)
    a, b = d.input(length), d.input(length)
    t, s = tg.dim("t", n), tg.dim("s", n)
    keep = [s <= t] if d.yes(60) else [s < t]
    folds: tuple[Callable[[], Value], ...] = (
        lambda: tg.affine_scan(a[s] * 0.25, b[s], over=s, where=keep),
        lambda: tg.affine_scan(a[s] * 0.25, b[s], over=s, where=keep),
        lambda: tg.prod(1.0 + b[s] * 0.125, over=s, where=keep),
        lambda: tg.sum(b[s], over=s, where=keep),
        lambda: tg.max(b[s], over=s, where=keep),
        lambda: tg.logsumexp(b[s], over=s, where=keep),
    )
    return [d.node((t,), d.pick(folds)())]


def _segments(d: Draft) -> list[Tensor]:
    """A sum gated by an index: sorted by construction, or not."""
    count, bins, width = d.size(2, 7), d.number(2, 4), d.size(1, 2)
    x = d.input(count, width)
    k, n, e = tg.dim("k", bins), tg.dim("n", count.poly), tg.dim("e", width.poly)
    key = _key(d, count, n, bins)
    test = d.either(key, k, lambda a, b: a == b)
    return [d.node((k, e), tg.sum(tg.select(test, x[n, e], 0.0), over=n))]


def _key(d: Draft, count: Size, n: Value, bins: int) -> Value:
    s = tg.dim("s", count.poly)
    kind = d.number(0, 5)
    if kind == 0:
        return n // 2 + d.number(0, 1)
    if kind == 1:
        return n % d.number(2, 3)
    raw = d.input(count, sort=INDEX, high=bins)
    if kind == 2:
        return raw[n]
    if kind == 3:
        flag = d.input(count, sort=BOOL)
        return d.node((n,), tg.count(flag[s], over=s, where=[s <= n]))[n]
    return d.node((n,), tg.max(raw[s], over=s, where=[s <= n]))[n]


PATTERNS: Final[tuple[Kind, ...]] = (
    _plain_softmax, _plain_softmax, _plain_softmax, _safe_softmax, _safe_softmax,
    _log_masses, _log_masses, _kept_extremum, _some_moments, _some_moments, _all_moments,
    _position, _position, _value_there, _value_there, _ranks, _gated, _gated, _gated,
    _decayed, _decayed, _nearly_decayed, _siblings, _siblings, _invariant, _two_monoids,
    _gathers, _strided, _reshaped, _reshaped, _hand_written, _hand_written,
    _zero_gated, _zero_gated,
)  # fmt: skip
ON_REQUEST: Final[dict[str, tuple[Kind, ...]]] = {
    "segment-sum": (_segments,), "chunk-scan": (_long_scan,)
}  # fmt: skip
"""By the rule that is asked for."""
