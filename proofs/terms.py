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

ONES: Final = 8
"""Integers up to this are written as sums of ones, larger ones by doubling."""

LARGEST: Final = 10**18
"""Numerators and denominators of constants are at most this."""


class UnsupportedError(Exception):
    """Something that the exact algebra has no word for; the message names it."""


class NotANumberError(UnsupportedError):
    """The constant NaN, where a finite value was to be read."""


class TooLargeError(UnsupportedError):
    """A term that would take too long; the message says what there is too much of."""


@dataclass(frozen=True, slots=True)
class Term:
    """An operation over terms; `name` is the text of a variable.

    Values: var zero one add mul neg inv exp log max min ite, and inf -inf, which have no text;
    conditions: lt eq and or not true false; booleans: bvar band bor bnot beq btrue bfalse.
    """

    op: str
    args: tuple[Term, ...] = ()
    name: str = ""


ZERO: Final = Term("zero")
ONE: Final = Term("one")
TRUE: Final = Term("true")
FALSE: Final = Term("false")
INFINITIES: Final = {"inf": Term("inf"), "-inf": Term("-inf")}
"""What an identity may be and a finite state is not."""
_INFIX: Final = {"add": "+", "mul": "*", "lt": "<", "eq": "=", "and": "∧", "or": "∨"}
_PREFIX: Final = {
    "inv": "inv", "exp": "exp", "log": "log", "max": "max", "min": "min", "band": "and",
    "bor": "or", "bnot": "Bool.not", "beq": "same",
}  # fmt: skip
_LEAF: Final = {"zero": "0", "one": "1", "true": "True", "false": "False", "btrue": "true",
                "bfalse": "false"}  # fmt: skip


def var(name: str) -> Term:
    return Term("var", name=name)


def rank(t: Term) -> int:
    """−1 and 1 for the infinities, 0 for what is finite."""
    return {"inf": 1, "-inf": -1}.get(t.op, 0)


def infinity(sign: int) -> Term:
    return INFINITIES["inf" if sign > 0 else "-inf"]


def is_finite(t: Term) -> bool:
    """Whether no infinity occurs in a term."""
    return rank(t) == 0 and all(map(is_finite, t.args))


def add(a: Term, b: Term) -> Term:
    if rank(a) or rank(b):
        if rank(a) * rank(b) < 0:
            raise UnsupportedError("a difference of infinities")
        return infinity(rank(a) or rank(b))
    return b if a == ZERO else a if b == ZERO else Term("add", (a, b))


def mul(a: Term, b: Term) -> Term:
    if rank(a) or rank(b):
        signs = [rank(x) or _value(x) or 0 for x in (a, b)]
        if 0 in signs:
            raise UnsupportedError("an infinity times what may be zero")
        return infinity(signs[0] * signs[1])
    if ZERO in (a, b):
        return ZERO
    return b if a == ONE else a if b == ONE else Term("mul", (a, b))


def neg(a: Term) -> Term:
    if rank(a):
        return infinity(-rank(a))
    if a.op == "neg":
        return a.args[0]
    return a if a == ZERO else Term("neg", (a,))


def inverse(a: Term) -> Term:
    return ZERO if rank(a) else Term("inv", (a,))


def power(a: Term) -> Term:
    """exp a."""
    if rank(a):
        return ZERO if rank(a) < 0 else a
    return Term("exp", (a,))


def number(q: Fraction) -> Term:
    """A rational from zero, one, sums, a negation and an inverse."""
    if q < 0:
        return neg(number(-q))
    if max(q.numerator, q.denominator) > LARGEST:
        known = f" {q}" if max(q.numerator, q.denominator) < LARGEST**2 else ""
        raise TooLargeError(f"the constant{known} has more than 18 digits, which are too many")
    over = _whole(q.numerator)
    return over if q.denominator == 1 else mul(over, Term("inv", (_whole(q.denominator),)))


