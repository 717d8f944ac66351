"""N01: tanh of large arguments was NaN, so gelu failed; the same audit for its relatives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tang.emulator.functions import call_function
from tang.kernel.expand import portable

TINY = 2.0**-149
LARGE = (9.1, 43.7, 45.0, 88.0, 89.0, 1e4, math.inf)


def run(op: str, *x: float) -> Any:
    """The portable function at some arguments."""
    got = call_function(portable(op), (np.array(x, dtype=np.float32),))
    return np.asarray(got).astype(np.float32)


def gelu_tanh(x: float) -> np.float32:
    """0.5·x·(1 + tanh(√(2/π)·(x + 0.044715·x³))) in f32."""
    v = np.float32(x)
    inner = np.float32(math.sqrt(2 / math.pi)) * (v + np.float32(0.044715) * v * v * v)
    return np.float32(np.float32(0.5) * v * (np.float32(1) + run("tanh", float(inner))[0]))


def silu(x: float) -> np.float32:
    """x·sigmoid(x) in f32."""
    return np.float32(np.float32(x) * run("sigmoid", x)[0])


def test_tanh_of_large_arguments_is_one_exactly():
    assert run("tanh", *LARGE).tolist() == [1.0] * len(LARGE)
    assert run("tanh", *(-x for x in LARGE)).tolist() == [-1.0] * len(LARGE)


def test_tanh_from_eleven_on_is_one_in_f16():
    x = np.arange(11, 65504, dtype=np.float16)
    assert np.all(run("tanh", *x.tolist()).astype(np.float16) == 1)


def test_gelu_is_minus_zero_far_left_and_the_identity_far_right():
    left = gelu_tanh(-13.24)
    assert left == 0
    assert np.signbit(left)
    assert gelu_tanh(20.0) == 20


@pytest.mark.parametrize("x", [45.0, 88.8, 89.0, 104.0, 1e4])
def test_sigmoid_saturates_without_nan(x: float):
    assert run("sigmoid", x)[0] == 1
    small = math.exp(-float(np.float32(x)))
    assert abs(float(run("sigmoid", -x)[0]) - small) <= 1e-6 * small + TINY
    assert silu(x) == np.float32(x)
    assert -1e-15 < silu(-x) <= 0
