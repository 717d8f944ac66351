"""Constant folding: operations on literals, exact in rationals.

Defines `folded`. Relies on expressions alone. What no rational holds (ln2, a root, numbers that
f64 would flush or overflow) is left as it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Final

from tang.ir.expr import Expr, Sort, boolean, index, is_constant, named, real

Number = Fraction | str
"""A rational, or "inf", "-inf", "nan"."""

_RANGE: Final = Fraction(2) ** 900
_BITS: Final = 2048
_INDEX: Final = 2**62
_EDGE: Final = 2**31


def folded(op: str, args: tuple[Expr, ...]) -> Expr | None:
    """The value of an operation on literals, None where it stays."""
    if not all(map(is_constant, args)):
        return None
    if op in ("and", "or", "not") or (op == "eq" and args[0].sort is Sort.BOOL):
        return _logic(op, [bool(a.payload) for a in args])
    if args[0].sort is Sort.INDEX:
        return _indices(op, [a.payload for a in args if isinstance(a.payload, int)])
    numbers = [number(a) for a in args]
    plain = [n for n in numbers if n is not None]
    return _reals(op, plain) if len(plain) == len(numbers) and op in _REAL else None


def special(e: Expr) -> str:
    """The name of a named real constant, "" for anything else: a dim may be called nan."""
    return e.payload if e.op == "real" and isinstance(e.payload, str) else ""


def number(e: Expr) -> Number | None:
    """The exact value of a real literal, None for ln2, log2e, pi and what f64 cannot hold."""
    name = special(e)
    if name:
        if name == "-0.0":
            return Fraction(0)
        return name if name in ("inf", "-inf", "nan") else None
    return e.payload if isinstance(e.payload, Fraction) and _is_plain(e.payload) else None


def _is_plain(x: Fraction) -> bool:
    small = x.numerator.bit_length() + x.denominator.bit_length() <= _BITS
    return small and (x == 0 or 1 / _RANGE <= abs(x) <= _RANGE)


def _logic(op: str, a: list[bool]) -> Expr:
    values = {"and": all(a), "or": any(a), "not": not a[0], "eq": a[0] == a[-1]}
    return boolean(values[op])


def _indices(op: str, a: list[int]) -> Expr | None:
    if op == "to_real":
        return real(Fraction(a[0])) if abs(a[0]) < 2**53 else None
    if op in ("lt", "eq"):
        return boolean(a[0] < a[1] if op == "lt" else a[0] == a[1])
    if op in ("floordiv", "mod") and a[1] <= 0:
        return None
    table: dict[str, Callable[[], int]] = {
        "add": lambda: a[0] + a[1],
        "mul": lambda: a[0] * a[1],
        "neg": lambda: -a[0],
        "floordiv": lambda: a[0] // a[1],
        "mod": lambda: a[0] % a[1],
    }
    value = table[op]() if op in table else _INDEX
    return index(value) if abs(value) < _INDEX else None


def _reals(op: str, a: list[Number]) -> Expr | None:
    if op == "isnan":
        return boolean(a[0] == "nan")
    if op in ("lt", "eq"):
        return boolean("nan" not in a and _compared(op, *map(_order, a)))
    if op == "to_index":
        return index(_to_index(a[0]))
    if "nan" in a:
        return named("nan")
    value = _REAL[op](*a)
    if value is None or (isinstance(value, Fraction) and not _is_plain(value)):
        return None
    return named(value) if isinstance(value, str) else real(value)


def _order(x: Number) -> tuple[int, Fraction]:
    """Comparable, with the infinities at the ends."""
    if isinstance(x, str):
        return (1 if x == "inf" else -1), Fraction(0)
    return 0, x


def _compared(op: str, a: tuple[int, Fraction], b: tuple[int, Fraction]) -> bool:
    return a < b if op == "lt" else a == b


def _to_index(x: Number) -> int:
    if isinstance(x, str):
        return {"nan": -1, "inf": _EDGE - 1, "-inf": -_EDGE}[x]
    return max(-_EDGE, min(_EDGE - 1, math.floor(x)))


def _add(a: Number, b: Number) -> Number:
    if isinstance(a, str) or isinstance(b, str):
        ends = {x for x in (a, b) if isinstance(x, str)}
        return ends.pop() if len(ends) == 1 else "nan"
    return a + b


def _mul(a: Number, b: Number) -> Number:
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a * b
    sign = _sign(a) * _sign(b)
    return "nan" if sign == 0 else ("inf" if sign > 0 else "-inf")


def _sign(x: Number) -> int:
    if isinstance(x, str):
        return 1 if x == "inf" else -1
    return (x > 0) - (x < 0)


def _neg(a: Number) -> Number:
    if isinstance(a, str):
        return "-inf" if a == "inf" else "inf"
    return -a


def _recip(a: Number) -> Number | None:
    """Of powers of two alone: x · (1/3) is no longer seen to be a division."""
    if isinstance(a, str):
        return Fraction(0)
    dyadic = a != 0 and abs(a.numerator) & (abs(a.numerator) - 1) == 0
    return 1 / a if dyadic and a.denominator & (a.denominator - 1) == 0 else None


def _sqrt(a: Number) -> Number | None:
    if isinstance(a, str) or a < 0:
        return "inf" if a == "inf" else "nan"
    top, bottom = math.isqrt(a.numerator), math.isqrt(a.denominator)
    exact = top * top == a.numerator and bottom * bottom == a.denominator
    return Fraction(top, bottom) if exact else None


def _exp2(a: Number) -> Number | None:
    if isinstance(a, str):
        return Fraction(0) if a == "-inf" else a
    return Fraction(2) ** int(a) if a.denominator == 1 and abs(a) <= 200 else None


def _floor(a: Number) -> Number:
    return a if isinstance(a, str) else Fraction(math.floor(a))


_REAL: Final[dict[str, Callable[..., Number | None]]] = {
    "add": _add, "mul": _mul, "neg": _neg, "recip": _recip, "sqrt": _sqrt, "exp2": _exp2,
    "floor": _floor, "isnan": _neg, "lt": _add, "eq": _add, "to_index": _neg,
}  # fmt: skip
"""Folded operations on reals; comparisons and casts are carried out before the table is asked."""
