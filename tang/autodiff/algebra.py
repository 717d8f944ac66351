"""Scalar algebra of gradients: sums and products that simplify while they are built.

Defines `add`, `mul`, `neg`, `choose` and their kin over real expressions; constant factors are
gathered, with ln 2 · log₂e = 1. Relies on the expression constructors. A product with a zero
constant is folded only by `scaled`, whose zero means "does not depend", never by `mul`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final
from weakref import WeakKeyDictionary

from tang.ir.expr import REAL, Expr, apply, boolean, named, real, walk_unknown

ZERO: Final = real(0)
ONE: Final = real(1)
_TRUE: Final = boolean(True)
_FALSE: Final = boolean(False)


def is_zero(e: Expr) -> bool:
    """Whether the expression is the constant 0: as a derivative, "does not depend"."""
    return e is ZERO


@dataclass(frozen=True, slots=True)
class _Factor:
    """fraction · ln2^ln2 · π^pi · rest; rest None stands for 1."""

    fraction: Fraction
    ln2: int
    pi: int
    rest: Expr | None


_LITERALS: Final[WeakKeyDictionary[Expr, _Factor | None]] = WeakKeyDictionary()


def _literal(e: Expr) -> _Factor | None:
    """The expression as a product of constants, None where it is none."""
    for x in walk_unknown(e, _LITERALS):
        _LITERALS[x] = _literal_step(x, [_LITERALS[a] for a in x.args])
    return _LITERALS[e]


def _literal_step(e: Expr, args: list[_Factor | None]) -> _Factor | None:
    if e.op == "real" and isinstance(e.payload, Fraction):
        return _Factor(e.payload, 0, 0, None)
    if e.op == "real" and e.payload in ("ln2", "log2e"):
        return _Factor(Fraction(1), 1 if e.payload == "ln2" else -1, 0, None)
    if e.op == "real" and e.payload == "pi":
        return _Factor(Fraction(1), 0, 1, None)
    found = [a for a in args if a is not None]
    if len(found) < len(args):
        return None
    if e.op == "recip" and found[0].fraction and not found[0].pi:
        return _Factor(1 / found[0].fraction, -found[0].ln2, 0, None)
    if e.op == "neg":
        return replace(found[0], fraction=-found[0].fraction)
    return _joined(*found) if e.op == "mul" else None


def _factored(e: Expr) -> _Factor:
    """The constant factors of a product, and what is left."""
    found, rest = _Factor(Fraction(1), 0, 0, None), e
    while True:
        literal = _literal(rest)
        if literal is not None:
            return _joined(found, literal)
        if rest.op == "neg":
            found, rest = replace(found, fraction=-found.fraction), rest.args[0]
            continue
        parts = [(a, _literal(a)) for a in rest.args] if rest.op == "mul" else []
        constant = next((f for _, f in parts if f is not None), None)
        if constant is None:
            return replace(found, rest=rest)
        found = _joined(found, constant)
        rest = next(a for a, f in parts if f is None)


def _joined(a: _Factor, b: _Factor) -> _Factor:
    rest = a.rest if b.rest is None else b.rest
    if a.rest is not None and b.rest is not None:
        rest = apply("mul", a.rest, b.rest)
    return _Factor(a.fraction * b.fraction, a.ln2 + b.ln2, a.pi + b.pi, rest)


def _built(f: _Factor) -> Expr:
    parts = [named("pi")] * f.pi
    parts += [named("ln2" if f.ln2 > 0 else "log2e")] * abs(f.ln2)
    size = abs(f.fraction)
    if size != 1 or (not parts and f.rest is None):
        parts.insert(0, real(size))
    if f.rest is not None:
        parts.append(f.rest)
    total = parts[0]
    for p in parts[1:]:
        total = apply("mul", total, p)
    return neg(total) if f.fraction < 0 else total


def mul(a: Expr, b: Expr) -> Expr:
    """a · b with constant factors gathered; 1 · x = x, and nothing else disappears."""
    if ZERO in (a, b):
        return apply("mul", a, b)
    return _built(_joined(_factored(a), _factored(b)))


def add(a: Expr, b: Expr) -> Expr:
    """a + b, where adding the constant 0 adds nothing and two constants are one."""
    if a is ZERO:
        return b
    if isinstance(a.payload, Fraction) and isinstance(b.payload, Fraction):
        return real(a.payload + b.payload)
    return a if b is ZERO else apply("add", a, b)


def total(terms: list[Expr]) -> Expr:
    """The sum of the terms, 0 for none."""
    found = ZERO
    for t in terms:
        found = add(found, t)
    return found


def neg(a: Expr) -> Expr:
    """−a; a double negation disappears."""
    if a.op == "neg":
        return a.args[0]
    return a if a is ZERO else apply("neg", a)


def sub(a: Expr, b: Expr) -> Expr:
    """a − b."""
    return add(a, neg(b))


def choose(condition: Expr, a: Expr, b: Expr) -> Expr:
    """select(condition, a, b), decided where condition or branches leave no choice."""
    if a is b or condition is _TRUE:
        return a
    return b if condition is _FALSE else apply("select", condition, a, b)


def both(a: Expr, b: Expr) -> Expr:
    """a and b; constants disappear."""
    if a is _TRUE:
        return b
    return a if b is _TRUE else apply("and", a, b)


def is_literal(e: Expr) -> bool:
    """Whether a real expression is a finite constant other than 0."""
    f = _factored(e)
    return f.rest is None and f.fraction != 0


class Masks:
    """Which expressions can be exactly 0 because a branch was not taken; remembered."""

    def __init__(self) -> None:
        self.known: dict[Expr, bool] = {}

    def masked(self, root: Expr, masked_args: frozenset[int]) -> bool:
        """Whether root can be a structural zero, given the reads that can."""
        stack = [root]
        while stack:
            e = stack[-1]
            if e in self.known:
                stack.pop()
                continue
            missing = [a for a in _carriers(e) if a not in self.known]
            if missing:
                stack.extend(missing)
                continue
            self.known[e] = _is_masked(e, masked_args, self.known)
            stack.pop()
        return self.known[root]


def _carriers(e: Expr) -> tuple[Expr, ...]:
    """The operands from which a structural zero is inherited."""
    if e.op == "select":
        return e.args[1:]
    return e.args if e.op in ("add", "mul", "neg", "fold") else ()


def _is_masked(e: Expr, masked_args: frozenset[int], known: dict[Expr, bool]) -> bool:
    if e.op == "arg":
        return e.payload in masked_args
    if e.op == "select" and ZERO in e.args[1:]:
        return True
    return any(known[a] for a in _carriers(e))


def is_finite(root: Expr) -> bool:
    """Whether the value is finite whatever the reads hold (constants, error functions of those)."""
    stack, seen = [root], set[Expr]()
    while stack:
        e = stack.pop()
        if e in seen or e.sort is not REAL or e.op in ("erf", "to_real"):
            continue
        seen.add(e)
        if e.op == "real":
            if e.payload in ("inf", "-inf", "nan"):
                return False
        elif e.op == "select":
            stack.extend(e.args[1:])
        elif e.op in ("add", "mul", "neg", "fold", "sin"):
            stack.extend(e.args)
        elif not _is_positive_constant(e):
            return False
    return True


def _is_positive_constant(e: Expr) -> bool:
    """Whether the expression is a number above 0, such as 1/√π."""
    while e.op in ("recip", "sqrt"):
        (e,) = e.args
    if isinstance(e.payload, Fraction):
        return e.payload > 0
    return e.op == "real" and e.payload in ("ln2", "log2e", "pi")
