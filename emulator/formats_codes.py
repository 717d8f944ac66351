"""Numbers of narrow formats as integer codes, and back.

Defines `encode` and `decode` for formats of up to 32 bits. Relies on the order of codes: magnitudes
count upwards from zero, a sign bit on top. It rounds nothing: what is no number of the format is
an error.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tang.emulator.rounding import as_f64
from tang.errors import FormatError
from tang.ir.format import Format, any_format

Array = npt.NDArray[Any]
F64Array = npt.NDArray[np.float64]

_TABLE_BITS: Final = 16


def encode(x: npt.ArrayLike, format: str | Format) -> Array:
    """The codes of numbers of the format, as u8, u16 or u32; every NaN gets the one positive code.

    Raises FormatError naming the first element that is no number of the format.
    """
    target = _narrow(format)
    value = as_f64(x)
    with np.errstate(all="ignore"):
        codes = _magnitudes(np.abs(value), target)
        if target.signed:
            negative = np.signbit(value) & ~np.isnan(value)
            codes |= negative.astype(np.uint32) << np.uint32(target.bits - 1)
        codes = np.where(np.isnan(value), np.uint32(nan_code(target) or 0), codes)
        found = _decoded(codes.reshape(-1), target).reshape(value.shape)
        same = ((found == value) & (np.signbit(found) == np.signbit(value))) | (
            np.isnan(found) & np.isnan(value)
        )
    if not same.all():
        index = tuple(int(i) for i in np.argwhere(~same)[0])
        where = f"element {list(index)}" if index else "the value"
        raise FormatError(f"no number of {target.name}: {where} is {value[index]!s}")
    return codes.astype(_dtype(target))


def decode(codes: npt.ArrayLike, format: str | Format) -> F64Array:
    """The numbers of integer codes, as f64; FormatError for what is no code of the format."""
    target = _narrow(format)
    given = np.asarray(codes)
    if given.dtype.kind not in "iu":
        raise FormatError(f"codes are integers, not {given.dtype}")
    if ((given < 0) | (given >= 2**target.bits)).any():
        raise FormatError(f"codes of {target.name} are 0 … {2**target.bits - 1}")
    flat = given.reshape(-1).astype(np.uint32)
    return _decoded(flat, target).reshape(given.shape)


def infinity_code(target: Format) -> int | None:
    """The code of +∞, where the format has one."""
    if not target.has_infinity:
        return None
    return (target.emax - target.emin + 2) << (target.p - 1)


def nan_code(target: Format) -> int | None:
    """The code that stands for NaN where one is written: positive and quiet."""
    if target.specials == "ieee":
        return (infinity_code(target) or 0) | (1 << (target.p - 2))
    if target.specials == "fn":
        return (1 << (target.bits - target.signed)) - 1
    if target.specials == "fnuz":
        return 1 << (target.bits - 1)
    return None


def largest_code(target: Format) -> int:
    """The code of the largest finite number."""
    return int(_magnitudes(np.float64(target.largest), target))


def _narrow(format: str | Format) -> Format:
    target = any_format(format)
    if target.bits > 32:
        raise FormatError(f"codes are for formats of up to 32 bits, not {target.name}")
    return target


def _dtype(target: Format) -> Any:  # noqa: ANN401 - a NumPy scalar type
    return np.uint8 if target.bits <= 8 else np.uint16 if target.bits <= 16 else np.uint32


def _magnitudes(size: Array | np.float64, target: Format) -> Array:
    """Codes of magnitudes: steps of the quantum below 2^emin, 2^(p−1) steps a binade above."""
    finite = np.where(np.isfinite(size), size, 0.0)
    exponent = np.where(finite == 0, target.emin, np.frexp(finite)[1] - 1)
    exponent = np.maximum(exponent, target.emin)
    steps = np.ldexp(finite, target.p - 1 - exponent)
    binade = (exponent - target.emin).astype(np.int64) << (target.p - 1)
    codes = binade + np.floor(steps).astype(np.int64) - (not target.zero)
    codes = np.where(size == np.inf, infinity_code(target) or 0, codes)
    return (codes & 0xFFFFFFFF).astype(np.uint32)


def _decoded(codes: Array, target: Format) -> F64Array:
    if target.bits <= _TABLE_BITS:
        return np.asarray(_table(target)[codes & np.uint32(2**target.bits - 1)], np.float64)
    return _computed(codes, target)


@cache
def _table(target: Format) -> F64Array:
    return _computed(np.arange(2**target.bits, dtype=np.uint32), target)


def _computed(codes: Array, target: Format) -> F64Array:
    width = target.bits - target.signed
    magnitude = (codes.astype(np.int64) & (2**width - 1)) + (not target.zero)
    binade = magnitude >> (target.p - 1)
    rest = magnitude & (2 ** (target.p - 1) - 1)
    whole = np.where(binade > 0, rest + 2 ** (target.p - 1), rest).astype(np.float64)
    exponent = np.maximum(binade, 1) - 1 + target.emin - (target.p - 1)
    value = np.ldexp(whole, exponent.astype(np.int32))
    value = np.where(value > float(target.largest), np.nan, value)
    if target.has_infinity:
        value = np.where(magnitude == infinity_code(target), np.inf, value)
    if target.signed:
        value = np.where(codes >> np.uint32(width) == 1, -value, value)
    if target.specials == "fnuz":
        value = np.where(codes == nan_code(target), np.nan, value)
    return np.asarray(value, np.float64)
