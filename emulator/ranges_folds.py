"""Rules of reductions: closed forms over the number of terms and the order of combination.

Defines `FOLDS`, one function per rule, all of them independent of extents in cost. Relies on
`ranges`. Where n terms are added in chains and trees, `adds` is the largest number of additions
that one term passes through; what is said holds for every order with so many.

    sum        |Σ̂ − Σ| ≤ ((1 + r)(1 + u)^adds − 1)·T + n·a·(1 + u)^adds      N. Higham (2002), §4.2
    sum_exp    Σ e^z with the largest z = 0: Σ e^z·|z| ≤ Σ e^z · ln n, the entropy's bound; see
               P. Blanchard, D. Higham, N. Higham, IMA J. Numer. Anal. 41 (2021) for the softmax
    weighted   Σ w·v with w ≥ 0, Σ w ≤ 1: T ≤ the largest magnitude of v
    welford_*  merges of (n, mean, m2): T. Chan, G. Golub and R. LeVeque (1979); `_welford_mean`
    rescaled   Σ e^(x − m) with partial sums rescaled `hops` times as the maximum grows
"""

from __future__ import annotations

import math
from typing import Final

from tang.emulator.certificate import Claim
from tang.emulator.ranges import Facts, Params, Rule, number
from tang.emulator.ranges_numbers import (
    INF,
    claim,
    compound,
    doubt,
    grown,
    lost,
    lower,
    monotone,
    over,
    plus,
    product,
    quantum,
    times,
    unit,
    unknown,
    up,
    whole,
    whole_ends,
    whole_error,
    whole_up,
)
from tang.emulator.ranges_specials import of_specials


def rates(p: Params, f: Facts) -> tuple[float, ...]:
    """u of every rounding that follows one operation."""
    names = str(p["formats"]).split()
    modes = str(p["roundings"]).split()
    return tuple(unit(f[n], m) for n, m in zip(names, modes, strict=True))


def repeated(p: Params, f: Facts, count: float) -> float:
    """Π (1 + u)^count − 1 over the roundings of an operation."""
    return compound(*((u, count) for u in rates(p, f)))


def spent(p: Params, f: Facts, kind: str = "small") -> float:
    """h of one operation: the sum over its roundings."""
    names, modes = str(p["formats"]).split(), str(p["roundings"]).split()
    small = str(p[kind])
    return plus(*(lost(f[n], m, small) for n, m in zip(names, modes, strict=True)))


def inexact(p: Params) -> float:
    """The roundings beyond one that a quotient within N = `quotient` ulps comes to: 2N of u each.

    An ulp is at most 2u of its number, and N of the smallest number at most 2N losses to underflow.
    """
    return times(2.0, float(p.get("quotient", 0.0)))


def fits(p: Params, f: Facts, reach: float) -> bool:
    """Whether every partial result of that size is finite in the formats of an operation."""
    largest = min(f[n].largest for n in str(p["formats"]).split())
    return p["overflow"] == "assumed" or reach <= largest


def _scaled(n: float, x: float, full: bool, low: bool) -> float:
    """An end of a sum of n terms, or of at most n where not all of them need be there."""
    if not full:
        x = min(x, 0.0) if low else max(x, 0.0)
    return product(n, x)


