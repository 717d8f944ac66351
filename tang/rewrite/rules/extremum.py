"""Rules `argmax` and `gather-at-argmax`: where the largest element is, found in one pass.

Defines the two rows, which serve minima too. Relies on normal forms and opened nodes. The last
among equals is the first of the negated positions; what lies between is left as it is written.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Final

from tang.ir import monoids
from tang.ir.expr import INDEX, REAL, Expr, Sort, apply, arg, index, iota, walk
from tang.ir.extent import ZERO, Poly
from tang.ir.graph import Comprehension, Fact
from tang.ir.view import Affine, Read, Ref, View, constant, variable
from tang.rewrite.constants import special
from tang.rewrite.kinds import kind_of
from tang.rewrite.linear import form_of, index_expr
from tang.rewrite.matching import branch, may_select, tests_of
from tang.rewrite.normal import Monomial, Ring, Terms, emit, monomial, scaled, total
from tang.rewrite.opened import (
    NotHereError,
    Opened,
    Space,
    compact,
    conditions,
    nonempty,
    own,
    plain,
)
from tang.rewrite.program import Program, with_reads
from tang.rewrite.proofs import Domain, domain_of
from tang.rewrite.rule import Edit, Requirement, Rule
from tang.rewrite.scalar import simplifier

_SIGNS: Final = {"min": 1, "index_min": 1, "max": -1, "index_max": -1}
"""Folds that pick the least position, or minus the least of minus the positions."""
_MONOIDS: Final = {"max": monoids.ARGMAX, "min": monoids.ARGMIN}
_LARGEST: Final = 2**31 - 1
"""No position is larger, whatever the size of its dim."""


@dataclass(frozen=True, slots=True)
class _Pick:
    """What a fold takes where a test holds: sign · (position + offset), as a real or an index."""

    position: Expr
    offset: Affine
    sign: int


def _find(program: Program, node: Comprehension) -> Edit | None:
    """The least of select(x = max x, position, beyond), or the largest of its negative."""
    sign = _SIGNS.get(kind_of(node) or "")
    if sign is None or not may_select(program, node):
        return None
    space = Space(program, node.dims)
    try:
        body = simplifier(node, program.facts)(space.full(own(space, node)))
        for test, hit, miss in _selections(body):
            found = _extremum(space, node, test)
            if found is None or not nonempty(program, node):
                continue
            pick = _pick(space, node, hit, miss, sign)
            if pick is not None:
                return _edit(program, node, space, found, pick)
    except NotHereError:
        return None
    return None


def _selections(e: Expr) -> Iterator[tuple[Expr, Expr, Expr]]:
    """Every test that selects, with what the expression is where it holds and where it fails."""
    for test in tests_of(e):
        hit, miss = (branch(e, test, k) for k in (1, 2))
        yield test, hit, miss
        yield apply("not", test), miss, hit


def _pick(space: Space, node: Comprehension, hit: Expr, miss: Expr, sign: int) -> _Pick | None:
    """The position that the fold takes, where `miss` never comes before it."""
    ring = Ring()
    whole = _as_index(scaled(ring.terms(hit), Fraction(sign)), hit.sort)
    if whole is None or not _is_beyond(
        space, node, whole, scaled(ring.terms(miss), Fraction(sign))
    ):
        return None
    reduce = {d.name for d in node.reduce}
    own_part = {m: c for m, c in whole.items() if any(space.depends(a) & reduce for a, _ in m)}
    rest = {m: c for m, c in whole.items() if m not in own_part}
    offset = form_of(rest, space.extents)
    if offset is None or index_expr(offset, iota, node.point) is None:
        own_part, offset = whole, constant(0)
    return _Pick(emit(own_part, INDEX), offset, sign) if own_part else None


def _as_index(terms: Terms, sort: Sort) -> Terms | None:
    """A whole sum of casts of indices as a sum of these indices."""
    if any(c.denominator != 1 or any(p < 0 for _, p in m) for m, c in terms.items()):
        return None
    if sort is INDEX:
        return terms
    if any(a.op != "to_real" for m in terms for a, _ in m):
        return None
    return {monomial({a.args[0]: p for a, p in m}): c for m, c in terms.items()}


def _is_beyond(space: Space, node: Comprehension, position: Terms, beyond: Terms) -> bool:
    """Whether the value for elements that are not the largest is at least every position."""
    if any(_is_infinite(m, c) for m, c in beyond.items()):
        return True
    whole = {m: Fraction(math.floor(c)) if not m else c for m, c in beyond.items()}
    casts = any(a.op == "to_real" for m in whole for a, _ in m)
    bound = _as_index(whole, REAL if casts else INDEX)
    low = None if bound is None else form_of(bound, space.extents)
    high = form_of(position, space.extents)
    if low is None or high is None:
        return False
    domain = domain_of(node, space.program.facts)
    others = {d.name: f"{d.name}'" for d in node.reduce}
    moved = low.substitute({d: variable(o) for d, o in others.items()})
    extents = dict(domain.extents) | {o: domain.extents[d] for d, o in others.items()}
    if Domain(extents, domain.minimum).at_least(moved - high, ZERO):
        return True
    greatest = _greatest(high, space.extents, space.program.facts)
    constant_bound = not low.terms and low.const.is_constant
    return constant_bound and greatest is not None and greatest <= low.const.constant


def _is_infinite(m: Monomial, c: Fraction) -> bool:
    return len(m) == 1 and m[0][1] == 1 and special(m[0][0]) == ("inf" if c > 0 else "-inf")


def _greatest(form: Affine, extents: Mapping[str, Poly], facts: Sequence[Fact]) -> int | None:
    """An upper bound of a form; sizes are bounded by facts, a dim alone by the last position."""
    most = {f.symbol: f.maximum for f in facts}
    found = _most(form.const, most)
    for v, c in form.terms:
        size, factor = _most(extents[v] - 1, most), _most(c, most)
        if size is None:
            size = _LARGEST - 1
        if found is None or factor is None:
            return None
        found += max(size * factor, 0)
    return found


def _most(p: Poly, most: Mapping[str, int | None]) -> int | None:
    """An upper bound of a polynomial; symbols are never negative."""
    total = 0
    for m, c in p.terms:
        if c < 0:
            total += c if not m else 0
            continue
        sizes = [most.get(s) for s in m]
        if None in sizes:
            return None
        total += c * prod(s for s in sizes if s is not None)
    return total


# --- the test ------------------------------------------------------------------------------------


def _extremum(space: Space, node: Comprehension, test: Expr) -> tuple[Opened, Expr] | None:
    """The maximum or minimum that the test compares with, and its element in this space."""
    ring = Ring()
    reduce = [(d.name, d.extent) for d in node.reduce]
    wanted = _compared(ring, test)
    if wanted is None:
        return None
    for a in walk(test):
        top = space.reduction(a, "max", "min")
        if top is None or space.depends(a) & {n for n, _ in reduce}:
            continue
        for naming in top.namings(reduce):
            if top.where(naming) != conditions(node, {}):
                continue
            element = top.body(naming)
            above = _minus(ring.terms(space.full(element)), ring.terms(space.full(a)))
            if wanted in _tests(kind_of(top.node) == "max", above):
                return top, element
    return None


def _tests(largest: bool, above: Terms) -> tuple[tuple[str, Terms], ...]:
    """Ways to ask whether an element is the largest (smallest), for numbers that are no NaN."""
    below = scaled(above, Fraction(-1))
    return ("=", above), ("=", below), ("≥", above if largest else below)


def _compared(ring: Ring, test: Expr) -> tuple[str, Terms] | None:
    """A comparison of reals as one of a difference with 0; None for any other test."""
    if test.op == "not":
        found = _compared(ring, test.args[0])
        if found is None or found[0] not in _NEGATED:
            return None
        return _NEGATED[found[0]], scaled(found[1], Fraction(-1))
    if test.op == "or" and {a.op for a in test.args} == {"lt", "eq"}:
        less, equal = sorted(test.args, key=lambda a: a.op == "eq")
        found = _compared(ring, less)
        same = set(less.args) == set(equal.args)
        return ("≥", found[1]) if found is not None and same else None
    if test.op not in ("lt", "eq") or test.args[0].sort is not REAL:
        return None
    a, b = map(ring.terms, test.args)
    return ("=", _minus(a, b)) if test.op == "eq" else (">", _minus(b, a))


_NEGATED: Final = {">": "≥", "≥": ">"}


def _minus(a: Terms, b: Terms) -> Terms:
    return total([a, scaled(b, Fraction(-1))])


# --- the edit ------------------------------------------------------------------------------------


def _edit(
    program: Program,
    node: Comprehension,
    space: Space,
    found: tuple[Opened, Expr],
    pick: _Pick,
) -> Edit | None:
    top, element = found
    monoid = _MONOIDS[kind_of(top.node) or "max"]
    reads, body = compact(space.reads, (element, pick.position))
    name = program.fresh(f"{node.name}.{monoid.name}")
    fused = Comprehension(name, node.point, reads, body, node.reduce, node.where, monoid)
    new, inserted = Ref(name, "index"), [fused]
    value = _value_of(pick, node)
    if value is not arg(0, INDEX):
        moved = Comprehension(
            program.fresh(f"{name}.value", [name]), node.point, (plain(fused, new),), (value,),
            outputs=("value",),
        )  # fmt: skip
        inserted.append(moved)
        new = Ref(moved.name, "value")
    used = program.used(node.name)
    redirect = {Ref(node.name, o): new for o in used}
    kind = (tuple(d.extent for d in node.point), node.body[0].sort)
    if any(program.type_of(r) != kind for r in redirect):
        return None
    over = ", ".join(d.name for d in node.reduce)
    text = f"{node.name}, the {over} where x = {top.node.name} → {monoid.name} {name}"
    context = tuple(s for s in space.seen if s != node.name)
    return Edit((node.name,), tuple(inserted), node.name, text, redirect, context)


def _value_of(pick: _Pick, node: Comprehension) -> Expr:
    """What the fold gave, from the index that is argument 0."""
    value = arg(0, INDEX)
    offset = index_expr(pick.offset, iota, node.point)
    if offset is not None and offset is not index(0):
        value = apply("add", value, offset)
    if pick.sign < 0:
        value = apply("neg", value)
    return apply("to_real", value) if node.body[0].sort is REAL else value


# --- the value at the argmax ---------------------------------------------------------------------


def _value(program: Program, node: Comprehension) -> Edit | None:
    for n, read in enumerate(node.reads):
        found = _best(program, read)
        if found is not None:
            reads = tuple(found if k == n else r for k, r in enumerate(node.reads))
            text = f"{read.source} at {found.source.node}.index → {found.source}"
            changed = with_reads(node, reads)
            return Edit((node.name,), (changed,), node.name, text, context=(found.source.node,))
    return None


def _best(program: Program, read: Read) -> Read | None:
    """The read of the value that an argmax keeps, for a read of its operand at its index."""
    view = read.view
    if view.guard or len(view.gathers) != 1 or view.gathers[0].view.guard:
        return None
    gather = view.gathers[0]
    where = program.node(gather.source.node)
    if where is None or kind_of(where) not in ("argmax", "argmin") or gather.view.gathers:
        return None
    if gather.source.output != (where.monoid.outputs[0].name if where.monoid else ""):
        return None
    operand = _operand(where)
    if operand is None or operand.source != read.source:
        return None
    at: dict[str, Affine] = {
        d.name: c for d, c in zip(where.point, gather.view.coords, strict=True)
    }
    at[where.reduce[0].name] = variable("@0")
    if tuple(c.substitute(at) for c in operand.view.coords) != view.coords:
        return None
    value = where.monoid.outputs[1].name if where.monoid else ""
    return Read(Ref(where.name, value), View(gather.view.coords))


def _operand(where: Comprehension) -> Read | None:
    """What an argmax over the positions of one dim reads, if that is a plain tensor."""
    value, position = where.body
    if len(where.reduce) != 1 or position is not iota(where.reduce[0].name):
        return None
    if value.op != "arg" or not isinstance(value.payload, int):
        return None
    found = where.reads[value.payload]
    return None if found.view.guard or found.view.gathers else found


ARGMAX: Final = Rule(
    "argmax",
    "the least position among those where x = max x → argmax of x; argmin likewise",
    "total order",
    frozenset({Requirement.FINITE}),
    "Tang.argmax",
    _find,
)

GATHER_AT_ARGMAX: Final = Rule(
    "gather-at-argmax",
    "x gathered at argmax x → the value that the argmax keeps",
    "total order with NaN first",
    frozenset(),
    "Tang.gather_at_argmax",
    _value,
)
