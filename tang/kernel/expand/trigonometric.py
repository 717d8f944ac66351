"""sin and cos in single IEEE f32 and u32 operations, for every f32 argument, however large.

Defines one constructor of a kernel-IR function each. Relies on the table of coefficients and on the
first bits of 2/π, with which |x|·2/π is reduced modulo 4 in 64-bit fixed point (Payne and Hanek)
built from u32. It does not choose where a function is called.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from tang.kernel.expand.build import INFINITY, MAGNITUDE, SIGN, Builder, Value, horner
from tang.kernel.expand.coefficients import COS, SIN
from tang.kernel.ir import Function

TWO_OVER_PI: Final = (
    0x00000000,
    0xA2F9836E,
    0x4E441529,
    0xFC2757D1,
    0xF534DDC0,
    0xDB629599,
    0x3C439041,
    0xFE5163AB,
)
"""32 zero bits, then the bits of 2/π after the binary point."""
QUARTER_PI = 0x3F490FDB
MANTISSA = 0x007FFFFF
TOP_12_BITS = 0xFFFFF000
HALF_PI_HIGH = float.fromhex("0x1.922p+0")
"""π/2 to 12 bits, so that its product with another 12 bits is exact."""
HALF_PI_LOW = float.fromhex("-0x1.2aeef4p-18")
HALF_PI = float.fromhex("0x1.921fb6p+0")
LEAST_EXPONENT = 126
"""Biased exponent of ½: smaller arguments need no reduction."""
FIRST_BIT = 120
"""The window of 2/π starts at bit (biased exponent − FIRST_BIT); bits before it give 4·n."""


@dataclass(frozen=True, slots=True)
class _Angle:
    """|x| = quadrant·π/2 ± (r + rest) with 0 ≤ r ≤ π/4; `negative` has its top bit set for −."""

    quadrant: Value
    negative: Value
    r: Value
    rest: Value


def sin() -> Function:
    """sin x."""
    b = Builder()
    x = b.param("x")
    angle = _reduce(x)
    odd = angle.quadrant & 1
    flip = (angle.quadrant >> 1) << 31
    sign = (x.bits() & SIGN) ^ flip ^ odd.is_equal(0).choose(angle.negative, b.u32(0))
    value = odd.is_equal(0).choose(_sin(angle), _cos(angle))
    return b.function("sin", _signed(x, value, sign))


def cos() -> Function:
    """cos x."""
    b = Builder()
    x = b.param("x")
    angle = _reduce(x)
    odd = angle.quadrant & 1
    flip = ((angle.quadrant + 1) >> 1) << 31
    sign = flip ^ odd.is_equal(0).choose(b.u32(0), angle.negative)
    value = odd.is_equal(0).choose(_cos(angle), _sin(angle))
    return b.function("cos", _signed(x, value, sign))


def _signed(x: Value, value: Value, sign: Value) -> Value:
    """value with its sign flipped where asked; NaN for infinities and NaN."""
    finite = (x.bits() & MAGNITUDE) < INFINITY
    return finite.choose((value.bits() ^ sign).as_f32(), x.builder.f32("nan"))


def _sin(a: _Angle) -> Value:
    """sin(r + rest) = r + (rest + r·z·p(z)), z = r²."""
    z = a.r * a.r
    return a.r + (a.rest + a.r * (z * horner(z, SIN)))


def _cos(a: _Angle) -> Value:
    """cos(r + rest) = 1 − z/2 + (z²·p(z) − r·rest); `w` carries the rounding of 1 − z/2 along."""
    z = a.r * a.r
    half = z * 0.5
    w = 1 - half
    lost = (1 - w) - half
    return w + (lost + (z * z * horner(z, COS) - a.r * a.rest))


def _reduce(x: Value) -> _Angle:
    """Reduce |x|: itself up to π/4, else through the fixed-point product with 2/π."""
    b = x.builder
    magnitude = x.bits() & MAGNITUDE
    small = magnitude < QUARTER_PI
    high, low = _turns(magnitude)
    quadrant = (high >> 30) + ((high >> 29) & 1)
    fraction_high = (high << 2) | (low >> 30)
    negative = fraction_high & SIGN
    mask = b.u32(0) - (negative >> 31)
    r, rest = _radians(fraction_high ^ mask, (low << 2) ^ mask)
    return _Angle(
        quadrant=small.choose(b.u32(0), quadrant & 3),
        negative=small.choose(b.u32(0), negative),
        r=small.choose(magnitude.as_f32(), r),
        rest=small.choose(b.f32(0), rest),
    )


def _turns(magnitude: Value) -> tuple[Value, Value]:
    """|x|·2/π modulo 4 in units of 2⁻⁶², as two words, high first; |x| ≥ ½."""
    b = magnitude.builder
    exponent = magnitude >> 23
    exponent = (exponent < LEAST_EXPONENT).choose(b.u32(LEAST_EXPONENT), exponent)
    m = (magnitude & MANTISSA) | (MANTISSA + 1)
    w2, w1, w0 = _window(exponent - FIRST_BIT)
    middle = m * w1
    low = middle + _multiply_high(m, w0)
    carry = (low < middle).choose(b.u32(1), b.u32(0))
    return m * w2 + _multiply_high(m, w1) + carry, low


def _window(start: Value) -> tuple[Value, Value, Value]:
    """96 bits of TWO_OVER_PI from bit `start` < 160 on, as three words, high first."""
    word, shift = start >> 5, start & 31
    words = [_word(word, offset) for offset in range(4)]
    w2, w1, w0 = ((a << shift) | ((b >> 1) >> (31 - shift)) for a, b in pairwise(words))
    return w2, w1, w0


def _word(index: Value, offset: int) -> Value:
    """TWO_OVER_PI[index + offset] for index ≤ 4, chosen by comparisons."""
    b = index.builder
    value = b.u32(TWO_OVER_PI[4 + offset]) if 4 + offset < len(TWO_OVER_PI) else b.u32(0)
    for i in reversed(range(4)):
        value = (index <= i).choose(b.u32(TWO_OVER_PI[i + offset]), value)
    return value


def _multiply_high(m: Value, w: Value) -> Value:
    """The high word of m·w, from 16-bit halves; no partial sum wraps."""
    m0, m1, w0, w1 = m & 0xFFFF, m >> 16, w & 0xFFFF, w >> 16
    first = m1 * w0 + ((m0 * w0) >> 16)
    second = m0 * w1 + (first & 0xFFFF)
    return m1 * w1 + (first >> 16) + (second >> 16)


def _radians(high: Value, low: Value) -> tuple[Value, Value]:
    """π/2 times the fraction high·2⁻³² + low·2⁻⁶⁴ < ½, as a float and its rounding error."""
    a = (high >> 8).to_i32().to_f32() * 2.0**-24
    b = (((high & 0xFF) << 16) | (low >> 16)).to_i32().to_f32() * 2.0**-48
    c = (low & 0xFFFF).to_i32().to_f32() * 2.0**-64
    bc = b + c
    t = a + bc
    t_rest = ((a - t) + bc) + ((b - bc) + c)
    t_high = (t.bits() & TOP_12_BITS).as_f32()
    product = t_high * HALF_PI_HIGH
    tail = t_high * HALF_PI_LOW + ((t - t_high) + t_rest) * HALF_PI
    r = product + tail
    return r, (product - r) + tail
