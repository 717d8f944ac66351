"""Infinities and NaN once more, for the checker: by cases instead of by floats.

Defines `outcomes` and `compared`. Relies on nothing but the definitions of IEEE 754 and of the IR.
It looks at classes of operands: negative, zero, positive, and what is special.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Final

from tang.emulator.certificate_balls import Value

Class = str
"""One of "-", "0", "+", "inf", "-inf", "nan"."""

_FINITE: Final = ("-", "0", "+")


def classes(v: Value) -> Iterator[Class]:
    """The classes that elements of a value may have."""
    if not v.empty:
        if v.lo < 0:
            yield "-"
        if v.lo <= 0 <= v.hi:
            yield "0"
        if v.hi > 0:
            yield "+"
    yield from v.special


def _sum(a: Class, b: Class) -> Class:
    if "nan" in (a, b) or {a, b} == {"inf", "-inf"}:
        return "nan"
    return next(x for x in (a, b) if x.endswith("inf"))


def _product(a: Class, b: Class) -> Class:
    if "nan" in (a, b) or "0" in (a, b):
        return "nan"
    return "-inf" if a.startswith("-") != b.startswith("-") else "inf"


def _by(table: dict[Class, Class]) -> Callable[[Class], Class]:
    return lambda a: table.get(a, "nan")


def _direction(y: Class, x: Class) -> Class:
    return "nan" if "nan" in (y, x) else "angle"


_RESULTS: Final[dict[str, Callable[..., Class]]] = {
    "add": _sum,
    "mul": _product,
    "recip": _by({"inf": "=0", "-inf": "=0"}),
    "sqrt": _by({"inf": "inf"}),
    "exp": _by({"inf": "inf", "-inf": "=0"}),
    "log": _by({"inf": "inf"}),
    "sin": _by({}),
    "tanh": _by({"inf": "=1", "-inf": "=-1"}),
    "erf": _by({"inf": "=1", "-inf": "=-1"}),
    "sigmoid": _by({"inf": "=1", "-inf": "=0"}),
    "atan2": _direction,
}
"""What an operation gives where an operand is special: a special, a number (=…), or an angle."""


def outcomes(op: str, operands: tuple[Value, ...]) -> tuple[frozenset[str], frozenset[float]]:
    """Specials and exact numbers that special operands give."""
    if not any(v.special for v in operands):
        return frozenset(), frozenset()
    special, finite = set(), set()
    for given in product(*(tuple(classes(v)) for v in operands)):
        if all(c in _FINITE for c in given):
            continue
        result = _RESULTS[op](*given)
        if result.startswith("="):
            finite.add(float(result[1:]))
        elif result != "angle":
            special.add(result)
    return frozenset(special), frozenset(finite)


_ORDER: Final = {"-inf": -1, "finite": 0, "inf": 1}


def compared(op: str, a: Value, b: Value) -> Iterator[float]:
    """What lt or eq may give where an operand is special; false for NaN."""
    left = [*([] if a.empty else ["finite"]), *a.special]
    right = [*([] if b.empty else ["finite"]), *b.special]
    for x, y in product(left, right):
        if (x, y) == ("finite", "finite"):
            continue
        if "nan" in (x, y):
            yield 0.0
        elif op == "lt":
            yield float(_ORDER[x] < _ORDER[y])
        else:
            yield float(x == y)
