"""Ball arithmetic over arrays, and the definition of the IR run in it.

`BallArithmetic(prec)` is a set of functions over NumPy arrays: reals are object arrays of numbers
(see `ball_numbers`: arb, ±inf, nan, EITHER, UNDECIDED), indices are int64 with UNKNOWN, truth
values are int8 with FALSE 0, MAYBE 1, TRUE 2. Relies on `ball_numbers` and the definition; it
does not decide equality (see `equality`).

Each function takes arrays that broadcast, sets flint's precision for its own duration and returns
an array (0-d for 0-d operands). Nothing raises on special values, and whatever hangs on an
undecidable decision comes out as a wider ball, MAYBE, UNKNOWN or UNDECIDED, never as a guess.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import flint
import numpy as np
import numpy.typing as npt

from tang.interpreter import ball_numbers as numbers
from tang.interpreter.arithmetic import (
    UNKNOWN,
    Arithmetic,
    Array,
    Indices,
    Mask,
    OpKey,
    Value,
    add_indices,
    multiply_indices,
    negate_indices,
)
from tang.interpreter.ball_numbers import FALSE, MAYBE, TRUE, UNDECIDED
from tang.interpreter.definition import evaluate
from tang.ir.expr import BOOL, INDEX, REAL, Expr, Sort
from tang.ir.graph import Graph

Reals = npt.NDArray[np.object_]
Truths = npt.NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Balls:
    """A tensor of extended reals, indices or truth values, as far as they are known."""

    value: Array
    sort: Sort

    def undecided(self) -> Mask:
        """Where nothing is known of the element."""
        if self.sort is REAL:
            return np.asarray(np.frompyfunc(lambda x: x is UNDECIDED, 1, 1)(self.value), bool)
        return np.asarray(self.value == (UNKNOWN if self.sort is INDEX else MAYBE))


@dataclass(frozen=True, slots=True)
class BallArithmetic:
    """Functions over arrays of extended reals at a working precision in bits."""

    prec: int = 128

    def _map(self, function: Callable[..., Any], *arrays: Value) -> Reals:
        """The function at every element, under this precision, as an array of objects."""
        previous, flint.ctx.prec = flint.ctx.prec, self.prec
        try:
            out: Value = np.frompyfunc(function, len(arrays), 1)(*arrays)
        finally:
            flint.ctx.prec = previous
        return np.asarray(out) if isinstance(out, np.ndarray) else _boxed(out)

    def _truth(self, function: Callable[..., int], *arrays: Value) -> Truths:
        return np.asarray(self._map(function, *arrays), np.int8)

    def add(self, a: Reals, b: Reals) -> Reals:
        return self._map(numbers.add, a, b)

    def sub(self, a: Reals, b: Reals) -> Reals:
        return self._map(numbers.sub, a, b)

    def mul(self, a: Reals, b: Reals) -> Reals:
        return self._map(numbers.mul, a, b)

    def div(self, a: Reals, b: Reals) -> Reals:
        return self._map(numbers.div, a, b)

    def fma(self, a: Reals, b: Reals, c: Reals) -> Reals:
        """a · b + c."""
        return self._map(numbers.fma, a, b, c)

    def neg(self, a: Reals) -> Reals:
        return self._map(numbers.neg, a)

    def recip(self, a: Reals) -> Reals:
        """1/a; EITHER infinity for an exact zero, which has no sign."""
        return self._map(numbers.recip, a)

    def sqrt(self, a: Reals) -> Reals:
        return self._map(numbers.sqrt, a)

    def floor(self, a: Reals) -> Reals:
        return self._map(numbers.floor, a)

    def exp2(self, a: Reals) -> Reals:
        return self._map(numbers.exp2, a)

    def log2(self, a: Reals) -> Reals:
        return self._map(numbers.log2, a)

    def exp(self, a: Reals) -> Reals:
        return self._map(numbers.exp, a)

    def log(self, a: Reals) -> Reals:
        return self._map(numbers.log, a)

    def sin(self, a: Reals) -> Reals:
        return self._map(numbers.sin, a)

    def cos(self, a: Reals) -> Reals:
        return self._map(numbers.cos, a)

    def tanh(self, a: Reals) -> Reals:
        return self._map(numbers.tanh, a)

    def sigmoid(self, a: Reals) -> Reals:
        """1 / (1 + exp(−a))."""
        return self._map(numbers.sigmoid, a)

    def erf(self, a: Reals) -> Reals:
        return self._map(numbers.erf, a)

    def atan2(self, y: Reals, x: Reals) -> Reals:
        return self._map(numbers.atan2, y, x)

    def lt(self, a: Reals, b: Reals) -> Truths:
        """a < b, three-valued; FALSE with NaN."""
        return self._truth(numbers.lt, a, b)

    def le(self, a: Reals, b: Reals) -> Truths:
        """a ≤ b, three-valued; FALSE with NaN."""
        return np.maximum(self.lt(a, b), self.eq(a, b))

    def eq(self, a: Reals, b: Reals) -> Truths:
        """a = b, three-valued; FALSE with NaN."""
        return self._truth(numbers.eq, a, b)

    def isnan(self, a: Reals) -> Truths:
        return self._truth(numbers.isnan, a)

    def select(self, condition: Truths, a: Reals, b: Reals) -> Reals:
        """a or b; where the condition is MAYBE, a ball around both (or UNDECIDED)."""
        if not np.any(condition == MAYBE):
            return np.asarray(np.where(condition == TRUE, a, b))
        return self._map(numbers.choose, condition, a, b)

    def to_index(self, a: Reals) -> Indices:
        """⌊a⌋ saturated to 32 bits, −1 for NaN, UNKNOWN where undecidable."""
        return np.asarray(self._map(numbers.to_index, a), np.int64)

    def from_index(self, a: Indices) -> Reals:
        return self._map(numbers.from_index, a)

    def from_f64(self, a: npt.ArrayLike) -> Reals:
        """Floats, exactly; infinities and NaN keep their class, zeros lose their sign."""
        return self._map(numbers.from_float, np.asarray(a, np.float64))

    def from_fraction(self, x: Fraction) -> Reals:
        """A rational, enclosed, as a 0-d array."""
        return self._map(lambda _: numbers.from_fraction(x), 0)

    def constant(self, name: str) -> Reals:
        """A named constant of `tang.ir.expr.NAMED`, enclosed, as a 0-d array."""
        return self._map(numbers.constant, np.asarray(name, object))

    def to_f64(self, a: Reals) -> npt.NDArray[np.float64]:
        """The centres, rounded; NaN where undecided. For reports, not for decisions."""
        return np.asarray(self._map(numbers.to_float, a), np.float64)


def truths(a: Mask) -> Truths:
    """Booleans as truth values."""
    return np.where(a, np.int8(TRUE), np.int8(FALSE))


@lru_cache(maxsize=16)
def ball_table(prec: int) -> Arithmetic:
    """The arithmetic table of the definition at that precision."""
    balls = BallArithmetic(prec)
    return Arithmetic(
        name=f"balls of {prec} bits",
        ops={**_real_ops(balls), **_exact_ops(balls)},
        constant=lambda e: _constant(balls, e),
        leaf=lambda a, sort: _leaf(balls, a, sort),
        where=lambda mask, a, b: np.asarray(np.where(mask, a, b)),
        structure=_structure,
        undecided=_undecided,
    )


def ball_interpret(graph: Graph, inputs: Mapping[str, Any], prec: int = 128) -> dict[str, Balls]:
    """The outputs of a program, enclosed at `prec` bits."""
    values = evaluate(graph, inputs, ball_table(prec))
    return {o.name: Balls(values[o.name], graph.sort(o.ref)) for o in graph.outputs}


def _boxed(x: Value) -> Reals:
    box = np.empty((), object)
    box[()] = x
    return box


def _structure(operation: Callable[[Array], Array], a: Array) -> Array:
    out: Any = operation(a)
    if isinstance(out, np.ndarray):
        return out
    return _boxed(out) if a.dtype == object else np.asarray(out, a.dtype)


def _undecided(sort: Sort) -> Array:
    if sort is REAL:
        return _boxed(UNDECIDED)
    return np.asarray(UNKNOWN, np.int64) if sort is INDEX else np.asarray(MAYBE, np.int8)


def _leaf(balls: BallArithmetic, a: Array, sort: Sort) -> Array:
    if sort is REAL:
        return balls.from_f64(a)
    return a if sort is INDEX else truths(a)


def _constant(balls: BallArithmetic, e: Expr) -> Array:
    if isinstance(e.payload, Fraction):
        return balls.from_fraction(e.payload)
    if isinstance(e.payload, str):
        return balls.constant(e.payload)
    dtype = np.int64 if e.sort is INDEX else np.int8
    return np.asarray(e.payload if e.sort is INDEX else (TRUE if e.payload else FALSE), dtype)


def _real_ops(balls: BallArithmetic) -> dict[OpKey, Callable[..., Array]]:
    same = ("add", "mul", "neg", "recip", "sqrt", "sin", "atan2", "exp2", "log2", "erf", "floor")
    tests = ("lt", "eq", "isnan", "select", "to_index")
    return {(op, REAL): getattr(balls, op) for op in (*same, *tests)}


def _exact_ops(balls: BallArithmetic) -> dict[OpKey, Callable[..., Array]]:
    """Index and truth operations with UNKNOWN and MAYBE."""
    return {
        ("to_real", INDEX): balls.from_index,
        ("add", INDEX): _known(add_indices),
        ("mul", INDEX): _known(multiply_indices),
        ("neg", INDEX): _known(negate_indices),
        ("floordiv", INDEX): _known(np.floor_divide),
        ("mod", INDEX): _known(np.mod),
        ("lt", INDEX): _test(np.less),
        ("eq", INDEX): _test(np.equal),
        ("eq", BOOL): lambda a, b: np.where((a == MAYBE) | (b == MAYBE), MAYBE, truths(a == b)),
        ("select", INDEX): lambda c, a, b: _choose(c, a, b, UNKNOWN),
        ("select", BOOL): lambda c, a, b: _choose(c, a, b, MAYBE),
        ("and", BOOL): np.minimum,
        ("or", BOOL): np.maximum,
        ("not", BOOL): lambda a: np.subtract(np.int8(TRUE), a),
    }


def _known(function: Callable[..., Array]) -> Callable[..., Array]:
    """The index function, UNKNOWN wherever an operand is."""

    def lifted(*operands: Indices) -> Array:
        unknown = _any_unknown(operands)
        if not np.any(unknown):
            return np.asarray(function(*operands))
        known = function(*(np.where(unknown, 1, a) for a in operands))
        return np.asarray(np.where(unknown, UNKNOWN, known))

    return lifted


def _test(function: Callable[..., Mask]) -> Callable[..., Truths]:
    def lifted(*operands: Indices) -> Truths:
        return np.where(_any_unknown(operands), np.int8(MAYBE), truths(function(*operands)))

    return lifted


def _any_unknown(operands: tuple[Indices, ...]) -> Mask:
    unknown: Any = operands[0] == UNKNOWN
    for a in operands[1:]:
        unknown = unknown | (a == UNKNOWN)
    return np.asarray(unknown)


def _choose(condition: Truths, a: Array, b: Array, unknown: int) -> Array:
    either = np.where(a == b, a, np.asarray(unknown, np.asarray(a).dtype))
    return np.asarray(np.where(condition == MAYBE, either, np.where(condition == TRUE, a, b)))
