"""Equality of two f64 evaluations of the same thing (DESIGN §1.1).

Defines the screen `compare` on values with forward errors, and `decide`, which settles what is
left in ball arithmetic. Relies on `balls`; the caller supplies both sides as functions of a
precision. It does not explain a difference and it never takes UNDECIDED for success.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt
from flint import arb

from tang.errors import TangBugError
from tang.interpreter.arithmetic import UNKNOWN, Mask
from tang.interpreter.ball_numbers import EITHER, MAYBE, UNDECIDED, Number, class_of
from tang.interpreter.balls import Balls
from tang.interpreter.measured import Measured
from tang.ir.expr import INDEX, REAL

MARGIN: Final = 4.0
"""How many times their joint error two equal values may be apart."""
SMALL: Final = 2.0**-20
"""The largest error, relative to the value, at which the screen may accept."""
PRECISIONS: Final = (128, 256, 512, 1024)
"""Working precisions of `decide`, in bits."""
ACCURATE: Final = 60
"""Overlapping balls are equal when both are known to this many bits."""
CANCELLED: Final = 2.0**-256
"""So are balls that small against the scale of what cancelled: sin(π) is 0 to no relative bits."""


class Decision(enum.IntEnum):
    """Closed: what is known of two elements."""

    EQUAL = 0
    DIFFERENT = 1
    UNDECIDED = 2


Decisions = npt.NDArray[np.int8]
Side = Callable[[int], Balls]
"""One side, evaluated in balls at a precision in bits."""


def compare(x: Measured, y: Measured) -> Mask:
    """Where the screen accepts: equal up to four times the errors, and those are small.

    NaNs are equal, infinities exact. False means "not settled here", not "different".
    """
    if x.shape != y.shape:
        raise TangBugError(f"compared shapes differ: {x.shape} and {y.shape}")
    a, b = np.asarray(x.value), np.asarray(y.value)
    if a.dtype.kind != "f":
        return np.asarray(a == b)
    with np.errstate(all="ignore"):
        err = np.asarray(x.err + y.err)
        close = np.abs(a - b) <= MARGIN * err
        small = err <= SMALL * np.minimum(np.abs(a), np.abs(b))
        finite = np.isfinite(a) & np.isfinite(b) & close & small
    return np.asarray(finite | (np.isinf(a) & (a == b)) | (np.isnan(a) & np.isnan(b)))


def decide(
    left: Side, right: Side, pending: Mask, scale: npt.NDArray[np.float64] | None = None
) -> Decisions:
    """EQUAL, DIFFERENT or UNDECIDED for every pending element; EQUAL for the others.

    Evaluates both sides at 128 … 1024 bits until nothing pending is undecided. `scale` is the
    size of the terms that may have cancelled in each element (see `scale_of`).
    """
    sizes = np.zeros(pending.shape) if scale is None else scale
    decisions = np.where(pending, np.int8(Decision.UNDECIDED), np.int8(Decision.EQUAL))
    for prec in PRECISIONS:
        open_ = decisions == Decision.UNDECIDED
        if not open_.any():
            break
        decisions[open_] = decide_balls(left(prec), right(prec), open_, sizes)
    return decisions


def scale_of(x: Measured) -> npt.NDArray[np.float64]:
    """The size of the terms behind each value, from its forward error: err = 2⁻⁵³ · Σ|terms|."""
    err = np.broadcast_to(np.asarray(x.err, np.float64), x.shape)
    return np.where(np.isfinite(err), np.minimum(err, 2.0**970) * 2.0**53, 0.0)


def decide_balls(
    left: Balls, right: Balls, chosen: Mask, scale: npt.NDArray[np.float64] | None = None
) -> Decisions:
    """The decisions on the chosen elements alone, in row-major order."""
    if left.sort is not right.sort or left.value.shape != right.value.shape:
        raise TangBugError("compared balls differ in sort or shape")
    a, b = left.value[chosen], right.value[chosen]
    if left.sort is REAL:
        sizes = np.zeros(len(a)) if scale is None else scale[chosen]
        rows = zip(a.tolist(), b.tolist(), sizes.tolist(), strict=True)
        return np.fromiter((_decide(*row) for row in rows), np.int8, len(a))
    unknown = UNKNOWN if left.sort is INDEX else MAYBE
    known = np.where(a == b, np.int8(Decision.EQUAL), np.int8(Decision.DIFFERENT))
    return np.where((a == unknown) | (b == unknown), np.int8(Decision.UNDECIDED), known)


def _decide(x: Number, y: Number, scale: float) -> Decision:
    if x is UNDECIDED or y is UNDECIDED:
        return Decision.UNDECIDED
    if type(x) is arb and type(y) is arb:
        return _decide_finite(x, y, scale)
    if EITHER in (x, y):
        infinite = {class_of(x), class_of(y)} <= {"inf", "-inf", "EITHER"}
        return Decision.UNDECIDED if infinite else Decision.DIFFERENT
    return Decision.EQUAL if class_of(x) == class_of(y) else Decision.DIFFERENT


def _decide_finite(x: Number, y: Number, scale: float) -> Decision:
    if not x.overlaps(y):
        return Decision.DIFFERENT
    if min(x.rel_accuracy_bits(), y.rel_accuracy_bits()) >= ACCURATE:
        return Decision.EQUAL
    if x.is_exact() and y.is_exact():
        return Decision.EQUAL
    radius = float((x.rad() + y.rad()).upper())
    negligible = max(abs(float(x.mid())), abs(float(y.mid())), radius) <= CANCELLED * scale
    return Decision.EQUAL if negligible else Decision.UNDECIDED
