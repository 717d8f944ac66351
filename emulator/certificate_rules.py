"""The rules of expressions once more, in balls: what a checker believes of each step.

Defines `RULES`. Relies on balls alone, and on the meaning of claims (`certificate.py`). It is
written from the same theorems as `ranges.py` and from none of its lines.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Final

import flint
from flint import arb

from tang.emulator.certificate_balls import (
    INFINITE,
    ONE,
    ZERO,
    Ball,
    Given,
    Value,
    div,
    joined,
    lacking,
    least,
    loss_of,
    most,
    mul,
    nothing,
    two_to,
    uncertainty,
    unit_of,
    value,
)
from tang.emulator.certificate_specials import outcomes

_GONE: Final = -(10**6)
"""Below this the exponential of a number is less than two to it, and above −this more."""

Rule = Callable[[tuple[Value, ...], Given], Value]


def given(x: tuple[Value, ...], p: Given) -> Value:
    """Values that the certificate is about: input ranges, coordinates, whole numbers."""
    lo, hi = p.number("lo"), p.number("hi")
    if not lo <= hi:
        raise ValueError("its range is empty")
    return value(lo, hi, ZERO, ZERO, special=str(p.params.get("special", "")).split())


def constant(x: tuple[Value, ...], p: Given) -> Value:
    name = p.text("value")
    if name in ("inf", "-inf", "nan"):
        return nothing((name,))
    number = _named(name)
    return value(number, number, ZERO, ZERO)


def _named(name: str) -> Ball:
    if name == "pi":
        return arb.pi()
    if name in ("ln2", "log2e"):
        return arb.const_log2() if name == "ln2" else 1 / arb.const_log2()
    exact = Fraction(name)
    return arb(flint.fmpq(exact.numerator, exact.denominator))


def unknown(x: tuple[Value, ...], p: Given) -> Value:
    special = frozenset(("inf", "-inf", "nan"))
    return Value(-INFINITE, INFINITE, INFINITE, ZERO, INFINITE, True, special)


# --- roundings ------------------------------------------------------------------------------------


def _moved(c: Value, rate: Ball, h: Ball, p: Given) -> Value:
    """By rate·|c| + h, |c| ≤ (1 + r)·T + a; then into the format."""
    f, overflow = p.format(), p.text("overflow")
    if overflow not in ("assumed", "inf", "nan", "saturate"):
        raise ValueError(f"unknown overflow {overflow!r}")
    moves = overflow in ("nan", "saturate") and c.special & {"inf", "-inf"}
    if moves or lacking(f, c.special):
        return unknown((), p)
    r = c.r + mul(rate, 1 + c.r)
    a = mul(c.a, 1 + rate) + h
    excess = c.size + c.error - arb(f.largest)
    if overflow != "assumed" and not excess <= 0:
        a = a + excess if overflow == "saturate" else INFINITE
    return Value(c.lo, c.hi, c.size if c.pure else c.top, r, a, c.pure, c.special)


def rounded(x: tuple[Value, ...], p: Given) -> Value:
    f, mode = p.format(), p.text("rounding")
    if mode not in ("rne", "rna", "rz", "any"):
        raise ValueError(f"unknown rounding {mode!r}")
    return _moved(x[0], unit_of(f, mode), loss_of(f, mode, p.text("small")), p)


def within_ulps(x: tuple[Value, ...], p: Given) -> Value:
    f, n = p.format(), p.number("ulp")
    h = mul(n, two_to(f.emin - f.p + 1))
    if p.text("small") == "flush":
        h = h + two_to(f.emin)
    rate = mul(n, two_to(1 - f.p))
    found = _moved(x[0], rate, h, p)
    farthest = mul(x[0].size + x[0].error, 1 + rate) + mul(n, two_to(f.emin - f.p + 1))
    if p.text("overflow") in ("inf", "nan") and not x[0].empty and not farthest <= arb(f.largest):
        return Value(found.lo, found.hi, found.top, found.r, INFINITE, found.pure, found.special)
    return found


def off(x: tuple[Value, ...], p: Given) -> Value:
    (c,) = x
    return Value(c.lo, c.hi, c.top, c.r, c.a + p.number("by"), c.pure, c.special)


# --- arithmetic -----------------------------------------------------------------------------------


def negated(x: tuple[Value, ...], p: Given) -> Value:
    (c,) = x
    special = {s.removeprefix("-") if s[0] == "-" else "-" * (s == "inf") + s for s in c.special}
    return Value(-c.hi, -c.lo, c.top, c.r, c.a, c.pure, frozenset(special))


def added(x: tuple[Value, ...], p: Given) -> Value:
    a, b = x
    special, _ = outcomes("add", x)
    if a.empty or b.empty:
        return nothing(special)
    one_sign = bool((a.lo >= 0 and b.lo >= 0) or (a.hi <= 0 and b.hi <= 0))
    pure = a.pure and b.pure and one_sign
    return value(a.lo + b.lo, a.hi + b.hi, most((a.r, b.r)), a.a + b.a, pure=pure,
                 top=a.top + b.top, special=special)  # fmt: skip


def _product_errors(a: Value, b: Value) -> tuple[Ball, Ball]:
    """(x + d)(y + e) − xy with |d| ≤ r·T + a on both sides."""
    r = a.r + b.r + mul(a.r, b.r)
    cross = mul(a.a, b.top, 1 + b.r) + mul(b.a, a.top, 1 + a.r) + mul(a.a, b.a)
    return r, cross


def _unsure(a: Value, b: Value) -> bool:
    """Whether ∞ may meet a number that rounding has made 0, or of the other sign."""
    infinite = bool(a.special & {"inf", "-inf"})
    return infinite and not b.empty and not uncertainty(b) < 1


def multiplied(x: tuple[Value, ...], p: Given) -> Value:
    a, b = x
    special, _ = outcomes("mul", x)
    if _unsure(a, b) or _unsure(b, a):
        return unknown((), p)
    if a.empty or b.empty:
        return nothing(special)
    ends = [mul(s, t) for s in (a.lo, a.hi) for t in (b.lo, b.hi)]
    r, absolute = _product_errors(a, b)
    return value(least(ends), most(ends), r, absolute, pure=a.pure and b.pure,
                 top=mul(a.top, b.top), special=special)  # fmt: skip


def squared(x: tuple[Value, ...], p: Given) -> Value:
    (c,) = x
    theta = p.number("theta")
    special = outcomes("mul", (c, c))[0] - {"-inf"}
    if c.empty:
        return nothing(special)
    ends = (mul(c.lo, c.lo), mul(c.hi, c.hi))
    lo = ZERO if c.lo <= 0 <= c.hi else least(ends)
    if theta > 0:  # 2·x·e ≤ theta·x² + e²/theta
        a = mul(c.error, c.error, 1 + div(ONE, theta))
        return value(lo, most(ends), theta, a, special=special)
    r, a = _product_errors(c, c)
    return value(lo, most(ends), r, a, pure=c.pure, top=mul(c.top, c.top), special=special)


def _with(v: Value, extra: frozenset[float]) -> Value:
    """The same with some more values, which are exact."""
    if not extra:
        return v
    lo = least((v.lo, *map(arb, extra)))
    hi = most((v.hi, *map(arb, extra)))
    size = most((abs(lo), abs(hi)))
    top = size if v.pure else most((size, v.top))
    return Value(lo, hi, top, v.r, v.a, v.pure, v.special)


def reciprocal(x: tuple[Value, ...], p: Given) -> Value:
    (c,) = x
    special, extra = outcomes("recip", x)
    if c.empty:
        return _with(nothing(special), extra)
    q = uncertainty(c)
    if not q < 1:
        a, r = INFINITE, ZERO
    else:
        a, r = ZERO, div(q, 1 - q)
    if c.lo > 0 or c.hi < 0:
        lo, hi = _inverse(c.hi), _inverse(c.lo)
    else:
        a = a if p.flag("assume") else INFINITE
        lo, hi = (-INFINITE, INFINITE)  # the reciprocal of −0 is −∞
        if p.flag("assume") and c.lo == 0 and c.hi > 0:
            lo = _inverse(c.hi)
    return _with(value(lo, hi, r, a, special=special), extra)


def _inverse(x: Ball) -> Ball:
    return 1 / x if abs(x) < INFINITE else ZERO


def root(x: tuple[Value, ...], p: Given) -> Value:
    (c,) = x
    special, _ = outcomes("sqrt", x)
    if c.empty:
        return nothing(special)
    q = uncertainty(c)
    lo, hi = (most((e, ZERO)) for e in (c.lo, c.hi))
    known = q < 1 and (c.lo >= 0 or p.flag("assume"))
    r = div(q, 1 + (1 - q).sqrt()) if q < 1 else ZERO  # 1 − √(1 − q), which would cancel
    return value(_root(lo), _root(hi), r, ZERO if known else INFINITE, special=special)


def _root(x: Ball) -> Ball:
    return x.sqrt() if x < INFINITE else INFINITE


# --- functions ------------------------------------------------------------------------------------


def exponential(x: tuple[Value, ...], p: Given) -> Value:
    (c,) = x
    special, extra = outcomes("exp", x)
    if c.empty:
        return _with(nothing(special), extra)
    scale = ONE if p.text("base") == "e" else arb.const_log2()
    lo, hi = _power(c.lo, scale), _power(c.hi, scale)
    if p.text("variant") == "steep":
        r, a = _raised(mul(c.error, scale)), ZERO
    else:
        r = _raised(mul(c.a, scale))
        if not (c.pure and c.hi <= 0 and c.r < 1):
            a = INFINITE
        else:
            a = mul(1 + r, c.r) / (arb(1).exp() * (1 - c.r))
    return _with(value(lo, hi, r, a, special=special), extra)


def _power(x: Ball, scale: Ball) -> Ball:
    if not abs(x) < INFINITE:
        return INFINITE if x > 0 else ZERO
    if x * scale < _GONE:  # a ball would reach below 0; no f64 lies between 0 and this
        return two_to(_GONE)
    if x * scale > -_GONE:  # nor between this and infinity
        return two_to(-_GONE)
    return (x * scale).exp()


def _raised(x: Ball) -> Ball:
    return x.expm1() if x < 10**6 else INFINITE


def logarithm(x: tuple[Value, ...], p: Given) -> Value:
    (c,) = x
    special, _ = outcomes("log", x)
    if c.empty:
        return nothing(special)
    scale = ONE if p.text("base") == "e" else 1 / arb.const_log2()
    q = uncertainty(c)
    known = q < 1 and (c.lo > 0 or p.flag("assume"))
    a = mul(-((-q).log1p()), scale) if known else INFINITE
    lo, hi = (_log(e, scale) for e in (c.lo, c.hi))
    return value(lo, hi, ZERO, a, special=special)


def _log(x: Ball, scale: Ball) -> Ball:
    if x > 0:
        return mul(x.log(), scale) if x < INFINITE else INFINITE
    return -INFINITE


def _lipschitz(
    op: str, c: Value, ends: tuple[Ball, Ball], slope: Ball, widest: Ball
) -> Value:  # fmt: skip
    special, extra = outcomes(op, (c,))
    if c.empty:
        return _with(nothing(special), extra)
    a = least((mul(c.error, slope), widest))
    return _with(value(*ends, ZERO, a, special=special), extra)


def sine(x: tuple[Value, ...], p: Given) -> Value:
    return _lipschitz("sin", x[0], (-ONE, ONE), ONE, arb(2))


def _ends(c: Value, f: Callable[[Ball], Ball]) -> tuple[Ball, Ball]:
    return (INFINITE, -INFINITE) if c.empty else (f(c.lo), f(c.hi))


def error_function(x: tuple[Value, ...], p: Given) -> Value:
    slope = 2 / arb.pi().sqrt()
    return _lipschitz("erf", x[0], _ends(x[0], _erf), slope, arb(2))


def _erf(x: Ball) -> Ball:
    return x.erf() if abs(x) < INFINITE else (ONE if x > 0 else -ONE)


def hyperbolic(x: tuple[Value, ...], p: Given) -> Value:
    return _lipschitz("tanh", x[0], _ends(x[0], _tanh), ONE, arb(2))


def _tanh(x: Ball) -> Ball:
    return x.tanh() if abs(x) < 10**4 else (ONE if x > 0 else -ONE)


def logistic(x: tuple[Value, ...], p: Given) -> Value:
    return _lipschitz("sigmoid", x[0], _ends(x[0], _sigmoid), arb(1) / 4, ONE)


def _sigmoid(x: Ball) -> Ball:
    if abs(x) < 10**4:
        return 1 / (1 + (-x).exp())
    return ONE if x > 0 else ZERO


def direction(x: tuple[Value, ...], p: Given) -> Value:
    y, z = x
    special, _ = outcomes("atan2", x)
    exact = y.exact and z.exact
    a = ZERO if exact else 2 * arb.pi()
    if z.lo > 0 and not exact and not y.special and not z.special:
        turned = div(arb.pi() / 2 * (y.error + z.error), z.lo)
        a = turned if turned < arb.pi() / 2 else a
    half = arb.pi() / 2 if z.lo > 0 and not z.special else arb.pi()
    return value(-half, half, ZERO, a, special=special)


# --- choices --------------------------------------------------------------------------------------


def magnitude(x: tuple[Value, ...], p: Given) -> Value:
    (c,) = x
    special = {s.removeprefix("-") for s in c.special}
    if c.empty:
        return nothing(special)
    lo = ZERO if c.lo <= 0 <= c.hi else least((abs(c.lo), abs(c.hi)))
    return Value(lo, c.size, c.top, c.r, c.a, c.pure, frozenset(special))


def larger(x: tuple[Value, ...], p: Given) -> Value:
    a, b = x
    both = a.special & b.special
    special = {s for c in x for s in c.special if s != "-inf" or s in both}
    if a.empty or b.empty:
        c = b if a.empty else a
        return Value(c.lo, c.hi, c.top, c.r, c.a, c.pure, frozenset(special))
    lows = [c.lo for c in x if "-inf" not in c.special]
    hi = most((a.hi, b.hi))
    lo = least((most(lows) if lows else least((a.lo, b.lo)), hi))
    if a.pure and b.pure and a.lo >= 0 and b.lo >= 0:
        return value(lo, hi, most((a.r, b.r)), most((a.a, b.a)), special=special)
    return value(lo, hi, ZERO, most((a.error, b.error)), special=special)


def smaller(x: tuple[Value, ...], p: Given) -> Value:
    return negated((larger(tuple(negated((c,), p) for c in x), p),), p)


def _clipped(c: Value, lo: Ball, hi: Ball, special: frozenset[str]) -> Value:
    size = most((abs(lo), abs(hi)))
    return Value(lo, hi, size if c.pure else c.top, c.r, c.a, c.pure, special)


def nonpositive(x: tuple[Value, ...], p: Given) -> Value:
    (c,) = x
    hi = least((c.hi, ZERO))
    return _clipped(c, least((c.lo, hi)), hi, c.special - {"inf"})


def within(x: tuple[Value, ...], p: Given) -> Value:
    (c,) = x
    widest = p.number("most")
    if p.params.get("nonnegative") is True and not c.lo >= 0:
        raise ValueError("it may be negative")
    return _clipped(c, most((c.lo, -widest)), least((c.hi, widest)), c.special)


def hull(x: tuple[Value, ...], p: Given) -> Value:
    return joined(x)


def _any_outcome(branches: tuple[Value, ...]) -> Value:
    """What is computed is one of these, what is meant another."""
    c = joined(branches)
    known = [b for b in branches if not b.empty]
    a = c.hi - c.lo + most(b.error for b in known) if known else ZERO
    if c.special or not a < INFINITE:
        a = INFINITE
    return Value(c.lo, c.hi, c.size, ZERO, a, True, c.special)


def select(x: tuple[Value, ...], p: Given) -> Value:
    condition, *branches = x
    return joined(branches) if condition.exact else _any_outcome(tuple(branches))


def jump(x: tuple[Value, ...], p: Given) -> Value:
    return _any_outcome(x)


def worse(x: tuple[Value, ...], p: Given) -> Value:
    a, b = x
    lo, hi = most((a.lo, b.lo)), least((a.hi, b.hi))
    size = ZERO if lo > hi else most((abs(lo), abs(hi)))
    special = a.special | b.special
    if a.pure and b.pure:
        return Value(lo, hi, size, most((a.r, b.r)), most((a.a, b.a)), True, special)
    return Value(lo, hi, size, ZERO, most((a.error, b.error)), True, special)


RULES: Final[dict[str, Rule]] = {
    "given": given, "constant": constant, "unknown": unknown, "round": rounded,
    "ulps": within_ulps, "off": off, "neg": negated, "add": added, "mul": multiplied,
    "square": squared, "recip": reciprocal, "sqrt": root, "exp": exponential, "log": logarithm,
    "sin": sine, "erf": error_function, "tanh": hyperbolic, "sigmoid": logistic,
    "atan2": direction, "abs": magnitude, "max": larger, "min": smaller,
    "nonpositive": nonpositive, "within": within, "hull": hull,
    "select": select, "jump": jump, "worse": worse,
}  # fmt: skip
"""Rule → what it allows."""
