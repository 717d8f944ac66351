"""The domain `balls`: the real numbers that a kernel computes, enclosed.

Defines `balls`. Relies on the interpreter's ball arithmetic, with its three-valued truths. It
ignores formats, as `real` does. Where control flow, an address or an integer hangs on a truth
that the balls do not tell, the lane is tainted, and what it stores comes back as UNDECIDED,
UNKNOWN or MAYBE. Results of index type are i64 and truths int8, as in `tang.interpreter.Balls`.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from tang.emulator import formats, real
from tang.emulator.domain import Domain, Operation, Parts, to_integer
from tang.emulator.ints import to_array
from tang.emulator.machine import Array, Machine, Site, Value
from tang.errors import TangBugError
from tang.interpreter.arithmetic import UNKNOWN
from tang.interpreter.ball_numbers import MAYBE, TRUE, UNDECIDED
from tang.interpreter.balls import BallArithmetic, truths
from tang.kernel.ir import BOOL, F64, Const, Type


@cache
def balls(precision: int) -> Domain:
    """The domain at that working precision in bits."""
    arithmetic = BallArithmetic(precision)
    return Domain(
        name=f"balls-{precision}",
        constant=lambda c: _constant(arithmetic, c),
        operation=lambda op, t, site: Operation(getattr(arithmetic, op)),
        to_float=lambda t, s: _conversion(arithmetic, s),
        to_int=lambda m, t, v, site: _to_int(arithmetic, m, t, v, site),
        to_bits=lambda m, t, s, v: _to_bits(arithmetic, m, t, s, v),
        from_bits=lambda m, t, s, v: _from_bits(arithmetic, m, t, s, v),
        merge=lambda mask, new, old: np.where(mask, new, old),
        dtypes=lambda t: (np.object_,),
        pack=lambda t, v: (_unboxed(v),),
        unpack=_unpack,
        read=lambda t, a: (arithmetic.from_f64(real.values_of(t, a)),),
        planes=("value",),
        show=_show,
        logic=_logic(arithmetic),
        decide=_decide,
        tracks=True,
        rounded=real.unrounded,
    )


def _show(plane: str, type_: Type, array: Array, taint: Array | None) -> Array:
    """As `tang.interpreter.Balls` holds them; tainted elements are not known."""
    doubtful = np.zeros(len(array), np.bool_) if taint is None else taint[: len(array)]
    if type_ is BOOL:
        return np.where(doubtful, np.int8(MAYBE), truths(array))
    if not type_.is_float:
        return np.where(doubtful, np.int64(UNKNOWN), array.astype(np.int64))
    known = array.copy()
    known[doubtful] = UNDECIDED
    return known


def _unboxed(value: Value) -> Value:
    return value[()] if isinstance(value, np.ndarray) and not value.ndim else value


def _unpack(type_: Type, parts: Parts) -> Value:
    part = parts[0]
    if isinstance(part, np.ndarray):
        return part
    box = np.empty((), object)
    box[()] = part
    return box


def _constant(arithmetic: BallArithmetic, constant: Const) -> Value:
    if isinstance(constant.value, str):
        return arithmetic.constant(constant.value)
    return arithmetic.from_fraction(Fraction(constant.value))


def _conversion(arithmetic: BallArithmetic, source: Type) -> Callable[[Any], Any]:
    if source.is_float:
        return lambda x: x
    return lambda x: arithmetic.from_index(np.asarray(to_array(x)).astype(np.int64))


def _as_truths(truth: Value) -> Value:
    array = np.asarray(truth)
    return truths(array) if array.dtype == np.bool_ else array


def _decide(m: Machine, truth: Value) -> Value:
    """Bools for a branch; MAYBE counts as false and taints the lane."""
    array = np.asarray(truth)
    if array.dtype == np.bool_:
        return truth
    if np.any(array == MAYBE):
        m.add_taint(array == MAYBE)
    taken = array == TRUE
    return taken if np.ndim(taken) else bool(taken)


def _logic(arithmetic: BallArithmetic) -> dict[str, Callable[..., Any]]:
    def lifted(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *operands: function(*(_as_truths(x) for x in operands))

    return {
        "and": lifted(np.minimum),
        "or": lifted(np.maximum),
        "not": lifted(lambda a: 2 - a),
        "eq": lifted(_equal),
        "select": lambda c, a, b: arithmetic.select(_as_truths(c), a, b),
        "choose": lifted(_choose),
    }


def _equal(a: Value, b: Value) -> Value:
    unknown = (a == MAYBE) | (b == MAYBE)
    return np.where(unknown, np.int8(MAYBE), truths(a == b))


def _choose(c: Value, a: Value, b: Value) -> Value:
    either = np.where(a == b, a, np.int8(MAYBE))
    return np.where(c == MAYBE, either, np.where(c == TRUE, a, b))


def _to_int(arithmetic: BallArithmetic, m: Machine, type_: Type, value: Value, site: Site) -> Value:
    """An integer; where the ball does not tell it, −1 and a tainted lane."""
    centre = arithmetic.to_f64(value)
    rounded = np.rint(centre)
    known = arithmetic.eq(value, arithmetic.from_f64(rounded)) == TRUE
    m.add_taint(~np.asarray(known))
    return to_integer(m, type_, np.where(known, rounded, -1.0)[()], site)


def _to_bits(
    arithmetic: BallArithmetic, m: Machine, type_: Type, source: Type, value: Value
) -> Value:
    centre = formats.conversion(source, F64)(arithmetic.to_f64(value))
    m.add_taint(np.ones(np.shape(centre), np.bool_))
    if type_.is_float:
        raise TangBugError("a bit cast between floats has no meaning over the reals")
    return formats.float_to_bits(m, type_, source, centre)


def _from_bits(
    arithmetic: BallArithmetic, m: Machine, type_: Type, source: Type, value: Value
) -> Value:
    given = np.asarray(formats.bits_to_float(m, type_, source, value))
    m.add_taint(np.ones(np.shape(given), np.bool_))
    with np.errstate(all="ignore"):
        return arithmetic.from_f64(given.astype(np.float64))
