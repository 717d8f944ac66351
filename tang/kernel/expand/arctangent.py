"""atan2 in single IEEE f32 operations, without fma.

Defines one constructor of a kernel-IR function. Relies on the table of coefficients and on division
being rounded correctly. It does not choose where a function is called.
"""

from __future__ import annotations

from tang.kernel.expand.build import INFINITY, MAGNITUDE, SIGN, Builder, Value, horner
from tang.kernel.expand.coefficients import ATAN
from tang.kernel.ir import Function

PI_HIGH = float.fromhex("0x1.921fb6p+1")
PI_LOW = float.fromhex("-0x1.777a5cp-24")
"""π = PI_HIGH + PI_LOW to 48 bits."""
QUARTER_PI = PI_HIGH / 4


def atan2() -> Function:
    """The angle of (x, y): base ± atan(t), t the smaller over the larger magnitude."""
    b = Builder()
    y, x = b.param("y"), b.param("x")
    ay, ax = y.bits() & MAGNITUDE, x.bits() & MAGNITUDE
    steep, left = ax < ay, x.bits() >> 31
    t, correction = _arctangent(steep.choose(ax, ay), steep.choose(ay, ax))
    down = (steep.choose(b.u32(1), b.u32(0)) ^ left) << 31
    high, low = _base(steep, left.is_equal(1))
    angle = _sum(high, low, _flip(t, down), _flip(correction, down))
    signed = (angle.bits() | (y.bits() & SIGN)).as_f32()
    ordinary = (ax <= INFINITY) & (ay <= INFINITY)
    return b.function("atan2", ordinary.choose(signed, b.f32("nan")))


def _arctangent(small: Value, large: Value) -> tuple[Value, Value]:
    """t and atan t − t for t = small/large, magnitudes given as bits; 0/0 = 0, ∞/∞ = 1.

    Equal magnitudes take a constant: there the angle is an odd multiple of π/4, rounded once.
    """
    b = small.builder
    same = small.is_equal(large).choose(b.f32(1), small.as_f32() / large.as_f32())
    t = small.is_equal(0).choose(b.f32(0), same)
    z = t * t
    correction = t * (z * horner(z, ATAN))
    return t, t.is_equal(1).choose(b.f32(QUARTER_PI - 1), correction)


def _base(steep: Value, left: Value) -> tuple[Value, Value]:
    """The multiple of π/2 nearest to the angle, high and low part: 0, π/2 or π."""
    b = steep.builder
    high = left.choose(b.f32(PI_HIGH), b.f32(0))
    low = left.choose(b.f32(PI_LOW), b.f32(0))
    half_high, half_low = b.f32(PI_HIGH / 2), b.f32(PI_LOW / 2)
    return steep.choose(half_high, high), steep.choose(half_low, low)


def _flip(value: Value, sign: Value) -> Value:
    """−value where `sign` has its top bit set."""
    return (value.bits() ^ sign).as_f32()


def _sum(high: Value, low: Value, t: Value, correction: Value) -> Value:
    """high + t + (correction + low), keeping the rounding error of the first sum."""
    s = high + t
    lost = (high - s) + t
    return s + (lost + (correction + low))
