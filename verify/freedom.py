"""What an honest compiler may answer: an enclosure of every legal evaluation in a format.

Defines `allowed`, the outputs of a graph as balls that hold the result of any evaluation in a
format (f32 unless told), in any order of summation, fused or not, with functions good to 8 ulp,
subnormals kept or flushed. Relies on the definition of the IR run in ball arithmetic. It knows no
backend; what hangs on a decision that rounding could flip comes out undecided.

Each operation widens its ball by 16u·|value|, u the unit roundoff; a sum a + b by 4u·(|a| + |b|)
for its own rounding and by max(16, n − 1)·u·|b| for its place in an order, n the largest number of
terms that any node folds; everything by the smallest normal number besides. In a fold b is the new
term, so that the widths of its steps add up to at least (n − 1)·u·Σ|t|, which bounds the error of
a sum in any order (Higham 2002, §4.2). Operations that are exact in the format are not widened.
For monoids other than sums the freedom of order is what the steps leave room for, no theorem.
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
from tang.ir.format import Format, format_named
from tang.ir.graph import Graph

Array = NDArray[Any]
Number = Any

F32: Final = format_named("f32")
ROUNDINGS: Final = 16
"""Unit roundoffs that one operation may be off by: 8 ulp of a function."""
_EXACT: Final = frozenset({"neg", "select", "floor", "lt", "eq", "isnan", "to_index"})


@dataclass(frozen=True, slots=True)
class Allowed:
    """The values that an output may have, and by which rule.

    numbers  per element an arb, inf, −inf, nan, or an unknown; indices and truth values likewise
    terms    the largest number of terms of a sum
    """

    numbers: Array
    terms: int
    format: Format = F32

    def rule(self) -> str:
        """The criterion in one line."""
        name, p = self.format.name, _superscript(-self.format.p)
        order = f", sums of {self.terms} in any order" if self.terms > 1 else ""
        return f"any {name} evaluation within {ROUNDINGS}·2{p} per operation{order}"


def allowed(graph: Graph, inputs: Mapping[str, Array], format: Format = F32) -> dict[str, Allowed]:
    """Per output name the enclosure of all honest results of a graph without symbols."""
    terms = max((prod(d.extent.constant for d in n.reduce) for n in graph.nodes), default=1)
    values = evaluate(graph, inputs, _table(terms, format))
    return {o.name: Allowed(values[o.name], terms, format) for o in graph.outputs}


def stored(bounds: Allowed, format: Format) -> Allowed:
    """The enclosure after one more rounding, to the format in which an output is stored."""
    if bounds.numbers.dtype != object or format.p >= bounds.format.p:
        return bounds
    room = np.frompyfunc(lambda x: _inflated(x, 1, format), 1, 1)
    return replace(bounds, numbers=np.asarray(_array(room(bounds.numbers), True)))


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
def _table(terms: int, format: Format) -> Arithmetic:
    """Ball arithmetic in which every rounding of the format has room."""
    exact = ball_table(format.p + 40)
    alone = np.frompyfunc(lambda x: _inflated(x, ROUNDINGS, format), 1, 1)
    wide = {
        key: _added(f, terms, format) if key[0] == "add" else _widened(f, alone)
        for key, f in exact.ops.items()
        if _rounds(*key)
    }

    def rounded(value: Any, sort: Sort) -> Any:  # noqa: ANN401 - a value of the table
        return _array(alone(value), True) if sort is REAL else value

    return replace(
        exact,
        name=f"{format.name} with the freedom of {terms} terms",
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


def _added(function: Callable[..., Any], terms: int, format: Format) -> Callable[..., Any]:
    place = max(ROUNDINGS, terms - 1)

    def widened(x: Number, a: Number, b: Number) -> Number:
        left, right = (float(abs(t).upper()) if isinstance(t, arb) else 0.0 for t in (a, b))
        return _inflated(x, 1, format, 4 * (left + right) + place * right)

    widen = np.frompyfunc(widened, 3, 1)
    return lambda a, b: _array(widen(function(a, b), a, b), True)


def _widened(function: Callable[..., Any], alone: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *operands: _array(alone(function(*operands)), True)


def _inflated(x: Number, factor: int, format: Format, weight: float | None = None) -> Number:
    """The number with room for factor·u·weight; unknown where the format may overflow.

    weight  the number's own size when None
    """
    if not isinstance(x, arb):
        return x
    size = float(abs(x).upper())
    if size >= 2.0**format.emax:
        return UNDECIDED
    if x.is_exact() and _is_held(x, size, format):
        return x
    room = factor * 2.0**-format.p * (size if weight is None else weight) + 2.0**format.emin
    return arb(x.mid(), float(x.rad().upper()) * (1 + 2.0**-50) + room)


def _is_held(x: arb, size: float, format: Format) -> bool:
    """Whether an exact ball is a normal number of the format, or zero."""
    if size == 0:
        return True
    if size < 2.0**format.emin:
        return False
    mantissa, _ = x.man_exp()
    return abs(int(mantissa)).bit_length() <= format.p


def _superscript(n: int) -> str:
    return str(n).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
