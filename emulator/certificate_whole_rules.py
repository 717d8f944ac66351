"""The rules of truth values and whole numbers once more, in balls.

Defines `WHOLE_RULES`. Relies on balls alone. It knows that decisions on inexact values may flip,
and nothing of what depends on them. Where an error has no bound there may have been no real value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from flint import arb

from tang.emulator.certificate_balls import (
    INFINITE,
    ONE,
    ZERO,
    Ball,
    Given,
    Value,
    least,
    most,
    mul,
    two_to,
    whole_part,
)
from tang.emulator.certificate_rules import Rule
from tang.emulator.certificate_specials import compared


def _truth(lo: float, hi: float, error: Ball) -> Value:
    return Value(arb(lo), arb(hi), most((abs(arb(lo)), abs(arb(hi)))), ZERO, error)


def comparison(x: tuple[Value, ...], p: Given) -> Value:
    a, b = x
    if not (a.a < INFINITE and b.a < INFINITE):
        return _truth(0.0, 1.0, ONE)
    op, flips = p.text("op"), False
    found = set(compared(op, a, b))
    if not (a.empty or b.empty):
        low, high, slack = a.lo - b.hi, a.hi - b.lo, a.error + b.error
        flips = not (slack == 0 or low > slack or high < -slack)
        if (high < 0) if op == "lt" else (low == 0 and high == 0):
            found.add(1.0)
        elif (low >= 0) if op == "lt" else (low > 0 or high < 0):
            found.add(0.0)
        else:
            found |= {0.0, 1.0}
    return _truth(min(found), max(found), ONE if flips else ZERO)


def is_nan(x: tuple[Value, ...], p: Given) -> Value:
    (c,) = x
    if not c.a < INFINITE:
        return _truth(0.0, 1.0, ONE)
    may = "nan" in c.special
    sure = may and c.empty and c.special == {"nan"}
    return _truth(float(sure), float(may), ZERO)


def negation(x: tuple[Value, ...], p: Given) -> Value:
    (c,) = x
    lo, hi = 1 - c.hi, 1 - c.lo
    return Value(lo, hi, most((abs(lo), abs(hi))), ZERO, c.a)


def logic(x: tuple[Value, ...], p: Given) -> Value:
    of = least if p.text("op") == "and" else most
    lo, hi = of(c.lo for c in x), of(c.hi for c in x)
    return Value(lo, hi, most((abs(lo), abs(hi))), ZERO, most(c.a for c in x))


def floored(x: tuple[Value, ...], p: Given) -> Value:
    (c,) = x
    if c.empty:
        return c
    lo, hi = (e.floor() if abs(e) < INFINITE else e for e in (c.lo, c.hi))
    return Value(lo, hi, most((abs(lo), abs(hi))), ZERO, _steps(c), True, c.special)


def _steps(c: Value) -> Ball:
    """How many whole numbers a floor may jump."""
    e = c.error
    if c.exact:
        return ZERO
    if not e < INFINITE:
        return INFINITE
    low, high = c.lo - e, c.hi + e
    if abs(low) < INFINITE and abs(high) < INFINITE and (low.floor() == high.floor()):
        return ZERO
    return e.floor() + 1


def to_index(x: tuple[Value, ...], p: Given) -> Value:
    low, high = -two_to(31), two_to(31) - 1

    def held(e: Ball) -> Ball:
        return least((most((e, low)), high))

    c = floored(x, p)
    if not c.a < INFINITE:
        return Value(low, high, -low, ZERO, high - low)
    ends = [] if c.empty else [held(c.lo), held(c.hi)]
    ends += [{"nan": -ONE, "inf": high, "-inf": low}[s] for s in c.special]
    lo, hi = least(ends), most(ends)
    if c.a == 0 or c.empty:
        a = ZERO
    else:  # what is computed lies that far beyond the ends
        a = least((c.a, most((held(c.hi + c.a) - held(c.lo), held(c.hi) - held(c.lo - c.a)))))
    return Value(lo, hi, most((abs(lo), abs(hi))), ZERO, a)


def integer(x: tuple[Value, ...], p: Given) -> Value:
    """Of inexact operands one world has outcomes of operands that reach further."""
    op = _WHOLE[p.text("op")]
    lo, hi = op(*x)
    a = ZERO
    if not all(c.exact for c in x):
        low, high = op(*(_reach(c) for c in x))
        bounded = all(abs(e) < INFINITE for e in (lo, hi, low, high))
        a = most((high - lo, hi - low)) if bounded else INFINITE
    return Value(lo, hi, most((abs(lo), abs(hi))), ZERO, a)


def _reach(c: Value) -> Value:
    e = whole_part(c.error)
    lo, hi = (c.lo - e, c.hi + e) if e < INFINITE else (-INFINITE, INFINITE)
    return Value(lo, hi, most((abs(lo), abs(hi))), ZERO, ZERO)


def _whole_products(a: Value, b: Value) -> tuple[Ball, Ball]:
    ends = [mul(s, t) for s in (a.lo, a.hi) for t in (b.lo, b.hi)]
    return least(ends), most(ends)


def _quotients(a: Value, b: Value) -> tuple[Ball, Ball]:
    if not b.lo >= 1:
        return -INFINITE, INFINITE
    ends = [(s / t).floor() if abs(s) < INFINITE else s
            for s in (a.lo, a.hi) for t in (b.lo, b.hi) if t < INFINITE]  # fmt: skip
    if not b.hi < INFINITE:
        ends += [ZERO, -ONE]
    return least(ends), most(ends)


def _remainders(a: Value, b: Value) -> tuple[Ball, Ball]:
    if not b.lo >= 1:  # by numbers below 1 there is none
        return -INFINITE, INFINITE
    return ZERO, most((b.hi - 1, ZERO))


_WHOLE: Final[dict[str, Callable[..., Any]]] = {
    "add": lambda a, b: (a.lo + b.lo, a.hi + b.hi),
    "neg": lambda a: (-a.hi, -a.lo),
    "mul": _whole_products,
    "floordiv": _quotients,
    "mod": _remainders,
}

WHOLE_RULES: Final[dict[str, Rule]] = {
    "compare": comparison, "isnan": is_nan, "not": negation, "logic": logic, "floor": floored,
    "to_index": to_index, "integer": integer,
}  # fmt: skip
"""Rule → what it allows."""
