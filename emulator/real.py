"""The domains `real` and `measured`: f64 arithmetic that ignores the kernel's formats.

Defines `REAL`, and `MEASURED_REAL`, which carries a forward error beside each value. Relies on the
interpreter's table of measured operations, so both sides of a comparison state their errors
alike. Conversions between floats are the identity here; a bit cast goes through the format.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

import numpy as np

from tang.emulator import formats
from tang.emulator.abstract import F64_MATH
from tang.emulator.domain import Domain, Operation, Parts, integer_to_float, to_integer
from tang.emulator.machine import Array, Machine, Site, Value
from tang.interpreter.f64 import real_constant
from tang.interpreter.measured import LIBM, MEASURED, UNIT, Measured, without_error
from tang.ir import expr
from tang.kernel.ir import F64, MATH, Const, Type
from tang.kernel.narrow import Conversion

_FROM_INT: Final = integer_to_float(np.float64, None)


def plain_function(op: str) -> Callable[..., Any]:
    """A row of OPS or MATH in plain f64; fma rounds its product."""
    if op in MATH:
        return F64_MATH[op]
    if op == "fma":
        return lambda a, b, c: a * b + c
    return formats.function(op, F64)


def literal(constant: Const) -> float:
    """A literal as the nearest f64."""
    value = constant.value
    return np.float64(real_constant(value if isinstance(value, str) else Fraction(value)))


def _operation(op: str, type_: Type, site: Site) -> Operation:
    return Operation(plain_function(op))


def _conversion(type_: Type, source: Type) -> Callable[[Any], Any]:
    return (lambda x: x) if source.is_float else _FROM_INT


def _to_bits(m: Machine, type_: Type, source: Type, value: Value) -> Value:
    return formats.float_to_bits(m, type_, source, formats.conversion(source, F64)(value))


def _from_bits(m: Machine, type_: Type, source: Type, value: Value) -> Value:
    return np.asarray(formats.bits_to_float(m, type_, source, value)).astype(np.float64)[()]


def values_of(type_: Type, array: Value) -> Array:
    """A caller's array of reals as flat f64 (u16 for bf16 is taken as bits)."""
    given = np.asarray(array)
    if type_.value == "bf16" and given.dtype == np.uint16:
        given = formats.load_form(type_, given)
    with np.errstate(all="ignore"):
        return given.astype(np.float64).reshape(-1)


def unrounded(conversion: Conversion, source: Type) -> Operation:
    """What a rounding is where formats are ignored."""
    return Operation(lambda x: x)


REAL: Final = Domain(
    name="real",
    constant=literal,
    operation=_operation,
    to_float=_conversion,
    to_int=to_integer,
    to_bits=_to_bits,
    from_bits=_from_bits,
    merge=formats.merge,
    dtypes=lambda t: (np.float64,),
    pack=lambda t, v: (v,),
    unpack=lambda t, p: p[0],
    read=lambda t, a: (values_of(t, a),),
    rounded=unrounded,
)


# --- measured -------------------------------------------------------------------------------------


def _table(op: str) -> Callable[..., Any]:
    return MEASURED.ops[op, expr.REAL]


def _sub(a: Measured, b: Measured) -> Measured:
    return _table("add")(a, _table("neg")(b))  # type: ignore[no-any-return]


def _div(a: Measured, b: Measured) -> Measured:
    value = np.divide(a.value, b.value)
    size = np.abs(value)
    carried = (a.err + size * b.err) / np.abs(b.value)
    exact = (a.err == 0) & (b.err == 0)
    err = np.where(exact, 0.0, carried * (1 + UNIT)) + UNIT * size + 2.0**-1074
    return Measured(value, np.where(np.isfinite(value), err, 0.0))


def _fma(a: Measured, b: Measured, c: Measured) -> Measured:
    return _table("add")(_table("mul")(a, b), c)  # type: ignore[no-any-return]


def _slope(op: str, x: Array, y: Array, err: Array) -> Array:
    """A first-order bound of what an error of x does to y = op(x)."""
    if op == "exp":
        return np.asarray(y * np.expm1(err))
    if op == "log":
        relative = err / np.abs(x)
        return np.asarray(relative * (1 + relative))
    if op == "cos":
        return np.asarray(np.minimum(np.abs(np.sin(x)) * err + err * err, 2.0))
    if op == "tanh":
        return np.asarray(np.minimum((1 - y * y) * err + err * err, 2.0))
    return np.asarray(np.minimum(y * (1 - y) * err + err * err, 1.0))  # sigmoid


def _unary(op: str) -> Callable[[Measured], Measured]:
    def measured(a: Measured) -> Measured:
        value = F64_MATH[op](a.value)
        carried = np.where(a.err == 0, 0.0, _slope(op, a.value, value, a.err))
        rounding = np.where(value == 0, 0.0, LIBM * np.abs(value) + 2.0**-1074)
        return Measured(value, np.where(np.isfinite(value), carried + rounding, 0.0))

    return measured


_OWN: Final[dict[str, Callable[..., Any]]] = {
    "sub": _sub, "div": _div, "fma": _fma,
    "le": lambda a, b: np.less_equal(a.value, b.value),
    **{op: _unary(op) for op in ("exp", "log", "cos", "tanh", "sigmoid")},
}  # fmt: skip


def _measured_operation(op: str, type_: Type, site: Site) -> Operation:
    return Operation(_OWN[op] if op in _OWN else _table(op))


def _measured_literal(constant: Const) -> Measured:
    value = literal(constant)
    if isinstance(constant.value, str):
        inexact = constant.value in ("ln2", "log2e", "pi")
        return Measured(np.asarray(value), np.asarray(abs(value) * UNIT if inexact else 0.0))
    off = abs(Fraction(value) - Fraction(constant.value)) if math.isfinite(value) else 0
    return Measured(np.asarray(value), np.asarray(float(off)))


def _measured_conversion(type_: Type, source: Type) -> Callable[[Any], Any]:
    if source.is_float:
        return lambda x: x
    return lambda x: without_error(np.asarray(_FROM_INT(x)))


def _merge(mask: Array, new: Measured, old: Measured) -> Measured:
    return Measured(np.where(mask, new.value, old.value), np.where(mask, new.err, old.err))


def _read(type_: Type, array: Array) -> Parts:
    values = values_of(type_, array)
    return values, np.zeros_like(values)


MEASURED_REAL: Final = Domain(
    name="measured",
    constant=_measured_literal,
    operation=_measured_operation,
    to_float=_measured_conversion,
    to_int=lambda m, t, v, s: to_integer(m, t, v.value, s),
    to_bits=lambda m, t, s, v: _to_bits(m, t, s, v.value),
    from_bits=lambda m, t, s, v: without_error(np.asarray(_from_bits(m, t, s, v))),
    merge=_merge,
    dtypes=lambda t: (np.float64, np.float64),
    pack=lambda t, v: (v.value, v.err),
    unpack=lambda t, p: Measured(np.asarray(p[0]), np.asarray(p[1])),
    read=_read,
    planes=("value", "err"),
    rounded=unrounded,
)
