"""Rounding against two independent oracles, exhaustively for the 16-bit formats."""

from fractions import Fraction

import gfloat
import ml_dtypes
import numpy as np
import pytest
from gfloat.formats import format_info_bfloat16, format_info_binary16

from tang.emulator.rounding import (
    bf16_from_bits,
    bf16_round,
    bf16_to_bits,
    odd_float,
    require_subnormals,
    round_fraction,
    round_to,
)
from tang.errors import FormatError
from tang.ir.format import FORMATS

SMALL = {
    "f16": (np.dtype(np.float16), format_info_binary16),
    "bf16": (np.dtype(ml_dtypes.bfloat16), format_info_bfloat16),
}


def _all_numbers(name: str) -> np.ndarray:
    x = np.arange(2**16, dtype=np.uint32).astype(np.uint16).view(SMALL[name][0])
    with np.errstate(all="ignore"):
        return x.astype(np.float64)


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    nan = np.isnan(a) & np.isnan(b)
    return bool((nan | (a.view(np.int64) == b.view(np.int64))).all())


@pytest.mark.parametrize("name", SMALL)
def test_every_number_of_a_format_rounds_to_itself(name):
    x = _all_numbers(name)
    assert _same(round_to(x, name), x)


@pytest.mark.parametrize("name", SMALL)
def test_midpoints_and_their_neighbours_agree_with_ml_dtypes_from_f32(name):
    x = _all_numbers(name)
    x = np.unique(x[np.isfinite(x)])
    middle = ((x[1:] + x[:-1]) / 2).astype(np.float32)
    with np.errstate(all="ignore"):
        _check_around(middle, name)


def _check_around(middle: np.ndarray, name: str) -> None:
    around = [middle, np.nextafter(middle, np.float32(9e38)), np.nextafter(middle, np.float32(0))]
    for y in (*around, np.float32([65519.99, 65520, 3.3961776e38, 3.4e38, np.inf, np.nan])):
        expected = y.astype(SMALL[name][0]).astype(np.float64)
        assert _same(round_to(y, name), expected)


@pytest.mark.parametrize("name", SMALL)
def test_f64_near_ties_agree_with_gfloat(name):
    x = _all_numbers(name)
    x = np.unique(x[np.isfinite(x)])[::257]
    middle = (x[1:] + x[:-1]) / 2
    for y in (middle, np.nextafter(middle, np.inf), np.nextafter(middle, -np.inf)):
        expected = gfloat.round_ndarray(SMALL[name][1], y)
        assert _same(round_to(y, name) + 0.0, expected + 0.0)


def test_f32_rounds_as_the_hardware_does():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2**64, 200_000, np.uint64).view(np.float64)
    x = np.concatenate(
        [x, np.ldexp(rng.standard_normal(100_000), rng.integers(-160, 130, 100_000))]
    )
    with np.errstate(all="ignore"):
        assert _same(round_to(x, "f32"), x.astype(np.float32).astype(np.float64))


def test_the_bit_trick_for_bf16_agrees_with_the_generic_rounding():
    rng = np.random.default_rng(1)
    x = rng.integers(0, 2**32, 300_000, np.uint32).view(np.float32)
    with np.errstate(all="ignore"):
        assert _same(bf16_round(x).astype(np.float64), round_to(x, "bf16"))


def test_bf16_bits_round_trip_for_every_pattern():
    bits = np.arange(2**16, dtype=np.uint32).astype(np.uint16)
    assert (bf16_to_bits(bf16_from_bits(bits)) == bits).all()


def test_a_rational_rounds_once_where_two_roundings_would_differ():
    tie = Fraction(1) + Fraction(1, 2**8)
    x = Fraction(1) + Fraction(1, 2**8) + Fraction(1, 2**80)
    assert round_fraction(x, "bf16") == 1 + 2**-7
    assert round_fraction(tie, "bf16") == 1.0
    assert odd_float(x) == float(np.nextafter(1 + 2**-8, 2))
    assert round_fraction(Fraction(10) ** 400, "f64") == np.inf


@pytest.mark.parametrize("name", FORMATS)
def test_rounding_is_idempotent_and_keeps_the_sign_of_zero(name):
    x = round_to(np.random.default_rng(2).standard_normal(1000) * 1e-3, name)
    assert _same(round_to(x, name), x)
    assert np.signbit(round_to(-0.0, name))
    assert np.signbit(round_to(-1e-320, "f16"))


def test_an_unknown_format_or_rounding_is_named():
    with pytest.raises(FormatError, match="'f8'"):
        round_to(1.0, "f8")
    with pytest.raises(FormatError, match="'up'"):
        round_to(1.0, "f32", "up")


def test_this_host_keeps_subnormals():
    require_subnormals()


def test_a_signalling_nan_is_a_nan_without_a_warning():
    x = np.array([0x7F800001, 0x3F800000], np.uint32).view(np.float32)
    for name in FORMATS:
        assert np.isnan(round_to(x, name)[0])
