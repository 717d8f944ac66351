"""Numbers of bounds: f64 arithmetic rounded outwards, and claims made of it.

Defines upper bounds of sums, products and powers, ends of intervals moved outwards, and the facts
of formats that bounds need. Relies on f64 errors of at most a few ulp, which the widening covers.
It knows no rules: `ranges.py` and `ranges_folds.py` do.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Final

from tang.emulator.certificate import Claim, FormatFacts
from tang.errors import BudgetError
from tang.ir.format import Format, any_format

WIDER: Final = 2.0**-46
"""What covers the rounding of a rule's own evaluation, relative to its result."""
TINY: Final = 5e-324
INF: Final = math.inf
LARGEST: Final = 1.7e308
"""Stands for lower ends that f64 cannot hold."""
_WHOLE: Final = 2.0**53
"""Up to here f64 holds every whole number."""


def up(x: float) -> float:
    """An upper bound of a number that was computed as x ≥ 0."""
    return x if x == 0 or math.isinf(x) else x * (1 + WIDER) + TINY


def plus(*xs: float) -> float:
    """An upper bound of a sum of numbers ≥ 0."""
    return up(sum(xs)) if sum(1 for x in xs if x) > 1 else sum(xs)


def times(*xs: float) -> float:
    """An upper bound of a product of numbers ≥ 0, in which 0 · ∞ is 0."""
    if any(x == 0 for x in xs):
        return 0.0
    total = xs[0]
    for x in xs[1:]:  # what underflows on the way may not be lost: a later factor may be large
        total = total * x + TINY
    return up(total)


def over(x: float, y: float) -> float:
    """An upper bound of x / y for x ≥ 0, y ≥ 0; x / 0 is ∞ and ∞ / ∞ as well."""
    if x == 0:
        return 0.0
    return INF if y == 0 or math.isinf(x) else (up(x / y) or 4 * TINY)


def compound(*parts: tuple[float, float]) -> float:
    """An upper bound of Π (1 + u)^d − 1 over pairs (u, d)."""
    total = sum(d * math.log1p(u) for u, d in parts if u and d)
    return grown(total)


def grown(x: float) -> float:
    """An upper bound of exp(x) − 1 for x ≥ 0."""
    if x == 0:
        return 0.0
    return INF if x > 700 else up(math.expm1(up(x)))


def lower(x: float) -> float:
    """A lower end, moved down; zero stays."""
    return x if x == 0 or math.isinf(x) else x - abs(x) * WIDER - TINY


def higher(x: float) -> float:
    """An upper end, moved up; zero stays."""
    return x if x == 0 or math.isinf(x) else x + abs(x) * WIDER + TINY


def monotone(f: Callable[[float], float], x: float, otherwise: float) -> float:
    """f(x), and what stands for it where f64 cannot hold it."""
    try:
        return f(x)
    except (OverflowError, ValueError):
        return otherwise


def product(a: float, b: float) -> float:
    """a · b of ends of intervals, where 0 · ∞ is 0, and what underflows is not."""
    if a == 0 or b == 0:
        return 0.0
    return a * b or math.copysign(TINY, a) * math.copysign(1.0, b)


def outwards(lo: float, hi: float) -> tuple[float, float]:
    """Ends of which f64 may have made infinities: a lower one is never ∞, an upper one never −∞."""
    return (min(lo, LARGEST), max(hi, -LARGEST)) if lo <= hi else (lo, hi)


def whole_ends(lo: float, hi: float) -> tuple[float, float]:
    """Ends of whole numbers as f64 computed them: moved where it may have rounded."""
    lo, hi = (e if abs(e) <= _WHOLE else move(e) for e, move in ((lo, lower), (hi, higher)))
    return outwards(lo, hi)


