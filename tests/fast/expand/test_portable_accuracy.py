"""Every portable function stays within its claim, and the measurement notices when one does not."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

from tang.kernel.expand.coefficients import ATAN, COS, ERF, EXP, EXP2, LOG, SIN, TANH
from tang.kernel.expand.functions import BUILDERS
from tang.kernel.ir import F32, U32, Const, Function, Let, Op

LEADING = {
    "exp2": EXP2,
    "exp": EXP,
    "log2": LOG,
    "log": LOG,
    "sin": SIN,
    "cos": COS,
    "atan2": ATAN,
    "tanh": TANH,
    "erf": ERF,
    "sigmoid": EXP,
}
PROMISED = {"exp2": 2, "log2": 2, "sin": 2, "cos": 2, "atan2": 3, "erf": 3}
NEAR_MULTIPLES_OF_HALF_PI = (
    0x6F79BE45,
    0x50A3E87F,
    0x6FF9BE45,
    0x437CE5F1,
    0x7079BE45,
    0x6A1976F1,
    0x53B146A6,
    0x65898498,
    0x77584625,
    0x4C2332E9,
    0x4096CBE4,
    0x6C55DA58,
    0x5C07BCD0,
    0x474D246F,
    0x723FA09A,
)
"""The f32 numbers closest to multiples of π/2, relative to π/2."""


def pairs(maths: Any, seed: int, count: int) -> tuple[Any, Any]:
    """Arguments of atan2: any bits, and ratios near 1."""
    y, x = maths.arguments(seed, count), maths.arguments(seed + 1, count)
    rng = np.random.default_rng(seed)
    ratio = rng.uniform(0.25, 4, x.size).astype(np.float32)
    with np.errstate(all="ignore"):
        return np.concatenate([y, y, x * ratio]), np.concatenate([x, y * ratio, x])


def sample(maths: Any, op: str, seed: int = 1, count: int = 100_000) -> tuple[Any, ...]:
    """Arguments of any portable function."""
    return pairs(maths, seed, count) if op == "atan2" else (maths.arguments(seed, count),)


def worst(maths: Any, function: Function, args: tuple[Any, ...]) -> float:
    """The largest error in ulps."""
    got = maths.replay(function, *args)
    return float(maths.errors(got, maths.reference(function.implements, *args)).max())


def changed(function: Function, old: float, new: float) -> Function:
    """The function with one constant replaced, wherever it stands."""

    def swap(e: Any) -> Any:
        hit = isinstance(e, Const) and e.type is F32 and e.value == Fraction(old)
        return Const(F32, Fraction(new)) if hit else e

    def edit(let: Let) -> Let:
        if not isinstance(let.value, Op):
            return let
        return Let(let.var, dataclasses.replace(let.value, args=tuple(map(swap, let.value.args))))

    return dataclasses.replace(function, body=tuple(edit(s) for s in function.body))


@pytest.mark.parametrize("op", sorted(BUILDERS))
def test_sampled_errors_stay_within_the_claim(maths: Any, op: str):
    function = maths.portable(op)
    assert worst(maths, function, sample(maths, op)) <= function.ulp


@pytest.mark.parametrize("op", sorted(BUILDERS))
def test_the_claim_is_no_more_than_was_promised(maths: Any, op: str):
    assert 0.5 < maths.portable(op).ulp <= PROMISED.get(op, 4)


@pytest.mark.parametrize("op", sorted(LEADING))
def test_a_leading_coefficient_off_by_two_to_the_minus_13_is_caught(maths: Any, op: str):
    function = maths.portable(op)
    c = np.float32(LEADING[op][0])
    wrong = float((c.view(np.uint32) + np.uint32(1024)).view(np.float32))
    mutant = changed(function, float(c), wrong)
    assert mutant != function
    assert worst(maths, mutant, sample(maths, op, count=20_000)) > function.ulp


@pytest.mark.parametrize("op", sorted(BUILDERS))
def test_a_missing_special_case_is_caught(maths: Any, op: str):
    function = maths.portable(op)
    last = function.body[-1].value
    assert isinstance(last, Op)
    assert last.op == "select"
    ordinary = last.args[2] if op in ("log2", "log") else last.args[1]
    mutant = dataclasses.replace(function, result=ordinary)
    assert worst(maths, mutant, sample(maths, op, count=20_000)) == np.inf


@pytest.mark.parametrize("op", ["sin", "cos"])
def test_arguments_next_to_multiples_of_half_pi_keep_all_digits(maths: Any, op: str):
    x = maths.from_bits(*NEAR_MULTIPLES_OF_HALF_PI)
    got = maths.replay(maths.portable(op), x)
    with mpmath.workdps(60):
        exact = [getattr(mpmath, op)(mpmath.mpf(float(v))) for v in x]
    want = np.array([float(v) for v in exact])
    assert float(maths.errors(got, want).max()) <= maths.portable(op).ulp
    assert float(np.abs(want).min()) < 1e-8


def test_a_wrong_digit_of_two_over_pi_is_caught(maths: Any):
    function = maths.portable("sin")

    def swap(e: Any) -> Any:
        return dataclasses.replace(e, value=0x4E441528) if e == wrong_word else e

    wrong_word = Const(U32, 0x4E441529)
    body = tuple(
        Let(s.var, dataclasses.replace(s.value, args=tuple(map(swap, s.value.args))))
        if isinstance(s.value, Op)
        else s
        for s in function.body
    )
    mutant = dataclasses.replace(function, body=body)
    x = maths.from_bits(*NEAR_MULTIPLES_OF_HALF_PI)
    assert worst(maths, function, (x,)) <= function.ulp < worst(maths, mutant, (x,))


@pytest.mark.parametrize("op", ["sin", "tanh", "erf"])
def test_odd_functions_are_odd_bit_for_bit(maths: Any, op: str):
    x = maths.arguments(5, 20_000)
    x = x[~np.isnan(x)]
    left, right = (maths.replay(maths.portable(op), a) for a in (x, -x))
    ordinary = ~np.isnan(left)
    assert np.array_equal(left[ordinary].view(np.uint32), (-right[ordinary]).view(np.uint32))


def test_the_measure_is_in_ulps_of_the_exact_value(maths: Any):
    one = np.array([1.0, 1.0, 2.0**-126])
    got = np.array([1 + 2.0**-23, 1 - 2.0**-24, 2.0**-149], dtype=np.float32)
    assert maths.errors(got, one).tolist() == [1.0, 0.5, 2.0**23 - 1]
