"""Weights: products of exponentials, and how a sum is split into weights and values.

Defines `Weight`, `spread` and `weight_of`. Relies on normal forms and opened nodes. It does not
say what the weights are for: softmax, logsumexp and decayed sums all look for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tang.ir.expr import Expr, apply, real
from tang.ir.graph import Comprehension
from tang.rewrite.normal import add_all, factors
from tang.rewrite.opened import Env, Space

_ZERO: Final = real(0)


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


def spread(space: Space, e: Expr, exact: bool = True) -> list[Expr]:
    """The factors of a product; a map that holds exponentials or reciprocals is looked through.

    Unless exact, select(c, w·v, 0) with an exponential w counts as select(c, w, 0) · v, which
    differs where v is no finite number.
    """
    found: list[Expr] = []
    for f in factors(e):
        position = f.payload if f.op == "arg" else None
        inner = space.opened(position) if isinstance(position, int) else None
        parts = spread(space, inner, exact) if inner is not None else []
        if any(is_weight(p) or p.op == "recip" for p in parts):
            found += parts
        else:
            found += [f] if exact else _split(space, f)
    return found


def _split(space: Space, f: Expr) -> list[Expr]:
    """before: select(c, w·v, 0) → after: select(c, w, 0), v."""
    cut = _cut(f)
    if cut is None or is_weight(f):
        return [f]
    condition, inner = cut
    parts = spread(space, inner, False)
    weights = [n for n, p in enumerate(parts) if is_weight(p)]
    if not weights:
        return [f]
    parts[weights[0]] = apply("select", condition, parts[weights[0]], _ZERO)
    return parts


def _cut(f: Expr) -> tuple[Expr, Expr] | None:
    """The condition and value of select(c, x, 0) or select(¬c, 0, x)."""
    if f.op != "select":
        return None
    c, a, b = f.args
    if b is _ZERO:
        return c, a
    return (apply("not", c), b) if a is _ZERO else None


def is_weight(f: Expr) -> bool:
    """Whether a factor is an exponential, or one where a condition holds and else 0."""
    cut = _cut(f)
    return is_weight(cut[1]) if cut is not None else f.op == "exp2"


def weight_of(parts: list[Expr]) -> Weight | None:
    """The product of weights as one; None of nothing."""
    if not parts:
        return None
    conditions: list[Expr] = []
    exponents: list[Expr] = []
    for p in parts:
        cut = _cut(p)
        while cut is not None:
            conditions.append(cut[0])
            p = cut[1]
            cut = _cut(p)
        exponents.append(p.args[0])
    return Weight(tuple(conditions), add_all(exponents))
