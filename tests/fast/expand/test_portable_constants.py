"""The constants of the portable maths are what their names say."""

from __future__ import annotations

import mpmath
import pytest

from tang.kernel.expand import arctangent, coefficients, exponential, logarithm, trigonometric


def bits_of(value: float) -> int:
    """How many bits the mantissa needs."""
    numerator = value.as_integer_ratio()[0]
    return abs(numerator).bit_length() if numerator % 2 else bits_of(value / 2**20)


def test_the_words_of_two_over_pi_are_its_first_bits():
    count = 32 * (len(trigonometric.TWO_OVER_PI) - 1)
    with mpmath.workprec(count + 64):
        digits = int(mpmath.floor(mpmath.ldexp(2 / mpmath.pi, count)))
    joined = 0
    for word in trigonometric.TWO_OVER_PI:
        joined = joined << 32 | word
    assert joined == digits


@pytest.mark.parametrize(
    ("high", "low", "exact", "high_bits"),
    [
        (exponential.LN2_HIGH, exponential.LN2_LOW, mpmath.log(2), 16),
        (logarithm.LOG2E_HIGH, logarithm.LOG2E_LOW, 1 / mpmath.log(2), 12),
        (trigonometric.HALF_PI_HIGH, trigonometric.HALF_PI_LOW, mpmath.pi / 2, 12),
        (arctangent.PI_HIGH, arctangent.PI_LOW, +mpmath.pi, 24),
    ],
)
def test_split_constants_add_up_and_their_high_part_is_short(
    high: float, low: float, exact: mpmath.mpf, high_bits: int
):
    assert bits_of(high) <= high_bits
    assert bits_of(low) <= 24
    assert abs(mpmath.mpf(high) + mpmath.mpf(low) - exact) < abs(low) * 2.0**-23


def test_every_coefficient_is_an_f32():
    rows = [row for name, row in vars(coefficients).items() if name.isupper()]
    assert len(rows) == 9
    assert all(bits_of(c) <= 24 for row in rows for c in row)
