"""Rules `gate-to-where` and `recognise-scan`: prefix sums in the form that costs linear time.

Defines the two rows. Relies on `tang.ir.scans` for the form itself, on weights and normal forms.
It makes the scan; cutting it into chunks is `chunk-scan`, running it in order a schedule's work.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from tang.ir import monoids
from tang.ir.expr import INDEX, Expr, apply, named, real
from tang.ir.graph import Comprehension
from tang.ir.scans import is_inclusive, scan_of
from tang.ir.view import Affine, Ref, variable
from tang.rewrite.kinds import INDEX_MAX, INDEX_MIN, kind_of
from tang.rewrite.linear import form_of
from tang.rewrite.normal import Ring, emit, mul_all, scaled, total
from tang.rewrite.opened import NotHereError, Opened, Space, compact, inner_env, own
from tang.rewrite.program import Program
from tang.rewrite.rule import Edit, Requirement, Rule
from tang.rewrite.weights import is_weight, spread, weight_of

# --- gates ---------------------------------------------------------------------------------------

_NEUTRAL: Final = {
    "sum": real(0), "prod": real(1), "max": named("-inf"), "min": named("inf"),
    "index_sum": monoids.COUNT.identity and monoids.COUNT.identity[0],
    "index_max": INDEX_MAX.identity and INDEX_MAX.identity[0],
    "index_min": INDEX_MIN.identity and INDEX_MIN.identity[0],
}  # fmt: skip
"""What an element contributes that contributes nothing."""


def _gate(program: Program, node: Comprehension) -> Edit | None:
    neutral = _NEUTRAL.get(kind_of(node) or "")
    body = node.body[0]
    if neutral is None or body.op != "select":
        return None
    test, inner, other = body.args
    if inner is neutral and other is not neutral:
        test, inner, other = apply("not", test), other, inner
    if other is not neutral:
        return None
    found = _forms(node, test)
    if not found or not any(f.variables & {d.name for d in node.reduce} for f in found):
        return None
    reads, exprs = compact(node.reads, (inner,))
    changed = Comprehension(
        node.name, node.point, reads, exprs, node.reduce, (*node.where, *found), node.monoid
    )
    shown = ", ".join(f"{f} ≥ 0" for f in found)
    if any(_types(changed, o) != program.type_of(Ref(node.name, o))
           for o in program.used(node.name)):  # fmt: skip
        return None
    text = f"{node.name} over a gated body → over the points where {shown}"
    return Edit((node.name,), (changed,), node.name, text)


def _types(node: Comprehension, output: str) -> tuple[object, object]:
    tensor = node.tensor(output)
    return tensor.shape, tensor.sort


def _forms(node: Comprehension, test: Expr) -> tuple[Affine, ...] | None:
    """Forms that are all ≥ 0 exactly where the test on dims holds; None for any other test."""
    if test.op == "and":
        parts = [_forms(node, a) for a in test.args]
        return None if None in parts else tuple(f for p in parts for f in p or ())
    if test.op == "eq" and test.args[0].sort is INDEX:
        difference = _difference(node, *test.args)
        return None if difference is None else (difference, -difference)
    positive = Ring().canonical(test)
    if positive.op == "lt" and positive.args[0].sort is INDEX:
        difference = _difference(node, positive.args[1], positive.args[0])
        return None if difference is None else (difference - 1,)
    return None


def _difference(node: Comprehension, a: Expr, b: Expr) -> Affine | None:
    """a − b as a form over the dims."""
    ring = Ring()
    difference = total([ring.terms(a), scaled(ring.terms(b), Fraction(-1))])
    return form_of(difference, {d.name: d.extent for d in node.dims})


# --- decayed sums --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Decay:
    """The factor that an element keeps per step: a(s), which positions hold it, and its text."""

    each: Expr
    own_too: bool
    used: frozenset[int]


def _scan(program: Program, node: Comprehension) -> Edit | None:
    if kind_of(node) != "sum" or len(node.reduce) != 1 or len(node.where) != 1:
        return None
    (over,), space = node.reduce, Space(program, node.dims)
    try:
        parts = spread(space, own(space, node))
        for along in node.point:
            at = variable(along.name) - variable(over.name)
            if node.where == (at,) and along.extent == over.extent:
                return _affine(program, node, space, parts, along.name, over.name)
    except NotHereError:
        return None
    return None


def _affine(
    program: Program, node: Comprehension, space: Space, parts: list[Expr], t: str, s: str
) -> Edit | None:
    for decay in _decays(space, parts, t, s):
        rest = [p for k, p in enumerate(parts) if k not in decay.used]
        if any(t in space.depends(space.full(p)) for p in (*rest, decay.each)):
            continue
        added = mul_all([*([decay.each] if decay.own_too else []), *rest])
        reads, exprs = compact(space.reads, (decay.each, added))
        fused = Comprehension(
            program.fresh(f"{node.name}.scan"),
            node.point, reads, exprs, node.reduce, node.where, monoids.AFFINE_SCAN,
        )  # fmt: skip
        used = program.used(node.name)
        redirect = {Ref(node.name, o): Ref(fused.name, "value") for o in used}
        if any(program.type_of(r) != _types(fused, "value") for r in redirect):
            return None
        text = f"{node.name} = Σ over {s} ≤ {t} of decay · b → affine scan h ← a·h + b"
        return Edit((node.name,), (fused,), node.name, text, redirect, tuple(space.seen))
    return None


def _decays(space: Space, parts: list[Expr], t: str, s: str) -> Iterator[_Decay]:
    for n, p in enumerate(parts):
        found = space.reduction(p, "prod")
        if found is not None:
            yield from _product_between(space, found, n, t, s)
            yield from _ratio(space, parts, n, found, t, s)
        elif is_weight(p):
            yield from _exponential(space, p, n, t, s)


def _product_between(space: Space, o: Opened, n: int, t: str, s: str) -> Iterator[_Decay]:
    """Π a(r) over s < r ≤ t, or over s ≤ r ≤ t."""
    if len(o.node.reduce) != 1:
        return
    r = space.add(o.node.reduce[0])
    end = variable(t) - variable(r)
    start = variable(r) - variable(s)
    for first, own_too in ((start - 1, False), (start, True)):
        if o.where([r]) == frozenset((end, first)):
            yield _Decay(_at(space, o, s), own_too, frozenset((n,)))


def _at(space: Space, o: Opened, s: str) -> Expr:
    """The element of a reduction at position s of this space."""
    return space.body(o.node, inner_env(o.env, o.node.reduce, [s]))


def _ratio(
    space: Space, parts: list[Expr], n: int, above: Opened, t: str, s: str
) -> Iterator[_Decay]:
    """P(t) / P(s) for a running product P."""
    if not is_inclusive(above.node):
        return
    for k, p in enumerate(parts):
        below = space.reduction(p.args[0], "prod") if p.op == "recip" else None
        if below is not None and _pair(above, below, t, s):
            yield _Decay(_at(space, above, s), False, frozenset((n, k)))


def _pair(above: Opened, below: Opened, t: str, s: str) -> bool:
    """Whether one scan is read at t and at s, and otherwise at the same place."""
    scan = scan_of(above.node)
    if scan is None or above.node is not below.node or above.output != below.output:
        return False
    name = scan.along.name
    if (above.env[name], below.env[name]) != (variable(t), variable(s)):
        return False
    others = [d.name for d in above.node.point if d.name != name]
    return all(above.env[d] == below.env[d] for d in others)


def _exponential(space: Space, p: Expr, n: int, t: str, s: str) -> Iterator[_Decay]:
    """exp2(κ·(L(t) − L(s))) for a running sum L."""
    weight = weight_of([p])
    if weight is None or weight.conditions:
        return
    ring = Ring()
    terms = ring.terms(space.full(weight.exponent))
    if len(terms) != 2:
        return
    for (first, c), (second, d) in (tuple(terms.items()), tuple(terms.items())[::-1]):
        for atom, power in first:
            above = space.reduction(atom, "sum")
            if above is None or power != 1 or not is_inclusive(above.node) or c != -d:
                continue
            gone, kept = set(first) - set(second), set(second) - set(first)
            if gone != {(atom, 1)} or len(kept) != 1:
                continue
            below = space.reduction(next(iter(kept))[0], "sum")
            if below is not None and _pair(above, below, t, s):
                scale = tuple(ap for ap in first if ap[0] is not atom)
                step = ring.terms(_at(space, above, s))
                each = apply("exp2", emit(scaled(step, Fraction(c), scale)))
                yield _Decay(each, False, frozenset((n,)))


GATE_TO_WHERE: Final = Rule(
    "gate-to-where",
    "a fold of select(condition on dims, x, neutral) → a fold of x over the points where it holds",
    "commutative monoid with identity",
    frozenset(),
    "Tang.gate_to_where",
    _gate,
)

RECOGNISE_SCAN: Final = Rule(
    "recognise-scan",
    "Σ over s ≤ t of (Π over s < r ≤ t of a(r)) · b(s) → affine scan h ← a·h + b",
    "real field",
    frozenset({Requirement.FINITE, Requirement.REASSOCIATES}),
    "Tang.recognise_scan",
    _scan,
)
