"""Rounding to narrow formats, and their codes in bytes, in integer operations on bits.

Defines constructors of kernel-IR functions. Relies on bit casts, shifts and comparisons of u32,
which are exact in every language and which no compiler takes for a conversion to be folded away;
f64 is first narrowed to f32 with rounding to odd. It does not choose where a function is called.
"""

from __future__ import annotations

import struct
from fractions import Fraction
from functools import cache

from tang.ir.format import Format
from tang.kernel.expand.build import INFINITY, MAGNITUDE, SIGN, Builder, Value
from tang.kernel.ir import F32, F64, U8, Convert, Function, Type
from tang.kernel.narrow import Conversion, spelt

FRACTION = 0x007FFFFF
HIDDEN = 0x00800000
QUIET = 0x7FC00000
WIDEST = 25
"""No more bits than these are dropped: a significand of 24 bits is then below one half."""


@cache
def rounder(conversion: Conversion, source: Type = F32) -> Function:
    """The f32 that a conversion makes of an f32 or an f64."""
    b = Builder()
    x = b.param("x", source)
    near = _to_odd(x) if source is F64 else x
    bits = near.bits()
    sign, size = bits & SIGN, bits & MAGNITUDE
    rounded = _rounded(size, conversion)
    finite = _limited(rounded, size, conversion)
    format_ = conversion.format
    nan = b.u32(QUIET) if format_.has_nan else b.u32(bits_of(format_.largest))
    signed = finite | sign
    result = (size <= INFINITY).choose(signed, nan)
    name = f"{_word(conversion.op)}_{source.value}"
    return b.exact(name, conversion.op, result.as_f32())


def _to_odd(x: Value) -> Value:
    """An f64 as an f32: where that is inexact, the neighbour with an odd last bit; from 2¹²⁸ on ∞.

    Rounding that to 22 bits or fewer is a single rounding (Boldo and Melquiond, "Emulation of FMA
    and correctly rounded sums", IEEE TC 57, 2008).
    """
    b = x.builder
    near = b.let(Convert(F32, x.expr))
    wide = b.let(Convert(F64, near.expr))
    above, below = x < wide, wide < x
    inside = (x < b.f64(2**128)) & (b.f64(-(2**128)) < x)
    inexact = (above | below) & inside
    beyond = (b.f64(0) < x).choose(above, below)
    one, none = b.u32(1), b.u32(0)
    truncated = near.bits() - (inexact & beyond).choose(one, none)
    return (truncated | inexact.choose(one, none)).as_f32()


def _rounded(size: Value, conversion: Conversion) -> Value:
    """The magnitude, given by its bits, as a multiple of the format's step there; no upper end.

    x = s·2^(e−150) with s < 2²⁴, and the last n bits of s are dropped: 24 − p of them, more where
    the format is subnormal. s counts on into the exponent, as in the encoding itself.
    """
    b, format_ = size.builder, conversion.format
    field = size >> 23
    normal = b.u32(0) < field
    e = normal.choose(field, b.u32(1))
    s = (size & FRACTION) | normal.choose(b.u32(HIDDEN), b.u32(0))
    n = _dropped(e, format_)
    kept = s >> n
    whole = kept if conversion.rounding == "rz" else kept + _carry(s, kept, n, conversion.rounding)
    back = whole << n
    return back.is_equal(0).choose(b.u32(0), (e << 23) + back - HIDDEN)


def _dropped(e: Value, format_: Format) -> Value:
    """How many bits of the significand are below the format's step."""
    b, usual = e.builder, 24 - format_.p
    lowest = format_.emin + 127
    if lowest <= 1:
        return b.u32(usual)
    wanted = b.u32(usual + lowest) - e
    few = (e < lowest).choose(wanted, b.u32(usual))
    return (few < WIDEST).choose(few, b.u32(WIDEST))


