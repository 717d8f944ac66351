"""Ranges: what a drawn value can be, followed while a program is drawn.

Defines `Range` and how the operations move it, so that draws stay inside f32 and ties stay
decidable. Relies on nothing. It is a guide for the generator, no proof: no checker uses it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import inf

I32_LOW, I32_HIGH = -(2**31), 2**31 - 1


@dataclass(frozen=True, slots=True)
class Range:
    """low ≤ value ≤ high for values that are finite.

    finite  no NaN and no infinity can occur
    exact   on dyadic inputs the value is exact in f64, so ties between values are decidable
    plain   an input's own value: zero or of moderate size, its sign beyond doubt
    """

    low: float
    high: float
    finite: bool = True
    exact: bool = True
    plain: bool = False

    @property
    def size(self) -> float:
        """The largest magnitude."""
        return max(abs(self.low), abs(self.high))

    @property
    def away_from_zero(self) -> bool:
        """Whether every finite value has a magnitude of at least 1/16."""
        return self.low >= 0.0625 or self.high <= -0.0625


BOOLEAN = Range(0, 1)
ANY_INDEX = Range(I32_LOW, I32_HIGH)


def point(value: float, *, exact: bool = True) -> Range:
    """The range of a constant."""
    return Range(value, value, exact=exact)


def hull(ranges: Iterable[Range]) -> Range:
    """The smallest range that holds all; finite, exact and plain where all are."""
    parts = tuple(ranges)
    return Range(
        min(r.low for r in parts),
        max(r.high for r in parts),
        all(r.finite for r in parts),
        all(r.exact for r in parts),
        all(r.plain for r in parts),
    )


def plus(a: Range, b: Range) -> Range:
    """The range of a + b."""
    return Range(a.low + b.low, a.high + b.high, a.finite and b.finite, a.exact and b.exact)


def times(a: Range, b: Range) -> Range:
    """The range of a · b."""
    ends = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    return Range(min(ends), max(ends), a.finite and b.finite, a.exact and b.exact)


def negated(a: Range) -> Range:
    """The range of −a."""
    return replace(a, low=-a.high, high=-a.low)


def clipped(a: Range, low: float, high: float) -> Range:
    """The range of an inexact function with values in low … high, finite where `a` is."""
    return Range(low, high, a.finite, exact=False)


def scaled(a: Range, factor: float) -> Range:
    """The range of factor · a for factor ≥ 0."""
    return replace(a, low=a.low * factor, high=a.high * factor, plain=False)


def rough(a: Range) -> Range:
    """The same range of values that are no longer exact."""
    return replace(a, exact=False, plain=False)


def computed(a: Range) -> Range:
    """The same range of a value that is no longer an input's own."""
    return replace(a, plain=False)


def unbounded(a: Range) -> Range:
    """The same range, but NaN and infinities may occur."""
    return replace(a, finite=False, plain=False)


def is_sane(a: Range) -> bool:
    """Whether the bounds are numbers inside f32 with room to spare."""
    return -inf < a.low <= a.high < inf and a.size < 2.0**120
