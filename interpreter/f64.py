"""The table of plain f64: reals are float64 arrays, indices int64, truth values bool.

Defines `F64`. Relies on NumPy's IEEE arithmetic and libm; errors of transcendental functions are
those of libm. It does not silence warnings: the definition does that once for a whole program.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

import numpy as np

from tang.interpreter.arithmetic import (
    Arithmetic,
    Array,
    OpKey,
    add_indices,
    floor_to_index,
    multiply_indices,
    negate_indices,
)
from tang.ir.expr import BOOL, INDEX, REAL, Expr, Sort

_NAMED: Final = {"ln2": math.log(2), "log2e": math.log2(math.e), "pi": math.pi}
_ERF: Final = np.frompyfunc(math.erf, 1, 1)


def erf(x: Array) -> Array:
    """The error function of every element."""
    return np.asarray(_ERF(x), np.float64)


def real_constant(payload: Fraction | str) -> float:
    """The float nearest to a rational (infinite beyond the largest) or to a named constant."""
    if isinstance(payload, str):
        return _NAMED[payload] if payload in _NAMED else float(payload)
    try:
        return payload.numerator / payload.denominator
    except OverflowError:
        return math.copysign(math.inf, payload.numerator)


EXACT_OPS: Final[dict[OpKey, Callable[..., Any]]] = {
    ("to_real", INDEX): lambda a: np.asarray(a, np.float64),
    ("add", INDEX): add_indices,
    ("mul", INDEX): multiply_indices,
    ("neg", INDEX): negate_indices,
    ("floordiv", INDEX): np.floor_divide,
    ("mod", INDEX): np.mod,
    ("lt", INDEX): np.less,
    ("eq", INDEX): np.equal,
    ("eq", BOOL): np.equal,
    ("select", INDEX): np.where,
    ("select", BOOL): np.where,
    ("and", BOOL): np.logical_and,
    ("or", BOOL): np.logical_or,
    ("not", BOOL): np.logical_not,
}
"""Operations on exact sorts alone, and the cast to real."""

REAL_OPS: Final[dict[str, Callable[..., Any]]] = {
    "add": np.add, "mul": np.multiply, "neg": np.negative, "recip": np.reciprocal,
    "sqrt": np.sqrt, "sin": np.sin, "atan2": np.arctan2, "exp2": np.exp2, "log2": np.log2,
    "erf": erf, "floor": np.floor, "lt": np.less, "eq": np.equal, "isnan": np.isnan,
    "select": np.where, "to_index": floor_to_index,
}  # fmt: skip


def constant(e: Expr) -> Array:
    """A literal as a 0-d array."""
    if isinstance(e.payload, Fraction | str):
        return np.asarray(real_constant(e.payload))
    return np.asarray(e.payload, np.int64 if e.sort is INDEX else np.bool_)


def leaf(a: Array, sort: Sort) -> Array:
    """Data as it is."""
    return a


F64: Final = Arithmetic(
    name="f64",
    ops={**EXACT_OPS, **{(op, REAL): f for op, f in REAL_OPS.items()}},
    constant=constant,
    leaf=leaf,
    where=np.where,
    structure=lambda f, a: f(a),
)
