"""Derivatives of scalar expressions.

Defines `Derivative`, which maps an expression and the tangents of its leaves to the tangent of the
whole. Relies on `algebra`; comparisons, floors and casts have derivative 0, and `select` has that
of the branch taken. It knows no graph: adjoints of reads and reductions are elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from tang.autodiff.algebra import (
    ZERO,
    Masks,
    add,
    choose,
    is_finite,
    is_literal,
    is_zero,
    mul,
    neg,
    sub,
)
from tang.ir import derived
from tang.ir.expr import REAL, Expr, apply, fold, named, real, walk

Seed = Callable[[Expr], Expr]
"""The tangent of a leaf (arg or state)."""


class Derivative:
    """Tangents under one policy for zeros; `masked` are the reads that can be structural zeros."""

    def __init__(self, strict: bool, masked: frozenset[int] = frozenset()) -> None:
        self.strict = strict
        self.masked = masked
        self.masks = Masks()

    def times(self, tangent: Expr, factor: Expr) -> Expr:
        """tangent · factor, which is 0 where the tangent is a structural zero.

        Plain where the tangent is a constant or cannot be such a zero, where the factor is finite
        whatever the data, and everywhere in strict mode.
        """
        if is_zero(tangent) or is_zero(factor):
            return ZERO
        if not self.strict and _has_zero_branch(factor):
            a, b = (self.times(tangent, x) for x in factor.args[1:])
            return choose(factor.args[0], a, b)
        if not self.strict and _has_zero_branch(tangent):
            a, b = (self.times(x, factor) for x in tangent.args[1:])
            return choose(tangent.args[0], a, b)
        plain = self.strict or is_literal(tangent) or is_finite(factor)
        if plain or not self.masks.masked(tangent, self.masked):
            return mul(tangent, factor)
        return choose(apply("eq", tangent, ZERO), ZERO, mul(tangent, factor))

    def of(self, root: Expr, seed: Seed) -> Expr:
        """The tangent of root: Σ ∂root/∂leaf · seed(leaf)."""
        done: dict[Expr, Expr] = {}
        for e in walk(root):
            if e.sort is not REAL:
                done[e] = ZERO
            elif e.op in ("arg", "state"):
                done[e] = seed(e)
            else:
                done[e] = self._step(e, [done[a] for a in e.args])
        return done[root]

    def _step(self, e: Expr, t: list[Expr]) -> Expr:
        if e.op == "select":
            return choose(e.args[0], t[1], t[2])
        if all(is_zero(x) for x in t):
            return ZERO
        return self._operation(e, e.args, t)

    def _operation(self, e: Expr, a: tuple[Expr, ...], t: list[Expr]) -> Expr:
        match e.op:
            case "add":
                return add(t[0], t[1])
            case "mul":
                return add(self.times(t[0], a[1]), self.times(t[1], a[0]))
            case "neg":
                return neg(t[0])
            case "atan2":
                return self._atan2(a, t)
            case "fold" if isinstance(e.payload, tuple):
                return fold(str(e.payload[0]), int(e.payload[1]), t[0])
            case "floor" | "to_real":
                return ZERO
            case _:
                return self.times(t[0], slope(e, a[0]))

    def _atan2(self, a: tuple[Expr, ...], t: list[Expr]) -> Expr:
        """(x·dy − y·dx) / (x² + y²)."""
        y, x = a
        norm = apply("recip", apply("add", apply("mul", x, x), apply("mul", y, y)))
        along = self.times(t[0], mul(x, norm))
        return sub(along, self.times(t[1], mul(y, norm)))


def _has_zero_branch(e: Expr) -> bool:
    return e.op == "select" and ZERO in e.args[1:]


def slope(e: Expr, a: Expr) -> Expr:
    """d e / d a of a function of one operand."""
    match e.op:
        case "recip":
            return neg(apply("mul", e, e))
        case "sqrt":
            return mul(real(Fraction(1, 2)), apply("recip", e))
        case "sin":
            return derived.cos(a)
        case "exp2":
            return mul(named("ln2"), e)
        case "log2":
            return mul(named("log2e"), apply("recip", a))
        case "erf":
            bell = derived.exp(neg(apply("mul", a, a)))
            return mul(apply("mul", real(2), apply("recip", apply("sqrt", named("pi")))), bell)
        case _:
            return ZERO
