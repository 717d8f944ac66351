"""Arithmetic tables: what the definition of the IR computes with.

Defines `Arithmetic`, a record of functions over arrays of values, so that one definition runs in
f64, in (value, error) pairs and in balls; and the exact index functions that all tables share.
Relies on NumPy and the expression table; it does not evaluate expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tang.ir.expr import BOOL, INDEX, REAL, Expr, Sort

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.int64]
Value = Any
"""An array of values: an ndarray, or a `Measured` pair of them; the table knows which."""

OpKey = tuple[str, Sort]
"""An operation and the sort of its last operand."""

UNKNOWN: Final = -(2**63)
"""The index that stands for "undecidable" in ball arithmetic; no exact index has this value."""

INDEX_LOW: Final = -(2**31)
INDEX_HIGH: Final = 2**31 - 1


@dataclass(frozen=True, slots=True, eq=False)
class Arithmetic:
    """A number system, as functions over arrays that broadcast like NumPy's.

    ops        every row of `tang.ir.expr.OPS`, by operation and sort of its last operand
    constant   a literal expression as a 0-d value
    leaf       an f64, int64 or bool array as a value
    where      the first value where the mask holds, else the second
    structure  apply one shape operation (indexing, broadcasting …) to the arrays of a value
    undecided  the value of a sort that is not known, or None when every index is exact
    """

    name: str
    ops: Mapping[OpKey, Callable[..., Value]]
    constant: Callable[[Expr], Value]
    leaf: Callable[[Array, Sort], Value]
    where: Callable[[Mask, Value, Value], Value]
    structure: Callable[[Callable[[Array], Array], Value], Value]
    undecided: Callable[[Sort], Value] | None = None


def sort_of(value: Value) -> Sort:
    """The sort of a value, which its dtype tells in every table."""
    if value.dtype == np.int64:
        return INDEX
    return BOOL if value.dtype in (np.bool_, np.int8) else REAL


def add_indices(a: Indices, b: Indices) -> Indices:
    """a + b; raises OverflowError when any sum leaves ±(2⁶³−1)."""
    total = np.add(a, b)
    wrapped = ((a ^ total) & (b ^ total)) < 0
    if np.any(wrapped) or np.any(total == UNKNOWN):
        raise OverflowError
    return total


def multiply_indices(a: Indices, b: Indices) -> Indices:
    """a · b; raises OverflowError when any product leaves ±(2⁶³−1)."""
    if _magnitude(a) * _magnitude(b) < 2**63:
        return np.multiply(a, b)
    exact = np.multiply(*(np.asarray(x).astype(object) for x in (a, b)))  # scalars: Python ints
    if any(abs(int(x)) >= 2**63 for x in np.ravel(exact)):
        raise OverflowError
    return np.asarray(exact, np.int64)


def negate_indices(a: Indices) -> Indices:
    """−a."""
    return np.negative(a)


def floor_to_index(x: npt.NDArray[np.float64]) -> Indices:
    """⌊x⌋ saturated to 32 bits; −1 for NaN."""
    low = np.clip(np.floor(x), INDEX_LOW, INDEX_HIGH)
    return np.asarray(np.where(np.isnan(x), -1.0, low)).astype(np.int64)


def _magnitude(a: Indices) -> int:
    if np.size(a) == 0:
        return 0
    return max(abs(int(np.max(a))), abs(int(np.min(a))))
