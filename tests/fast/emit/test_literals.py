"""Constants keep their exact value in their format, or are refused."""

from __future__ import annotations

from fractions import Fraction

import gfloat
import numpy as np
import pytest
from gfloat.formats import format_info_bfloat16, format_info_binary16
from hypothesis import given
from hypothesis import strategies as st

from tang.emit.literal import decimal_or_hex, integer, round_to, rounded, special_bits
from tang.errors import FormatError
from tang.ir.format import FORMATS
from tang.kernel.ir import BF16, F16, F32, F64, I32, I64, U8, U32, Const

fractions = st.fractions() | st.builds(
    lambda m, e: m * Fraction(2) ** e, st.integers(-(2**60), 2**60), st.integers(-220, 60)
)


@given(fractions)
def test_rounding_to_f64_is_pythons(x):
    assert round_to(x, FORMATS["f64"]) == Fraction(float(x))


@given(st.floats(width=64, allow_nan=False, allow_infinity=False))
def test_rounding_to_f32_is_numpys(x):
    with np.errstate(over="ignore"):
        want = np.float32(x)
    if np.isinf(want):
        with pytest.raises(FormatError, match="overflows f32"):
            round_to(Fraction(x), FORMATS["f32"])
    else:
        assert round_to(Fraction(x), FORMATS["f32"]) == Fraction(float(want))


@pytest.mark.parametrize(
    ("name", "info"), [("f16", format_info_binary16), ("bf16", format_info_bfloat16)]
)
@given(x=st.floats(-60000, 60000))
def test_rounding_to_16_bits_is_gfloats(name, info, x):
    assert round_to(Fraction(x), FORMATS[name]) == Fraction(gfloat.round_float(info, x))


@given(st.floats(width=64, allow_nan=False, allow_infinity=False))
def test_a_printed_number_reads_back_exactly(x):
    value = Fraction(x)
    text = decimal_or_hex(value)
    back = float.fromhex(text) if "0x" in text else float(text)
    assert Fraction(back) == value


def test_short_dyadic_numbers_print_as_decimals():
    assert [decimal_or_hex(Fraction(v)) for v in (0, 1, -2.5, 0.0625)] == [
        "0.0", "1.0", "-2.5", "0.0625",
    ]  # fmt: skip
    assert decimal_or_hex(Fraction(0.1)) == "0x1.999999999999ap-4"


@pytest.mark.parametrize("t", [F16, BF16, F32])
def test_an_overflowing_constant_is_refused(t):
    with pytest.raises(FormatError, match=f"overflows {t.value}"):
        rounded(Const(t, Fraction(10) ** 50))


def test_a_constant_just_below_overflow_rounds_to_the_largest_number():
    half_ulp = Fraction(2) ** 103
    largest = FORMATS["f32"].largest
    assert rounded(Const(F32, largest + half_ulp - 1)) == largest
    with pytest.raises(FormatError):
        rounded(Const(F32, largest + half_ulp))


def test_named_constants_are_rounded_correctly():
    assert rounded(Const(F64, "pi")) == Fraction(np.pi)
    assert rounded(Const(F32, "ln2")) == Fraction(float(np.float32(np.log(2))))
    assert rounded(Const(F64, "log2e")) == Fraction(float.fromhex("0x1.71547652b82fep+0"))
    assert rounded(Const(F32, "-0.0")) == "-0.0"
    with pytest.raises(FormatError, match="unknown constant"):
        rounded(Const(F32, "tau"))


def test_special_bits_are_ieee():
    assert special_bits("nan", FORMATS["f32"]) == 0x7FC00000
    assert special_bits("-inf", FORMATS["f64"]) == 0xFFF0000000000000
    assert special_bits("inf", FORMATS["bf16"]) == 0x7F80


@pytest.mark.parametrize(("t", "v"), [(I32, 2**31), (U8, 256), (U32, -1), (I64, 2**63)])
def test_an_integer_out_of_range_is_refused(t, v):
    with pytest.raises(FormatError, match="outside"):
        integer(Const(t, v))
