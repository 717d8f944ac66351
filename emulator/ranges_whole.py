"""Rules of truth values and whole numbers: exact, unless an inexact value decides.

Defines `WHOLE_RULES`. Relies on outward arithmetic of `ranges_numbers`. What a decision that may
flip does to reals is said by `select` and `jump` of `ranges`.

A value without a bound may be NaN or infinite though its claim names no such thing, as the root of
what may be negative is: what is decided by it, or is made whole of it, may be anything.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from tang.emulator.certificate import Claim
from tang.emulator.ranges import Facts, Params, Rule, is_lost
from tang.emulator.ranges_numbers import (
    INF,
    plus,
    product,
    up,
    whole,
    whole_ends,
    whole_error,
    whole_up,
)
from tang.emulator.ranges_specials import comparisons

_LOW, _HIGH = -(2.0**31), 2.0**31 - 1


def _compare(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    """lt or eq: 0 or 1, with error 1 where rounding may decide otherwise."""
    if any(map(is_lost, x)):
        return whole(0.0, 1.0, 1.0)
    a, b = x
    slack = plus(a.error, b.error)
    least, most = a.lo - b.hi, a.hi - b.lo
    finite = not (a.empty or b.empty)
    flips = finite and slack > 0 and least <= slack and most >= -slack
    outcomes = set(comparisons(str(p["op"]), a, b))
    if finite:
        yes = most < 0 if p["op"] == "lt" else least == most == 0
        no = least >= 0 if p["op"] == "lt" else least > 0 or most < 0
        outcomes |= {1.0} if yes else {0.0} if no else {0.0, 1.0}
    return whole(min(outcomes), max(outcomes), 1.0 if flips else 0.0)


def _isnan(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    (c,) = x
    if is_lost(c):
        return whole(0.0, 1.0, 1.0)
    may = "nan" in c.special
    sure = may and c.empty and len(c.special) == 1
    return whole(float(sure), float(may))


def _not(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    return whole(1 - x[0].hi, 1 - x[0].lo, x[0].absolute)


def _logic(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    """and, or."""
    of = min if p["op"] == "and" else max
    a = max(c.absolute for c in x)
    return whole(of(c.lo for c in x), of(c.hi for c in x), a)


def _floor(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    (c,) = x
    if c.empty:
        return c
    ends = tuple(e if math.isinf(e) else float(math.floor(e)) for e in (c.lo, c.hi))
    e = up(c.error)
    around = (math.nextafter(c.lo - e, -INF), math.nextafter(c.hi + e, INF))
    still = math.isfinite(e) and math.isfinite(sum(around))
    still = still and math.floor(around[0]) == math.floor(around[1])
    a = 0.0 if c.exact or still else INF if math.isinf(e) else math.floor(e) + 1.0
    return whole(ends[0], ends[1], a, c.special)


def _to_index(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    """Floored and saturated at 32 bits; NaN is −1. What is computed may lie beyond exact ends."""
    c = _floor(x, p, f)
    if is_lost(c):
        return whole(_LOW, _HIGH, _HIGH - _LOW)
    ends = [] if c.empty else [_saturated(c.lo), _saturated(c.hi)]
    ends += [{"nan": -1.0, "inf": _HIGH, "-inf": _LOW}[s] for s in c.special]
    return whole(min(ends), max(ends), _index_error(c))


def _saturated(x: float) -> float:
    return min(max(x, _LOW), _HIGH)


def _index_error(floored: Claim) -> float:
    """Its own error, less where both worlds saturate."""
    a = floored.absolute
    if a == 0 or floored.empty:
        return 0.0
    exact = (_saturated(floored.lo), _saturated(floored.hi))
    return min(a, _apart(exact, (_saturated(floored.lo - a), _saturated(floored.hi + a))))


def _apart(exact: tuple[float, float], computed: tuple[float, float]) -> float:
    """How far a computed outcome may be from an exact one, each within its own ends."""
    if any(math.isinf(e) for e in (*exact, *computed)):
        return INF
    return whole_up(max(computed[1] - exact[0], exact[1] - computed[0]))


def _integer(x: tuple[Claim, ...], p: Params, f: Facts) -> Claim:
    """Exact arithmetic of indices; of inexact operands any outcome within their errors."""
    found = WHOLE[str(p["op"])]
    ends = whole_ends(*found(*x))
    if all(c.exact for c in x):
        return whole(*ends)
    return whole(*ends, _apart(ends, whole_ends(*found(*(_widened(c) for c in x)))))


def _widened(c: Claim) -> Claim:
    """Where an index may lie that is computed."""
    e = whole_error(c)
    if not e:
        return c
    lo, hi = whole_ends(c.lo - e, c.hi + e)
    return replace(c, lo=lo, hi=hi)


def _corners(f: Callable[[float, float], float], a: Claim, b: Claim) -> tuple[float, float]:
    found = [f(s, t) for s in (a.lo, a.hi) for t in (b.lo, b.hi)]
    return min(found), max(found)


def _divided(a: Claim, b: Claim) -> tuple[float, float]:
    if b.lo < 1:
        return -INF, INF
    found = [x if math.isinf(x) else float(x // y) for x in (a.lo, a.hi) for y in (b.lo, b.hi)
             if not math.isinf(y)]  # fmt: skip
    found += [0.0, -1.0] if math.isinf(b.hi) else []
    return min(found), max(found)


def _rest(a: Claim, b: Claim) -> tuple[float, float]:
    return (0.0, max(b.hi - 1, 0.0)) if b.lo >= 1 else (-INF, INF)


WHOLE: Final[dict[str, Callable[..., tuple[float, float]]]] = {
    "add": lambda a, b: (a.lo + b.lo, a.hi + b.hi),
    "neg": lambda a: (-a.hi, -a.lo),
    "mul": lambda a, b: _corners(product, a, b),
    "floordiv": _divided,
    "mod": _rest,
}
"""Arithmetic of indices."""

WHOLE_RULES: Final[dict[str, Rule]] = {
    "compare": _compare, "isnan": _isnan, "not": _not, "logic": _logic, "floor": _floor,
    "to_index": _to_index, "integer": _integer,
}  # fmt: skip
"""Rule → what it says."""
