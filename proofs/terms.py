"""Exact scalar terms: what an expression means over a ring, a field or an order.

Defines `Term`, its constructors, its text in Lean, and `Reader`, which turns the compiler's
expressions into terms. Relies on `tang.ir.expr`. It drops what only NaN and infinities need: a
term speaks of finite values, and whatever it cannot express raises `UnsupportedError`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Final

from tang.ir.expr import BOOL, Expr

LARGEST: Final = 64
"""Integers up to this are written as sums of ones."""


class UnsupportedError(Exception):
    """Something that the exact algebra has no word for; the message names it."""


@dataclass(frozen=True, slots=True)
class Term:
    """An operation over terms; `name` is the text of a variable.

    Values: var zero one add mul neg inv exp log max min ite;
    conditions: lt eq and or not true false, and the same over booleans as bvar band bor bnot beq.
    """

    op: str
    args: tuple[Term, ...] = ()
    name: str = ""


ZERO: Final = Term("zero")
ONE: Final = Term("one")
TRUE: Final = Term("true")
FALSE: Final = Term("false")
_INFIX: Final = {"add": "+", "mul": "*", "lt": "<", "eq": "=", "and": "∧", "or": "∨"}
_PREFIX: Final = {
    "inv": "inv", "exp": "exp", "log": "log", "max": "max", "min": "min", "band": "and",
    "bor": "or", "bnot": "Bool.not", "beq": "same",
}  # fmt: skip
_LEAF: Final = {"zero": "0", "one": "1", "true": "True", "false": "False"}


def var(name: str) -> Term:
    return Term("var", name=name)


def add(a: Term, b: Term) -> Term:
    return b if a == ZERO else a if b == ZERO else Term("add", (a, b))


def mul(a: Term, b: Term) -> Term:
    if ZERO in (a, b):
        return ZERO
    return b if a == ONE else a if b == ONE else Term("mul", (a, b))


def neg(a: Term) -> Term:
    if a.op == "neg":
        return a.args[0]
    return a if a == ZERO else Term("neg", (a,))


def number(q: Fraction) -> Term:
    """A rational from zero, one, sums, a negation and an inverse."""
    if q < 0:
        return neg(number(-q))
    if max(q.numerator, q.denominator) > LARGEST:
        raise UnsupportedError(f"the constant {q}")
    over = _ones(q.numerator)
    return over if q.denominator == 1 else mul(over, Term("inv", (_ones(q.denominator),)))


def _ones(n: int) -> Term:
    total = ZERO
    for _ in range(n):
        total = add(total, ONE)
    return total


def both(a: Term, b: Term) -> Term:
    if FALSE in (a, b):
        return FALSE
    return b if a == TRUE else a if b == TRUE else Term("and", (a, b))


def either(a: Term, b: Term) -> Term:
    if TRUE in (a, b):
        return TRUE
    return b if a == FALSE else a if b == FALSE else Term("or", (a, b))


def negated(a: Term) -> Term:
    return FALSE if a == TRUE else TRUE if a == FALSE else Term("not", (a,))


def choose(condition: Term, yes: Term, no: Term) -> Term:
    """A choice; the larger and the smaller of two are recognised."""
    if condition == TRUE or yes == no:
        return yes
    if condition == FALSE:
        return no
    if condition.op == "lt" and condition.args == (no, yes):
        return Term("max", (no, yes))
    if condition.op == "lt" and condition.args == (yes, no):
        return Term("min", (no, yes))
    return Term("ite", (condition, yes, no))


def text(t: Term, named: Callable[[Term], str | None] = lambda _: None) -> str:
    """The term in Lean; `named` may give another text for a subterm."""
    known = named(t)
    if known is not None:
        return known
    if t.op in ("var", "bvar"):
        return t.name
    if t.op in _LEAF:
        return _LEAF[t.op]
    parts = [text(a, named) for a in t.args]
    if t.op in _INFIX:
        return f"({parts[0]} {_INFIX[t.op]} {parts[1]})"
    if t.op == "ite":
        return f"(if {parts[0]} then {parts[1]} else {parts[2]})"
    head = {"neg": "-", "not": "¬ "}.get(t.op, f"{_PREFIX.get(t.op, t.op)} ")
    return f"({head}{' '.join(parts)})"


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads expressions over finite values.

    leaf     the term of an `arg` or a `state`, whose coordinates are already integers
    dims     terms for dims and static axes
    literal  keep x + 0 and x · 1 as they are written
    positions  the term of a comparison or a quotient of coordinates, or None to read it like others
    """

    leaf: Callable[[Expr, tuple[int, ...]], Term]
    dims: Mapping[str, Term] = field(default_factory=dict)
    literal: bool = False
    positions: Callable[[Expr, Mapping[str, Term]], Term | None] = lambda e, dims: None

    def __call__(self, e: Expr) -> Term:
        """The term of an expression."""
        if e.sort is BOOL and e.op not in ("arg", "state", "lt", "eq", "isnan"):
            return self._condition(e)
        handler = _HANDLERS.get(e.op)
        if handler is not None:
            return handler(self, e)
        raise UnsupportedError(f"the operation {e.op!r}")

    def _condition(self, e: Expr) -> Term:
        if e.op == "bool":
            return TRUE if e.payload else FALSE
        args = [self(a) for a in e.args]
        if any(_is_boolean(a) for a in args):
            return _boolean(e.op, args)
        if e.op == "not":
            return negated(args[0])
        if e.op in ("and", "or"):
            return (both if e.op == "and" else either)(args[0], args[1])
        raise UnsupportedError(f"{e.op!r} over booleans")

    def _leaf(self, e: Expr) -> Term:
        at = tuple(self._integer(a) for a in e.args) if e.op == "state" else ()
        return self.leaf(e, at)

    def _integer(self, e: Expr) -> int:
        t = self(e)
        value = _value(t)
        if value is None:
            raise UnsupportedError("a coordinate that is no constant")
        return value

    def _compared(self, e: Expr) -> Term:
        known = self.positions(e, self.dims)
        if known is not None:
            return known
        if any(_special(a) for a in e.args):
            return self._special(e)
        a, b = (self(x) for x in e.args)
        if _is_boolean(a) or _is_boolean(b):
            return _boolean(e.op, [a, b])
        x, y = _value(a), _value(b)
        if x is not None and y is not None:
            return TRUE if (x == y if e.op == "eq" else x < y) else FALSE
        return Term(e.op, (a, b))

    def _divided(self, e: Expr) -> Term:
        known = self.positions(e, self.dims)
        if known is None:
            raise UnsupportedError(f"the operation {e.op!r}")
        return known

    def _special(self, e: Expr) -> Term:
        """A comparison with an infinity, for finite values of the other side."""
        left, right = (_special(a) for a in e.args)
        if e.op == "eq":
            return TRUE if left == right else FALSE
        low, high = left == "-inf" and right != "-inf", right == "inf" and not left
        return TRUE if low or high else FALSE

    def _chosen(self, e: Expr) -> Term:
        condition = self(e.args[0])
        if condition in (TRUE, FALSE):
            return self(e.args[1] if condition == TRUE else e.args[2])
        if _is_boolean(condition):
            raise UnsupportedError("a choice by a boolean component")
        return choose(condition, self(e.args[1]), self(e.args[2]))

    def _exponential(self, e: Expr) -> Term:
        """exp(x) as exp2(x · log₂e)."""
        (a,) = e.args
        if a.op == "mul" and any(_constant(x, "log2e") for x in a.args):
            rest = next(x for x in a.args if not _constant(x, "log2e"))
            return Term("exp", (self(rest),))
        raise UnsupportedError("exp2 of anything but x · log2e")

    def _folded(self, e: Expr) -> Term:
        axis, size = e.payload if isinstance(e.payload, tuple) else ("", 0)
        total = ZERO
        for i in range(int(size)):
            inner = replace(self, dims={**self.dims, str(axis): number(Fraction(i))})
            total = add(total, inner(e.args[0]))
        return total

    def _constant(self, e: Expr) -> Term:
        if isinstance(e.payload, str):
            raise UnsupportedError(f"the constant {e.payload}")
        if not isinstance(e.payload, int | Fraction):
            raise UnsupportedError(f"the constant {e.payload}")
        return number(Fraction(e.payload))

    def _coordinate(self, e: Expr) -> Term:
        if str(e.payload) not in self.dims:
            raise UnsupportedError(f"the coordinate {e.payload}")
        return self.dims[str(e.payload)]

    def _sum(self, e: Expr) -> Term:
        a, b = (self(x) for x in e.args)
        return Term("add", (a, b)) if self.literal else add(a, b)

    def _product(self, e: Expr) -> Term:
        if any(_constant(x, "ln2") for x in e.args):
            rest = next(x for x in e.args if not _constant(x, "ln2"))
            if rest.op == "log2":
                return Term("log", (self(rest.args[0]),))
        a, b = (self(x) for x in e.args)
        return Term("mul", (a, b)) if self.literal else mul(a, b)

    def _negated(self, e: Expr) -> Term:
        a = self(e.args[0])
        return Term("neg", (a,)) if self.literal else neg(a)

    def _logarithm(self, e: Expr) -> Term:
        """log(x) as log2(x) · ln 2; the product is read here."""
        raise UnsupportedError("log2 of anything that is not times ln2")


