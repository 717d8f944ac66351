"""Rounding to a number format, once, from an exact value or from f64.

Defines `round_to` and `round_rational`, the bits of bf16, and the guard against a host that flushes
subnormals. Relies on the rounder in NumPy and its twin in C. It knows no kernels.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tang.emulator import rounder_c
from tang.emulator.rounder import Rounder, round_array, rounder
from tang.emulator.rounder_build import load
from tang.errors import DeviceError, FormatError
from tang.ir.format import FORMATS, Format, any_format

Array = npt.NDArray[Any]
F64Array = npt.NDArray[np.float64]

ROUNDINGS: Final = ("rne", "rz", "rna", "stochastic")
"""To nearest, ties to even; towards zero; to nearest, ties away; up with the probability of the
rest."""
OVERFLOWS: Final = ("inf", "nan", "saturate")
"""What a magnitude becomes that exceeds the largest number after rounding."""

_F64, _F32 = FORMATS["f64"], FORMATS["f32"]
_TINY32: Final = np.full(8, 2.0**-140, np.float32)
_TINY64: Final = np.full(8, 2.0**-1060)
_WORTH_C: Final = 2**13
"""Below so many elements NumPy's share of a call is small, and nothing need be compiled."""


def round_to(
    x: npt.ArrayLike,
    format: str | Format,
    rounding: str = "rne",
    overflow: str = "inf",
    ftz: bool = False,
    *,
    seed: int | None = None,
    first: int = 0,
) -> F64Array:
    """`x`, taken as f64, rounded once to the format; the result is f64 and holds the value exactly.

    overflow  becomes of magnitudes, infinities included, above the largest number after rounding
              as if exponents had no end; so IEEE's rounding of finite numbers towards zero is
              ("rz", "saturate")
    ftz       flushes results below the smallest normal number to zero
    seed      of stochastic rounding, and of nothing else; in C order, element i takes the
              random number first + i of the seed
    The signs of zeros are kept and NaN stays NaN. Raises FormatError for unknown names, for what
    the format cannot represent, and for integers that f64 cannot hold.
    """
    target = any_format(format)
    check_rounding(target, rounding, overflow, seed)
    value = as_f64(x)
    with np.errstate(all="ignore"):
        _check_values(value, target, overflow)
        if rounding == "rne" and overflow == "inf" and not ftz:
            if target == _F64:
                return value
            if target == _F32:
                return np.asarray(value.astype(np.float32), np.float64)
        how = rounder(target, rounding, overflow, bool(ftz), seed)
        flat = np.ascontiguousarray(value).reshape(-1)
        result = np.asarray(_rounded(flat, how, first)).reshape(value.shape)
        return result if target.zero else np.maximum(result, how.lowest)


def check_rounding(target: Format, rounding: str, overflow: str, seed: int | None) -> None:
    """Raise FormatError for a rounding, an overflow or a seed that the format does not take."""
    if rounding not in ROUNDINGS:
        raise FormatError(f"unknown rounding {rounding!r}: one of {', '.join(ROUNDINGS)}")
    if overflow not in OVERFLOWS:
        raise FormatError(f"unknown overflow {overflow!r}: one of {', '.join(OVERFLOWS)}")
    missing = {"inf": not target.has_infinity, "nan": not target.has_nan}
    if missing.get(overflow, False):
        possible = " or ".join(repr(o) for o in OVERFLOWS if not missing.get(o, False))
        what = {"inf": "infinity", "nan": "NaN"}[overflow]
        raise FormatError(
            f"{target.name} has no {what}, so overflow {overflow!r} is impossible: "
            f"pass overflow={possible}"
        )
    if rounding != "stochastic":
        if seed is not None:
            raise FormatError(f"rounding {rounding!r} is deterministic and takes no seed")
    elif type(seed) is not int or not 0 <= seed < 2**64:
        raise FormatError(f"stochastic rounding needs a seed, an int of 0 … 2⁶⁴−1, not {seed!r}")


