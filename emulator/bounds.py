"""Running error bounds at data strength: how far a computed value is from its f64 shadow.

Defines `total`, the bound of a result, and its parts, over f64 arrays. Relies on the standard
model of IEEE arithmetic to nearest even. It knows no shapes: each bound is made of the values
that were computed, so it holds for this data only.

With x̂ the computed operand, |x̂ − x| ≤ e and the computed result ŷ = fl(op(x̂)):

    |ŷ − op(x)| ≤ rounding(ŷ) + sup { |op(x̂ + δ) − op(x̂)| : |δ| ≤ e }

and rounding(ŷ) = u·max(2^⌊log2 |ŷ|⌋, 2^emin), half the spacing of the floats at ŷ. Sources:
N. Higham, Accuracy and Stability of Numerical Algorithms (2002), §2.1 for the spacing, §3.1 for
bounds that run along; the suprema below are elementary and noted where they are taken. Evaluated
in f64, so what reads a bound multiplies it by 1 + 2⁻³⁰.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, Final

import numpy as np

from tang.ir.format import Format

Values = tuple[Any, ...]
Value = Any

SLACK: Final = 1 + 2.0**-30
"""What covers the rounding of the bounds' own evaluation."""
SHADOW_UNIT: Final = 2.0**-53
SHADOW_FUNCTION: Final = 2.0**-50
"""Relative error of the shadow's own operations, and of its functions (8 ulp of f64)."""
_EXPONENT: Final = np.int64(0x7FF0000000000000)
"""The bits of an f64 that are its exponent."""

Own = tuple[float, float, float]
"""(grow, k, least) of an operation's own rounding: k·max(binade(grow·|ŷ|), least)."""

_EXACT: Final = ("neg", "floor")
_NO_UNDERFLOW: Final = ("add", "sub", "sqrt")


@cache
def rounding(op: str, target: Format) -> Own:
    """What one operation rounded to nearest, and its shadow, are off by.

    |fl(z) − z| ≤ u·2^e with 2^e ≤ |z| < 2^(e+1), and 2^e ≤ |fl(z)|; the shadow's 2⁻⁵³·|fl(z)| is
    below 2⁻⁵²·2^e. Below the normal numbers e is emin, if the operation underflows inexactly.
    """
    if op in _EXACT:
        return 1.0, 0.0, 0.0
    own = float(target.unit_roundoff) + 2 * SHADOW_UNIT
    return 1.0, own, 0.0 if op in _NO_UNDERFLOW else 2.0**target.emin


@cache
def function_rounding(ulp: float, target: Format) -> Own:
    """The same for a function within N ulps of its result z: N·2u·2^e.

    2^e ≤ |z| ≤ |ŷ| / (1 − N·2u). Infinite where no N is claimed.
    """
    relative = ulp * 2 * float(target.unit_roundoff)
    if ulp <= 0 or relative >= 1:
        return 1.0, math.inf, 1.0
    grow = 1 / (1 - relative) * (1 + 2 * SHADOW_UNIT)
    return grow, relative + 2 * SHADOW_FUNCTION, 2.0**target.emin


def binade(value: Value) -> Value:
    """2^⌊log2 |value|⌋, 0 below the normal numbers of f64, infinite where value is not finite."""
    return (np.asarray(value, np.float64).view(np.int64) & _EXPONENT).view(np.float64)


def total(
    op: str,
    x: Values,
    e: Values,
    value: Value,
    shadow: Value,
    own: Own,
    moved: Value | None = None,
) -> Value:
    """The bound of a result: propagated, plus its rounding; 0 at an infinity or NaN that is exact.

    moved  what is propagated, where it is known already
    Infinite where nothing is known, also where one of value and shadow is not finite: a domain
    was left, as by √(x − e) < 0, or a format overflowed.
    """
    grow, k, least = own
    spacing = binade(value if grow == 1 else value * np.float64(grow))
    rounded = k * (np.maximum(spacing, least) if least else spacing)
    if op in ("add", "sub"):
        rounded = _without_zeros(rounded, x, e)
    bound = (propagated(op, x, e) if moved is None else moved) + rounded
    known = np.isfinite(bound) & np.isfinite(shadow)
    if not known.all():
        same = (value == shadow) | (np.isnan(value) & np.isnan(shadow))
        exact = ~np.isfinite(value) & same & _is_exactly_no_number(op, x, e)
        bound = np.where(known, bound, np.where(exact, 0.0, math.inf))
    return bound


def _is_exactly_no_number(op: str, x: Values, e: Values) -> Value:
    """Whether a result that is no finite number is none in exact arithmetic either.

    Two infinities may both be overflows: f64 has a largest number too. So an operand must be
    infinite or NaN itself, or the operation undefined or a pole there, and the errors of operands
    must not change which. An operand that is NaN makes any other NaN.
    """
    if op in ("sqrt", "log", "log2"):
        off = x[0] + e[0] < 0 if op == "sqrt" else (x[0] + e[0] < 0) | ((x[0] == 0) & (e[0] == 0))
        return off | (~np.isfinite(x[0]) & (e[0] == 0))
    settled, wild, lost = True, False, False
    for operand, bound in zip(x, e, strict=True):
        least = np.inf if op in ("add", "sub") else np.abs(operand)
        settled = settled & ((bound == 0) | (bound < least))
        wild = wild | ~np.isfinite(operand)
        lost = lost | (np.isnan(operand) & (bound == 0))
    if op == "div":
        wild = wild | (x[1] == 0)
    return (settled & wild) | lost


