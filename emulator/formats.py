"""The domain `formats`: every operation rounded once in the kernel's own formats.

Defines `FORMATS`, whose results a conforming device must reproduce bit for bit. Relies on NumPy's
IEEE arithmetic (f32, f64, f16), where bf16 is computed in f32 and rounded again: 24 ≥ 2·8 + 2 bits,
so no double rounding. It has no shadow and no error bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any, Final

import numpy as np

from tang.emulator.abstract import rounded_function
from tang.emulator.domain import Domain, Operation, Parts, integer_to_float, to_integer
from tang.emulator.exact import fma32, fma64, fma_small
from tang.emulator.ints import RANGE, STORED, UNSIGNED, to_array, widen
from tang.emulator.machine import Array, Machine, Site, Value
from tang.emulator.rounding import (
    bf16_from_bits,
    bf16_round,
    bf16_to_bits,
    round_fraction,
    round_to,
)
from tang.errors import FormatError, TangBugError
from tang.interpreter.f64 import real_constant
from tang.kernel.ir import BF16, F16, F32, F64, MATH, Const, Type

COMPUTED: Final[dict[Type, Any]] = {
    F16: np.float16, BF16: np.float32, F32: np.float32, F64: np.float64,
}  # fmt: skip
"""The dtype of lanes; bf16 numbers are held in f32."""
STORED_FLOAT: Final[dict[Type, Any]] = {**COMPUTED, BF16: np.uint16}
"""The dtype of memory; bf16 is stored as its bits."""

_IEEE: Final[dict[str, Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "neg": np.negative, "div": np.divide,
    "sqrt": np.sqrt, "floor": np.floor, "lt": np.less, "le": np.less_equal, "eq": np.equal,
    "isnan": np.isnan,
}  # fmt: skip
_ROUNDED: Final = ("add", "sub", "mul", "div", "sqrt")


def number(constant: Const) -> float:
    """A float literal rounded once to its type, as a Python float."""
    if isinstance(constant.value, str):
        return float(round_to(real_constant(constant.value), constant.type.value))
    value = constant.value
    if isinstance(value, Fraction):
        return round_fraction(value, constant.type.value)
    return float(round_to(float(value), constant.type.value))


def literal(constant: Const) -> Value:
    """A float literal as a scalar of the computed dtype."""
    return COMPUTED[constant.type](number(constant))


@cache
def function(op: str, type_: Type) -> Callable[..., Any]:
    """A row of OPS or MATH over computed values of a float type."""
    if op in MATH:
        return _narrowed(rounded_function(op, type_.value), COMPUTED[type_])
    if op == "fma":
        fused: Callable[..., Any] = _FMA[type_]
        return fused
    ieee: Callable[..., Any] = _IEEE[op]
    if type_ is BF16 and op in _ROUNDED:
        return lambda *operands: bf16_round(ieee(*operands))
    return ieee


_FMA: Final[dict[Type, Callable[..., Any]]] = {
    F32: fma32,
    F64: fma64,
    F16: lambda a, b, c: fma_small(a, b, c, "f16"),
    BF16: lambda a, b, c: fma_small(a, b, c, "bf16"),
}


def _narrowed(wide: Callable[..., Any], kind: Value) -> Callable[..., Any]:
    return lambda *operands: np.asarray(wide(*operands)).astype(kind)[()]


def _operation(op: str, type_: Type, site: Site) -> Operation:
    return Operation(function(op, type_))


@cache
def conversion(type_: Type, source: Type) -> Callable[[Any], Any]:
    """A conversion to a float type: to nearest even, overflow to infinity, NaN stays NaN."""
    kind = COMPUTED[type_]
    small = type_ in (F16, BF16)
    if not source.is_float:
        wide = (lambda x: round_to(x, type_.value)) if small else None
        from_int: Callable[[Any], Any] = integer_to_float(kind, wide)
        return from_int
    if source is type_ or (source in (F16, BF16) and not small):
        return lambda x: np.asarray(x).astype(kind)[()]
    if type_ is BF16 and source is F32:
        narrowed: Callable[[Any], Any] = bf16_round
        return narrowed
    if small:
        return lambda x: round_to(x, type_.value).astype(kind)[()]
    return lambda x: np.asarray(x).astype(kind)[()]


def store_form(type_: Type, value: Value) -> Value:
    """Computed values as they lie in memory."""
    return bf16_to_bits(value) if type_ is BF16 else value


def load_form(type_: Type, stored: Value) -> Value:
    """Stored elements as computed values."""
    return bf16_from_bits(stored) if type_ is BF16 else stored


def float_to_bits(m: Machine, type_: Type, source: Type, value: Value) -> Value:
    """The bits of a float as an integer, or as another float of its size."""
    bits = store_form(source, value)
    if type_.is_float:
        return load_form(type_, np.asarray(bits).view(STORED_FLOAT[type_])[()])
    if STORED[type_]().itemsize != np.asarray(bits).dtype.itemsize:
        raise TangBugError(f"bit cast from {source.value} to {type_.value}: sizes differ")
    integers = bits.view(STORED[type_])
    return integers if type_ in UNSIGNED else widen(integers, RANGE[type_])


def bits_to_float(m: Machine, type_: Type, source: Type, value: Value) -> Value:
    """The float with the bits of an integer."""
    bits = to_array(value)
    exact = np.asarray(bits).astype(STORED[source]) if source not in UNSIGNED else bits
    return load_form(type_, exact.view(STORED_FLOAT[type_])[()])


def to_int(m: Machine, type_: Type, value: Value, site: Site) -> Value:
    """A float as an integer that must fit."""
    return to_integer(m, type_, value, site)


def merge(mask: Array, new: Value, old: Value) -> Value:
    """`new` where the mask holds, else `old`."""
    return np.where(mask, new, old)


def stored(type_: Type, array: Value) -> Array:
    """A caller's array of reals as it lies in memory: bits of bf16 as u16, others rounded once."""
    given = np.asarray(array)
    if type_ is BF16 and given.dtype == np.uint16:
        return given
    if given.dtype == STORED_FLOAT[type_]:
        return given
    with np.errstate(all="ignore"):
        rounded = round_to(given.astype(np.float64), type_.value).astype(COMPUTED[type_])
    return np.asarray(store_form(type_, rounded))


def check_conversion(rounding: str, overflow: str) -> None:
    """Raise FormatError for a rounding or overflow mode that replay does not know."""
    if rounding != "rne" or overflow != "inf":
        raise FormatError(f"replay knows rounding rne and overflow inf, not {rounding}, {overflow}")


def _read(type_: Type, array: Array) -> Parts:
    return (stored(type_, array).reshape(-1),)


FORMATS: Final = Domain(
    name="formats",
    constant=literal,
    operation=_operation,
    to_float=conversion,
    to_int=to_int,
    to_bits=float_to_bits,
    from_bits=bits_to_float,
    merge=merge,
    dtypes=lambda t: (STORED_FLOAT[t],),
    pack=lambda t, v: (store_form(t, v),),
    unpack=lambda t, p: load_form(t, p[0]),
    read=_read,
)