def _sum(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    """n, full (whether all n terms are there), adds, formats, roundings, small, overflow."""
    (c,) = x
    n, full = number(p, "n"), bool(p["full"])
    special = set(c.special) | ({"nan"} if {"inf", "-inf"} <= set(c.special) else set())
    if c.empty or n == 0:
        return whole(0.0, 0.0, special=tuple(special))
    more = repeated(p, f, number(p, "adds"))
    r = plus(c.relative, times(more, plus(1.0, c.relative)))
    a = times(n, plus(c.absolute, spent(p, f)), plus(1.0, more))
    ends = (_scaled(n, c.lo, full, True), _scaled(n, c.hi, full, False))
    if c.special and not full:
        ends = (min(ends[0], 0.0), max(ends[1], 0.0))
    top = times(n, c.top)
    if not fits(p, f, plus(top, times(r, top), a)):
        a = INF
    pure = c.pure and (c.lo >= 0 or c.hi <= 0)
    return claim(ends, (r, a), pure, top, tuple(special))


def _at_least(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    """A value that is known to be at least so much, for the reason that `why` names."""
    (c,) = x
    lo = max(c.lo, number(p, "least"))
    return Claim(lo, max(c.hi, lo), c.top, c.relative, c.absolute, c.pure, c.special)


def _sum_exp(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    """Of z, whose largest is 0: Σ e^z, which is 1 … n. ulp and format: of each exponential.

    Σ e^z(e^(r|z|) − 1) =: D ≤ κ·(S + D) with κ = r·ln n/(1 − r), so D ≤ κ/(1 − κ)·S.
    """
    (z,) = x
    n = number(p, "n")
    facts = f[str(p["format"])]
    special = ("nan",) if z.special else ()
    entropy = up(math.log(n)) if n > 1 else 0.0
    rate = z.relative if z.pure else 0.0
    kappa = over(times(rate, entropy), lower(1 - rate)) if rate < 1 else INF
    moved = over(kappa, lower(1 - kappa)) if kappa < 1 else INF
    shift = grown(z.absolute if z.pure else z.error)
    own = times(number(p, "ulp"), math.ldexp(1.0, 1 - facts.p))
    r = compound((moved, 1), (shift, 1), (own, 1), (repeated(p, f, number(p, "adds")), 1),
                 (repeated(p, f, number(p, "rounded")), 1))  # fmt: skip
    h = plus(times(number(p, "ulp"), math.ldexp(1.0, facts.emin - facts.p + 1)),
             times(number(p, "rounded"), spent(p, f, "below")))  # fmt: skip
    a = times(n, plus(h, spent(p, f)), plus(1.0, r))
    if not fits(p, f, plus(n, times(r, n), a)):
        a = INF
    return Claim(1.0, n, n, r, a, True, special)


def _weighted(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    """Σ w·v, of weights that sum to at most 1; `prods` roundings of each product."""
    w, v = x
    n = number(p, "n")
    special, _ = of_specials("mul", x)
    if w.empty or v.empty:
        return whole(0.0, 0.0, special=tuple({*special, "nan"}))
    more = plus(repeated(p, f, number(p, "adds")), 0.0)
    more = compound((more, 1), (repeated(p, f, number(p, "prods")), 1))
    r = compound((w.relative if w.pure else 0.0, 1), (v.relative, 1), (more, 1))
    lost_w = w.absolute if w.pure else w.error
    each = plus(
        times(lost_w, plus(v.top, v.error)),
        plus(spent(p, f, "below"), spent(p, f)),
    )
    carried = times(v.absolute, plus(1.0, w.relative if w.pure else 0.0))
    a = times(plus(times(n, each), carried), plus(1.0, more))
    if any("inf" in s for s in v.special):
        a = INF
    ends = (min(v.lo, 0.0), max(v.hi, 0.0))
    top = v.top
    if not fits(p, f, plus(top, times(r, top), a)):
        a = INF
    if special:
        special = tuple(sorted({*special, "nan"}))
    return claim(ends, (r, a), False, top, special)


def _prod(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    """Π of n factors, in any order: n − 1 products."""
    (c,) = x
    n = number(p, "n")
    special, _ = of_specials("mul", (c, c))
    if not holds_up_to(1, p, f):  # the product of nothing
        return unknown()
    if c.empty or n == 0:
        return whole(1.0, 1.0, special=(*special, *c.special))
    size = max(c.size, 1.0)
    top = up(monotone(lambda e: size**e, n, INF))
    ends = (-top, top) if c.lo < 0 else (0.0 if c.lo < 1 else 1.0, top)
    q = doubt(c)
    if c.special or q == INF:
        return claim(ends, (0.0, INF), special=(*special, *c.special))
    r = compound((q, n), (repeated(p, f, n), 1))
    small = spent(p, f, "below")
    a = times(n, small, top, plus(1.0, r))
    if not fits(p, f, plus(top, times(r, top), a)):
        a = INF
    return claim(ends, (r, a))


def _extremum(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    """The largest or smallest of values: exact but for them; `empty` is what none of them give."""
    (c,) = x
    special = {*c.special, *str(p["empty"]).split()}
    gone = "-inf" if p["kind"] == "max" else "inf"
    if bool(p["full"]) and gone not in c.special:
        special.discard(gone)
    if c.empty:
        return whole(INF, -INF, special=tuple(special))
    nonnegative = c.pure and c.lo >= 0
    errors = (c.relative, c.absolute) if nonnegative else (0.0, up(c.error))
    return Claim(c.lo, c.hi, c.size, *errors, True, tuple(sorted(special)))


def _winner(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    """Of values and their indices, the index of an extremum: any where values are inexact.

    Where there may be no value (not `full`) it is −1.
    """
    best, at = x
    lo, hi = (at.lo, at.hi) if p["full"] else (min(at.lo, -1.0), max(at.hi, -1.0))
    return whole(lo, hi, whole_up((0.0 if best.exact else hi - lo) + whole_error(at)))


def _count(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    """A sum of n indices: exact, but for the errors of its terms."""
    (c,) = x
    n, full = number(p, "n"), bool(p["full"])
    lo, hi = _scaled(n, c.lo, full, True), _scaled(n, c.hi, full, False)
    return whole(*whole_ends(lo, hi), whole_up(product(n, whole_error(c))))


def _any_of(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    """any and all of truth values."""
    (c,) = x
    neutral = 0.0 if p["op"] == "any" else 1.0
    return whole(min(c.lo, neutral), max(c.hi, neutral), c.absolute)


# --- rescaled sums --------------------------------------------------------------------------------


def _rescaled(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    """Of x: l = Σ e^(x − m), m the largest x. One term passes `hops` rescalings and additions.

    Each hop: a difference rounded (moved by u·Δ, all Δ together at most the range of x), an
    exponential of `ulp` ulps, perhaps of a product by a rounded log₂e, a product and a sum. Errors
    of x move both x and m.
    """
    (c,) = x
    n, hops = number(p, "n"), number(p, "hops")
    rate = scale_rate(c, p, f)
    if c.empty:  # −inf alone gives 0; where one is inf, logsumexp has 1
        return whole(0.0, 1.0, special=("nan", "inf"))
    a = times(n, plus(hops, 1.0), scale_lost(p, f), plus(1.0, rate))
    special = tuple(s for s in c.special if s != "-inf")
    if "inf" in special:  # where an online softmax gives NaN
        special = tuple(sorted({*special, "nan"}))
    if not fits(p, f, plus(n, times(rate, n), a)):
        a = INF
    return Claim(1.0 if p["full"] and not c.special else 0.0, n, n, rate, a, True, special)


def scale_rate(c: Claim, p: Params, f: Facts) -> float:
    """The relative error of a weight e^(x − m) after all its rescalings."""
    hops = number(p, "hops")
    facts = f[str(p["format"])]
    spread = 0.0 if c.empty else plus(up(c.hi - c.lo), times(2.0, c.error))
    turned = plus(times(repeated(p, f, 3.0), spread), times(hops, spent(p, f)))
    moved = grown(plus(times(2.0, c.error), turned))
    ulp = times(number(p, "ulp"), math.ldexp(1.0, 1 - facts.p))
    steps = repeated(p, f, times(3.0, hops))
    return compound((moved, 1), (ulp, hops), (steps, 1))


def scale_lost(p: Params, f: Facts) -> float:
    """What one hop may lose to underflow: an exponential, its product, and a sum."""
    facts = f[str(p["format"])]
    own = times(number(p, "ulp"), math.ldexp(1.0, facts.emin - facts.p + 1))
    return plus(own, times(2.0, spent(p, f, "below")), spent(p, f))


def _rescaled_sum(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    """Of x and v: Σ e^(x − m)·v, with T = Σ e^(x − m)·|v|."""
    c, v = x
    n = number(p, "n")
    rate = scale_rate(c, p, f)
    r = compound((rate, 1), (v.relative, 1), (repeated(p, f, 1.0), 1))
    top = times(n, v.top)
    each = plus(times(plus(number(p, "hops"), 1.0), scale_lost(p, f), plus(v.top, v.error, 1.0)),
                v.absolute)  # fmt: skip
    a = times(n, each, plus(1.0, r))
    infinite = any("inf" in s for s in v.special)
    if infinite or not fits(p, f, plus(top, times(r, top), a)):
        a = INF
    ends = (product(n, min(v.lo, 0.0)), product(n, max(v.hi, 0.0)))
    special = tuple({*v.special, *(s for s in c.special if s != "-inf"), "nan"})
    special = special if c.special or v.special else ()
    return claim(ends, (r, a), False, top, special)


def _weighted_mean(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    """Of l, acc and v: acc / l, which is within the values v. l ≥ 1, T = the largest |v|.

    Errors: of acc relative to Σ e^(x − m)·|v| ≤ l·T, of l relative to l; `divisions` roundings, and
    what a quotient takes more (`inexact`).
    """
    total, acc, v = x
    q = doubt(total)
    special = tuple(sorted({*acc.special, *total.special, "nan"}))
    if v.empty or total.lo < 1 or q >= 1:
        return claim((min(v.lo, 0.0), max(v.hi, 0.0)), (0.0, INF), special=special)
    r = compound((acc.relative, 1), (over(q, lower(1 - q)), 1))
    extra, small = inexact(p), spent(p, f, "below")
    r = compound((r, 1), (repeated(p, f, number(p, "divisions") + extra), 1))
    a = times(plus(over(acc.absolute, lower(1 - q)), small, times(extra, small)), 2.0)
    if not fits(p, f, plus(v.top, times(r, v.top), a)):
        a = INF
    special = special if (acc.special or total.special) else ()
    return claim((v.lo, v.hi), (r, a), False, v.top, special)


# --- Welford --------------------------------------------------------------------------------------


def _welford_mean(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    """The mean of n values x, merged in chains of at most `chain` and in `levels` of a tree.

    A merge of means with weights w and 1 − w, of values that are D apart and at most M in size,
    has the error (1 − w)e₁ + w·e₂ + w·g₃·D + u·M', g₃ that of three operations, one of them a
    quotient, which may be as far off as more of them (`inexact`). In a chain
    w = 1/k, so k·e_k ≤ (k − 1)·e_(k−1) + e_x + g₃·D + k·u·M', hence
    e ≤ e_x + g₃·D + u·M'·(chain + 1)/2; each level of a tree, and each chunk of a split, adds
    g₃·D + u·M'. D and M' count the errors themselves: `error` is a bound that reproduces itself.
    """
    (c,) = x
    special = set(c.special)
    if "inf" in special and "-inf" in special:
        special.add("nan")
    if c.empty:
        return whole(INF, -INF, special=tuple(special))
    claimed = number(p, "error")
    found = INF if c.special else mean_error(c, p, f, claimed)
    a = claimed if found <= claimed else INF
    if not fits(p, f, merge_reach(c, p, claimed)) or not counts(p, f):
        a = INF
    return claim((c.lo, c.hi), (0.0, a), special=tuple(special))


def counts(p: Params, f: Facts) -> bool:
    """Whether the formats hold every count up to n."""
    return holds_up_to(number(p, "n"), p, f)


def holds_up_to(n: float, p: Params, f: Facts) -> bool:
    """Whether the formats of an operation hold every whole number up to n."""
    known = (f[m] for m in str(p["formats"]).split())
    return all(n <= min(2.0**m.p, m.largest) and quantum(m) <= 1 for m in known)


def merge_reach(c: Claim, p: Params, error: float) -> float:
    """No intermediate of a merge is larger: (difference)² · n₁ · n₂."""
    apart = plus(up(c.hi - c.lo), times(2.0, error))
    n = number(p, "n")
    return plus(times(apart, apart, n, n), times(apart, n), c.size, error, n)


def mean_error(c: Claim, p: Params, f: Facts, error: float) -> float:
    """The bound that follows when no partial mean is further off than `error`."""
    apart = plus(up(c.hi - c.lo), times(2.0, error))
    size = plus(c.size, error)
    g, u = repeated(p, f, 3.0 + inexact(p)), repeated(p, f, 1.0)
    small = times(3.0 + inexact(p), spent(p, f, "below"))
    one = plus(times(g, apart), small)
    chain, levels = number(p, "chain"), number(p, "levels")
    first = plus(one, times(u, size, (chain + 1) / 2), times(small, chain))
    return plus(c.error, first, times(levels, plus(one, times(u, size))))


def _welford_m2(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    """Σ (x − mean)² of n values, whose means are off by at most the error of the second operand.

    Each merge adds d²·w, w = n₁·n₂/(n₁ + n₂) and Σ w·d² the whole; d is off by η ≤ 2e + rounding.
    Σ w ≤ W = n·(1 + levels/2). By Cauchy and Schwarz the sum moves by at most
    2·√(m2·W)·η + W·η² ≤ θ·m2 + (1/θ + 1)·W·η² for every θ > 0; and each term then takes
    `adds` + 8 roundings, all of them ≥ 0, and what the one quotient takes more (`inexact`).
    """
    c, mean = x
    n, theta = number(p, "n"), number(p, "theta")
    special = {"nan"} if c.special else set()
    if c.empty:
        return whole(0.0, 0.0, special=("nan",))
    apart = plus(up(c.hi - c.lo), times(2.0, mean.error))
    weight = times(n, plus(1.0, number(p, "levels") / 2))
    off = times(2.0, mean.error)
    moved = times(plus(over(1.0, theta), 1.0), weight, off, off)
    more = repeated(p, f, number(p, "adds") + 8.0 + inexact(p))
    r = compound((theta, 1), (more, 1))
    small = times(n, 8.0 + inexact(p), spent(p, f, "below"), plus(times(apart, n), n, 1.0))
    a = times(plus(moved, small), plus(1.0, more))
    half = up(c.hi - c.lo) / 2
    most = times(n, half, half)
    if not fits(p, f, merge_reach(c, p, mean.error)) or not counts(p, f):
        a = INF
    return claim((0.0, most), (r, a), special=tuple(special))


def _scan(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    """h ← a·h + b, n times from 0: |h| ≤ H = B·(1 + A + … + A^(n−1)) over magnitudes A and B.

    h is a sum of b times products of up to n − 1 factors a; each term takes at most 4n roundings in
    any tree. An absolute error e of a moves such a product by at most n·e·max(1, A + e)^n.
    """
    a, b = x
    n = number(p, "n")
    e, big = a.absolute, plus(b.top, b.error)
    powers = up(monotone(lambda x: max(plus(x, e), 1.0) ** n, a.top, INF))
    size = times(geometric(a.top, n), b.top)
    r = compound((a.relative, n), (b.relative, 1), (repeated(p, f, times(4.0, n)), 1))
    small = times(8.0, plus(spent(p, f, "below"), spent(p, f)), plus(1.0, big))
    absolute = times(n, powers, plus(times(n, e, big), b.absolute, small), plus(1.0, r))
    special = ("-inf", "inf", "nan") if a.special or b.special else ()
    if special or not fits(p, f, plus(times(plus(size, powers), plus(1.0, r)), absolute)):
        absolute = INF
    lo = 0.0 if a.lo >= 0 and b.lo >= 0 else -size
    hi = 0.0 if a.lo >= 0 and b.hi <= 0 else size
    pure = a.lo >= 0 and b.lo >= 0 and a.pure and b.pure
    return claim((lo, hi), (r, absolute), pure, size, special)


def geometric(ratio: float, n: float) -> float:
    """1 + ratio + … + ratio^(n−1), or more."""
    if ratio <= 1:
        return n if ratio == 1 else min(n, up(1 / lower(1 - ratio))) if ratio < 1 else n
    return times(n, up(monotone(lambda e: ratio**e, n, INF)))


FOLDS: Final[dict[str, Rule]] = {
    "sum": _sum, "at_least": _at_least, "sum_exp": _sum_exp, "weighted": _weighted, "prod": _prod,
    "extremum": _extremum, "winner": _winner, "count": _count, "any_of": _any_of,
    "rescaled": _rescaled, "rescaled_sum": _rescaled_sum, "weighted_mean": _weighted_mean,
    "welford_mean": _welford_mean, "welford_m2": _welford_m2, "scan": _scan,
}  # fmt: skip
"""Rule → what it says."""
