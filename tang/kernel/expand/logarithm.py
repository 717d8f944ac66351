"""log2 and log in single IEEE f32 operations, without fma.

Defines one constructor of a kernel-IR function each. Relies on the table of coefficients; the split
x = 2ᵏ·m, √½ ≤ m < √2, is done on integers, so subnormal arguments survive devices that read them
as zero. It does not choose where a function is called.
"""

from __future__ import annotations

from dataclasses import dataclass

from tang.kernel.expand.build import INFINITY, SIGN, Builder, Value, horner
from tang.kernel.expand.coefficients import LOG
from tang.kernel.expand.exponential import LN2_HIGH, LN2_LOW
from tang.kernel.ir import Function

ONE = 0x3F800000
ROOT_HALF = 0x3F3504F3
MANTISSA = 0x007FFFFF
TOP_12_BITS = 0xFFFFF000
LOG2E_HIGH = float.fromhex("0x1.716p+0")
"""log₂e to 12 bits, so that its product with another 12 bits is exact."""
LOG2E_LOW = float.fromhex("-0x1.7135a8p-13")


@dataclass(frozen=True, slots=True)
class _Split:
    """x = 2ᵏ·(1+f); log(1+f) = f − (half − small), half = f²/2."""

    k: Value
    f: Value
    half: Value
    small: Value


def log2() -> Function:
    """log₂x; log(1+f) is taken as 12 bits and a rest before it meets log₂e."""
    b = Builder()
    x = b.param("x")
    s = _split(x)
    high = ((s.f - s.half).bits() & TOP_12_BITS).as_f32()
    low = ((s.f - high) - s.half) + s.small
    rest = (low + high) * LOG2E_LOW + low * LOG2E_HIGH
    return b.function("log2", _special(x, (rest + high * LOG2E_HIGH) + s.k))


def log() -> Function:
    """ln x = k·ln2 + f − (f²/2 − small)."""
    b = Builder()
    x = b.param("x")
    s = _split(x)
    rest = s.half - (s.small + s.k * LN2_LOW)
    return b.function("log", _special(x, s.k * LN2_HIGH + (s.f - rest)))


def _split(x: Value) -> _Split:
    """Decompose a positive finite x; any other gives numbers of no meaning, but no overflow."""
    b, bits = x.builder, x.bits()
    tiny = bits <= MANTISSA
    scaled = (bits & MANTISSA).to_i32().to_f32().bits()
    moved = tiny.choose(scaled, bits) + (ONE - ROOT_HALF)
    k = (moved >> 23).to_i32() - tiny.choose(b.i32(127 + 149), b.i32(127))
    f = ((moved & MANTISSA) + ROOT_HALF).as_f32() - 1
    s = f / (2 + f)
    z = s * s
    half = f * f * 0.5
    return _Split(k.to_f32(), f, half, s * (half + z * horner(z, LOG)))


def _special(x: Value, result: Value) -> Value:
    """−inf for ±0, NaN for negatives, x for +inf and NaN, else `result`."""
    b, bits = x.builder, x.bits()
    zero = (bits << 1).is_equal(0)
    ordinary = (bits < INFINITY).choose(result, x)
    signed = (bits < SIGN).choose(ordinary, b.f32("nan"))
    return zero.choose(b.f32("-inf"), signed)
