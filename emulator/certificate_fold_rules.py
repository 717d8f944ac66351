"""The rules of reductions once more, in balls.

Defines `FOLD_RULES`. Relies on balls alone, and on the theorems that `ranges_folds.py` names; it
shares none of its lines. What a step says of its program, as the number of terms, is taken as said.
"""

from __future__ import annotations

from typing import Final

from flint import arb

from tang.emulator.certificate_balls import (
    INFINITE,
    ONE,
    ZERO,
    Ball,
    Given,
    Value,
    div,
    growth,
    holds_up_to,
    least,
    loss_of,
    most,
    mul,
    nothing,
    power,
    two_to,
    uncertainty,
    unit_of,
    value,
    whole_part,
)
from tang.emulator.certificate_rules import Rule, unknown
from tang.emulator.certificate_specials import outcomes


def _pairs(p: Given) -> list[tuple[str, str]]:
    names, modes = p.text("formats").split(), p.text("roundings").split()
    if len(names) != len(modes) or not names:
        raise ValueError("every format needs a rounding")
    if not set(modes) <= {"rne", "rna", "rz", "any"}:
        raise ValueError(f"unknown rounding among {modes}")
    return list(zip(names, modes, strict=True))


def _rounds(p: Given, count: Ball) -> Ball:
    """(1 + u)^count − 1 over all roundings of an operation."""
    return growth(*((unit_of(p.formats[n], m), count) for n, m in _pairs(p)))


def _loss(p: Given, kind: str) -> Ball:
    found = ZERO
    for n, m in _pairs(p):
        found = found + loss_of(p.formats[n], m, p.text(kind))
    return found


def _bounded(p: Given, reach: Ball, a: Ball) -> Ball:
    """a, or ∞ where a partial result may exceed a format."""
    if p.text("overflow") not in ("assumed", "inf"):
        raise ValueError(f"unknown overflow {p.text('overflow')!r}")
    largest = min(p.formats[n].largest for n, _ in _pairs(p))
    return a if p.text("overflow") == "assumed" or reach <= arb(largest) else INFINITE


def _count(p: Given, name: str = "n") -> Ball:
    n = p.number(name)
    if not n >= 0:
        raise ValueError(f"{name} is negative")
    return n


def _beyond_one(p: Given) -> Ball:
    """By how many roundings, or underflows, a quotient of N ulps exceeds one: 2N, none of N = 0."""
    if "quotient" not in p.params:
        return ZERO
    return 2 * _count(p, "quotient")


def _multiple(n: Ball, x: Ball, full: bool, low: bool) -> Ball:
    if full:
        return mul(n, x)
    return mul(n, least((x, ZERO)) if low else most((x, ZERO)))


def summed(x: tuple[Value, ...], p: Given) -> Value:
    (c,) = x
    n, full = _count(p), p.flag("full")
    special = set(c.special)
    if special >= {"inf", "-inf"}:
        special.add("nan")
    if c.empty or n == 0:
        return value(ZERO, ZERO, ZERO, ZERO, special=special)
    more = _rounds(p, _count(p, "adds"))
    r = c.r + mul(more, 1 + c.r)
    a = mul(n, c.a + _loss(p, "small"), 1 + more)
    lo, hi = _multiple(n, c.lo, full, True), _multiple(n, c.hi, full, False)
    top = mul(n, c.top)
    a = _bounded(p, mul(top, 1 + r) + a, a)
    pure = c.pure and bool(c.lo >= 0 or c.hi <= 0)
    return value(lo, hi, r, a, pure=pure, top=top, special=special)


def at_least(x: tuple[Value, ...], p: Given) -> Value:
    (c,) = x
    lo = most((c.lo, p.number("least")))
    return Value(lo, most((c.hi, lo)), c.top, c.r, c.a, c.pure, c.special)


