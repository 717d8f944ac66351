"""One rounder for every format: f64 values to p bits, vectorised in NumPy.

Defines `Rounder`, which says how a rounding is done, and `round_array`. Relies on divisions and
products by powers of two, which are exact in f64, and on NumPy's `rint` and `trunc`. It checks no
arguments: `emulator/rounding.py` does.

Rounding is done as if exponents had no upper end; what then exceeds the largest number, infinities
included, becomes `beyond`. With a quantum q = 2^(max(⌊log₂|x|⌋, emin) − p + 1) the result is
q·integer(x/q), where integer is the chosen mode.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tang.emulator.rounder_random import CHUNK, uniform
from tang.ir.format import Format

F64Array = npt.NDArray[np.float64]

_EXPONENT: Final = np.int64(0x7FF0000000000000)


@dataclass(frozen=True, slots=True)
class Rounder:
    """A way of rounding as numbers.

    lowest, highest  powers of two between which the leading bit of x is taken for the quantum
    unit             the quantum over that power, 2^(1−p)
    largest, beyond  the largest number, and what replaces larger magnitudes
    smallest         magnitudes below it are flushed to zero after rounding (0: none)
    """

    rounding: str
    p: int
    lowest: float
    highest: float
    unit: float
    largest: float
    beyond: float
    smallest: float
    negative_zero: bool
    seed: int = 0


@lru_cache(maxsize=1024)
def rounder(
    target: Format, rounding: str, overflow: str, ftz: bool, seed: int | None = None
) -> Rounder:
    """The rounder of checked arguments."""
    largest = float(target.largest)
    beyond = {"inf": math.inf, "nan": math.nan, "saturate": largest}[overflow]
    return Rounder(
        rounding,
        target.p,
        2.0**target.emin,
        2.0 ** min(target.emax + 1, 1023),
        2.0 ** (1 - target.p),
        largest,
        beyond,
        2.0**target.emin if ftz else 0.0,
        target.has_negative_zero or not target.signed,
        seed or 0,
    )


def round_array(x: F64Array, how: Rounder, first: int = 0) -> F64Array:
    """Every element of a flat array rounded; element i takes random number first + i."""
    out = np.empty_like(x)
    for start in range(0, x.size, CHUNK):
        piece = slice(start, start + CHUNK)
        _round_piece(x[piece], out[piece], how, first + start)
    return out


def _round_piece(x: F64Array, out: F64Array, how: Rounder, first: int) -> None:
    quantum = np.bitwise_and(x.view(np.int64), _EXPONENT).view(np.float64)
    np.maximum(quantum, how.lowest, out=quantum)
    np.minimum(quantum, how.highest, out=quantum)
    np.multiply(quantum, how.unit, out=quantum)
    np.divide(x, quantum, out=out)
    _to_integer(out, how, first)
    np.multiply(out, quantum, out=out)
    magnitude = np.abs(out, out=quantum)
    _replace(out, magnitude > how.largest, how.beyond)
    if how.smallest:
        _replace(out, magnitude < how.smallest, 0.0)
    if not how.negative_zero:
        np.add(out, 0.0, out=out)


def _replace(out: F64Array, where: npt.NDArray[Any], by: float) -> None:
    if where.any():
        np.copyto(out, np.copysign(by, out), where=where)


def _to_integer(n: F64Array, how: Rounder, first: int) -> None:
    """Quotients to integers in place; zeros and increments carry the sign of the quotient."""
    if how.rounding == "rne":
        np.rint(n, out=n)
        return
    if how.rounding == "rz":
        np.trunc(n, out=n)
        return
    whole = np.trunc(n)
    rest = np.subtract(n, whole)  # exact; NaN for infinities, which are then not incremented
    np.abs(rest, out=rest)
    stochastic = how.rounding == "stochastic"
    up = uniform(how.seed, first, n.size) < rest if stochastic else rest >= 0.5
    np.copysign(up, n, out=rest)
    np.add(whole, rest, out=n)
