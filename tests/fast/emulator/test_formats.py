"""Operations of the narrow formats against exact rationals; abstract functions against balls."""

import math
from fractions import Fraction

import flint
import mpmath
import numpy as np
import pytest
from emulator_kernels import f, op

from tang.emulator import formats
from tang.emulator.abstract import F64_MATH, rounded_function
from tang.emulator.functions import call_function
from tang.emulator.rounding import round_fraction, round_to
from tang.kernel.ir import (
    BF16,
    F16,
    F32,
    F64,
    I32,
    I64,
    MATH,
    U32,
    Bitcast,
    Const,
    Convert,
    Function,
    Let,
    Op,
    Var,
)

RNG = np.random.default_rng(11)
EXACT = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
}


def _numbers(type_, count):
    bits = RNG.integers(0, 2**16, count).astype(np.uint16)
    x = formats.load_form(type_, bits) if type_ is BF16 else bits.view(np.float16)
    x = np.where(np.isfinite(x) & (x != 0), x, x.dtype.type(1))
    near = RNG.integers(0, 2, count) == 0  # half of them of like size, where roundings are close
    return np.where(near, round_to(1 + RNG.random(count), type_.value), x).astype(x.dtype)


@pytest.mark.parametrize("type_", [F16, BF16], ids=str)
@pytest.mark.parametrize("name", EXACT)
def test_narrow_operations_are_rounded_once(type_, name):
    a, b = _numbers(type_, 3000), _numbers(type_, 3000)
    with np.errstate(all="ignore"):
        got = formats.function(name, type_)(a, b)
    for g, x, y in zip(got, a, b, strict=True):
        exact = EXACT[name](Fraction(float(x)), Fraction(float(y)))
        assert float(g) == round_fraction(exact, type_.value), (x, y)


@pytest.mark.parametrize("type_", [F16, BF16], ids=str)
def test_narrow_square_roots_are_rounded_once_for_every_number(type_):
    bits = np.arange(1, 0x7800, dtype=np.uint16)
    x = formats.load_form(type_, bits) if type_ is BF16 else bits.view(np.float16)
    x = x[np.isfinite(x)]
    got = formats.function("sqrt", type_)(x)
    assert (got == round_to(np.sqrt(x.astype(np.float64)), type_.value)).all()


@pytest.mark.parametrize("name", MATH)
def test_abstract_functions_are_correctly_rounded_in_f32(name):
    args = [RNG.standard_normal(400).astype(np.float32) * 3 for _ in range(MATH[name])]
    if name in ("log", "log2"):
        args = [abs(a) for a in args]
    got = formats.function(name, F32)(*args)
    for values in zip(got, *args, strict=True):
        g, *x = (float(v) for v in values)
        assert g == float(np.float32(float(_reference(name, *x)))), x


def _reference(name, *x):
    with mpmath.workprec(300):
        own = {
            "exp2": lambda v: mpmath.power(2, v),
            "log2": lambda v: mpmath.log(v, 2),
            "sigmoid": lambda v: 1 / (1 + mpmath.exp(-v)),
        }
        return own.get(name, getattr(mpmath, name, None))(*(mpmath.mpf(v) for v in x))


@pytest.mark.parametrize("name", MATH)
def test_abstract_functions_are_correctly_rounded_in_f64(name):
    args = [abs(RNG.standard_normal(60)) * 2 for _ in range(MATH[name])]
    got = formats.function(name, F64)(*args)
    assert np.allclose(got, F64_MATH[name](*args), rtol=4e-15)
    for values in zip(got, *args, strict=True):
        g, *x = (float(v) for v in values)
        with mpmath.workprec(300):
            true = _reference(name, *x)
            assert abs(mpmath.mpf(g) - true) <= mpmath.mpf(math.ulp(g)) / 2


def test_a_result_next_to_a_midpoint_is_decided_by_balls():
    rounded = rounded_function("exp", "f32")
    x = 2.0**-25 * (1 + 2.0**-50)  # exp(x) is just above the midpoint 1 + 2^-25 … of no f32
    tie = 2.0**-24 - 2.0**-49  # exp(tie) ≈ 1 + 2^-24 + tiny: f64 alone cannot tell the side
    for value in (x, tie, math.log(1 + 2.0**-24)):
        with flint.ctx.workprec(300):
            exact = flint.arb(value).exp() - 1 - flint.arb((1, -24))
        assert rounded(value) == (1 + 2.0**-23 if exact > 0 else 1.0)


def test_special_values_of_abstract_functions_are_those_of_ieee():
    x = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, -1.0], np.float32)
    with np.errstate(all="ignore"):
        exp2, log2 = (formats.function(n, F32)(x) for n in ("exp2", "log2"))
        assert np.array_equal(exp2, [np.inf, 0, np.nan, 1, 1, 0.5], equal_nan=True)
        expected = [np.inf, np.nan, np.nan, -np.inf, -np.inf, np.nan]
        assert np.array_equal(log2, expected, equal_nan=True)
        assert np.isnan(formats.function("sin", F32)(x)[:3]).all()
        assert np.signbit(formats.function("sin", F32)(x)[4])


def test_large_integers_reach_narrow_floats_by_one_rounding():
    x = Var(I64, "x")
    values = np.array([2**53 + 1, (2**8 + 1) * 2**50 + 1, -(2**60) - 2**52, 2**62 + 2**54 + 1])
    for type_ in (F32, BF16):
        convert = Function("c", (x,), (), Convert(type_, x))
        got = call_function(convert, (values,))
        expected = [round_fraction(Fraction(int(v)), type_.value) for v in values]
        assert list(got.astype(np.float64)) == expected


def test_a_function_is_called_on_arrays_of_any_size_and_shape():
    x, y, k = Var(F32, "x"), Var(F32, "y"), Var(I32, "k")
    body = (Let(y, op("mul", x, f(0.5))), Let(k, Bitcast(I32, y)))
    bumped = Op(I32, "add", (k, Const(I32, 1)))
    g = Function("g", (x,), body, Bitcast(F32, bumped))
    data = RNG.random((300, 401)).astype(np.float32) + 1
    got = call_function(g, (data,))
    assert got.shape == data.shape
    assert (got == np.nextafter(data * np.float32(0.5), np.float32(9))).all()
    assert call_function(g, (np.float32(2.0),)).shape == ()
    assert call_function(g, (np.zeros(0, np.float32),)).size == 0


def test_unsigned_arithmetic_in_functions_wraps():
    x = Var(U32, "x")
    g = Function("g", (x,), (), Op(U32, "sub", (x, Const(U32, 1))))
    assert call_function(g, (np.zeros(3, np.uint32),)).tolist() == [2**32 - 1] * 3


def test_the_real_domain_ignores_formats():
    x = Var(F32, "x")
    g = Function("g", (x,), (), Convert(F32, Convert(F16, op("mul", x, f(1 / 3)))))
    data = np.array([1.1, 2.7])
    assert (call_function(g, (data,), domain="real") == data * (1 / 3)).all()
