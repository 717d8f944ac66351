"""NaN, infinities, zeros, subnormals and overflow, exactly, for every portable function."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tang.kernel.expand.functions import BUILDERS

INF, NAN = math.inf, math.nan
TINY = 2.0**-149
PI, HALF_PI, QUARTER_PI = (float(np.float32(math.pi * f)) for f in (1, 0.5, 0.25))
THREE_QUARTERS = float(np.float32(math.pi * 0.75))

NO_LOGARITHM = [(0.0, -INF), (-0.0, -INF), (-TINY, NAN), (-1.0, NAN), (-INF, NAN)]
ODD = [(0.0, 0.0), (-0.0, -0.0), (TINY, TINY), (-TINY, -TINY)]
EXACT: dict[str, list[tuple[float, float]]] = {
    "exp2": [(INF, INF), (-INF, 0.0), (0.0, 1.0), (-0.0, 1.0), (128.0, INF), (-150.0, 0.0)],
    "exp": [(INF, INF), (-INF, 0.0), (0.0, 1.0), (-0.0, 1.0), (88.72284, INF), (-104.0, 0.0)],
    "log2": [(INF, INF), (1.0, 0.0), *NO_LOGARITHM],
    "log": [(INF, INF), (1.0, 0.0), *NO_LOGARITHM],
    "sin": [(INF, NAN), (-INF, NAN), *ODD],
    "cos": [(INF, NAN), (-INF, NAN), (0.0, 1.0), (-0.0, 1.0), (TINY, 1.0), (1e-5, 1.0)],
    "tanh": [(INF, 1.0), (-INF, -1.0), *ODD],
    "erf": [(INF, 1.0), (-INF, -1.0), (4.0, 1.0), *ODD],
    "sigmoid": [(INF, 1.0), (-INF, 0.0), (0.0, 0.5), (-0.0, 0.5), (TINY, 0.5), (-104.0, 0.0)],
}
FLAT = {"tanh": (9.1, 43.7, 45.0, 88.0, 89.0, 1e4, 3.4e38), "erf": (3.95, 10.0, 1e30)}

ANGLES = [
    (0.0, 1.0, 0.0),
    (0.0, 0.0, 0.0),
    (0.0, -0.0, PI),
    (0.0, -1.0, PI),
    (0.0, INF, 0.0),
    (0.0, -INF, PI),
    (1.0, 0.0, HALF_PI),
    (1.0, -0.0, HALF_PI),
    (1.0, INF, 0.0),
    (1.0, -INF, PI),
    (INF, 1.0, HALF_PI),
    (INF, -1.0, HALF_PI),
    (INF, INF, QUARTER_PI),
    (INF, -INF, THREE_QUARTERS),
    (1.0, 1.0, QUARTER_PI),
    (3.4e38, -3.4e38, THREE_QUARTERS),
    (TINY, TINY, QUARTER_PI),
    (TINY, 1.0, TINY),
    (TINY, 4.0, 0.0),
    (1.0, TINY, HALF_PI),
    (NAN, 1.0, NAN),
    (1.0, NAN, NAN),
    (NAN, NAN, NAN),
    (INF, NAN, NAN),
]
"""(y, x, angle); each holds with y and the angle negated too."""


def same(got: Any, want: Any) -> bool:
    """Whether two f32 arrays agree bit for bit, all NaNs being equal."""
    nan = np.isnan(got) & np.isnan(want)
    return bool(np.all(nan | (got.view(np.uint32) == want.view(np.uint32))))


def f32(values: Any) -> Any:
    """An f32 array."""
    return np.array(list(values), dtype=np.float32)


@pytest.mark.parametrize("op", sorted(EXACT))
def test_special_arguments_give_exact_results(maths: Any, op: str):
    x, want = (f32(column) for column in zip(*EXACT[op], strict=True))
    assert same(maths.replay(maths.portable(op), x), want)


def test_powers_of_two_are_exact_in_both_directions(maths: Any):
    n = np.arange(-149, 128).astype(np.float32)
    power = f32(2.0 ** float(k) for k in n)
    assert same(maths.replay(maths.portable("exp2"), n), power)
    assert same(maths.replay(maths.portable("log2"), power), n)


def test_angles_of_special_pairs_are_exact(maths: Any):
    y, x, want = (f32(column) for column in zip(*ANGLES, strict=True))
    assert same(maths.replay(maths.portable("atan2"), y, x), want)
    assert same(maths.replay(maths.portable("atan2"), -y, x), -want)


@pytest.mark.parametrize("op", sorted(set(BUILDERS) - {"atan2"}))
def test_every_nan_stays_nan(maths: Any, op: str):
    x = maths.from_bits(0x7FC00000, 0x7F800001, 0xFFC00000, 0xFF800001, 0x7FFFFFFF, 0xFFFFFFFF)
    assert np.isnan(maths.replay(maths.portable(op), x)).all()


@pytest.mark.parametrize("op", sorted(FLAT))
def test_flat_tails_are_one_exactly(maths: Any, op: str):
    x = f32(FLAT[op])
    assert np.all(maths.replay(maths.portable(op), x) == 1)
    assert np.all(maths.replay(maths.portable(op), -x) == -1)


@pytest.mark.parametrize("op", ["exp2", "exp", "sigmoid"])
def test_small_results_underflow_gradually(maths: Any, op: str):
    low, high = (-151.0, -126.0) if op == "exp2" else (-104.5, -87.3)
    x = np.linspace(low, high, 50_000).astype(np.float32)
    got = maths.replay(maths.portable(op), x)
    error = maths.errors(got, maths.reference(op, x))
    assert float(error.max()) <= maths.portable(op).ulp
    assert float(error[got < 2.0**-130].max()) < 0.6
    assert np.all(np.diff(got) >= 0)
    assert np.unique(got[got < 2.0**-126]).size > 1000


@pytest.mark.parametrize("op", ["log2", "log", "sin", "tanh", "erf"])
def test_subnormal_arguments_are_numbers(maths: Any, op: str):
    rng = np.random.default_rng(7)
    x = maths.from_bits(*range(1, 300), *rng.integers(1, 2**23, 5000).tolist())
    got = maths.replay(maths.portable(op), x)
    assert float(maths.errors(got, maths.reference(op, x)).max()) <= maths.portable(op).ulp
    assert np.all(got != 0)


@pytest.mark.parametrize(("op", "largest"), [("exp2", 128.0), ("exp", 88.72284)])
def test_overflow_begins_where_the_rounded_result_overflows(maths: Any, op: str, largest: float):
    edge = int(np.float32(largest).view(np.uint32))
    x = maths.from_bits(*range(edge - 100, edge + 100))
    got = maths.replay(maths.portable(op), x)
    with np.errstate(over="ignore"):
        want = maths.reference(op, x).astype(np.float32)
    assert np.array_equal(np.isinf(got), np.isinf(want))
    assert 0 < int(np.isinf(want).sum()) < x.size
