"""Rules `gate-to-where`, `zero-gate-to-where` and `recognise-scan`: prefix sums in linear time.

Defines the three rows. Relies on `tang.ir.scans` for the form itself, on weights and normal forms.
It makes the scan; cutting it into chunks is `chunk-scan`, running it in order a schedule's work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Final

from tang.ir import monoids
from tang.ir.expr import BOOL, INDEX, Expr, apply, boolean, index, named, real, substitute, walk
from tang.ir.extent import ZERO
from tang.ir.graph import Comprehension
from tang.ir.scans import is_inclusive, scan_of
from tang.ir.view import Affine, Ref, variable
from tang.rewrite.kinds import kind_of
from tang.rewrite.linear import form_of
from tang.rewrite.matching import tests_of
from tang.rewrite.normal import Monomial, Ring, Terms, emit, mul_all, scaled, total
from tang.rewrite.opened import NotHereError, Opened, Space, compact, own
from tang.rewrite.program import Program
from tang.rewrite.proofs import Domain, domain_of
from tang.rewrite.rule import Edit, Requirement, Rule
from tang.rewrite.scalar import Simplifier, constant_of, simplifier
from tang.rewrite.weights import is_weight, spread, weight_of

# --- gates ---------------------------------------------------------------------------------------

_NEUTRAL: Final[dict[str, Expr]] = {
    "sum": real(0), "prod": real(1), "max": named("-inf"), "min": named("inf"),
    "logsumexp": named("-inf"),
    "index_sum": index(0), "index_max": index(-(2**31)), "index_min": index(2**31 - 1),
}  # fmt: skip
"""What an element contributes that contributes nothing."""
_NEUTRAL_FIRST: Final[dict[str, Expr]] = {**_NEUTRAL, "online_softmax": named("-inf")}
"""The same of the first of several bodies, where the others are finite."""
_DEPTH: Final = 3
"""Maps behind maps in which a gate is looked for."""


def _gate(program: Program, node: Comprehension) -> Edit | None:
    """A select on dims, however deep, under which the body comes to the neutral element."""
    neutral = _NEUTRAL.get(kind_of(node) or "")
    if neutral is None:
        return None
    body = node.body[0]
    for condition, inside, outside in _gates(body):
        found = _forms(node, condition)
        if not found or not _concerns(node, found):
            continue
        inner = _settled(inside())
        if constant_of(outside()) is not neutral or inner is neutral:
            continue
        edit = _restricted(program, node, found, (inner,))
        if edit is not None:
            return edit
    return None


Branch = Callable[[], Expr]


def _gates(e: Expr) -> Iterator[tuple[Expr, Branch, Branch]]:
    """Every condition on which a select depends, and what is where it holds and where it fails."""
    below = (x for test in tests_of(e) for x in reversed(list(walk(test))))
    for c in dict.fromkeys(x for x in below if x.sort is BOOL and x.names):
        yes, no = (partial(substitute, e, {c: boolean(v)}) for v in (True, False))
        yield c, yes, no
        yield apply("not", c), no, yes


def _settled(e: Expr) -> Expr:
    return Simplifier(Domain({}, {}), ())(e)


def _concerns(node: Comprehension, forms: Sequence[Affine]) -> bool:
    return any(f.variables & {d.name for d in node.reduce} for f in forms)


def _restricted(
    program: Program, node: Comprehension, forms: Sequence[Affine], bodies: Sequence[Expr]
) -> Edit | None:
    """The fold of these bodies over the points where these forms are ≥ 0, too."""
    reads, exprs = compact(node.reads, bodies)
    changed = Comprehension(
        node.name, node.point, reads, exprs, node.reduce, (*node.where, *forms), node.monoid
    )
    if any(_types(changed, o) != program.type_of(Ref(node.name, o))
           for o in program.used(node.name)):  # fmt: skip
        return None
    shown = ", ".join(f"{f} ≥ 0" for f in forms)
    text = f"{node.name} over a gated body → over the points where {shown}"
    return Edit((node.name,), (changed,), node.name, text)


def _zero_gate(program: Program, node: Comprehension) -> Edit | None:
    """The same over the reals, where 0 · x = 0, and through maps, which stay as they are."""
    neutral = _NEUTRAL_FIRST.get(kind_of(node) or "")
    if neutral is None or not _may_gate(program, node, _DEPTH):
        return None
    space, domain = Space(program, node.dims), domain_of(node, program.facts)
    try:
        body = space.full(own(space, node))
    except NotHereError:
        return None
    for condition, _, outside in _gates(body):
        found = _forms(node, condition) or ()
        new = tuple(f for f in found if not domain.at_least(f, ZERO))
        if not new or not _concerns(node, new) or not _vanishes(outside(), neutral):
            continue
        edit = _restricted(program, node, new, node.body)
        if edit is not None:
            return replace(edit, context=tuple(s for s in space.seen if s != node.name))
    return None


def _may_gate(program: Program, node: Comprehension, depth: int) -> bool:
    """A cheap test: a select on coordinates, here or in the maps that are read."""
    if any(x.op == "select" and x.args[0].names for x in walk(*node.body)):
        return True
    sources = (program.node(r.source.node) for r in node.reads if depth)
    return any(
        s is not None and s.monoid is None and _may_gate(program, s, depth - 1) for s in sources
    )


def _vanishes(e: Expr, neutral: Expr) -> bool:
    """Whether an expression over finite numbers comes to the neutral element."""
    return _settled(Ring().canonical(_settled(e))) is neutral


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
    """The factor that an element keeps per step, a(s), and whether its own is among them.

    used    positions of the factors that hold it
    beside  what they hold besides
    """

    each: Expr
    own_too: bool
    used: frozenset[int]
    beside: Expr | None = None


def _scan(program: Program, node: Comprehension) -> Edit | None:
    if kind_of(node) != "sum" or len(node.reduce) != 1 or len(node.where) != 1:
        return None
    (over,), space = node.reduce, Space(program, node.dims)
    try:
        for along in node.point:
            at = variable(along.name) - variable(over.name)
            if node.where == (at,) and along.extent == over.extent:
                parts = _ungated(space, node, along.name)
                return _affine(program, node, space, parts, along.name, over.name)
    except NotHereError:
        return None
    return None


def _ungated(space: Space, node: Comprehension, t: str) -> list[Expr]:
    """The factors of the body; those that depend on t without the gates that hold anyway."""
    known = simplifier(node, space.program.facts)
    found: list[Expr] = []
    for p in spread(space, own(space, node)):
        full = space.full(p) if t in space.depends(p) else p
        if full.op != "exp2" and not any(x.op == "select" for x in walk(full)):
            found.append(p)
        else:
            found += spread(space, known(full))
    return found


def _affine(
    program: Program, node: Comprehension, space: Space, parts: list[Expr], t: str, s: str
) -> Edit | None:
    for decay in _decays(space, parts, t, s):
        rest = [p for k, p in enumerate(parts) if k not in decay.used]
        rest += [decay.beside] if decay.beside is not None else []
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
    own_too = _between(space, o, t, s)
    each = None if own_too is None else _at(space, o, s)
    if own_too is not None and each is not None:
        yield _Decay(each, own_too, frozenset((n,)))


def _between(space: Space, o: Opened, t: str, s: str) -> bool | None:
    """Whether a fold over s ≤ r ≤ t holds the element at s too; None for other points."""
    if len(o.node.reduce) != 1:
        return None
    r = space.add(o.node.reduce[0])
    end = variable(t) - variable(r)
    start = variable(r) - variable(s)
    known = {frozenset((end, start - 1)): False, frozenset((end, start)): True}
    return known.get(o.where([r]))


def _at(space: Space, o: Opened, s: str) -> Expr | None:
    """The element of a reduction at position s; None where it depends on s in another way too."""
    if len(o.node.reduce) != 1:
        return None
    element = o.body([space.add(o.node.reduce[0])])
    return None if s in space.depends(space.full(element)) else o.body([s])


def _ratio(
    space: Space, parts: list[Expr], n: int, above: Opened, t: str, s: str
) -> Iterator[_Decay]:
    """P(t) / P(s) for a running product P."""
    if not is_inclusive(above.node):
        return
    for k, p in enumerate(parts):
        below = space.reduction(p.args[0], "prod") if p.op == "recip" else None
        if below is not None and _pair(above, below, t, s):
            each = _at(space, above, s)
            if each is not None:
                yield _Decay(each, False, frozenset((n, k)))


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
    """exp2(κ·(L(t) − L(s)) + …) for a running sum L, exp2(κ·Σ a(r) + …) over s < r ≤ t."""
    weight = weight_of([p])
    if weight is None or weight.conditions:
        return
    ring = Ring()
    terms = ring.terms(space.full(weight.exponent))
    for first, c in terms.items():
        for atom, power in first:
            above = space.reduction(atom, "sum") if power == 1 else None
            found = above and _step(space, terms, first, atom, above, t, s)
            if above is None or not found:
                continue
            own_too, used = found
            scale = tuple(ap for ap in first if ap[0] is not atom)
            step = _at(space, above, s)
            if step is None or any(s in space.depends(space.full(a)) for a, _ in scale):
                continue  # a decay of its own for every s
            each = apply("exp2", emit(scaled(ring.terms(step), Fraction(c), scale)))
            rest = {m: k for m, k in terms.items() if m not in used}
            beside = apply("exp2", emit(rest)) if rest else None
            yield _Decay(each, own_too, frozenset((n,)), beside)


def _step(
    space: Space, terms: Terms, first: Monomial, atom: Expr, above: Opened, t: str, s: str
) -> tuple[bool, frozenset[Monomial]] | None:
    """Whether a sum in an exponent that grows by a(t) holds a(s) too, and the terms it takes."""
    own_too = _between(space, above, t, s)
    if own_too is not None:
        return own_too, frozenset((first,))
    if not is_inclusive(above.node):
        return None
    for second, d in terms.items():
        gone, kept = set(first) - set(second), set(second) - set(first)
        if d != -terms[first] or gone != {(atom, 1)} or len(kept) != 1:
            continue
        below = space.reduction(next(iter(kept))[0], "sum")
        if below is not None and _pair(above, below, t, s):
            return False, frozenset((first, second))
    return None


GATE_TO_WHERE: Final = Rule(
    "gate-to-where",
    "a fold of select(condition on dims, x, neutral) → a fold of x over the points where it holds",
    "commutative monoid with identity",
    frozenset(),
    "Tang.gate_to_where",
    _gate,
)

ZERO_GATE_TO_WHERE: Final = Rule(
    "zero-gate-to-where",
    "Σ gate · x, gate 0 but where a condition on dims holds → Σ gate · x over the points where it "
    "holds; any fold whose body is neutral elsewhere",
    "real field",
    frozenset({Requirement.FINITE}),
    "Tang.zero_gate_to_where",
    _zero_gate,
    recalled=True,
)

RECOGNISE_SCAN: Final = Rule(
    "recognise-scan",
    "Σ over s ≤ t of (Π over s < r ≤ t of a(r)) · b(s) → affine scan h ← a·h + b",
    "real field",
    frozenset({Requirement.FINITE, Requirement.REASSOCIATES}),
    "Tang.recognise_scan",
    _scan,
)