def _carry(s: Value, kept: Value, n: Value, rounding: str) -> Value:
    """1 where the dropped bits round up: beyond half a step, or at half of one as ties go."""
    b = s.builder
    rest, half = s - (kept << n), b.u32(1) << (n - 1)
    if rounding == "rna":
        up = half <= rest
    else:
        up = (half < rest) | (rest.is_equal(half) & (kept & 1).is_equal(1))
    return up.choose(b.u32(1), b.u32(0))


def _limited(rounded: Value, size: Value, conversion: Conversion) -> Value:
    """The rounded magnitude, or what stands for one beyond the largest number."""
    b, largest = rounded.builder, bits_of(conversion.format.largest)
    beyond = {"inf": INFINITY, "nan": QUIET, "saturate": largest}[conversion.overflow]
    fits = (rounded <= largest) & (size < INFINITY)
    return fits.choose(rounded, b.u32(beyond))


@cache
def encoder(format_: Format) -> Function:
    """The code, in the low bits of a byte, of an f32 that the format holds."""
    b = Builder()
    bits = b.param("x").bits()
    sign, size = bits >> 31, bits & MAGNITUDE
    m, lowest = format_.p - 1, format_.emin + 127
    field = size >> 23
    normal = (size >> (23 - m)) - ((lowest - 1) << m)
    wanted = b.u32(23 - m + lowest) - field
    shift = (wanted < 24).choose(wanted, b.u32(24))
    subnormal = ((size & FRACTION) | HIDDEN) >> shift
    code = (field < lowest).choose(subnormal, normal)
    if format_.has_infinity:
        code = (size < INFINITY).choose(code, b.u32(_specials(format_)))
    whole = code | (sign << (format_.bits - 1))
    if format_.has_nan:
        whole = (size <= INFINITY).choose(whole, b.u32(nan_code(format_)))
    byte = b.let(Convert(U8, whole.expr))
    return b.exact(_word(f"encode_{spelt(format_)}"), f"encode:{spelt(format_)}", byte)


@cache
def decoder(format_: Format) -> Function:
    """The f32 of a code in the low bits of a byte; other bits do not count."""
    b = Builder()
    given = b.param("code", U8)
    code = b.let(Convert(Type.U32, given.expr))
    m, lowest = format_.p - 1, format_.emin + 127
    sign = ((code >> (format_.bits - 1)) & 1) << 31
    size = code & (2 ** (format_.bits - 1) - 1)
    normal = (size << (23 - m)) + ((lowest - 1) << 23)
    step = 2.0 ** (format_.emin - m)
    subnormal = (size.to_i32().to_f32() * step).bits()
    bits = (size < 2**m).choose(subnormal, normal)
    if format_.has_infinity:
        bits = (size < _specials(format_)).choose(bits, b.u32(INFINITY))
    signed = bits | sign
    if format_.has_nan:
        last = _specials(format_) if format_.has_infinity else nan_code(format_) - 1
        signed = (size <= last).choose(signed, b.u32(QUIET))
    return b.exact(_word(f"decode_{spelt(format_)}"), f"decode:{spelt(format_)}", signed.as_f32())


def _word(text: str) -> str:
    """A name of letters, digits and underscores; different texts that schedules give stay apart."""
    return "".join(c if c.isalnum() and c.isascii() else "m" if c == "-" else "_" for c in text)


def _specials(format_: Format) -> int:
    """The code of infinity, the first beyond all finite numbers."""
    return (format_.emax - format_.emin + 2) << (format_.p - 1)


def nan_code(format_: Format) -> int:
    """The one code that NaN gets: quiet and positive; where there is but one, all its bits."""
    if format_.has_infinity:
        return _specials(format_) + (1 << (format_.p - 2))
    return (1 << (format_.bits - 1)) - 1


def bits_of(value: Fraction) -> int:
    """The bits of a number that f32 holds."""
    (found,) = struct.unpack("<I", struct.pack("<f", float(value)))
    return int(found)
