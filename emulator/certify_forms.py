"""Derived forms, as bounds see them: what an expression computes, and from which operands.

Defines `parts`. Relies on `tang.ir.derived`, whose definitions it takes apart: a guess at the
operands is right iff the definition over them is the very expression. It shares nothing with
lowering, which has a matcher of its own; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Final

from tang.ir import derived
from tang.ir.expr import REAL, Expr

Operands = tuple[Expr, ...]
Guess = Callable[[Expr], Iterator[Expr]]


@lru_cache(maxsize=16384)
def parts(e: Expr) -> tuple[str, Operands]:
    """The operation and its operands: of a derived form these, else those of the row of OPS."""
    if e.sort is not REAL:
        return e.op, e.args
    for name, guess in _UNARY.get(e.op, ()):
        for found in guess(e):
            return name, (found,)
    if e.op == "add":
        for a, b in _orders(e):
            if b.op == "neg":
                return "sub", (a, b.args[0])
    if e.op == "mul":
        for a, b in _orders(e):
            if b.op == "recip":
                return "div", (a, b.args[0])
    if e.op == "select":
        return _chosen(e)
    return e.op, e.args


def _orders(e: Expr) -> tuple[tuple[Expr, Expr], tuple[Expr, Expr]]:
    a, b = e.args
    return (a, b), (b, a)


def _factor(e: Expr, name: str | Fraction) -> Iterator[Expr]:
    """The other factor of a product with a constant."""
    if e.op == "mul" and e.sort is REAL:
        yield from (a for a, b in _orders(e) if b.op == "real" and b.payload == name)


def _exp(e: Expr) -> Iterator[Expr]:
    if e.op == "exp2":
        yield from _factor(e.args[0], "log2e")


def _log(e: Expr) -> Iterator[Expr]:
    yield from (x.args[0] for x in _factor(e, "ln2") if x.op == "log2")


def _cos(e: Expr) -> Iterator[Expr]:
    sums = e.args[0]
    if sums.op == "add":
        for a, b in _orders(sums):
            if any(x.op == "real" and x.payload == Fraction(1, 2) for x in _factor(b, "pi")):
                yield a


def _one_plus(e: Expr) -> Iterator[Expr]:
    if e.op == "add" and e.sort is REAL:
        yield from (b for a, b in _orders(e) if a.op == "real" and a.payload == Fraction(1))


def _sigmoid(e: Expr) -> Iterator[Expr]:
    for power in _one_plus(e.args[0]):
        yield from (x.args[0] for x in _exp(power) if x.op == "neg")


def _tanh(e: Expr) -> Iterator[Expr]:
    for rest in _one_plus(e):
        if rest.op == "neg":
            for quotient in _factor(rest.args[0], Fraction(2)):
                if quotient.op == "recip":
                    for power in _one_plus(quotient.args[0]):
                        yield from (x for d in _exp(power) for x in _factor(d, Fraction(2)))


_UNARY: Final[dict[str, tuple[tuple[str, Guess], ...]]] = {
    "exp2": (("exp", _exp),),
    "mul": (("log", _log),),
    "sin": (("cos", _cos),),
    "recip": (("sigmoid", _sigmoid),),
    "add": (("tanh", _tanh),),
}


def _chosen(e: Expr) -> tuple[str, Operands]:
    """max, min and abs among the selections; they are continuous, so no decision can hurt."""
    condition, a, b = e.args
    if condition.op == "isnan" and b.op == "select" and b.args[0].op == "isnan":
        second = b.args[1]
        for name, build in (("max", derived.maximum), ("min", derived.minimum)):
            if build(a, second) is e:
                return name, (a, second)
    if condition.op == "lt":
        low, high = condition.args
        if (a, b) == (high, low):
            return "max", (low, high)
        if (a, b) == (low, high):
            return "min", (low, high)
        if a.op == "neg" and b is low and derived.absolute(b) is e:
            return "abs", (b,)
    return e.op, e.args


def order(roots: Operands) -> list[Expr]:
    """Operands before operations, where derived forms are one operation; without recursion."""
    found: dict[int, Expr] = {}
    seen: set[int] = set()
    stack = [(r, False) for r in reversed(roots)]
    while stack:
        e, ready = stack.pop()
        if ready:
            found[id(e)] = e
        elif id(e) not in seen:
            seen.add(id(e))
            stack.append((e, True))
            stack.extend((a, False) for a in reversed(parts(e)[1]))
    return list(found.values())