def as_f64(x: npt.ArrayLike) -> F64Array:
    """`x` as f64; FormatError for numbers that f64 cannot hold, which would be rounded twice."""
    given = np.asarray(x)
    if given.dtype.kind not in "biuf":
        raise FormatError(f"numbers to round are real, not {given.dtype}")
    if given.dtype == np.float64:
        return given
    with np.errstate(invalid="ignore"):  # a signalling NaN becomes a quiet one
        value = given.astype(np.float64)
    wide_int = given.dtype.kind in "iu" and given.dtype.itemsize == 8
    if wide_int or given.dtype.itemsize > 8:
        with np.errstate(invalid="ignore"):
            lossy = (value.astype(given.dtype) != given) & (given == given)
        if wide_int:
            lossy |= value >= (2.0**63 if given.dtype.kind == "i" else 2.0**64)
        _refuse(lossy, given, "f64", "more than 53 bits")
    return value


def require_numbers(value: F64Array, format: str | Format, name: str) -> None:
    """Raise FormatError for the first element that is no number of the format."""
    target = any_format(format)
    if target == _F64:
        return
    with np.errstate(all="ignore"):
        known = value if target.has_nan else np.where(np.isnan(value), 0.0, value)
        overflow = "inf" if target.has_infinity else "saturate"
        same = round_to(known, target, "rne", overflow) == value
    wrong = ~(same | (np.isnan(value) if target.has_nan else False))
    if wrong.any():
        index = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise FormatError(f"{name}{list(index)} = {value[index]!s} is no number of {target.name}")


def _check_values(value: F64Array, target: Format, overflow: str) -> None:
    if not target.has_nan:
        _refuse(np.isnan(value), value, target.name, "no NaN")
    if not target.signed:
        _refuse(value < 0, value, target.name, "no sign")
    if not target.zero and overflow != "saturate":
        least = float(target.quantum)
        _refuse(value < least, value, target.name, "no zero (pass overflow='saturate')")


def _refuse(wrong: Array, value: Array, name: str, lacks: str) -> None:
    """Raise FormatError that names the first wrong element."""
    if wrong.any():
        index = tuple(int(i) for i in np.argwhere(wrong)[0])
        where = f"element {list(index)}" if index else "the number"
        verb = "would need" if lacks.startswith("more") else "has"
        raise FormatError(f"{name} {verb} {lacks}: {where} is {value[index]!s}")


def _rounded(x: F64Array, how: Rounder, first: int) -> F64Array:
    if x.size >= _WORTH_C and rounder_c.suits(how):
        library = load(rounder_c.TEXT)
        if library is not None:
            return rounder_c.round_array_c(x, how, first, library)
    return round_array(x, how, first)


def round_rational(
    x: Fraction, format: str | Format, rounding: str = "rne", overflow: str = "inf"
) -> float:
    """An exact rational rounded once (zero is +0), in any deterministic rounding; never flushes."""
    target = any_format(format)
    check_rounding(target, rounding, overflow, None)
    size = abs(x)
    exponent = _exponent(size) if x else target.emin
    quantum = Fraction(2) ** (max(exponent, target.emin) - target.p + 1)
    whole, rest = divmod(size, quantum)
    up = rest * 2 > quantum or (rest * 2 == quantum and (rounding == "rna" or whole % 2 == 1))
    magnitude = (whole + (up and rounding != "rz")) * quantum
    if magnitude > target.largest:
        ends = {"inf": float("inf"), "nan": float("nan"), "saturate": float(target.largest)}
        return ends[overflow] if x > 0 else -ends[overflow]
    return float(magnitude if x > 0 else -magnitude) + 0.0


def _exponent(size: Fraction) -> int:
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    return exponent - 1 if Fraction(2) ** exponent > size else exponent


def round_fraction(x: Fraction, format: str | Format) -> float:
    """An exact rational rounded once to the format (zero is +0)."""
    target = any_format(format)
    if target == _F64:
        return _nearest_float(x)
    if target.p > 51:
        return round_rational(x, target)
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
