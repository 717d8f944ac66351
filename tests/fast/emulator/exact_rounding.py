"""Independent references: rounding by the definition, on exact rationals and plain integers.

Shares nothing with the emulator but the table of formats. It is slow and knows no arrays.
"""

import math
from fractions import Fraction


def numbers_around(x, target):
    """The two neighbouring multiples of the quantum at x ≥ 0, and which one is even."""
    guess = x.numerator.bit_length() - x.denominator.bit_length() - 1 if x else target.emin
    exponent = max(guess, target.emin)
    while Fraction(2) ** (exponent + 1) <= x:
        exponent += 1
    quantum = Fraction(2) ** (exponent - target.p + 1)
    below = x // quantum
    return below * quantum, (below + 1) * quantum, below % 2 == 0


def reference(x, target, rounding="rne", overflow="inf", ftz=False):
    """A float or Fraction rounded to the format, by definition; zero of a negative is −0."""
    if isinstance(x, float) and math.isnan(x):
        return math.nan
    negative = x < 0 or (isinstance(x, float) and math.copysign(1, x) < 0)
    sign = -1.0 if negative else 1.0
    result = _magnitude(abs(x), target, rounding)
    if result > target.largest:
        ends = {"inf": math.inf, "nan": math.nan, "saturate": float(target.largest)}
        return sign * ends[overflow]
    if ftz and result < Fraction(2) ** target.emin:
        result = 0
    return math.copysign(float(result), sign)


def _magnitude(x, target, rounding):
    if x == math.inf:
        return math.inf
    x = Fraction(x)
    below, above, even = numbers_around(x, target)
    if x == below or rounding == "rz":
        return below
    if x - below != above - x:
        return below if x - below < above - x else above
    return above if rounding == "rna" or not even else below


def same(a, b):
    """Equal, of equal sign where zero, or both NaN."""
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b and math.copysign(1, a) == math.copysign(1, b)