def exponentials(x: tuple[Value, ...], p: Given) -> Value:
    """Σ e^z, the largest z being 0: entropy says Σ e^z·|z| ≤ ln n · Σ e^z."""
    (z,) = x
    n, f = _count(p), p.format()
    rate = z.r if z.pure else ZERO
    kappa = div(mul(rate, n.log()), 1 - rate) if rate < 1 and n > 1 else ZERO
    if not rate < 1:
        kappa = INFINITE
    moved = div(kappa, 1 - kappa) if kappa < 1 else INFINITE
    shift = z.a if z.pure else z.error
    shifted = shift.expm1() if shift < 1000 else INFINITE
    own = mul(p.number("ulp"), two_to(1 - f.p))
    times = _count(p, "rounded")
    r = growth((moved, ONE), (shifted, ONE), (own, ONE),
               (_rounds(p, _count(p, "adds")), ONE), (_rounds(p, times), ONE))  # fmt: skip
    h = mul(p.number("ulp"), two_to(f.emin - f.p + 1)) + mul(times, _loss(p, "below"))
    a = mul(n, h + _loss(p, "small"), 1 + r)
    a = _bounded(p, mul(n, 1 + r) + a, a)
    return value(ONE, n, r, a, special={"nan"} if z.special else set())


def weighted(x: tuple[Value, ...], p: Given) -> Value:
    w, v = x
    n = _count(p)
    special = set(outcomes("mul", x)[0])
    if w.empty or v.empty:
        return value(ZERO, ZERO, ZERO, ZERO, special=special | {"nan"})
    if not w.lo >= 0:
        raise ValueError("a weight may be negative")
    if special:
        special.add("nan")
    rate, loose = (w.r, w.a) if w.pure else (ZERO, w.error)
    more = growth((_rounds(p, _count(p, "adds")), ONE), (_rounds(p, _count(p, "prods")), ONE))
    r = growth((rate, ONE), (v.r, ONE), (more, ONE))
    each = mul(loose, v.top + v.error) + _loss(p, "below") + _loss(p, "small")
    a = mul(mul(n, each) + mul(v.a, 1 + rate), 1 + more)
    a = _bounded(p, mul(v.top, 1 + r) + a, a)
    a = INFINITE if v.special & {"inf", "-inf"} else a
    return value(least((v.lo, ZERO)), most((v.hi, ZERO)), r, a, pure=False, top=v.top,
                 special=special)  # fmt: skip


def multiplied(x: tuple[Value, ...], p: Given) -> Value:
    (c,) = x
    n = _count(p)
    special = set(outcomes("mul", (c, c))[0])
    if not all(holds_up_to(p.formats[f], ONE) for f, _ in _pairs(p)):
        return unknown((), p)  # the product of nothing is 1
    if c.empty or n == 0:
        return value(ONE, ONE, ZERO, ZERO, special=special | c.special)
    top = power(most((c.size, ONE)), n)
    lo = -top if c.lo < 0 else (ONE if c.lo >= 1 else ZERO)
    q = uncertainty(c)
    if c.special or not q < INFINITE:
        return value(lo, top, ZERO, INFINITE, special=special | c.special)
    r = growth((q, n), (_rounds(p, n), ONE))
    a = mul(n, _loss(p, "below"), top, 1 + r)
    return value(lo, top, r, _bounded(p, mul(top, 1 + r) + a, a))


def extremum(x: tuple[Value, ...], p: Given) -> Value:
    (c,) = x
    neutral = {"max": "-inf", "min": "inf"}[p.text("kind")]
    special = set(c.special) | set(p.text("empty").split())
    if p.flag("full") and neutral not in c.special:
        special.discard(neutral)
    if c.empty:
        return nothing(special)
    if c.pure and c.lo >= 0:
        return Value(c.lo, c.hi, c.size, c.r, c.a, True, frozenset(special))
    return Value(c.lo, c.hi, c.size, ZERO, c.error, True, frozenset(special))


def winner(x: tuple[Value, ...], p: Given) -> Value:
    best, at = x
    absent = () if p.flag("full") else (-ONE,)
    lo, hi = least((at.lo, *absent)), most((at.hi, *absent))
    any_other = ZERO if best.exact else hi - lo
    return value(lo, hi, ZERO, any_other + whole_part(at.error))