def _whole(n: int) -> Term:
    """A natural number as a sum of ones, a larger one as twice its half."""
    if n > ONES:
        half = Term("mul", (_whole(2), _whole(n // 2)))
        return add(half, ONE) if n % 2 else half
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
    if rank(t):
        raise UnsupportedError("an infinity beside finite values")
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
    natural  names of variables that are positions, so never negative
    symbolic  write folds as sums over functions, states as functions of their coordinates
    constants  terms for special constants, by name
    """

    leaf: Callable[[Expr, tuple[int, ...]], Term]
    dims: Mapping[str, Term] = field(default_factory=dict)
    literal: bool = False
    positions: Callable[[Expr, Mapping[str, Term]], Term | None] = lambda e, dims: None
    natural: frozenset[str] = frozenset()
    symbolic: bool = False
    constants: Mapping[str, Term] = field(default_factory=dict)

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
        if e.op == "select" and self.symbolic:
            c, yes, no = args
            return either(both(c, yes), both(negated(c), no))
        if e.op == "not":
            return negated(args[0])
        if e.op in ("and", "or"):
            return (both if e.op == "and" else either)(args[0], args[1])
        raise UnsupportedError(f"{e.op!r} over booleans")

    def _leaf(self, e: Expr) -> Term:
        if self.symbolic:
            t = self.leaf(e, ())
            return Term(t.op, name=f"({' '.join([t.name, *(text(self(a)) for a in e.args)])})")
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
        if self.literal and any(_special(a) for a in e.args):
            return _compared(e.op, *(INFINITIES.get(_special(a), ONE) for a in e.args))
        a, b = (self(x) for x in e.args)
        if _is_boolean(a) or _is_boolean(b) or e.args[0].sort is BOOL:
            return _boolean(e.op, [a, b])
        if rank(a) or rank(b):
            return _compared(e.op, a, b)
        return self._known(e.op, a, b) or Term(e.op, (a, b))

    def _known(self, op: str, a: Term, b: Term) -> Term | None:
        """A comparison that numbers decide, or that a variable is a position."""
        x, y = _value(a), _value(b)
        if x is not None and y is not None:
            return TRUE if (x == y if op == "eq" else x < y) else FALSE
        if op == "lt" and a.name in self.natural and y is not None and y <= 0:
            return FALSE
        return TRUE if op == "lt" and b.name in self.natural and x is not None and x < 0 else None

    def _divided(self, e: Expr) -> Term:
        known = self.positions(e, self.dims)
        if known is None:
            raise UnsupportedError(f"the operation {e.op!r}")
        return known

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
        rest = _beside(a, "log2e") if a.op == "mul" else None
        if rest is not None:
            return power(self(rest))
        raise UnsupportedError("exp2 of anything but x · log2e")

    def _folded(self, e: Expr) -> Term:
        axis, size = e.payload if isinstance(e.payload, tuple) else ("", 0)
        if self.symbolic:
            inside = replace(self, dims={**self.dims, str(axis): var(str(axis))})
            return var(f"(sum {size} (fun {axis} => {text(inside(e.args[0]))}))")
        total = ZERO
        for i in range(int(size)):
            inner = replace(self, dims={**self.dims, str(axis): number(Fraction(i))})
            total = add(total, inner(e.args[0]))
        return total

    def _constant(self, e: Expr) -> Term:
        if e.payload in self.constants:
            return self.constants[str(e.payload)]
        if _special(e) and not self.literal:
            return INFINITIES[_special(e)]
        if e.payload == "nan":
            raise NotANumberError("the constant nan")
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
        rest = _beside(e, "ln2")
        if rest is not None and rest.op == "log2":
            return Term("log", (self(rest.args[0]),))
        a, b = (self(x) for x in e.args)
        return Term("mul", (a, b)) if self.literal else mul(a, b)

    def _negated(self, e: Expr) -> Term:
        a = self(e.args[0])
        return Term("neg", (a,)) if self.literal else neg(a)

    def _number_or_not(self, e: Expr) -> Term:
        """isnan: false, once the argument is a number."""
        if not self.literal:
            self(e.args[0])
        return FALSE

    def _logarithm(self, e: Expr) -> Term:
        """log(x) as log2(x) · ln 2; the product is read here."""
        raise UnsupportedError("log2 of anything that is not times ln2")


def _beside(e: Expr, name: str) -> Expr | None:
    """The other factor of a product with that constant; None where no factor is it."""
    a, b = e.args
    return b if _is_constant(a, name) else a if _is_constant(b, name) else None


def _is_constant(e: Expr, name: str) -> bool:
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


def _compared(op: str, a: Term, b: Term) -> Term:
    """A comparison with an infinity, for finite values of the other side."""
    if not all(rank(x) or is_finite(x) for x in (a, b)):
        raise UnsupportedError("a choice between an infinity and finite values")
    same = rank(a) == rank(b)
    return TRUE if (same if op == "eq" else rank(a) < rank(b)) else FALSE


def _is_boolean(t: Term) -> bool:
    return t.op in ("bvar", "band", "bor", "bnot", "beq", "btrue", "bfalse")


def _boolean(op: str, args: list[Term]) -> Term:
    known = {TRUE: Term("btrue"), FALSE: Term("bfalse")}
    parts = tuple(known.get(a, a) for a in args)
    if not all(map(_is_boolean, parts)) or op not in ("and", "or", "not", "eq"):
        raise UnsupportedError(f"{op!r} over a boolean component and something else")
    return Term(f"b{op}", parts)


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
    "recip": lambda r, e: inverse(r(e.args[0])),
    "exp2": Reader._exponential,
    "lt": Reader._compared,
    "eq": Reader._compared,
    "isnan": Reader._number_or_not,
    "select": Reader._chosen,
}
