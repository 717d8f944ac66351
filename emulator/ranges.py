"""Rules of elementary bounds: what a claim about operands says of a result.

Defines `RULES`, one function per rule over claims and parameters, for operations over reals; those
of whole numbers are in `ranges_whole.py`, of folds in `ranges_folds.py`. Relies on outward
arithmetic of `ranges_numbers`. It knows no graphs: `certify.py` chooses the rules, and
`certificate_check.py` has its own copy of each.

With |c − x| ≤ r·T + a of an operand and T its magnitude (see `certificate.py`):

    round     |fl(c) − x| ≤ (r + u(1 + r))·T + (1 + u)·a + h            N. Higham (2002), §2.2
    add       T = T₁ + T₂, r = max(r₁, r₂), a = a₁ + a₂                   ibid., §3.1
    mul       T = T₁·T₂, r = (1 + r₁)(1 + r₂) − 1
    recip     r = q/(1 − q) where |c − x| ≤ q·|x|
    exp       r = e^E − 1; or, for x ≤ 0, r = e^a − 1 and a' = e^a·r/(e·(1 − r)): t·e^(−t) ≤ 1/e
    log       a = −log(1 − q);  sqrt  r = 1 − √(1 − q);  sin, erf, tanh …: slope times E

Decisions on inexact operands may go either way: the error is then the width of all outcomes.
A value without a bound may be no number, and what is computed of it has none: see `stays_lost`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Final

from tang.emulator.certificate import Claim, FormatFacts, Parameter
from tang.emulator.ranges_numbers import (
    INF,
    LARGEST,
    TINY,
    claim,
    compound,
    doubt,
    grown,
    higher,
    lost,
    lower,
    monotone,
    nothing,
    over,
    plus,
    product,
    quantum,
    times,
    unit,
    unknown,
    up,
    whole,
    width,
)
from tang.emulator.ranges_specials import of_specials

Params = Mapping[str, Parameter]
Facts = Mapping[str, FormatFacts]
Rule = Callable[[tuple[Claim, ...], Params, Facts], Claim]

LN2: Final = math.log(2)


DECIDING: Final = ("compare", "isnan", "to_index", "winner")
"""Rules whose outcomes have bounds whatever their operands are."""


def is_lost(c: Claim) -> bool:
    """Whether nothing is promised of a value."""
    return math.isinf(c.absolute)


def stays_lost(rule: str, x: tuple[Claim, ...], p: Params) -> bool:
    """Whether nothing can be promised of a result: an operand has no bound, and may be NaN."""
    if rule in DECIDING or p.get("n") == 0:
        return False
    return any(map(is_lost, x))


def number(p: Params, name: str) -> float:
    """A parameter as a number."""
    return float(p[name])


# --- leaves and roundings -------------------------------------------------------------------------


def _given(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    special = tuple(str(p["special"]).split()) if p.get("special") else ()
    lo, hi = number(p, "lo"), number(p, "hi")
    return Claim(lo, hi, max(abs(lo), abs(hi)), 0.0, 0.0, True, special)


def _constant(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    name = str(p["value"])
    if name in ("inf", "-inf", "nan"):
        return nothing((name,))
    if name in NAMES:
        return claim((NAMES[name], NAMES[name]), (0.0, 0.0))
    exact = Fraction(name)
    near = monotone(float, exact, INF)  # type: ignore[arg-type]
    if Fraction(near) == exact if math.isfinite(near) else False:
        return whole(near, near)
    return claim((near, near), (0.0, 0.0))


NAMES: Final = {"ln2": LN2, "log2e": 1 / LN2, "pi": math.pi, "-0.0": 0.0}
"""Constants by name."""


def _unknown(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    return unknown()


def is_infinite(c: Claim) -> bool:
    """Whether a value may be an infinity by right."""
    return "inf" in c.special or "-inf" in c.special


def keeps_infinity(facts: FormatFacts, overflow: str) -> bool:
    """Whether infinities stay what they are; else they become NaN or the largest number."""
    return facts.infinity and overflow in ("inf", "assumed")


def keeps_special(c: Claim, facts: FormatFacts, overflow: str) -> bool:
    """Whether all infinities and NaN that a value may be by right stay what they are."""
    infinite = not is_infinite(c) or keeps_infinity(facts, overflow)
    return infinite and ("nan" not in c.special or facts.nan)


def after_rounding(c: Claim, rate: float, h: float, p: Params, facts: FormatFacts) -> Claim:
    """A value that was moved by at most rate·|c| + h, and must fit into the format.

    A rounding moves nothing from within the largest number beyond it; errors of functions may.
    """
    overflow = str(p["overflow"])
    if not keeps_special(c, facts, overflow):
        return unknown()
    r = c.relative if rate == 0 else plus(c.relative, times(rate, plus(1.0, c.relative)))
    a = plus(times(c.absolute, plus(1.0, rate)), h)
    reach = plus(c.size, c.error)
    if overflow != "assumed" and reach > facts.largest:
        a = plus(a, reach - facts.largest) if overflow == "saturate" else INF
    top = c.size if c.pure else c.top
    return Claim(c.lo, c.hi, top, r, a, c.pure, c.special)


def _round(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    facts, rounding = f[str(p["format"])], str(p["rounding"])
    h = lost(facts, rounding, str(p["small"]))
    return after_rounding(x[0], unit(facts, rounding), h, p, facts)


def _ulps(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    """A function within N ulps: N·2u relatively, N·η below normal numbers, 2^emin if flushed."""
    facts, n = f[str(p["format"])], number(p, "ulp")
    small = lost(facts, "rne", "flush") if p["small"] == "flush" else 0.0
    h = plus(times(n, math.ldexp(1.0, facts.emin - facts.p + 1)), small)
    rate = times(n, math.ldexp(1.0, 1 - facts.p))
    made = after_rounding(x[0], rate, h, p, facts)
    if p["overflow"] in ("assumed", "saturate") or x[0].empty:
        return made
    return made if ulps_reach(x[0], p, facts) <= facts.largest else replace(made, absolute=INF)


def ulps_reach(c: Claim, p: Params, facts: FormatFacts) -> float:
    """How large a result within N ulps of a value may be."""
    n = number(p, "ulp")
    grow = plus(1.0, times(n, math.ldexp(1.0, 1 - facts.p)))
    return plus(times(plus(c.size, c.error), grow), times(n, quantum(facts)))


def _off(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    """An absolute error more."""
    (c,) = x
    a = plus(c.absolute, number(p, "by"))
    return Claim(c.lo, c.hi, c.top, c.relative, a, c.pure, c.special)


# --- arithmetic -----------------------------------------------------------------------------------


def _neg(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    (c,) = x
    other = {"inf": "-inf", "-inf": "inf", "nan": "nan"}
    special = tuple(sorted(other[s] for s in c.special))
    return Claim(-c.hi, -c.lo, c.top, c.relative, c.absolute, c.pure, special)


def _add(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    a, b = x
    special, _ = of_specials("add", x)
    if a.empty or b.empty:
        return nothing(special)
    same = (a.lo >= 0 and b.lo >= 0) or (a.hi <= 0 and b.hi <= 0)
    ends = (a.lo + b.lo, a.hi + b.hi)
    errors = (max(a.relative, b.relative), plus(a.absolute, b.absolute))
    return claim(ends, errors, a.pure and b.pure and same, plus(a.top, b.top), special)


def _mul(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    a, b = x
    special, _ = of_specials("mul", x)
    if unsure(a, b) or unsure(b, a):
        return unknown()
    if a.empty or b.empty:
        return nothing(special)
    corners = [product(s, t) for s in (a.lo, a.hi) for t in (b.lo, b.hi)]
    ends = (min(corners), max(corners))
    return claim(ends, product_errors(a, b), a.pure and b.pure, times(a.top, b.top), special)


def unsure(a: Claim, b: Claim) -> bool:
    """Whether an infinite a meets a b whose sign, or whose being 0, rounding may have changed."""
    return any("inf" in s for s in a.special) and not b.empty and doubt(b) >= 1


def product_errors(a: Claim, b: Claim) -> tuple[float, float]:
    """Relative and absolute error of a product."""
    r = compound((a.relative, 1), (b.relative, 1)) if a.relative and b.relative else 0.0
    r = r or max(a.relative, b.relative)
    absolute = plus(
        times(a.absolute, b.top, plus(1.0, b.relative)),
        times(b.absolute, a.top, plus(1.0, a.relative)),
        times(a.absolute, b.absolute),
    )
    return r, absolute


def _square(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    """A value times itself; theta > 0: (x + e)² − x² ≤ theta·x² + (1 + 1/theta)·e²."""
    (c,) = x
    theta = number(p, "theta")
    special, _ = of_specials("mul", (c, c))
    special = tuple(s for s in special if s != "-inf")
    if c.empty:
        return nothing(special)
    ends = sorted((product(c.lo, c.lo), product(c.hi, c.hi)))
    lo = 0.0 if c.lo <= 0 <= c.hi else ends[0]
    if theta:
        moved = times(plus(1.0, over(1.0, theta)), c.error, c.error)
        return claim((lo, ends[1]), (theta, moved), special=special)
    return claim((lo, ends[1]), product_errors(c, c), c.pure, times(c.top, c.top), special)


def _recip(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    """`assume` says that the value is not 0, which nothing shows."""
    (c,) = x
    special, extra = of_specials("recip", x)
    if c.empty:
        return _extended(nothing(special), extra)
    q = doubt(c)
    a = 0.0
    if not (c.lo > 0 or c.hi < 0):  # 1/0 is ∞ of either sign, which is not named
        ends, a = (-INF, INF), 0.0 if p["assume"] else INF
        if c.lo == 0 and c.hi and p["assume"]:
            ends = (min(1 / c.hi, LARGEST), INF)
    else:
        ends = (max(min(1 / c.hi, LARGEST), -INF), max(1 / c.lo, -LARGEST))
    r = over(q, lower(1 - q)) if q < 1 else 0.0
    return _extended(claim(ends, (r, a if q < 1 else INF), special=special), extra)


def _extended(c: Claim, extra: tuple[float, ...]) -> Claim:
    """A claim that holds for some more values, which are computed exactly."""
    if not extra:
        return c
    lo, hi = min(c.lo, *extra), max(c.hi, *extra)
    size = max(abs(lo), abs(hi))
    top = max(size, c.top)
    return Claim(lo, hi, size if c.pure else top, c.relative, c.absolute, c.pure, c.special)


def _sqrt(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    (c,) = x
    special, _ = of_specials("sqrt", x)
    if c.empty:
        return nothing(special)
    q, a = doubt(c), 0.0
    if c.lo < 0 and not p["assume"]:
        a = INF
    ends = (math.sqrt(max(c.lo, 0.0)), math.sqrt(max(c.hi, 0.0)))
    if q >= 1:
        return claim(ends, (0.0, INF), special=special)
    return claim(ends, (up(q / (1 + math.sqrt(lower(1 - q)))), a), special=special)


# --- functions ------------------------------------------------------------------------------------


def _exp(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    """variant  "steep": all of the error in r;  "flat": x ≤ 0, and t·e^(−t) ≤ 1/e."""
    (c,) = x
    special, extra = of_specials("exp2", x)
    if c.empty:
        return _extended(nothing(special), extra)
    base = 1.0 if p["base"] == "e" else LN2
    power = math.exp if p["base"] == "e" else math.exp2
    ends = (monotone(power, c.lo, LARGEST), monotone(power, c.hi, INF) or TINY)
    if p["variant"] == "flat":
        r = grown(times(c.absolute, up(base)))
        flat = over(times(plus(1.0, r), c.relative), lower(math.e * (1 - c.relative)))
        errors = (r, flat if c.pure and c.hi <= 0 and c.relative < 1 else INF)
    else:
        errors = (grown(times(c.error, up(base))), 0.0)
    return _extended(claim(ends, errors, special=special), extra)


def exponential_variant(c: Claim) -> str:
    """The variant of `exp` that promises more."""
    if not (c.pure and c.hi <= 0 and c.relative < 0.5):
        return "steep"
    return "flat" if times(c.relative, c.top) > 0.4 else "steep"


def _log(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    (c,) = x
    special, _ = of_specials("log2", x)
    if c.empty:
        return nothing(special)
    scale = 1.0 if p["base"] == "e" else up(1 / LN2)
    log = math.log if p["base"] == "e" else math.log2
    q = doubt(c)
    known = q < 1 and (c.lo > 0 or p["assume"])
    lo, hi = (monotone(log, e, -INF) if e > 0 else -INF for e in (c.lo, c.hi))
    a = times(up(-math.log1p(-q)), scale) if known else INF
    return claim((lo, hi if c.hi > 0 else INF), (0.0, a), special=special)  # no number: any


def _bounded(c: Claim, ends: tuple[float, float], slope: float, most: float, op: str) -> Claim:
    """A function with |f'| ≤ slope, any two values of which are at most `most` apart."""
    special, extra = of_specials(op, (c,))
    if c.empty:
        return _extended(nothing(special), extra)
    a = min(times(c.error, slope), most)
    return _extended(claim(ends, (0.0, a), special=special), extra)


