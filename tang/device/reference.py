"""The functions of the kernel IR to more than a hundred bits, and errors of results in ulps.

Defines `Truth`, `truth_of` and `errors_of`. Relies on python-flint's balls (160 bits or more, so
the value is known to far less than an ulp) and, for one value at a time, on mpmath. It shares
nothing with the interpreter, whose balls judge the ladder.

An ulp of a format at a real y is 2^(max(⌊log₂|y|⌋, emin) − p + 1), as in docs/maths.md: the error
of a correctly rounded result is up to 0.5.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import flint
import mpmath
import numpy as np

from tang.device.arguments import F64_FUNCTIONS
from tang.device.storage import AnyArray
from tang.ir.format import Format

Ball = Any
"""A ball of python-flint, which carries no types."""

_BITS: Final = 256
_LOW: Final = 2.0**-800
_UP: Final = 200
"""Truths below _LOW are held times 2^_UP, so that their second half does not underflow."""
_FAR: Final = {"exp2": 2200.0, "exp": 1600.0, "tanh": 64.0, "erf": 64.0, "sigmoid": 1600.0}


def _exp2(x: Ball) -> Ball:
    return (x * flint.arb.const_log2()).exp()


def _sigmoid(x: Ball) -> Ball:
    return 1 / (1 + (-x).exp())


_BALLS: Final[dict[str, Callable[..., Any]]] = {
    "exp2": _exp2,
    "exp": lambda x: x.exp(),
    "log": lambda x: x.log(),
    "log2": lambda x: x.log() / flint.arb.const_log2(),
    "sin": lambda x: x.sin(),
    "cos": lambda x: x.cos(),
    "tanh": lambda x: x.tanh(),
    "erf": lambda x: x.erf(),
    "sigmoid": _sigmoid,
    "atan2": flint.arb.atan2,
}
_MPMATH: Final[dict[str, Callable[..., Any]]] = {
    "exp2": lambda x: mpmath.power(2, x),
    "exp": mpmath.exp,
    "log": mpmath.log,
    "log2": lambda x: mpmath.log(x) / mpmath.log(2),
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tanh": mpmath.tanh,
    "erf": mpmath.erf,
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
    "atan2": mpmath.atan2,
}


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """Values of a function: (high + low)·2^−shift; `plain` where f64 knows them, as a class.

    plain  NaN, infinities, and exact zeros: there `high` is what f64 says
    """

    high: AnyArray
    low: AnyArray
    shift: AnyArray
    plain: AnyArray


def truth_of(op: str, args: Sequence[AnyArray]) -> Truth:
    """The function of every element of flat f64 arrays."""
    wide = [np.asarray(a, np.float64) for a in args]
    with np.errstate(all="ignore"):
        near = np.asarray(F64_FUNCTIONS[op](*wide), np.float64)
    plain = ~np.isfinite(near) | _known_zero(op, wide)
    for a in wide:
        plain |= ~np.isfinite(a)
    far = _FAR.get(op)
    if far is not None:
        wide = [np.clip(a, -far, far) for a in wide]
        plain &= ~(np.isinf(near) & np.isfinite(args[0]))
    high, low, shift = near.copy(), np.zeros(near.shape), np.zeros(near.shape, np.int64)
    function, before = _BALLS[op], flint.ctx.prec
    flint.ctx.prec = _BITS
    try:
        for i in np.flatnonzero(~plain):
            value = function(*(flint.arb(float(a[i])) for a in wide))
            high[i], low[i], shift[i] = _split(value, near[i])
    finally:
        flint.ctx.prec = before
    return Truth(high, low, shift, plain)


def _known_zero(op: str, args: Sequence[AnyArray]) -> AnyArray:
    """Where the result is an exact zero, or takes its class from zeros (atan2)."""
    first = np.asarray(args[0])
    if op == "atan2":
        return np.asarray((first == 0) | (args[1] == 0))
    if op in ("log", "log2"):
        return np.asarray(first == 1)
    return np.asarray(first == 0) & (op in ("sin", "tanh", "erf"))


def _split(value: Ball, near: float) -> tuple[float, float, int]:
    shift = _UP if abs(near) < _LOW else 0
    scaled = value * flint.arb(2) ** shift if shift else value
    high = float(scaled.mid())
    if not math.isfinite(high):
        return high, 0.0, shift
    return high, float((scaled - flint.arb(high)).mid()), shift


def errors_of(truth: Truth, got: AnyArray, form: Format) -> AnyArray:
    """|got − truth| in ulps of the format; infinite where a class differs.

    A finite truth that rounds to infinity may be either: an infinity counts as 2^(emax + 1), and a
    truth as that at most.
    """
    wide = got.astype(np.float64)
    with np.errstate(all="ignore"):
        top = np.ldexp(1.0, form.emax) * 2  # infinite for f64
        scale = np.ldexp(1.0, truth.shift)
        value = np.where(np.isinf(wide), np.copysign(top, wide), wide) * scale
        high = np.clip(truth.high, -top, top)
        error = np.abs((value - high) - np.where(np.abs(truth.high) < top, truth.low, 0.0))
        size = np.abs(np.where(high == 0, np.ldexp(1.0, -1000), high))
        exponent = np.minimum(np.frexp(size)[1] - 1 - truth.shift, form.emax)
        unit = np.ldexp(1.0, np.maximum(exponent, form.emin) - form.p + 1 + truth.shift)
        error = error / unit
        error = np.where(np.isinf(value) & (value == high), 0.0, error)
    same = np.where(np.isnan(truth.high), np.isnan(wide), wide == truth.high)
    rounded = truth.plain & np.isfinite(truth.high) & (truth.high != 0)
    error = np.where(truth.plain & ~rounded, np.where(same, 0.0, np.inf), error)
    return np.asarray(np.where(np.isnan(error), np.inf, error))


def error_by_mpmath(op: str, args: Sequence[float], got: float, form: Format) -> float:
    """The same for one finite result, by mpmath with 80 digits."""
    with mpmath.workdps(80):
        true = _MPMATH[op](*(mpmath.mpf(float(a)) for a in args))
        exponent = max(int(mpmath.floor(mpmath.log(abs(true), 2))), form.emin)
        return float(abs(mpmath.mpf(float(got)) - true) / mpmath.ldexp(1, exponent - form.p + 1))
