"""What an honest f32 compiler may answer: an enclosure of every legal evaluation.

Defines `allowed`, the outputs of a graph as balls that hold the result of any f32 evaluation, in
any order of summation, fused or not, with functions good to 8 ulp, subnormals kept or flushed.
Relies on the definition of the IR run in ball arithmetic. It knows no backend; what hangs on a
decision that rounding could flip comes out undecided.

Each operation widens its ball: by c·|value|, a sum by c·(|a| + |b|), and both by 2⁻¹²⁶, with
c = 2⁻²⁴ · max(16, n − 1) and n the largest number of terms that any node folds. The widths of a
fold's steps add up to at least c·Σ|t|, while two orders of summation differ by at most
(n − 1)·2⁻²⁴·Σ|t| each (Higham 2002, §4.2). Operations that are exact in f32 are not widened. For
monoids other than sums the freedom of order is what the factor 16 leaves room for, no theorem.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod
from typing import Any, Final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from tang.interpreter.arithmetic import UNKNOWN, Arithmetic
from tang.interpreter.ball_numbers import MAYBE, TRUE, UNDECIDED
from tang.interpreter.balls import ball_table
from tang.interpreter.definition import evaluate
from tang.ir.expr import INDEX, REAL, Sort
from tang.ir.graph import Graph

Array = NDArray[Any]
Number = Any

UNIT: Final = 2.0**-24
_FLUSH: Final = 2.0**-126
_LARGEST: Final = 2.0**127
_EXACT: Final = frozenset({"neg", "select", "floor", "lt", "eq", "isnan", "to_index"})


@dataclass(frozen=True, slots=True)
class Allowed:
    """The values that an output may have, and by which rule.

    numbers  per element an arb, inf, −inf, nan, or an unknown; indices and truth values likewise
    factor   c / 2⁻²⁴
    """

    numbers: Array
    factor: int

    def rule(self) -> str:
        """The criterion in one line."""
        return f"any f32 evaluation within {self.factor}·2⁻²⁴ per operation"


def allowed(graph: Graph, inputs: Mapping[str, Array]) -> dict[str, Allowed]:
    """Per output name the enclosure of all honest f32 results of a graph without symbols."""
    terms = max((prod(d.extent.constant for d in n.reduce) for n in graph.nodes), default=1)
    factor = max(16, terms - 1)
    values = evaluate(graph, inputs, _table(factor))
    return {o.name: Allowed(values[o.name], factor) for o in graph.outputs}


def distances(answer: Array, bounds: Allowed) -> tuple[Array, Array]:
    """Per element: is it allowed, and was anything decided about it."""
    if bounds.numbers.dtype == np.int64:
        known = bounds.numbers != UNKNOWN
        return np.asarray(~known | (answer == bounds.numbers)), np.asarray(known)
    if bounds.numbers.dtype == np.int8:
        known = bounds.numbers != MAYBE
        return np.asarray(~known | (answer == (bounds.numbers == TRUE))), np.asarray(known)
    fits = np.frompyfunc(_fits, 2, 1)(answer, bounds.numbers)
    known = np.frompyfunc(_is_known, 1, 1)(bounds.numbers)
    return np.asarray(fits, bool), np.asarray(known, bool)


def _fits(x: float, number: Number) -> bool:
    if isinstance(number, arb):
        return bool(np.isfinite(x)) and bool(number.contains(arb(float(x))))
    if isinstance(number, float):
        return bool(x == number) or bool(np.isnan(x) and np.isnan(number))
    return True


def _is_known(number: Number) -> bool:
    return isinstance(number, arb | float)


def show(number: Number) -> str:
    """A number of an enclosure, for reports."""
    if isinstance(number, arb):
        return f"{float(number.mid()):.9g} ± {float(number.rad()):.2g}"
    return str(number)


@lru_cache(maxsize=32)
def _table(factor: int) -> Arithmetic:
    """Ball arithmetic at 64 bits in which every rounding of f32 has room."""
    exact = ball_table(64)
    wide = {key: _widened(key[0], f, factor) for key, f in exact.ops.items() if _rounds(*key)}

    alone = np.frompyfunc(lambda x: _inflated(x, factor, None), 1, 1)

    def rounded(value: Any, sort: Sort) -> Any:  # noqa: ANN401 - a value of the table
        return _array(alone(value), True) if sort is REAL else value

    return replace(
        exact,
        name=f"f32 with freedom {factor}",
        ops={**exact.ops, **wide},
        constant=lambda e: rounded(exact.constant(e), e.sort),
        leaf=lambda a, sort: rounded(exact.leaf(a, sort), sort),
    )


def _rounds(op: str, sort: object) -> bool:
    return (sort is REAL and op not in _EXACT) or (op == "to_real" and sort is INDEX)


def _array(value: Any, boxed: bool) -> Any:  # noqa: ANN401 - a value of the table
    if not boxed or isinstance(value, np.ndarray):
        return value
    box = np.empty((), object)
    box[()] = value
    return box


def _widened(op: str, function: Callable[..., Any], factor: int) -> Callable[..., Any]:
    if op == "add":
        widen = np.frompyfunc(lambda x, a, b: _inflated(x, factor, (a, b)), 3, 1)
        return lambda a, b: _array(widen(function(a, b), a, b), True)
    alone = np.frompyfunc(lambda x: _inflated(x, factor, None), 1, 1)
    return lambda *operands: _array(alone(function(*operands)), True)


def _inflated(x: Number, factor: int, terms: tuple[Number, Number] | None) -> Number:
    """The number with room for one rounding; unknown where f32 may overflow."""
    if not isinstance(x, arb):
        return x
    size = float(abs(x).upper())
    if size >= _LARGEST:
        return UNDECIDED
    if x.is_exact() and _is_f32(x, size):
        return x
    if terms is not None:
        size = sum(float(abs(t).upper()) for t in terms if isinstance(t, arb))
    return arb(x.mid(), float(x.rad().upper()) * (1 + 2.0**-50) + factor * UNIT * size + _FLUSH)


def _is_f32(x: arb, size: float) -> bool:
    """Whether an exact ball is a normal f32 number or zero."""
    if size == 0:
        return True
    value = float(x.mid())
    return size >= _FLUSH and float(np.float32(value)) == value and x == arb(value)
