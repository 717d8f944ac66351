"""Buffers of narrow formats at the API: numbers in, codes in memory, numbers out.

Defines `pack_buffer` and `unpack_buffer`, which take whole arrays between the caller's numbers and
the memory of any buffer of a plan. Relies on storage for machine types and on the tables of the
narrow formats. It allocates no memory and rounds nothing that a kernel computes.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tang.device.storage import AnyArray, pack, unpack
from tang.ir.format import Format
from tang.kernel.ir import U8
from tang.kernel.narrow import Conversion, is_coded
from tang.kernel.plan import Buffer

F64Array = npt.NDArray[np.float64]
_FAR: Final = {"inf": np.inf, "nan": np.nan}


def pack_buffer(array: AnyArray, buffer: Buffer) -> AnyArray:
    """A caller's values as the buffer holds them, reals rounded once as its conversion says."""
    if buffer.conversion is None:
        return pack(array, buffer.type)
    with np.errstate(invalid="ignore"):
        wide = np.asarray(array, np.float64)
    conversion = buffer.conversion
    if is_coded(conversion.format):
        codes = _codes(wide, conversion)
        return codes if buffer.type is U8 else np.asarray(_values(conversion.format)[codes])
    return pack(_rounded(wide, conversion), buffer.type)


def unpack_buffer(memory: AnyArray, buffer: Buffer) -> AnyArray:
    """The memory of a buffer as values: codes become the f32 numbers that they stand for."""
    if buffer.conversion is None or buffer.type is not U8:
        return unpack(memory, buffer.type, buffer.sort)
    format_ = buffer.conversion.format
    return np.asarray(_values(format_)[memory & (2**format_.bits - 1)])


@cache
def _values(format_: Format) -> npt.NDArray[np.float32]:
    """The number of every code."""
    size, m = np.arange(2 ** (format_.bits - 1)), format_.p - 1
    exponent, fraction = size >> m, size & (2**m - 1)
    significand = np.where(exponent == 0, fraction, fraction + 2**m)
    scale = np.maximum(exponent, 1) - 1 + format_.emin - m
    values = np.ldexp(significand.astype(np.float64), scale)
    values[values > float(format_.largest)] = np.nan
    if format_.has_infinity:
        values[_of_infinity(format_)] = np.inf
    return np.concatenate([values, -values]).astype(np.float32)


def _codes(x: F64Array, conversion: Conversion) -> npt.NDArray[np.uint8]:
    """The code of the neighbour that rounding picks, by search among all numbers."""
    format_ = conversion.format
    finite = _values(format_)[: 2 ** (format_.bits - 1)].astype(np.float64)
    finite = finite[np.isfinite(finite)]
    top = finite.size - 1
    step = 2.0 ** (format_.emax - format_.p + 1)
    ladder = np.append(finite, finite[top] + step)  # what the next number would be
    size = np.abs(x)
    below = np.clip(np.searchsorted(ladder, size, side="right") - 1, 0, top)
    code = below + _is_up(size, ladder[below], ladder[below + 1], below, conversion.rounding)
    over = (code > top) | (size >= ladder[-1])
    code = np.where(over, _beyond(conversion, top), code)
    code = np.where(np.isnan(x), _of_nan(format_, top), code)
    sign = np.signbit(x) & ~np.isnan(x) & ~(over & (conversion.overflow == "nan"))
    return np.asarray(code + sign * 2 ** (format_.bits - 1), np.uint8)


def _is_up(size: Any, low: Any, high: Any, below: Any, rounding: str) -> Any:  # noqa: ANN401
    """Whether a magnitude between two neighbours goes to the upper one; differences are exact."""
    if rounding == "rz":
        return np.zeros(np.shape(size), np.int64)
    middle = low + (high - low) / 2
    tie = (below % 2 == 1) if rounding == "rne" else True
    return ((size > middle) | ((size == middle) & tie)).astype(np.int64)


def _beyond(conversion: Conversion, top: int) -> int:
    if conversion.overflow == "nan":
        return _of_nan(conversion.format, top)
    return _of_infinity(conversion.format) if conversion.overflow == "inf" else top


def _of_infinity(format_: Format) -> int:
    """The code of infinity: an exponent beyond that of the largest number."""
    return (format_.emax - format_.emin + 2) << (format_.p - 1)


def _of_nan(format_: Format, top: int) -> int:
    """The code of NaN, or of the largest number where there is none."""
    if not format_.has_nan:
        return top
    if format_.has_infinity:
        return _of_infinity(format_) + (1 << (format_.p - 2))
    return (1 << (format_.bits - 1)) - 1


def _rounded(x: F64Array, conversion: Conversion) -> F64Array:
    """Rounding by multiples of the step at each magnitude, which f64 holds exactly."""
    format_ = conversion.format
    with np.errstate(all="ignore"):
        safe = np.where(np.isfinite(x), x, 0.0)
        step = np.ldexp(1.0, np.maximum(np.frexp(safe)[1], format_.emin + 1) - format_.p)
        count = np.abs(safe) / step
        whole = np.floor(count)
        up = _is_up(count, whole, whole + 1, whole, conversion.rounding)
        size = (whole + up) * step
        largest = float(format_.largest)
        over = (size > largest) | np.isinf(x)
        size = np.where(over, _FAR.get(conversion.overflow, largest), size)
        found = np.copysign(size, x)
        nan = np.nan if format_.has_nan else largest
        return np.where(np.isnan(x), nan, found)