def _without_zeros(rounded: Value, x: Values, e: Values) -> Value:
    """The rounding of a sum, 0 where a term is an exact zero."""
    for term, bound in zip(x, e, strict=True):
        if np.count_nonzero(term) != np.size(term):
            rounded = np.where((term == 0) & (bound == 0), 0.0, rounded)
    return rounded


def propagated(op: str, x: Values, e: Values) -> Value:
    """sup |op(x + δ) − op(x)| over |δᵢ| ≤ eᵢ, or more; 0 where every eᵢ is 0."""
    if op in ("add", "sub"):
        return e[0] + e[1]
    if op in ("neg", "convert"):
        return e[0]
    if op in ("mul", "fma"):
        return _SUPREMA[op](*x, *e)
    bound = _SUPREMA[op](*x, *e)
    still = e[0] == 0
    for b in e[1:]:
        still = still & (b == 0)
    return np.where(still, 0.0, bound)


def _mul(a: Value, b: Value, ea: Value, eb: Value) -> Value:
    """|a·b − a'·b'| ≤ |a|·e_b + |b|·e_a + e_a·e_b."""
    if type(eb) is float and eb == 0.0:
        return np.abs(b, dtype=np.float64) * ea
    if type(ea) is float and ea == 0.0:
        return np.abs(a, dtype=np.float64) * eb
    return (np.abs(a, dtype=np.float64) + ea) * eb + np.abs(b, dtype=np.float64) * ea


def _div(a: Value, b: Value, ea: Value, eb: Value) -> Value:
    """|a/b − a'/b'| ≤ (e_a + |a/b|·e_b) / (|b| − e_b)."""
    room = np.abs(b) - eb
    return np.where(room > 0, (ea + np.abs(a / b) * eb) / room, math.inf)


def _sqrt(a: Value, e: Value) -> Value:
    """|√a − √a'| = |a − a'| / (√a + √a'), and never more than √|a − a'|."""
    return np.minimum(np.sqrt(e), e / (np.sqrt(a) + np.sqrt(np.maximum(a - e, 0))))


def _fma(a: Value, b: Value, c: Value, ea: Value, eb: Value, ec: Value) -> Value:
    """As for mul and add; the shadow rounds its product, which may be larger than its sum."""
    product = np.abs(np.multiply(a, b, dtype=np.float64)) * SHADOW_UNIT
    return _mul(a, b, ea, eb) + ec + product


def _exp2(x: Value, e: Value) -> Value:
    """2^(x + e)·(1 − 2^−e): 2^x may underflow where 2^(x + e) does not."""
    return -np.exp2(x + e) * np.expm1(-e * math.log(2)) * SLACK


def _exp(x: Value, e: Value) -> Value:
    return -np.exp(x + e) * np.expm1(-e) * SLACK


def _log(x: Value, e: Value) -> Value:
    """log(x/(x − e)) = log(1 + e/(x − e)), the larger side."""
    room = np.abs(x) - e
    return np.where(room > 0, np.log1p(e / room), math.inf)


def _log2(x: Value, e: Value) -> Value:
    return _log(x, e) / math.log(2) * (1 + SHADOW_FUNCTION)


def _wave(x: Value, e: Value) -> Value:
    """|f'| ≤ 1; from e = 2 on any value is as near, and f64 need not know where it is either."""
    return np.where(e < 2, e, math.inf)


def _erf(x: Value, e: Value) -> Value:
    """The slope 2/√π·exp(−t²) is greatest at the t of the interval nearest to 0."""
    near = np.maximum(np.abs(x) - e, 0)
    return np.minimum(2 / math.sqrt(math.pi) * np.exp(-near * near) * e * SLACK, 2.0)


def _tanh(x: Value, e: Value) -> Value:
    """The slope 1 − tanh² = 4/(exp(t) + exp(−t))² is greatest at the t nearest to 0."""
    near = np.exp(-np.maximum(np.abs(x) - e, 0))
    slope = 4 * near * near / (1 + near * near) ** 2
    return np.minimum(slope * e * SLACK, 2.0)


def _sigmoid(x: Value, e: Value) -> Value:
    return _tanh(x / 2, e / 2) / 2


def _atan2(y: Value, x: Value, ey: Value, ex: Value) -> Value:
    """A move by e turns the direction by at most asin(e/r); beyond r or across the cut, by any."""
    move, radius = np.hypot(ey, ex), np.hypot(y, x)
    turned = np.arcsin(np.minimum(move / radius, 1.0)) * SLACK
    crosses = (np.abs(y) <= ey) & (x < ex)
    return np.where((move < radius) & ~crosses, turned, math.inf)


_SUPREMA: Final[dict[str, Callable[..., Any]]] = {
    "mul": _mul, "div": _div, "sqrt": _sqrt, "fma": _fma,
    "exp2": _exp2, "exp": _exp, "log2": _log2, "log": _log,
    "sin": _wave, "cos": _wave,
    "erf": _erf, "tanh": _tanh, "sigmoid": _sigmoid, "atan2": _atan2,
}  # fmt: skip
