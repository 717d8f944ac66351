"""Rounding to narrow formats and their codes, as the oracle has them.

Defines `narrowed`, `encoded`, `decoded` over whole arrays, and `exact_function`. Relies on the
emulator's one rounder, and on codes spelt out number by number, since lanes that do not execute
may hold any bits. It shares nothing with the integer functions that kernels call.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from tang.emulator.rounding import round_to
from tang.ir.format import Format
from tang.kernel.narrow import Conversion, coding_named, conversion_named

Array = npt.NDArray[Any]
Value = Any


def narrowed(conversion: Conversion, x: Value) -> Value:
    """f32 or f64 values rounded once to the format, as f32; NaN is its largest number where it has
    none, and the sign of zero is kept."""
    format_ = conversion.format
    with np.errstate(all="ignore"):
        wide = np.asarray(x, np.float64)
        if not format_.has_nan:
            wide = np.where(np.isnan(wide), float(format_.largest), wide)
        near = round_to(wide, format_, conversion.rounding, conversion.overflow)
        return near.astype(np.float32)[()]


@cache
def numbers(format_: Format) -> Array:
    """The number behind every code, as f32: sign, exponent and fraction bits, read one by one."""
    return np.array([_number(format_, code) for code in range(2**format_.bits)], np.float32)


def _number(format_: Format, code: int) -> float:
    size, steps = code % 2 ** (format_.bits - 1), 2 ** (format_.p - 1)
    sign = -1.0 if size < code else 1.0
    exponent, fraction = divmod(size, steps)
    if format_.has_infinity and exponent > format_.emax - format_.emin + 1:
        first = fraction == 0 and exponent == format_.emax - format_.emin + 2
        return sign * np.inf if first else np.nan
    if format_.has_nan and not format_.has_infinity and size == 2 ** (format_.bits - 1) - 1:
        return np.nan
    if exponent == 0:
        return float(sign * fraction / steps * 2.0**format_.emin)
    return float(sign * (1 + fraction / steps) * 2.0 ** (exponent - 1 + format_.emin))


def decoded(format_: Format, codes: Value) -> Value:
    """The f32 of each code; bits beyond the format's own do not count."""
    return numbers(format_)[np.asarray(codes) & (2**format_.bits - 1)][()]


def encoded(format_: Format, x: Value) -> Value:
    """The code (u8) of each f32 that the format holds; NaN gets the quiet positive one."""
    order, sorted_bits = _by_bits(format_)
    bits = np.asarray(x, np.float32).view(np.uint32)
    codes = order[np.clip(np.searchsorted(sorted_bits, bits), 0, len(order) - 1)]
    return np.where(np.isnan(x), _nan(format_), codes).astype(np.uint8)[()]


@cache
def _by_bits(format_: Format) -> tuple[Array, Array]:
    """The codes of all numbers in the order of their f32 bits, and these bits."""
    codes = np.flatnonzero(~np.isnan(numbers(format_)))
    bits = numbers(format_)[codes].view(np.uint32)
    order = np.argsort(bits)
    return codes[order], bits[order]


def _nan(format_: Format) -> int:
    """0x7f of e4m3fn; of e5m2 0x7e, the quiet one of three."""
    if format_.has_infinity:
        steps = 2 ** (format_.p - 1)
        return int((format_.emax - format_.emin + 2) * steps + steps // 2)
    return int(2 ** (format_.bits - 1) - 1) if format_.has_nan else 0


@cache
def exact_function(implements: str) -> Callable[..., Value] | None:
    """The rounding or coding of that name over values; None for all else."""
    conversion, coding = conversion_named(implements), coding_named(implements)
    if conversion is not None:
        return partial(narrowed, conversion)
    if coding is not None:
        return partial(encoded if coding[0] == "encode" else decoded, coding[1])
    return None