def counted(x: tuple[Value, ...], p: Given) -> Value:
    (c,) = x
    n, full = _count(p), p.flag("full")
    lo, hi = _multiple(n, c.lo, full, True), _multiple(n, c.hi, full, False)
    return value(lo, hi, ZERO, mul(n, whole_part(c.error)))  # of each of n terms


def any_of(x: tuple[Value, ...], p: Given) -> Value:
    (c,) = x
    neutral = ZERO if p.text("op") == "any" else ONE
    return value(least((c.lo, neutral)), most((c.hi, neutral)), ZERO, c.a)


# --- rescaled sums --------------------------------------------------------------------------------


def _weight_rate(c: Value, p: Given) -> Ball:
    """The relative error of e^(x − m) after `hops` rescalings."""
    hops, f = _count(p, "hops"), p.format()
    spread = ZERO if c.empty else c.hi - c.lo + 2 * c.error
    turned = mul(_rounds(p, arb(3)), spread) + mul(hops, _loss(p, "small"))
    exponent = 2 * c.error + turned
    moved = exponent.expm1() if exponent < 1000 else INFINITE
    ulp = mul(p.number("ulp"), two_to(1 - f.p))
    return growth((moved, ONE), (ulp, hops), (_rounds(p, 3 * hops), ONE))


def _weight_loss(p: Given) -> Ball:
    f = p.format()
    own = mul(p.number("ulp"), two_to(f.emin - f.p + 1))
    return own + 2 * _loss(p, "below") + _loss(p, "small")


def rescaled(x: tuple[Value, ...], p: Given) -> Value:
    (c,) = x
    n = _count(p)
    if c.empty:
        return value(ZERO, ONE, ZERO, ZERO, special=("nan", "inf"))
    r = _weight_rate(c, p)
    a = mul(n, _count(p, "hops") + 1, _weight_loss(p), 1 + r)
    a = _bounded(p, mul(n, 1 + r) + a, a)
    lo = ONE if p.flag("full") and not c.special and n >= 1 else ZERO
    ends = c.special - {"-inf"}
    ends |= {"nan"} if "inf" in ends else set()  # of ∞ logsumexp keeps 1, an online softmax NaN
    return value(lo, n, r, a, special=ends)


def rescaled_sum(x: tuple[Value, ...], p: Given) -> Value:
    c, v = x
    n = _count(p)
    r = growth((_weight_rate(c, p), ONE), (v.r, ONE), (_rounds(p, ONE), ONE))
    each = mul(_count(p, "hops") + 1, _weight_loss(p), v.top + v.error + 1) + v.a
    a = mul(n, each, 1 + r)
    top = mul(n, v.top)
    a = _bounded(p, mul(top, 1 + r) + a, a)
    a = INFINITE if v.special & {"inf", "-inf"} else a
    special = (v.special | (c.special - {"-inf"}) | {"nan"}) if c.special or v.special else ()
    lo, hi = mul(n, least((v.lo, ZERO))), mul(n, most((v.hi, ZERO)))
    return value(lo, hi, r, a, pure=False, top=top, special=special)


def weighted_mean(x: tuple[Value, ...], p: Given) -> Value:
    total, acc, v = x
    q = uncertainty(total)
    both = acc.special | total.special | {"nan"}
    if v.empty or not total.lo >= 1 or not q < 1:
        return value(least((v.lo, ZERO)), most((v.hi, ZERO)), ZERO, INFINITE, special=both)
    count, extra = _count(p, "divisions"), _beyond_one(p)
    r = growth((acc.r, ONE), (div(q, 1 - q), ONE), (_rounds(p, count + extra), ONE))
    a = 2 * (div(acc.a, 1 - q) + (1 + extra) * _loss(p, "below"))
    a = _bounded(p, mul(v.top, 1 + r) + a, a)
    special = both if acc.special or total.special else ()
    return value(v.lo, v.hi, r, a, pure=False, top=v.top, special=special)


# --- Welford and scans ----------------------------------------------------------------------------


