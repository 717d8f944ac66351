"""Rounding to a number format, once, from an exact value or from f64.

Defines `round_to`, the bits of bf16, and the guard against a host that flushes subnormals. Relies
on IEEE f64 in NumPy, where scaling by powers of two and `rint` are exact. It knows no kernels, and
no rounding but to nearest even with overflow to infinity.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tang.errors import DeviceError, FormatError
from tang.ir.format import Format, format_named

Array = npt.NDArray[Any]
F64Array = npt.NDArray[np.float64]

ROUNDINGS: Final = ("rne",)
OVERFLOWS: Final = ("inf",)
_TINY32: Final = np.full(8, 2.0**-140, np.float32)
_TINY64: Final = np.full(8, 2.0**-1060)


def round_to(x: npt.ArrayLike, format: str | Format, rounding: str = "rne") -> F64Array:
    """`x`, taken as f64, rounded once to the format; the result is f64 and holds the value exactly.

    Subnormals of the format are kept, overflow gives infinity, the sign of zero is kept and NaN
    stays NaN. Raises FormatError for an unknown format or rounding.
    """
    target = format_named(format) if isinstance(format, str) else format
    if rounding not in ROUNDINGS:
        raise FormatError(f"unknown rounding {rounding!r}: one of {', '.join(ROUNDINGS)}")
    with np.errstate(all="ignore"):
        value = np.asarray(x, np.float64)
        return value if target.p == 53 else _round_nearest_even(value, target)


def _round_nearest_even(x: F64Array, target: Format) -> F64Array:
    finite = np.isfinite(x)
    safe = np.where(finite, x, 0.0)
    _, exponent = np.frexp(safe)  # |safe| = m · 2^exponent with ½ ≤ m < 1
    quantum = np.maximum(exponent - target.p, target.emin - target.p + 1)
    rounded = np.ldexp(np.rint(np.ldexp(safe, -quantum)), quantum)
    overflow = np.abs(rounded) > _largest(target)
    rounded = np.where(overflow, np.copysign(np.inf, safe), rounded)
    return np.asarray(np.where(finite, rounded, x), np.float64)


@cache
def _largest(target: Format) -> float:
    return float(target.largest)


def round_fraction(x: Fraction, format: str | Format) -> float:
    """An exact rational rounded once to the format (zero is +0)."""
    target = format_named(format) if isinstance(format, str) else format
    if target.p == 53:
        return _nearest_float(x)
    return float(round_to(odd_float(x), target))


def odd_float(x: Fraction) -> float:
    """`x` rounded to odd in f64: a second rounding to p ≤ 51 bits is then a single rounding.

    Source: Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", IEEE TC 57 (2008).
    """
    near = _nearest_float(x)
    if not np.isfinite(near) or Fraction(near) == x:
        return near
    bits = int(np.float64(near).view(np.int64))
    if bits & 1:
        return near
    return float(np.nextafter(near, np.inf if Fraction(near) < x else -np.inf))


def _nearest_float(x: Fraction) -> float:
    try:
        return x.numerator / x.denominator  # Python rounds a quotient of ints correctly
    except OverflowError:
        return float("inf") if x > 0 else float("-inf")


def bf16_from_bits(bits: Array) -> Array:
    """The f32 values of bf16 bit patterns (u16)."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def bf16_to_bits(x: Array) -> Array:
    """The bit patterns (u16) of f32 values that are bf16 numbers; NaN stays NaN."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    high = (bits >> np.uint32(16)).astype(np.uint16)
    hidden_nan = np.isnan(x) & ((high & np.uint16(0x7F)) == 0)
    return np.where(hidden_nan, high | np.uint16(0x40), high)[()]


def bf16_round(x: Array) -> Array:
    """f32 values rounded to nearest even to bf16, held in f32; NaN stays NaN.

    Adding 0x7FFF plus the last kept bit carries exactly when nearest even rounds away from zero.
    """
    bits = x.view(np.uint32)
    odd = (bits >> np.uint32(16)) & np.uint32(1)
    rounded = ((bits + np.uint32(0x7FFF) + odd) & np.uint32(0xFFFF0000)).view(np.float32)
    nan = np.isnan(x)
    if nan.any():
        return np.where(nan, np.float32(np.nan), rounded)[()]
    return rounded


def require_subnormals() -> None:
    """Raise DeviceError when this process flushes f32 or f64 subnormals to zero.

    Cheap, and done before every replay: a library that is loaded later can change the mode.
    """
    for tiny in (_TINY32, _TINY64):
        if not (tiny * tiny.dtype.type(1)).all() or not (tiny + tiny).all():
            raise DeviceError(
                f"this host flushes {tiny.dtype} subnormals to zero, so nothing can be "
                "emulated: something loaded into the process set FTZ/DAZ (often -ffast-math)"
            )
