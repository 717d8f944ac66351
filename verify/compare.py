"""Comparison to the last bit, and the words for a difference.

Defines `bit_equal` (all NaNs equal, −0 ≠ +0), the same over memory, and `describe`. Relies on NumPy
alone but for the name of bf16. It knows no tolerance: rungs with a bound compare against it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tang.kernel.ir import Type

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]

_WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def bit_equal(a: Array, b: Array) -> Mask:
    """Where two arrays of one shape and dtype hold the same bits, or both NaN.

    An array of another shape or dtype is equal nowhere: one False.
    """
    if a.shape != b.shape or a.dtype != b.dtype:
        return np.zeros(1, np.bool_)
    word = _WORDS[a.dtype.itemsize]
    same = np.ascontiguousarray(a).view(word) == np.ascontiguousarray(b).view(word)
    same = same.reshape(a.shape)
    if a.dtype.kind == "f":
        same |= np.isnan(a) & np.isnan(b)
    return np.asarray(same, np.bool_)


def memory_equal(a: Array, b: Array, element: Type) -> Mask:
    """`bit_equal` of two arrays in memory format, in which bf16 lies as words without a dtype."""
    same = bit_equal(a, b)
    if element is Type.BF16 and same.shape == a.shape and a.dtype == np.uint16:
        same |= _is_nan_word(a) & _is_nan_word(b)
    return same


def _is_nan_word(a: Array) -> Mask:
    return np.asarray((a & 0x7FFF) > 0x7F80, np.bool_)


def describe(
    left: Array, right: Array, equal: Mask, names: tuple[str, str], extra: str = ""
) -> str:
    """Both sides up to the first differing value, with its coordinates and how many differ."""
    if left.shape != right.shape or left.dtype != right.dtype:
        return (
            f"{names[0]} is {left.dtype}{list(left.shape)}, "
            f"{names[1]} is {right.dtype}{list(right.shape)}"
        )
    where = np.flatnonzero(~np.ravel(equal))
    if not len(where):
        return "no difference"
    first = int(where[0])
    at = tuple(int(i) for i in np.unravel_index(first, left.shape)) if left.ndim else ()
    start = max(0, first - 3)
    lines = [f"{len(where)} of {left.size} elements differ, the first at {list(at)}"]
    for name, side in zip(names, (left, right), strict=True):
        shown = ", ".join(value_text(v) for v in np.ravel(side)[start : first + 1])
        lines.append(f"{name:>12}: {'… ' if start else ''}{shown}")
    return "\n".join([*lines, *([extra] if extra else [])])


def value_text(value: object) -> str:
    """A value for the reader: decimal, and hexadecimal bits where they say more."""
    if not isinstance(value, np.floating):
        return str(value)
    number = float(value)
    return f"{number!r} ({number.hex()})" if np.isfinite(number) else repr(number)
