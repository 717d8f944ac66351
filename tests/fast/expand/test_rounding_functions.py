"""Roundings to narrow formats in integer operations, against the emulator's rounder, to the bit."""

from __future__ import annotations

from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest

from tang.emulator import call_function
from tang.emulator.narrow import decoded, encoded, narrowed, numbers
from tang.ir.format import ALL_FORMATS, custom_format
from tang.kernel.expand.rounding import decoder, encoder, rounder
from tang.kernel.ir import F32, F64, U32, Const
from tang.kernel.narrow import NARROW, ROUNDINGS, Conversion, conversion_named, is_coded, overflows
from tang.verify.conformance.roundings import OWN, hard_values, hard_wide_values

SHORT = custom_format("short", p=2, emin=-1, largest=12, specials="ieee")
FORMATS = {
    **NARROW,
    "f16": ALL_FORMATS["f16"],
    "bf16": ALL_FORMATS["bf16"],
    "own": OWN,
    "short": SHORT,
}
CODED = {n: f for n, f in FORMATS.items() if is_coded(f)}
MODES = [(n, r, o) for n, f in FORMATS.items() for r in ROUNDINGS for o in overflows(f)]


def same(a, b):
    """Equal bits, or NaN on both sides."""
    return (a.view(np.uint32) == b.view(np.uint32)) | (np.isnan(a) & np.isnan(b))


@pytest.mark.parametrize(("name", "rounding", "overflow"), MODES)
def test_the_function_of_bits_is_the_rounding(name, rounding, overflow):
    conversion = Conversion(FORMATS[name], rounding, overflow)
    for source, given in (
        (F32, hard_values(FORMATS[name])),
        (F64, hard_wide_values(FORMATS[name])[::7]),
    ):
        function = rounder(conversion, source)
        got, want = call_function(function, (given,)), np.asarray(narrowed(conversion, given))
        wrong = np.flatnonzero(~same(got, want))
        assert not wrong.size, (given[wrong[:3]], got[wrong[:3]], want[wrong[:3]])


def test_names_of_conversions_are_read_back_and_others_are_not():
    for name, rounding, overflow in MODES:
        conversion = Conversion(FORMATS[name], rounding, overflow)
        assert conversion_named(conversion.op) == conversion
    wrong_modes = ("round:e4m3fn:rne:inf", "round:e2m1:up:saturate", "round:e2m1")
    wrong_formats = ("round:e9m9:rne:saturate", "round:own~3~x~20~fn:rne:nan", "exp")
    for wrong in (*wrong_modes, *wrong_formats):
        assert conversion_named(wrong) is None


@pytest.mark.parametrize("name", sorted(CODED))
def test_every_code_survives_decoding_and_encoding(name):
    format_ = CODED[name]
    codes = np.arange(256, dtype=np.uint8)
    values = call_function(decoder(format_), (codes,))
    assert same(values, decoded(format_, codes)).all()
    back = call_function(encoder(format_), (values,))
    assert (back == encoded(format_, values)).all()
    known = numbers(format_)
    real = np.flatnonzero(np.isfinite(known) & (np.abs(known) <= float(format_.largest)))
    assert (call_function(encoder(format_), (known[real],)) == real).all()


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("e5m2", ml_dtypes.float8_e5m2),
        ("e4m3fn", ml_dtypes.float8_e4m3fn),
        ("e3m2", ml_dtypes.float6_e3m2fn),
        ("e2m3", ml_dtypes.float6_e2m3fn),
        ("e2m1", ml_dtypes.float4_e2m1fn),
    ],
)
def test_codes_are_those_of_ml_dtypes(name, dtype):
    format_ = NARROW[name]
    codes = np.arange(2**format_.bits, dtype=np.uint8)
    theirs = codes.view(dtype).astype(np.float32)
    assert same(call_function(decoder(format_), (codes,)), theirs).all()


def test_a_tie_that_goes_away_a_lost_sign_and_a_wrong_end_are_seen():
    conversion = Conversion(NARROW["e4m3fn"])
    x = hard_values(conversion.format)
    want = np.asarray(narrowed(conversion, x))
    for fault in (
        Conversion(conversion.format, "rna"),
        Conversion(conversion.format, "rz"),
        Conversion(conversion.format, "rne", "nan"),
        Conversion(NARROW["e5m2"]),
    ):
        assert not same(call_function(rounder(fault), (x,)), want).all()
    function = rounder(conversion)
    for n, s in enumerate(function.body):
        masks = [a for a in getattr(s.value, "args", ()) if a == Const(U32, 0x80000000)]
        if masks:
            args = (s.value.args[0], Const(U32, 0))
            body = (*function.body[:n], replace(s, value=replace(s.value, args=args)))
            unsigned = replace(function, body=(*body, *function.body[n + 1 :]))
            assert not same(call_function(unsigned, (x,)), want).all()
            return
    raise AssertionError("the function masks no sign")