def _sin(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    """Also the cosine."""
    return _bounded(x[0], (-1.0, 1.0), 1.0, 2.0, "sin")


def _erf(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    (c,) = x
    slope = up(2 / math.sqrt(math.pi))
    return _bounded(c, _clipped(math.erf, c, 1.0), slope, 2.0, "erf")


def _tanh(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    return _bounded(x[0], _clipped(math.tanh, x[0], 1.0), 1.0, 2.0, "tanh")


def _clipped(f: Callable[[float], float], c: Claim, most: float) -> tuple[float, float]:
    ends = (lower(f(c.lo)), higher(f(c.hi))) if not c.empty else (INF, -INF)
    return max(ends[0], -most), min(ends[1], most)


def _sigmoid(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    (c,) = x
    ends = (_logistic(c.lo), _logistic(c.hi)) if not c.empty else (INF, -INF)
    return _bounded(c, ends, 0.25, 1.0, "sigmoid")


def _logistic(x: float) -> float:
    return 1 / (1 + monotone(math.exp, -x, INF))


def _atan2(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    """A move by E turns a direction at distance m by at most asin(E/m) ≤ π/2·E/m."""
    y, z = x
    special, _ = of_specials("atan2", x)
    a = 0.0 if y.exact and z.exact else 2 * math.pi
    if z.lo > 0 and not ((y.exact and z.exact) or y.special or z.special):
        turned = over(times(up(math.pi / 2), plus(y.error, z.error)), z.lo)
        a = min(a, turned) if turned < math.pi / 2 else a
    half = math.pi / 2 if z.lo > 0 and not z.special else math.pi
    return claim((-half, half), (0.0, up(a)), special=special)


# --- choices --------------------------------------------------------------------------------------


def _abs(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    (c,) = x
    special = tuple(sorted({s.removeprefix("-") for s in c.special}))
    if c.empty:
        return nothing(special)
    lo = 0.0 if c.lo <= 0 <= c.hi else min(abs(c.lo), abs(c.hi))
    return Claim(lo, c.size, c.top, c.relative, c.absolute, c.pure, special)


def _max(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    """|max(c, d) − max(x, y)| ≤ the larger error; relative to the result where none is negative."""
    a, b = x
    special = {s for c in x for s in c.special if s != "-inf"}
    if "-inf" in a.special and "-inf" in b.special:
        special.add("-inf")
    if a.empty or b.empty:
        rest = b if a.empty else a
        return Claim(
            rest.lo, rest.hi, rest.top, rest.relative, rest.absolute, rest.pure,
            tuple(sorted(special)),
        )  # fmt: skip
    lows = [c.lo for c, d in ((a, b), (b, a)) if "-inf" not in c.special] or [min(a.lo, b.lo)]
    hi = max(a.hi, b.hi)
    lo = min(max(lows), hi)
    if a.pure and b.pure and min(a.lo, b.lo) >= 0:
        errors = (max(a.relative, b.relative), max(a.absolute, b.absolute))
    else:
        errors = (0.0, up(max(a.error, b.error)))
    return claim((lo, hi), errors, special=tuple(special))


def _min(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    negated = tuple(_neg((c,), p, f) for c in x)
    return _neg((_max(negated, p, f),), p, f)


def _nonpositive(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    """A value minus the largest of a set that holds it."""
    (c,) = x
    hi = min(c.hi, 0.0)
    lo = min(c.lo, hi)
    size = max(abs(lo), abs(hi))
    special = tuple(s for s in c.special if s != "inf")
    return Claim(lo, hi, size if c.pure else c.top, c.relative, c.absolute, c.pure, special)


def _within(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    """A value that is known to lie between −most and most, for the reason that `why` names."""
    (c,) = x
    most = number(p, "most")
    lo, hi = max(c.lo, -most), min(c.hi, most)
    size = max(abs(lo), abs(hi))
    return Claim(lo, hi, size if c.pure else c.top, c.relative, c.absolute, c.pure, c.special)


def hull(*claims: Claim) -> Claim:
    """What holds for values that are one of these."""
    special = tuple(sorted({s for c in claims for s in c.special}))
    known = [c for c in claims if not c.empty]
    if not known:
        return nothing(special)
    lo, hi = min(c.lo for c in known), max(c.hi for c in known)
    errors = max(c.relative for c in known), max(c.absolute for c in known)
    pure = all(c.pure for c in known)
    top = max(abs(lo), abs(hi)) if pure else max(c.top for c in known)
    return Claim(lo, hi, top, *errors, pure, special)


def _hull(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    return hull(*x)


def _select(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    """The first operand is the condition; where it may flip, any outcome meets any other."""
    condition, *branches = x
    c = hull(*branches)
    if condition.exact:
        return c
    return _jumped(c, branches)


def _jumped(c: Claim, branches: list[Claim]) -> Claim:
    a = INF if c.special else up(width(*branches))
    return Claim(c.lo, c.hi, c.size, 0.0, a, True, c.special)


def _jump(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    """One of several values, and not surely the same one in both worlds."""
    return _jumped(x[0], list(x))


def _worse(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    """Two ways to compute one value, of which one is taken."""
    a, b = x
    lo, hi = max(a.lo, b.lo), min(a.hi, b.hi)
    errors = max(a.relative, b.relative), max(a.absolute, b.absolute)
    pure = a.pure and b.pure
    if not pure:
        errors = (0.0, max(up(a.error), up(b.error)))
    special = tuple(sorted({*a.special, *b.special}))
    return Claim(lo, hi, 0.0 if lo > hi else max(abs(lo), abs(hi)), *errors, True, special)


RULES: Final[dict[str, Rule]] = {
    "given": _given, "constant": _constant, "unknown": _unknown, "round": _round, "ulps": _ulps,
    "off": _off, "neg": _neg, "add": _add, "mul": _mul, "square": _square, "recip": _recip,
    "sqrt": _sqrt, "exp": _exp, "log": _log, "sin": _sin, "erf": _erf, "tanh": _tanh,
    "sigmoid": _sigmoid, "atan2": _atan2, "abs": _abs, "max": _max, "min": _min,
    "nonpositive": _nonpositive, "within": _within, "hull": _hull,
    "select": _select, "jump": _jump, "worse": _worse,
}  # fmt: skip
"""Rule → what it says; `ranges_whole` and `ranges_folds` have the others."""
