"""The abstract functions of the kernel IR: in f64, and correctly rounded to every format.

Defines `f64_function` and `rounded_function`. Relies on NumPy's f64 functions where their error
cannot change the rounding, and on balls where it could. It knows nothing of the portable
functions that replace these in kernels.

Exactness: an f64 result r is trusted to 8 ulp. Where r·(1−2⁻⁴⁹) and r·(1+2⁻⁴⁹) round to one number
of the format, that number is the correctly rounded one. For the format f64 the same is done in
x87 extended precision with a margin of 2⁻⁶⁰, where NumPy has it. Elsewhere, and for erf in f64, a
ball is refined until both its ends round alike.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any, Final

import flint
import numpy as np
import numpy.typing as npt

from tang.emulator.rounding import round_fraction, round_to
from tang.interpreter.balls import BallArithmetic

Array = npt.NDArray[Any]
Value = Any
Function = Callable[..., Any]

_MARGIN: Final = 2.0**-49
_EXTENDED_MARGIN: Final = np.longdouble(2.0) ** -60
_PRECISIONS: Final = (128, 400, 1600, 6400)
_FARTHEST: Final = 8192
_LOCK: Final = threading.Lock()
"""python-flint keeps its precision for the whole process; devices are judged in threads."""
_ERF: Final = np.frompyfunc(math.erf, 1, 1)


def _erf(x: Value) -> Value:
    return np.asarray(_ERF(x), np.float64)[()]


def _sigmoid(x: Value) -> Value:
    return 1.0 / (1.0 + np.exp(-x))


F64_MATH: Final[dict[str, Function]] = {
    "exp2": np.exp2, "log2": np.log2, "sin": np.sin, "atan2": np.arctan2, "erf": _erf,
    "exp": np.exp, "log": np.log, "tanh": np.tanh, "sigmoid": _sigmoid, "cos": np.cos,
}  # fmt: skip
"""Every row of MATH on f64, to a few ulp."""


@cache
def rounded_function(op: str, format: str) -> Function:
    """A row of MATH on f64 values, correctly rounded to the format; the result is f64."""
    attempt = _from_extended if format == "f64" else _from_f64

    def rounded(*operands: Value) -> Value:
        given = np.broadcast_arrays(*(np.asarray(x, np.float64) for x in operands))
        flat = tuple(np.ascontiguousarray(x).reshape(-1) for x in given)
        result, doubtful = attempt(op, format, flat)
        for i in np.flatnonzero(doubtful):
            with _LOCK:
                found = _correct(op, format, tuple(float(x[i]) for x in flat))
            if found is not None and not (found == 0 and result[i] == 0):  # keep a zero's sign
                result[i] = found
        return result.reshape(given[0].shape)[()]

    return rounded


def _from_f64(op: str, format: str, operands: tuple[Array, ...]) -> tuple[Array, Array]:
    near = np.asarray(F64_MATH[op](*operands), np.float64)
    result = _narrow(near * (1 - _MARGIN), format)
    doubtful = result != _narrow(near * (1 + _MARGIN), format)
    return result, doubtful & ~np.isnan(near)


def _narrow(x: Array, format: str) -> Array:
    if format == "f32":  # the hardware rounds once
        return x.astype(np.float32).astype(np.float64)
    return np.array(round_to(x, format))


def _from_extended(op: str, format: str, operands: tuple[Array, ...]) -> tuple[Array, Array]:
    if op == "erf" or np.finfo(np.longdouble).nmant < 63:
        near = np.asarray(F64_MATH[op](*operands), np.float64)
        return near.copy(), np.isfinite(near)
    near = np.asarray(F64_MATH[op](*(x.astype(np.longdouble) for x in operands)))
    result = (near * (1 - _EXTENDED_MARGIN)).astype(np.float64)
    doubtful = result != (near * (1 + _EXTENDED_MARGIN)).astype(np.float64)
    return result, doubtful & ~np.isnan(near)


def _correct(op: str, format: str, operands: tuple[float, ...]) -> float | None:
    """The correctly rounded value, or None where the ball knows only a special class."""
    for precision in _PRECISIONS:
        balls = BallArithmetic(precision)
        number = getattr(balls, op)(*(balls.from_f64(x) for x in operands))[()]
        if not isinstance(number, flint.arb):
            return None
        with flint.ctx.workprec(precision + 64):  # the ends are rounded outwards to this
            ends = number.lower(), number.upper()
        low, high = (_rounded(end, format) for end in ends)
        if low == high:
            return low
    return round_fraction(_rational(number.mid()), format)


def _rounded(end: Value, format: str) -> float:
    near = float(end)  # to nearest even where the result is normal
    if format == "f64" and 2.0**-1000 < abs(near) < math.inf:
        return near
    return round_fraction(_rational(end), format)


def _rational(end: Value) -> Fraction:
    mantissa, exponent = (int(part) for part in end.man_exp())
    shift = max(-_FARTHEST, min(_FARTHEST, exponent))  # beyond every format either way
    return Fraction(mantissa) * Fraction(2) ** shift
