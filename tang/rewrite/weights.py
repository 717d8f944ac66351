"""Weights: products of exponentials, and how a sum is split into weights and values.

Defines `Weight`, `spread`, `indicator`, `weight_of` and `conjuncts`. Relies on normal forms and
opened nodes. It does not say what the weights are for: softmax, logsumexp and decayed sums all
look for them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from tang.ir.expr import Expr, apply, index, real, walk
from tang.ir.graph import Comprehension
from tang.rewrite.normal import Ring, add_all, factors
from tang.rewrite.opened import Env, Space, nonempty, own

_ZERO: Final = real(0)
_PARTIAL: Final = ("recip", "log2", "sqrt")
_BITS: Final = {real(0): False, real(1): True, index(0): False, index(1): True}


@dataclass(frozen=True, slots=True)
class Weight:
    """exp2(exponent) where all conditions hold, else 0."""

    conditions: tuple[Expr, ...]
    exponent: Expr

    def moved(self, space: Space, node: Comprehension, target: Space, env: Env) -> Weight:
        """The weight in another space, the node's dims replaced."""
        if target is space:
            return self
        moved = [
            target.moved(e, space.reads, node.dims, env) for e in (*self.conditions, self.exponent)
        ]
        return Weight(tuple(moved[:-1]), moved[-1])


def conjuncts(ring: Ring, conditions: Iterable[Expr]) -> frozenset[Expr]:
    """The conditions that all hold where these do, one by one, in normal form."""
    found: list[Expr] = []
    left = list(conditions)
    while left:
        c = left.pop()
        inner = c.args[0] if c.op == "not" else c
        if c.op == "and":
            left += c.args
        elif c.op == "not" and inner.op == "not":
            left.append(inner.args[0])
        elif c.op == "not" and inner.op == "or" and ring.canonical(inner).op == "or":
            left += (apply("not", a) for a in inner.args)
        else:
            found.append(ring.canonical(c))
    return frozenset(found)


def spread(space: Space, e: Expr, exact: bool = True) -> list[Expr]:
    """The factors of a product; a map that holds exponentials or reciprocals is looked through.

    Unless exact, select(c, w·v, 0) with an exponential w counts as select(c, w, 0) · v, which
    differs where v is no finite number, and a map that holds an indicator is looked through. A v
    that finite operands do not make finite, such as 1/x, keeps its condition.
    """
    found: list[Expr] = []
    for f in factors(e):
        position = f.payload if f.op == "arg" else None
        inner = space.opened(position) if isinstance(position, int) else None
        parts = spread(space, inner, exact) if inner is not None else []
        if any(is_weight(p, exact=exact) or p.op == "recip" for p in parts):
            found += parts
        else:
            found += [f] if exact else _split(space, f)
    return found


def _split(space: Space, f: Expr) -> list[Expr]:
    """before: select(c, w·v, 0) → after: select(c, w, 0), v, or select(c, v, 0) for a partial v."""
    cut = _cut(f)
    if cut is None or is_weight(f):
        return [f]
    condition, inner = cut
    parts = spread(space, inner, False)
    weights = [n for n, p in enumerate(parts) if is_weight(p)]
    if not weights:
        return [f]
    return [
        apply("select", condition, p, _ZERO) if n == weights[0] or _is_partial(space, p) else p
        for n, p in enumerate(parts)
    ]


def _is_partial(space: Space, e: Expr) -> bool:
    """Whether finite operands may give no finite number: roots, logarithms, reciprocals."""
    return any(x.op in _PARTIAL and not _is_of_mass(space, x) for x in walk(space.full(e)))


def _is_of_mass(space: Space, e: Expr) -> bool:
    """Whether it is an operation on a sum of exponentials, one at least, which is above 0."""
    mass = space.reduction(e.args[0], "sum")
    if mass is None or not nonempty(space.program, mass.node):
        return False
    inside = Space(space.program, mass.node.dims)
    return inside.full(own(inside, mass.node)).op == "exp2"


def _cut(f: Expr) -> tuple[Expr, Expr] | None:
    """The condition and value of select(c, x, 0) or select(¬c, 0, x)."""
    if f.op != "select":
        return None
    c, a, b = f.args
    if b is _ZERO:
        return c, a
    return (apply("not", c), b) if a is _ZERO else None


def indicator(e: Expr) -> Expr | None:
    """The condition where an expression is 1 that is 0 elsewhere; None for any other."""
    if e.op == "select":
        one, zero = (_BITS.get(x) for x in e.args[1:])
        if one is None or zero is None or one is zero:
            return None
        return e.args[0] if one else apply("not", e.args[0])
    if e.op == "to_real":
        return indicator(e.args[0])
    if e.op == "mul":
        a, b = map(indicator, e.args)
        return apply("and", a, b) if a is not None and b is not None else None
    return _complement(e) if e.op == "add" else None


def _complement(e: Expr) -> Expr | None:
    """The condition of 1 − i for an indicator i."""
    for x, y in (e.args, e.args[::-1]):
        if _BITS.get(x) and y.op == "neg":
            found = indicator(y.args[0])
            return None if found is None else apply("not", found)
    return None


def is_weight(f: Expr, *, exact: bool = True) -> bool:
    """Whether a factor is an exponential, or one where a condition holds and else 0.

    Unless exact, an indicator counts as one: 0 · exp(s) is 0 for finite numbers alone.
    """
    cut = _cut(f)
    if cut is not None and is_weight(cut[1]):
        return True
    return f.op == "exp2" or (not exact and indicator(f) is not None)


def weight_of(parts: list[Expr]) -> Weight | None:
    """The product of weights as one; None of nothing, or of indicators alone."""
    conditions: list[Expr] = []
    exponents: list[Expr] = []
    for p in parts:
        bit = indicator(p)
        if bit is not None:
            conditions.append(bit)
            continue
        cut = _cut(p)
        while cut is not None:
            conditions.append(cut[0])
            p = cut[1]
            cut = _cut(p)
        exponents.append(p.args[0])
    return Weight(tuple(conditions), add_all(exponents)) if exponents else None
