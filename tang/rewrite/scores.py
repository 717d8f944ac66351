"""Scores: s of a sum of exp(s − m), found by comparing it with the body of the maximum m.

Defines `Sum`, `stable_score` and `shifted_score`. Relies on weights, normal forms and opened
nodes. It edits nothing; whether a shift may be dropped is for the rule to say.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from tang.ir.derived import select
from tang.ir.expr import Expr, apply, index, iota, named, real, walk
from tang.ir.graph import Comprehension
from tang.ir.view import Affine
from tang.rewrite.linear import index_expr
from tang.rewrite.normal import LN2, Ring, Terms, emit, scaled
from tang.rewrite.opened import Opened, Space, conditions
from tang.rewrite.weights import Weight, conjuncts

_NEGATIVE_INFINITY: Final = named("-inf")


@dataclass(frozen=True, slots=True)
class Sum:
    """A sum whose body holds a weight, opened in a space of its own dims."""

    space: Space
    node: Comprehension
    weight: Weight


@dataclass(frozen=True, slots=True)
class Stable:
    """A weight exp2(κ·s − κ·shift), where shift is the maximum of s: score = κ·s·ln 2.

    κ = factor · (ln 2)^power
    """

    score: Expr
    shift: Expr
    factor: Fraction
    power: int


def stable_score(n: Sum, *, exact: bool) -> Stable | None:
    """s with weight = exp(s − max s), from the body of the node that takes the maximum."""
    space, ring = n.space, Ring(exact=exact)
    exponent = ring.terms(space.full(n.weight.exponent))
    reduce = frozenset(d.name for d in n.node.reduce)
    for a in walk(space.full(n.weight.exponent)):
        top = space.reduction(a, "max")
        if top is None or space.depends(a) & reduce:
            continue
        for shift in (a, *_safe(a)):
            scale = _scale_of(exponent, ring.canonical(shift))
            if scale is None:
                continue
            found = _score_of(n, ring, top, exponent, ring.canonical(shift), scale)
            if found is not None and not (exact and ring.lossy):
                return Stable(found, shift, *scale)
    return None


def _safe(m: Expr) -> tuple[Expr, ...]:
    """The maximum, or 0 where it is −inf: rows without a live score give 0 / 0 either way."""
    none, zero = _NEGATIVE_INFINITY, real(0)
    return (
        select(apply("eq", m, none), zero, m),
        select(apply("lt", none, m), m, zero),
    )


def _scale_of(exponent: Terms, shift: Expr) -> tuple[Fraction, int] | None:
    """κ > 0 with exponent = … − κ·shift: its rational part and its power of ln 2."""
    holders = [m for m in exponent if shift in dict(m)]
    if len(holders) != 1:
        return None
    powers, factor = dict(holders[0]), -exponent[holders[0]]
    if powers.pop(shift) != 1 or set(powers) - {LN2} or factor <= 0:
        return None
    return factor, powers.get(LN2, 0)


def _score_of(
    n: Sum,
    ring: Ring,
    top: Opened,
    exponent: Terms,
    shift: Expr,
    scale: tuple[Fraction, int],
) -> Expr | None:
    factor, power = scale
    times = ((LN2, power),) if power else ()
    rest = {m: c for m, c in exponent.items() if shift not in dict(m)}
    names = [d.name for d in n.node.reduce]
    here = conditions(n.node, {})
    wanted = conjuncts(ring, map(n.space.full, n.weight.conditions))
    for naming in top.namings([(a, n.space.extents[a]) for a in names]):
        body, there = top.body(naming), top.where(naming)
        if not here <= there:
            continue
        masks = [_holds(n, form) for form in sorted(there - here, key=str)]
        if None in masks:
            continue
        for mask in masks:
            body = select(mask, body, _NEGATIVE_INFINITY) if mask is not None else body
        full = n.space.full(body)
        if wanted:
            under, inner = masked(full)
            if conjuncts(ring, under) != wanted:
                continue
            full = inner
        elif masks:
            continue
        if scaled(ring.terms(full), factor, times) == rest:
            return _times(body, factor, power + 1)
    return None


def _holds(n: Sum, form: Affine) -> Expr | None:
    """A condition form ≥ 0 as an expression of the sum."""
    found = index_expr(form, iota, n.node.dims)
    return None if found is None else apply("not", apply("lt", found, index(0)))


def masked(e: Expr) -> tuple[list[Expr], Expr]:
    """before: select(c, x, −inf) → after: ([c], x), also nested and the other way round."""
    found = []
    while e.op == "select":
        c, a, b = e.args
        if b is _NEGATIVE_INFINITY:
            found.append(c)
            e = a
        elif a is _NEGATIVE_INFINITY:
            found.append(apply("not", c))
            e = b
        else:
            break
    return found, e


def _times(e: Expr, factor: Fraction, power: int) -> Expr:
    """e · factor · ln2 ** power, so that exp of it is exp2 of e · factor · ln2 ** (power − 1)."""
    if factor == 1 and not power:
        return e
    return apply("mul", e, emit({((LN2, power),) if power else (): factor}))


def shifted_score(n: Sum, *, drop: bool) -> Expr | None:
    """ln 2 · exponent; with `drop`, without what does not depend on the reduce dims.

    Dropping is right where the same factor is in numerator and denominator, and only there.
    """
    reduce = frozenset(d.name for d in n.node.reduce)
    terms = Ring().terms(n.weight.exponent)
    kept = {m: c for m, c in terms.items() if any(n.space.depends(a) & reduce for a, _ in m)}
    if not kept:
        return None
    score = emit(scaled(kept if drop else terms, Fraction(1), ((LN2, 1),)))
    for c in n.weight.conditions:
        score = select(c, score, _NEGATIVE_INFINITY)
    return score
