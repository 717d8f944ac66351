"""Buffers of narrow formats at the API, and users' formats, against the emulator's rounder."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tang.device.narrow import pack_buffer, unpack_buffer
from tang.emulator import call_function
from tang.emulator.narrow import decoded, encoded, narrowed
from tang.errors import FormatError
from tang.ir.expr import REAL
from tang.ir.extent import poly
from tang.ir.format import custom_format
from tang.kernel.expand.rounding import decoder, encoder, rounder
from tang.kernel.ir import F16, F32, F64, U8
from tang.kernel.narrow import NARROW, ROUNDINGS, Conversion, is_coded, overflows, refusal
from tang.kernel.plan import Buffer, Role
from tang.verify.conformance.roundings import hard_values, hard_wide_values

BOUNDS = ((2, 13), (-126, 21), (0, 21), (0, 3))
"""Of precision, least exponent, number of binades and specials."""


def drawn(count):
    """Formats as users may define them, from one seed."""
    source, found = np.random.default_rng(11), []
    while len(found) < count:
        p, emin, wide, kind = (int(source.integers(a, b)) for a, b in BOUNDS)
        emax = min(emin + wide, 127)
        significand = int(source.integers(2 ** (p - 1), 2**p))
        largest = significand * Fraction(2) ** (emax - p + 1)
        specials = ("ieee", "fn", "none")[kind]
        name = f"drawn{len(found)}"
        try:
            made = custom_format(name, p=p, emin=emin, largest=largest, specials=specials)
        except FormatError:
            continue
        found += [] if refusal(made) else [made]
    return {f.name: f for f in found}


FORMATS = {**NARROW, **drawn(12)}


def same(a, b):
    """Equal bits, or NaN on both sides."""
    return (a.view(np.uint32) == b.view(np.uint32)) | (np.isnan(a) & np.isnan(b))


def buffer(conversion, type_):
    """A buffer of any length."""
    return Buffer("x", (poly("n"),), REAL, type_, Role.INPUT, None, conversion)


@pytest.mark.parametrize("name", FORMATS)
def test_callers_numbers_are_rounded_as_the_emulator_rounds_them(name):
    format_ = FORMATS[name]
    x = hard_wide_values(format_)[::23]
    for rounding in ROUNDINGS:
        for overflow in overflows(format_):
            conversion = Conversion(format_, rounding, overflow)
            want = np.asarray(narrowed(conversion, x))
            held = buffer(conversion, F32)
            assert same(unpack_buffer(pack_buffer(x, held), held), want).all()
            if is_coded(format_):
                codes = pack_buffer(x, buffer(conversion, U8))
                assert np.array_equal(codes, encoded(format_, want))
                assert same(unpack_buffer(codes, buffer(conversion, U8)), want).all()


@pytest.mark.parametrize("name", drawn(12))
def test_kernels_round_to_formats_of_users(name):
    format_ = FORMATS[name]
    x, wide = hard_values(format_)[::5], hard_wide_values(format_)[::41]
    for rounding in ROUNDINGS:
        conversion = Conversion(format_, rounding)
        want = np.asarray(narrowed(conversion, x))
        assert same(call_function(rounder(conversion), (x,)), want).all()
        exact = np.asarray(narrowed(conversion, wide))
        assert same(call_function(rounder(conversion, F64), (wide,)), exact).all()
        if is_coded(format_):
            codes = call_function(encoder(format_), (want,))
            assert np.array_equal(codes, encoded(format_, want))
            assert same(call_function(decoder(format_), (codes,)), want).all()
            assert same(decoded(format_, codes), want).all()


def test_other_memory_is_what_it_was():
    held = buffer(Conversion(FORMATS["tf32"]), F32)
    assert pack_buffer(np.array([1 + 2.0**-12]), held).tolist() == [1.0]
    assert pack_buffer(np.array([1 / 3]), buffer(None, F16)).dtype == np.float16
