"""Expressions of the extents: `ceil(N/256)`, `4*N`, `min(M, 64)`.

Defines `Expression`, parsed by a small grammar and evaluated exactly over rationals. Relies on
Python's own parser for the syntax tree, of which a closed list of nodes is accepted; nothing is
executed. It knows no launch and no graph: which names exist is the caller's business.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from tang.errors import TangError

LONGEST: Final = 200
"""Characters of an expression; nesting is bounded by it."""


class ExpressionError(TangError):
    """An expression that the grammar does not have, or that has no value."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A parsed expression and the names that it uses."""

    text: str
    names: frozenset[str]
    tree: ast.expr = field(compare=False, repr=False)

    def evaluate(self, sizes: Mapping[str, int]) -> Fraction:
        """The value; raises ExpressionError naming an unknown size or a division by zero."""
        missing = sorted(self.names - sizes.keys())
        if missing:
            known = ", ".join(sorted(sizes)) or "none"
            raise ExpressionError(f"{self.text!r} uses {missing[0]!r}; the extents are {known}")
        try:
            return _value(self.tree, sizes)
        except ZeroDivisionError:
            given = ", ".join(f"{n}={sizes[n]}" for n in sorted(self.names))
            raise ExpressionError(f"{self.text!r} divides by zero for {given}") from None

    def integer(self, sizes: Mapping[str, int]) -> int:
        """The value, which must be whole; raises ExpressionError otherwise."""
        value = self.evaluate(sizes)
        if value.denominator != 1:
            given = ", ".join(f"{n}={sizes[n]}" for n in sorted(self.names))
            hint = "use // for the quotient rounded down, or ceil(…)"
            raise ExpressionError(f"{self.text!r} is {value} for {given}, no integer: {hint}")
        return value.numerator


def parse(text: str | int | float) -> Expression:
    """The expression; raises ExpressionError that says what the grammar lacks.

    Numbers, names, + − * / // %, parentheses, and ceil, floor, min, max, sqrt.
    """
    if isinstance(text, bool) or not isinstance(text, str | int | float):
        raise ExpressionError(f"an expression is a number or a text, not {text!r}")
    source = str(text)
    if len(source) > LONGEST:
        raise ExpressionError(f"an expression has at most {LONGEST} characters, not {len(source)}")
    try:
        tree = ast.parse(source.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        raise ExpressionError(f"{source!r} is no expression; write it like ceil(N/256)") from None
    names = frozenset(_names(tree, source))
    return Expression(source, names, tree)


def _names(node: ast.expr, source: str) -> list[str]:
    """Names in a tree of accepted nodes."""
    match node:
        case ast.Constant(value=int() | float() as value) if _plain(value):
            return []
        case ast.Name(id=name):
            return [name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _names(operand, source)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _names(left, source) + _names(right, source)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
            if len(args) not in _FUNCTIONS[name][0]:
                raise ExpressionError(f"{source!r}: {name} takes another number of operands")
            return [n for a in args for n in _names(a, source)]
    words = ast.get_source_segment(source.strip(), node) or source
    known = ", ".join(_FUNCTIONS)
    raise ExpressionError(f"{source!r}: {words!r} is outside the grammar: + - * / // % and {known}")


def _plain(value: float) -> bool:
    return not isinstance(value, bool) and math.isfinite(value)


def _value(node: ast.expr, sizes: Mapping[str, int]) -> Fraction:
    match node:
        case ast.Constant(value=int() | float() as value):
            return Fraction(str(value))
        case ast.Name(id=name):
            return Fraction(sizes[name])
        case ast.UnaryOp(operand=operand):
            return -_value(operand, sizes)
        case ast.BinOp(left=left, op=op, right=right):
            return _BINARY[type(op)](_value(left, sizes), _value(right, sizes))
        case ast.Call(func=ast.Name(id=name), args=args):
            return _FUNCTIONS[name][1](*(_value(a, sizes) for a in args))
    raise ExpressionError(f"no value of {ast.dump(node)}")


def _root(x: Fraction) -> Fraction:
    if x < 0:
        raise ExpressionError(f"sqrt of {x}")
    return Fraction(math.sqrt(x))


_BINARY: Final[dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: Fraction(a // b),
    ast.Mod: lambda a, b: a % b,
}

_FUNCTIONS: Final[dict[str, tuple[range, Callable[..., Fraction]]]] = {
    "ceil": (range(1, 2), lambda x: Fraction(math.ceil(x))),
    "floor": (range(1, 2), lambda x: Fraction(math.floor(x))),
    "min": (range(2, 9), min),
    "max": (range(2, 9), max),
    "sqrt": (range(1, 2), _root),
}
"""Name → allowed numbers of operands, and the function."""
