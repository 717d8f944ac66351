"""The random numbers of stochastic rounding: a pure function of seed and position.

Defines `uniform`. Relies on 64-bit integer arithmetic that wraps. It has no state: the same seed
and position give the same number on every machine, in NumPy and in C, in any order.

Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014),
whose mixing function is applied to seed and position.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

_MASK: Final = 2**64 - 1
CHUNK: Final = 2**14
"""Numbers at a time at most: scratch arrays of 128 KiB, which mostly stay in the second cache."""
GAMMA: Final = 0x9E3779B97F4A7C15
FIRST: Final = 0xBF58476D1CE4E5B9
SECOND: Final = 0x94D049BB133111EB


def start_of(seed: int) -> int:
    """Where the sequence of a seed starts; neighbouring seeds start far apart."""
    z = (seed + GAMMA) & _MASK
    z = ((z ^ (z >> 30)) * FIRST) & _MASK
    z = ((z ^ (z >> 27)) * SECOND) & _MASK
    return z ^ (z >> 31)


@cache
def _steps(count: int) -> npt.NDArray[np.uint64]:
    return np.arange(count, dtype=np.uint64) * np.uint64(GAMMA)


def uniform(seed: int, first: int, count: int) -> npt.NDArray[np.float64]:
    """Numbers first … first + count − 1 of a seed: multiples of 2⁻⁵³ in [0, 1).

    `count` is at most the length of a chunk of the rounder.
    """
    z = _steps(CHUNK)[:count] + np.uint64((start_of(seed) + (first + 1) * GAMMA) & _MASK)
    shifted = z >> np.uint64(30)
    for factor, shift in ((FIRST, 27), (SECOND, 31)):
        np.bitwise_xor(z, shifted, out=z)
        np.multiply(z, np.uint64(factor), out=z)
        np.right_shift(z, np.uint64(shift), out=shifted)
    np.bitwise_xor(z, shifted, out=z)
    np.right_shift(z, np.uint64(11), out=z)
    numbers = shifted.view(np.float64)  # the same memory: few arrays stay in the second cache
    np.multiply(z.view(np.int64), 2.0**-53, out=numbers)
    return numbers
