"""The table of f64 values with a forward error beside each.

Defines `Measured` and the table `MEASURED`. Relies on `f64` for the values, which are bit for bit
those of plain evaluation. The error is first order where the derivative varies, so it is a screen
with a margin (see `equality`) and not a proof; decisions taken on inexact values are not in it.

err = Σ |∂op/∂xᵢ| · err(xᵢ) + rounding, with rounding 0 where an operation is seen to be exact
(a sum whose residual vanishes, a product of two 26-bit numbers, …), 2⁻⁵³·|value| for the other
IEEE operations and four times that for libm. Non-finite values have error 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np

from tang.interpreter import f64
from tang.interpreter.arithmetic import Arithmetic, Array, Indices, Mask, OpKey, Value
from tang.ir.expr import INDEX, REAL, Expr, Sort

UNIT: Final = 2.0**-53
TINY: Final = 2.0**-1074
LIBM: Final = 4 * UNIT
_LOW_BITS: Final = np.int64(2**27 - 1)


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """f64 values and how far each may be from the exact one."""

    value: Array
    err: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return np.shape(self.value)

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.asarray(self.value).dtype

    @property
    def ndim(self) -> int:
        return np.ndim(self.value)


def _measured(value: Array, err: Array) -> Measured:
    return Measured(value, np.where(np.isfinite(value), err, 0.0))


def _add(a: Measured, b: Measured) -> Measured:
    value = a.value + b.value
    exact = (value - a.value == b.value) & (value - b.value == a.value)
    return _measured(value, a.err + b.err + np.where(exact, 0.0, UNIT * np.abs(value)))


def _short(x: Array) -> Mask:
    """Whether the last 27 bits of the significand are zero: then products are exact."""
    return np.asarray((np.asarray(x).view(np.int64) & _LOW_BITS) == 0)


def _mul(a: Measured, b: Measured) -> Measured:
    value = a.value * b.value
    size = np.abs(value)
    exact = (_short(a.value) & _short(b.value) & (size > 2.0**-900)) | (a.value == 0)
    exact = exact | (b.value == 0) | (np.abs(a.value) == 1) | (np.abs(b.value) == 1)
    carried = _times(np.abs(a.value), b.err) + _times(np.abs(b.value), a.err)
    carried = carried + a.err * b.err
    return _measured(value, carried + np.where(exact, 0.0, UNIT * size + TINY))


def _times(factor: Array, err: Array) -> Array:
    """The product, 0 where there is no error (also against an infinite factor)."""
    return np.where(err == 0, 0.0, factor * err)


def _neg(a: Measured) -> Measured:
    return Measured(-a.value, a.err)


def _recip(a: Measured) -> Measured:
    value = np.reciprocal(a.value)
    significand = np.abs(np.frexp(a.value)[0])
    rounding = np.where(significand == 0.5, 0.0, UNIT * np.abs(value) + TINY)
    return _measured(value, _times(value * value, a.err) + rounding)


def _sqrt(a: Measured) -> Measured:
    value = np.sqrt(a.value)
    carried = np.minimum(a.err / (2 * value), np.sqrt(a.err))
    exact = value * value == a.value
    rounding = np.where(exact & _short(value), 0.0, UNIT * value)
    return _measured(value, np.where(a.err == 0, 0.0, carried) + rounding)


def _sin(a: Measured) -> Measured:
    value = np.sin(a.value)
    carried = np.minimum(np.abs(np.cos(a.value)) * a.err + a.err * a.err, 2.0)
    return _measured(value, carried + _libm(value))


def _atan2(y: Measured, x: Measured) -> Measured:
    value = np.arctan2(y.value, x.value)
    radius = np.hypot(y.value, x.value)
    across = np.abs(x.value / radius) * y.err + np.abs(y.value / radius) * x.err
    carried = np.where((y.err == 0) & (x.err == 0), 0.0, across / radius)
    return _measured(value, carried + _libm(value))


def _exp2(a: Measured) -> Measured:
    value = np.exp2(a.value)
    exact = (np.floor(a.value) == a.value) & (a.value >= -1074)
    rounding = np.where(exact, 0.0, _libm(value))
    return _measured(value, _times(value, np.expm1(a.err * math.log(2))) + rounding)


def _log2(a: Measured) -> Measured:
    value = np.log2(a.value)
    relative = np.where(a.err == 0, 0.0, a.err / np.abs(a.value))
    rounding = np.where(np.frexp(a.value)[0] == 0.5, 0.0, _libm(value))
    return _measured(value, relative * (1 + relative) / math.log(2) + rounding)


def _erf(a: Measured) -> Measured:
    value = f64.erf(a.value)
    slope = 2 / math.sqrt(math.pi) * np.exp(-a.value * a.value)
    return _measured(value, np.minimum(slope * a.err + a.err * a.err, 2.0) + _libm(value))


def _libm(value: Array) -> Array:
    return np.where(value == 0, 0.0, LIBM * np.abs(value) + TINY)


def _floor(a: Measured) -> Measured:
    value = np.floor(a.value)
    return Measured(value, np.zeros_like(value))


def _select(condition: Mask, a: Measured, b: Measured) -> Measured:
    taken = np.where(condition, a.value, b.value)
    return Measured(taken, np.where(condition, a.err, b.err))


def without_error(value: Array) -> Measured:
    """Values without error."""
    return Measured(value, np.zeros(np.shape(value)))


def _constant(e: Expr) -> Value:
    value = f64.constant(e)
    if e.sort is not REAL:
        return value
    payload = e.payload
    if isinstance(payload, Fraction) and np.isfinite(value):
        return Measured(value, np.asarray(float(abs(Fraction(float(value)) - payload))))
    inexact = payload in ("ln2", "log2e", "pi")
    return Measured(value, np.abs(value) * UNIT if inexact else np.zeros(()))


def _structure(operation: Callable[[Array], Array], a: Value) -> Value:
    if isinstance(a, Measured):
        return Measured(operation(a.value), operation(a.err))
    return operation(a)


def _where(mask: Mask, a: Value, b: Value) -> Value:
    return _select(mask, a, b) if isinstance(a, Measured) else np.where(mask, a, b)


def _leaf(a: Array, sort: Sort) -> Value:
    return without_error(a) if sort is REAL else a


def _on_values(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *operands: function(*(a.value for a in operands))


def _to_real(a: Indices) -> Measured:
    value = np.asarray(a, np.float64)
    return Measured(value, np.where(np.abs(value) < 2.0**53, 0.0, UNIT * np.abs(value)))


_REAL_OPS: Final[dict[OpKey, Callable[..., Any]]] = {
    ("add", REAL): _add, ("mul", REAL): _mul, ("neg", REAL): _neg, ("recip", REAL): _recip,
    ("sqrt", REAL): _sqrt, ("sin", REAL): _sin, ("atan2", REAL): _atan2, ("exp2", REAL): _exp2,
    ("log2", REAL): _log2, ("erf", REAL): _erf, ("floor", REAL): _floor,
    ("select", REAL): _select,
    **{(op, REAL): _on_values(f64.REAL_OPS[op]) for op in ("lt", "eq", "isnan", "to_index")},
}  # fmt: skip

MEASURED: Final = Arithmetic(
    name="f64 with errors",
    ops={**f64.EXACT_OPS, **_REAL_OPS, ("to_real", INDEX): _to_real},
    constant=_constant,
    leaf=_leaf,
    where=_where,
    structure=_structure,
)
