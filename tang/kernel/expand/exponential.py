"""exp2, exp, sigmoid and tanh in single IEEE f32 operations, without fma.

Defines one constructor of a kernel-IR function each. Relies on the table of coefficients; how each
works and how far it errs is in docs/maths.md. It does not choose where a function is called.
"""

from __future__ import annotations

from tang.kernel.expand.build import MAGNITUDE, SIGN, Builder, Value, horner, keep_nan, power_of_two
from tang.kernel.expand.coefficients import EXP, EXP2, TANH
from tang.kernel.ir import Function

LOG2E = float.fromhex("0x1.715476p+0")
LN2_HIGH = float.fromhex("0x1.62e4p-1")
"""The first 16 bits of ln 2, so that n·LN2_HIGH is exact for |n| < 2⁸."""
LN2_LOW = float.fromhex("0x1.7f7d1cp-20")
"""ln 2 − LN2_HIGH, rounded to f32."""
CLAMP = 160
"""Beyond ±CLAMP every exponential here has overflowed or vanished."""
TANH_SERIES = 0.625
TANH_FLAT = 10


def exp2() -> Function:
    """2^x."""
    b = Builder()
    x = b.param("x")
    inside = _clamp(x, CLAMP)
    n = (inside + 0.5).floor()
    r = inside - n
    result = _scale(1 + r * horner(r, EXP2), n)
    return b.function("exp2", keep_nan(x, result))


def exp() -> Function:
    """e^x."""
    b = Builder()
    x = b.param("x")
    result = exp_of(_clamp(x, CLAMP))
    return b.function("exp", keep_nan(x, result))


def sigmoid() -> Function:
    """1/(1 + e⁻ˣ), as e⁻|ˣ|/(1 + e⁻|ˣ|) for negative x: nothing overflows, small results keep."""
    b = Builder()
    x = b.param("x")
    small = exp_of((_clamp(x, CLAMP).bits() | SIGN).as_f32())
    result = (x < 0).choose(small, b.f32(1)) / (1 + small)
    return b.function("sigmoid", keep_nan(x, result))


def tanh() -> Function:
    """tanh x: an odd polynomial near 0, else 1 − 2/(e^2|x| + 1), which is 1 from |x| = 10 on."""
    b = Builder()
    x = b.param("x")
    sign = x.bits() & SIGN
    positive = (x.bits() & MAGNITUDE).as_f32()
    z = positive * positive
    near = positive + positive * (z * horner(z, TANH))
    inside = at_most(positive, TANH_FLAT)
    far = 1 - 2 / (exp_of(inside + inside) + 1)
    result = (positive < TANH_SERIES).choose(near, far)
    signed = (result.bits() | sign).as_f32()
    return b.function("tanh", keep_nan(x, signed))


def exp_of(x: Value) -> Value:
    """e^x for |x| ≤ CLAMP: x = n·ln2 + high − low, e^(high−low) = 1 + (high − (low − r²·p(r)))."""
    n = (x * LOG2E + 0.5).floor()
    high = x - n * LN2_HIGH
    low = n * LN2_LOW
    r = high - low
    y = 1 + (high - (low - r * r * horner(r, EXP)))
    return _scale(y, n)


def _scale(y: Value, n: Value) -> Value:
    """y·2ⁿ rounded once: the first factor leaves y normal, the second one rounds or overflows."""
    whole = n.to_i32()
    half = whole.halve()
    return y * power_of_two(half) * power_of_two(whole - half)


def at_most(x: Value, limit: float) -> Value:
    """The smaller of the two; `limit` for NaN."""
    return (x < limit).choose(x, x.builder.f32(limit))


def _clamp(x: Value, limit: float) -> Value:
    """x within ±limit; a number for NaN, because conversions to integers need one."""
    below = at_most(x, limit)
    low = x.builder.f32(-limit)
    return (low < below).choose(below, low)