def _holds_merges(p: Given, c: Value, error: Ball, a: Ball) -> Ball:
    """a, or ∞ where a merge may overflow or a count is no number of a format."""
    n = _count(p)
    apart = c.hi - c.lo + 2 * error
    reach = mul(apart, apart, n, n) + mul(apart, n) + c.size + error + n
    if not all(holds_up_to(p.formats[f], n) for f, _ in _pairs(p)):
        return INFINITE
    return _bounded(p, reach, a)


def welford_mean(x: tuple[Value, ...], p: Given) -> Value:
    """The claimed error must follow from itself."""
    (c,) = x
    special = set(c.special)
    if {"inf", "-inf"} <= special:
        special.add("nan")
    if c.empty:
        return nothing(special)
    error = p.number("error")
    apart, size = c.hi - c.lo + 2 * error, c.size + error
    steps = 3 + _beyond_one(p)
    u, small = _rounds(p, ONE), steps * _loss(p, "below")
    local = mul(_rounds(p, steps), apart) + small
    chain = _count(p, "chain")
    found = c.error + local + mul(u, size, (chain + 1) / 2) + mul(small, chain)
    found = found + mul(_count(p, "levels"), local + mul(u, size))
    good = not c.special and error < INFINITE and found <= error
    return value(c.lo, c.hi, ZERO, _holds_merges(p, c, error, error if good else INFINITE),
                 special=special)  # fmt: skip


def welford_m2(x: tuple[Value, ...], p: Given) -> Value:
    c, mean = x
    if c.empty:
        return value(ZERO, ZERO, ZERO, ZERO, special=("nan",))
    n, theta = _count(p), p.number("theta")
    off = 2 * mean.error
    weight = mul(n, 1 + _count(p, "levels") / 2)
    moved = mul(1 + div(ONE, theta), weight, off, off)
    steps = 8 + _beyond_one(p)
    more = _rounds(p, _count(p, "adds") + steps)
    apart = c.hi - c.lo + 2 * mean.error
    small = mul(steps, n, _loss(p, "below"), mul(apart, n) + n + 1)
    a = mul(moved + small, 1 + more)
    span = c.hi - c.lo
    hi = mul(n, span / 2, span / 2)
    a = _holds_merges(p, c, mean.error, a)
    return value(ZERO, hi, growth((theta, ONE), (more, ONE)), a,
                 special={"nan"} if c.special else ())  # fmt: skip


def scan(x: tuple[Value, ...], p: Given) -> Value:
    a, b = x
    n = _count(p)
    big = b.top + b.error
    powers = power(most((a.top + a.a, ONE)), n)
    size = mul(_geometric(a.top, n), b.top)
    r = growth((a.r, n), (b.r, ONE), (_rounds(p, 4 * n), ONE))
    small = mul(8 * (_loss(p, "below") + _loss(p, "small")), 1 + big)
    lost = mul(n, powers, mul(n, a.a, big) + b.a + small, 1 + r)
    special = ("-inf", "inf", "nan") if a.special or b.special else ()
    lost = INFINITE if special else _bounded(p, mul(size + powers, 1 + r) + lost, lost)
    lo = ZERO if a.lo >= 0 and b.lo >= 0 else -size
    hi = ZERO if a.lo >= 0 and b.hi <= 0 else size
    pure = bool(a.lo >= 0 and b.lo >= 0 and a.pure and b.pure)
    return value(lo, hi, r, lost, pure=pure, top=size, special=special)


def _geometric(q: Ball, n: Ball) -> Ball:
    """At least 1 + q + … + q^(n−1)."""
    if q < 1:
        return least((n, 1 / (1 - q)))
    return n if q == 1 else mul(n, power(q, n))


FOLD_RULES: Final[dict[str, Rule]] = {
    "sum": summed, "at_least": at_least, "sum_exp": exponentials, "weighted": weighted,
    "prod": multiplied, "extremum": extremum, "winner": winner, "count": counted,
    "any_of": any_of, "rescaled": rescaled, "rescaled_sum": rescaled_sum,
    "weighted_mean": weighted_mean, "welford_mean": welford_mean, "welford_m2": welford_m2,
    "scan": scan,
}  # fmt: skip
"""Rule → what it allows."""