def _constant(e: Expr, name: str) -> bool:
    return e.op == "real" and e.payload == name


def _special(e: Expr) -> str:
    """ "inf" or "-inf" for those constants, else ""."""
    return e.payload if e.op == "real" and e.payload in ("inf", "-inf") else ""  # type: ignore[return-value]


def _value(t: Term) -> int | None:
    """The integer that a term is, if it is one."""
    if t.op in ("zero", "one"):
        return int(t.op == "one")
    below = [_value(a) for a in t.args] if t.op in ("add", "mul", "neg") else [None]
    numbers = [b for b in below if b is not None]
    if len(numbers) < len(below):
        return None
    if t.op == "neg":
        return -numbers[0]
    return numbers[0] + numbers[1] if t.op == "add" else numbers[0] * numbers[1]


def _is_boolean(t: Term) -> bool:
    return t.op in ("bvar", "band", "bor", "bnot", "beq")


def _boolean(op: str, args: list[Term]) -> Term:
    if not all(map(_is_boolean, args)) or op not in ("and", "or", "not", "eq"):
        raise UnsupportedError(f"{op!r} over a boolean component and something else")
    return Term(f"b{op}", tuple(args))


_HANDLERS: Final[dict[str, Callable[[Reader, Expr], Term]]] = {
    "real": Reader._constant,
    "index": Reader._constant,
    "iota": Reader._coordinate,
    "arg": Reader._leaf,
    "state": Reader._leaf,
    "fold": Reader._folded,
    "add": Reader._sum,
    "mul": Reader._product,
    "neg": Reader._negated,
    "log2": Reader._logarithm,
    "floordiv": Reader._divided,
    "recip": lambda r, e: Term("inv", (r(e.args[0]),)),
    "exp2": Reader._exponential,
    "lt": Reader._compared,
    "eq": Reader._compared,
    "isnan": lambda r, e: FALSE,
    "select": Reader._chosen,
}