def claim(
    ends: tuple[float, float],
    errors: tuple[float, float],
    pure: bool = True,
    top: float | None = None,
    special: tuple[str, ...] = (),
) -> Claim:
    """A claim with its ends moved outwards; a pure one has no other magnitude than its value.

    What has no relative error may call its value its magnitude.
    """
    lo, hi = outwards(lower(ends[0]), higher(ends[1]))
    size = 0.0 if lo > hi else max(abs(lo), abs(hi))
    relative, absolute = errors
    pure = pure or relative == 0
    own = size if pure or top is None else up(top)
    return Claim(lo, hi, own, relative, absolute, pure, tuple(sorted(set(special))))


def whole(lo: float, hi: float, error: float = 0.0, special: tuple[str, ...] = ()) -> Claim:
    """A claim of integers or truth values: nothing is moved."""
    size = 0.0 if lo > hi else max(abs(lo), abs(hi))
    return Claim(lo, hi, size, 0.0, error, True, tuple(sorted(set(special))))


def whole_up(x: float) -> float:
    """An upper bound of a whole number ≥ 0 that was computed as x."""
    return x if x <= _WHOLE else up(x)


def whole_error(c: Claim) -> float:
    """The error of a whole number or truth value, which is a whole number too."""
    return c.error if math.isinf(c.error) else float(math.floor(c.error))


def nothing(special: tuple[str, ...] = ()) -> Claim:
    """A claim of no finite value."""
    return Claim(INF, -INF, 0.0, 0.0, 0.0, True, tuple(sorted(set(special))))


def unknown() -> Claim:
    """A claim that promises nothing."""
    return Claim(-INF, INF, INF, 0.0, INF, True, ("-inf", "inf", "nan"))


def width(*claims: Claim) -> float:
    """How far two outcomes among these values may be apart: computed of one, exact of another."""
    known = [c for c in claims if not c.empty]
    if not known:
        return 0.0
    top = max(c.hi for c in known)
    bottom = min(c.lo for c in known)
    if math.isinf(top) or math.isinf(bottom):
        return INF
    return plus(up(top - bottom), max(c.error for c in known))


def doubt(c: Claim) -> float:
    """q with |c − x| ≤ q·|x|: the relative error of a value whose distance from 0 is known."""
    if c.exact:
        return 0.0
    if c.pure and c.absolute == 0:
        return c.relative
    if c.empty or c.lo <= 0 <= c.hi:
        return INF
    nearest = min(abs(c.lo), abs(c.hi))
    if c.pure:
        return plus(c.relative, over(c.absolute, nearest))
    return over(c.error, nearest)


@cache
def facts_of(format: str | Format) -> FormatFacts:
    """What bounds need of a format."""
    f = any_format(format)
    return FormatFacts(f.name, f.p, f.emin, float(f.largest), f.has_infinity, f.has_nan)


class Formats:
    """The formats that a certificate speaks of, by name."""

    def __init__(self) -> None:
        self.known: dict[str, FormatFacts] = {}

    def name(self, format: str | Format) -> str:
        """The name under which steps speak of a format; two formats of one name are refused."""
        found = facts_of(format)
        if self.known.setdefault(found.name, found) != found:
            raise BudgetError(f"two formats are called {found.name!r}: rename one")
        return found.name

    def __getitem__(self, name: str) -> FormatFacts:
        return self.known[name]


def unit(f: FormatFacts, rounding: str) -> float:
    """u of a rounding: 2⁻ᵖ to nearest, 2^(1−p) towards zero or to either neighbour."""
    return math.ldexp(1.0, -f.p if rounding in ("rne", "rna") else 1 - f.p)


def quantum(f: FormatFacts) -> float:
    """η: the smallest subnormal."""
    return math.ldexp(1.0, f.emin - f.p + 1)


def lost(f: FormatFacts, rounding: str, small: str) -> float:
    """h of a rounding: what underflow may cost.

    small  "exact" nothing, as of IEEE sums; "gradual" η/2, or η towards zero; "flush" 2^emin
    """
    if small == "exact":
        return 0.0
    if small == "flush":
        return math.ldexp(1.0, f.emin)
    return max(quantum(f) / 2, TINY) if rounding in ("rne", "rna") else quantum(f)
