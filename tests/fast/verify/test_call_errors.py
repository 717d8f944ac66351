"""Calls of portable functions are measured in ulps of the true value, also across a binade."""

from __future__ import annotations

import numpy as np

from tang.kernel.expand import portable
from tang.verify.rung_expand import call_errors, exactly_within

BELOW_ONE = np.array([-(2.0**-30)])
"""exp2 of it is just below 1, where an ulp is half of that above."""


def test_the_correctly_rounded_value_is_within_half_an_ulp():
    got = np.exp2(BELOW_ONE).astype(np.float32).astype(np.float64)
    assert call_errors("exp2", [BELOW_ONE], got) <= 0.5
    assert exactly_within(portable("exp2"), [BELOW_ONE], got).all()


def test_a_value_across_the_binade_is_measured_below_it():
    got = np.array([1.0 + 2.0**-23])
    assert 1.9 < call_errors("exp2", [BELOW_ONE], got)[0] < 2.1
    assert not exactly_within(portable("exp2"), [BELOW_ONE], got).any()
