"""Numbers of a check: balls, with an infinity that is a number too.

Defines `Value`, what a rule of the checker gives, and arithmetic over balls of python-flint in
which 0 · ∞ is 0. Relies on flint's context, whose precision the checker sets. It shares nothing
with the f64 arithmetic by which certificates are made.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from flint import arb

from tang.emulator.certificate import Claim, FormatFacts, Parameter

Ball = Any
"""An arb."""


@dataclass(frozen=True, slots=True)
class Value:
    """A claim in balls: what the claims of its operands imply."""

    lo: Ball
    hi: Ball
    top: Ball
    r: Ball
    a: Ball
    pure: bool = True
    special: frozenset[str] = frozenset()

    @property
    def error(self) -> Ball:
        return mul(self.r, self.top) + self.a

    @property
    def empty(self) -> bool:
        return bool(self.lo > self.hi)

    @property
    def size(self) -> Ball:
        return ZERO if self.empty else most((abs(self.lo), abs(self.hi)))

    @property
    def exact(self) -> bool:
        return bool(self.r == 0 and self.a == 0)


@dataclass(frozen=True, slots=True)
class Given:
    """Parameters of a step, and the formats of the certificate."""

    params: Mapping[str, Parameter]
    formats: Mapping[str, FormatFacts]

    def number(self, name: str) -> Ball:
        return arb(float(self.params[name]))

    def text(self, name: str) -> str:
        return str(self.params[name])

    def flag(self, name: str) -> bool:
        return self.params[name] is True

    def format(self, name: str = "format") -> FormatFacts:
        return self.formats[str(self.params[name])]


ZERO: Final = arb(0)
ONE: Final = arb(1)
INFINITE: Final = arb(math.inf)


def mul(*xs: Ball) -> Ball:
    """A product in which 0 · ∞ is 0."""
    if any(x == 0 for x in xs):
        return ZERO
    total = ONE
    for x in xs:
        total = total * x
    return total


def div(x: Ball, y: Ball) -> Ball:
    """x / y of numbers ≥ 0; x / 0 is ∞ unless x is 0."""
    if x == 0:
        return ZERO
    return x / y if y > 0 and x < INFINITE else INFINITE


def most(xs: Iterable[Ball]) -> Ball:
    """The largest; of balls that overlap the larger midpoint, which widths here never need."""
    found = None
    for x in xs:
        found = x if found is None or x.upper() > found.upper() else found
    return ZERO if found is None else found


def whole_part(x: Ball) -> Ball:
    """The largest whole number up to x."""
    return x.floor() if abs(x) < INFINITE else x


def least(xs: Iterable[Ball]) -> Ball:
    """The smallest."""
    return -most(-x for x in xs)


def power(base: Ball, n: Ball) -> Ball:
    """baseⁿ for base ≥ 0 and a whole n ≥ 0, as balls."""
    if n == 0:
        return ONE
    if base == 0 or base == 1:
        return base
    return (base.log() * n).exp() if base < INFINITE and n < INFINITE else INFINITE


def growth(*parts: tuple[Ball, Ball]) -> Ball:
    """Π (1 + u)^d − 1."""
    total = ZERO
    for u, d in parts:
        if u == 0 or d == 0:
            continue
        if not u < INFINITE:
            return INFINITE
        total = total + u.log1p() * d
    return total.expm1() if total < 1000 else INFINITE


def of(claim: Claim) -> Value:
    """A claim as balls; floats are exact."""
    lo, hi, top, r, a = (
        arb(x) for x in (claim.lo, claim.hi, claim.top, claim.relative, claim.absolute)
    )
    return Value(lo, hi, top, r, a, claim.pure, frozenset(claim.special))


def value(
    lo: Ball, hi: Ball, r: Ball, a: Ball, *, pure: bool = True, top: Ball = None,
    special: Iterable[str] = (),
) -> Value:  # fmt: skip
    """A value; without a relative error its magnitude is its own."""
    own = pure or r == 0 or top is None
    size = ZERO if lo > hi else most((abs(lo), abs(hi)))
    return Value(lo, hi, size if own else top, r, a, bool(own), frozenset(special))


def nothing(special: Iterable[str]) -> Value:
    """No finite value."""
    return Value(INFINITE, -INFINITE, ZERO, ZERO, ZERO, True, frozenset(special))


def joined(values: Iterable[Value]) -> Value:
    """What holds for one of these, whichever."""
    given = list(values)
    special = frozenset().union(*(v.special for v in given))
    known = [v for v in given if not v.empty]
    if not known:
        return nothing(special)
    lo, hi = least(v.lo for v in known), most(v.hi for v in known)
    pure = all(v.pure for v in known)
    top = most((abs(lo), abs(hi))) if pure else most(v.top for v in known)
    return Value(lo, hi, top, most(v.r for v in known), most(v.a for v in known), pure, special)


def nearest(v: Value) -> Ball:
    """The smallest |x|, 0 where it is not known."""
    return least((abs(v.lo), abs(v.hi))) if v.lo > 0 or v.hi < 0 else ZERO


def uncertainty(v: Value) -> Ball:
    """q with |c − x| ≤ q·|x|."""
    if v.exact:
        return ZERO
    if v.pure and v.a == 0:
        return v.r
    if v.pure:
        return v.r + div(v.a, nearest(v))
    return div(v.error, nearest(v))


# --- formats --------------------------------------------------------------------------------------


def two_to(n: int) -> Ball:
    """2ⁿ, exactly."""
    return arb((1, n))


def holds_up_to(f: FormatFacts, n: Ball) -> bool:
    """Whether a format holds every whole number up to n."""
    return bool(n <= two_to(f.p) and n <= arb(f.largest)) and f.emin - f.p + 1 <= 0


def lacking(f: FormatFacts, special: Iterable[str]) -> str:
    """An infinity, or NaN, that a format has no number for; "" where it has all."""
    return next((s for s in sorted(special) if not (f.nan if s == "nan" else f.infinity)), "")


def unit_of(f: FormatFacts, mode: str) -> Ball:
    """u of a rounding to nearest ("rne", "rna") or to any neighbour ("rz", "any")."""
    return two_to(-f.p) if mode in ("rne", "rna") else two_to(1 - f.p)


def loss_of(f: FormatFacts, mode: str, small: str) -> Ball:
    """What underflow may cost: nothing, half or all of the smallest subnormal, or 2^emin."""
    if small == "exact":
        return ZERO
    if small == "flush":
        return two_to(f.emin)
    if small != "gradual":
        raise ValueError(f"small is exact, gradual or flush, not {small!r}")
    return two_to(f.emin - f.p) if mode in ("rne", "rna") else two_to(f.emin - f.p + 1)
