"""N03, functions: subnormals were treated as zero, so log(1e-40) was −inf and exp(−100) zero."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest

from tang.emulator.functions import call_function
from tang.kernel.expand import portable


def run(op: str, *args: float) -> Any:
    """The portable function at one point."""
    got = call_function(portable(op), tuple(np.array([a], dtype=np.float32) for a in args))
    return np.asarray(got).astype(np.float32)[0]


def test_log_of_a_subnormal_is_a_number():
    assert run("log", 1e-40) == np.float32(mpmath.log(float(np.float32(1e-40))))
    assert abs(float(run("log", 1e-40)) + 92.1034) < 1e-4
    assert run("log2", 2.0**-149) == -149


def test_exp_underflows_gradually():
    want = np.float32(float(mpmath.exp(-100)))
    assert run("exp", -100.0) == want
    assert 0 < want < 2.0**-126
    assert run("exp2", -149.0) == np.float32(2.0**-149)
    assert run("exp2", -149.5) == np.float32(2.0**-149)
    assert run("sigmoid", -100.0) == want


@pytest.mark.parametrize("op", ["sin", "tanh", "erf"])
def test_functions_that_vanish_at_zero_keep_subnormals(op: str):
    factor = 2 / mpmath.sqrt(mpmath.pi) if op == "erf" else mpmath.mpf(1)
    for x in (2.0**-149, 1e-45, 1e-40, 1.1e-38):
        v = float(np.float32(x))
        assert abs(float(run(op, x)) - float(factor * v)) <= 2.0**-149
        assert run(op, -x) == -run(op, x)


def test_the_angle_of_subnormal_pairs_is_their_ratio():
    assert run("atan2", 1e-45, 1e-45) == np.float32(np.pi / 4)
    assert run("atan2", 1e-40, 1.0) == np.float32(1e-40)
