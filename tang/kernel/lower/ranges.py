"""Ranges of integers: what decides between 32- and 64-bit indices.

Defines `Range` with the effect of each index operation, and `Sizes`, the ranges of extents under
the declared facts. Relies on extents. It does not look at expressions: see `values`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import prod
from typing import Final

from tang.ir.extent import Poly
from tang.ir.graph import Fact

LARGEST_EXTENT: Final = 2**31 - 1
"""What a symbolic extent without a declared maximum is assumed, and in a plan stated, to obey."""


@dataclass(frozen=True, slots=True)
class Range:
    """Every integer from lo to hi, both included."""

    lo: int
    hi: int

    def __or__(self, other: Range) -> Range:
        return Range(min(self.lo, other.lo), max(self.hi, other.hi))

    def limited(self, limit: Range) -> Range:
        """The part of this range inside another that meets it."""
        return Range(min(max(self.lo, limit.lo), limit.hi), max(min(self.hi, limit.hi), limit.lo))

    def within(self, other: Range) -> bool:
        """Whether the other range contains this one."""
        return other.lo <= self.lo and self.hi <= other.hi


INT32: Final = Range(-(2**31), 2**31 - 1)
INT64: Final = Range(-(2**63), 2**63 - 1)
INPUT: Final = Range(-(2**31 - 1), 2**31 - 1)
ABSENT: Final = Range(-1, -1)
ZERO: Final = Range(0, 0)


def point(value: int) -> Range:
    """The range of one integer."""
    return Range(value, value)


def below(limit: Range) -> Range:
    """The range of a coordinate along an extent (of an empty one: 0 alone)."""
    return Range(0, max(limit.hi - 1, 0))


def _hull(values: Iterable[int]) -> Range:
    found = list(values)
    return Range(min(found), max(found))


def _add(a: Range, b: Range) -> Range:
    return Range(a.lo + b.lo, a.hi + b.hi)


def _sub(a: Range, b: Range) -> Range:
    return Range(a.lo - b.hi, a.hi - b.lo)


def _mul(a: Range, b: Range) -> Range:
    return _hull(x * y for x in (a.lo, a.hi) for y in (b.lo, b.hi))


def _neg(a: Range) -> Range:
    return Range(-a.hi, -a.lo)


def _floordiv(a: Range, b: Range) -> Range:
    divisors = (max(b.lo, 1), max(b.hi, 1))
    return _hull(x // y for x in (a.lo, a.hi) for y in divisors)


def _mod(a: Range, b: Range) -> Range:
    limit = max(b.hi, 1) - 1
    return a if a.lo >= 0 and a.hi <= limit else Range(0, limit)


def _min(a: Range, b: Range) -> Range:
    return Range(min(a.lo, b.lo), min(a.hi, b.hi))


EFFECT: Final[dict[str, Callable[..., Range]]] = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "neg": _neg,
    "floordiv": _floordiv,
    "mod": _mod,
    "min": _min,
}
"""The range of an integer operation from those of its operands."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """What is known of the symbolic extents of one graph."""

    facts: dict[str, Fact] = field(default_factory=dict)

    def symbol(self, name: str) -> Range:
        """The range of a symbolic extent."""
        fact = self.facts.get(name)
        if fact is None:
            return Range(0, LARGEST_EXTENT)
        top = LARGEST_EXTENT if fact.maximum is None else fact.maximum
        return Range(fact.minimum, max(top, fact.minimum))

    def bounds(self, extent: Poly) -> Range:
        """The range of a polynomial in the extents."""
        total = ZERO
        for monomial, coefficient in extent.terms:
            factors = [self.symbol(s) for s in monomial]
            low, high = prod(f.lo for f in factors), prod(f.hi for f in factors)
            total = _add(total, _mul(point(coefficient), Range(low, high)))
        return total

    def never_empty(self, extent: Poly) -> bool:
        """Whether the extent is at least 1 under every binding that obeys the facts."""
        return self.bounds(extent).lo >= 1

    def is_declared(self, symbols: Iterable[str]) -> bool:
        """Whether every one of these symbols has a declared maximum."""
        return all(s in self.facts and self.facts[s].maximum is not None for s in symbols)


def sizes_of(facts: Iterable[Fact]) -> Sizes:
    """Sizes by the facts of a graph."""
    return Sizes({f.symbol: f for f in facts})


def assumed_facts(facts: Iterable[Fact], symbols: Iterable[str]) -> tuple[Fact, ...]:
    """The facts, with the largest extent stated for every symbol that declares none."""
    known = {f.symbol: f for f in facts}
    return tuple(_with_maximum(known.get(s, Fact(s))) for s in sorted({*known, *symbols}))


def _with_maximum(fact: Fact) -> Fact:
    if fact.maximum is not None:
        return fact
    top = max(LARGEST_EXTENT, fact.minimum)
    return Fact(fact.symbol, fact.minimum, top, fact.multiple)
