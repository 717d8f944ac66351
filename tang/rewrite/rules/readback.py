"""Rules `read-back`, `read-back-mass` and `read-back-mean`: what a larger reduction keeps.

Defines the three rows. Relies on normal forms and opened nodes. They make no reduction: another
rule has made the larger one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Final

from tang.ir.expr import Expr, arg, real, substitute, walk
from tang.ir.graph import Comprehension, reads_of
from tang.ir.view import Ref, variable
from tang.rewrite.counts import counts
from tang.rewrite.kinds import kind_of, value_names
from tang.rewrite.normal import Ring, mul_all, tidied
from tang.rewrite.opened import (
    NotHereError,
    Opened,
    Space,
    conditions,
    nonempty,
    own,
    plain,
    rebuilt,
    replaced,
)
from tang.rewrite.program import Program
from tang.rewrite.rule import Edit, Requirement, Rule
from tang.rewrite.scores import Sum, stable_score
from tang.rewrite.weights import is_weight, spread, weight_of

_KEEPS: Final = {
    "max": ("online_softmax", "logsumexp", "argmax"),
    "min": ("argmin",),
    "sum": ("welford",),
}
"""Kinds of reductions whose first component (of Welford: its mean) tells that of another kind."""


def _extremum(program: Program, node: Comprehension) -> Edit | None:
    if kind_of(node) not in ("max", "min"):
        return None
    for larger in _candidates(program, node):
        if not _after(program, node, larger) or _ratio(program, node, larger) != 1:
            continue
        semigroup = larger.monoid is not None and larger.monoid.identity is None
        if semigroup and not nonempty(program, larger):
            continue
        new = Ref(larger.name, larger.monoid.components[0].name if larger.monoid else "")
        used = program.used(node.name)
        redirect = {Ref(node.name, o): new for o in value_names(node) if o in used}
        if redirect and all(program.type_of(r) == program.type_of(new) for r in redirect):
            text = f"{node.name} → {new}, which {larger.name} keeps"
            context = _context(program, larger)
            return Edit((node.name,), (), node.name, text, redirect, context)
    return None


def _candidates(
    program: Program, node: Comprehension, kinds: Sequence[str] | None = None
) -> Iterator[Comprehension]:
    """Larger reductions over something that the node reads too, or that is read through a map."""
    seen: dict[str, None] = {}
    sources = [r.source.node for r in reads_of(node)]
    for reader in (r for s in sources for r in program.readers(s)):
        seen[reader.name] = None
        if reader.monoid is None:
            seen.update(dict.fromkeys(r.name for r in program.readers(reader.name)))
    found = (program.node(name) for name in seen)
    wanted = _KEEPS.get(kind_of(node) or "", ()) if kinds is None else kinds
    yield from (n for n in found if n is not None and kind_of(n) in wanted)


def _after(program: Program, node: Comprehension, larger: Comprehension) -> bool:
    """Whether everyone who reads the maximum comes after the larger reduction."""
    readers = program.readers(node.name)
    return all(r.name != larger.name and program.precedes(larger.name, r.name) for r in readers)


def _ratio(
    program: Program, node: Comprehension, larger: Comprehension, *, exact: bool = True
) -> Fraction | None:
    """c with element = c · element of the larger reduction, over the same points; 1 if exact.

    The smaller one's dims must be the other's, in order.
    """
    if larger.monoid is None:
        return None
    kept = larger.tensor(larger.monoid.components[0].name).dims if exact else larger.point
    if tuple(d.extent for d in kept) != tuple(d.extent for d in node.point):
        return None
    space, ring = Space(program, larger.dims), Ring(exact=exact)
    at = {d.name: variable(k.name) for d, k in zip(node.point, kept, strict=True)}
    inner = Opened(space, node, at)
    points = inner.namings([(d.name, d.extent) for d in larger.reduce])
    namings = [n for n in points if inner.where(n) == conditions(larger, {})]
    try:
        direct = own(space, larger)
        written = [inner.body(n) for n in namings]
        if direct in written:
            return Fraction(1)
        for mine in written:
            found = _quotient(ring, space.full(mine), space.full(direct))
            if found is not None and not (exact and (ring.lossy or found != 1)):
                return found
    except NotHereError:
        return None
    return None


def _quotient(ring: Ring, a: Expr, b: Expr) -> Fraction | None:
    """c with a = c · b."""
    above, below = ring.terms(a), ring.terms(b)
    if not below or above.keys() != below.keys():
        return None
    found = {above[m] / below[m] for m in below}
    return found.pop() if len(found) == 1 else None


def _context(program: Program, larger: Comprehension) -> tuple[str, ...]:
    """The larger reduction and the maps that it reads."""
    nodes = (program.node(r.source.node) for r in reads_of(larger))
    return (larger.name, *dict.fromkeys(n.name for n in nodes if n is not None and not n.monoid))


# --- masses ---------------------------------------------------------------------------------------


def _mass(program: Program, node: Comprehension) -> Edit | None:
    """before: Σ exp(s − max s) beside an online softmax of s → after: the l that it keeps.

    The online softmax moves to the place of the sum where it stands behind it, so that whatever
    reads the mass reads it from there; what it reads itself lies before that place.
    """
    if kind_of(node) != "sum" or not any(x.op == "exp2" for x in walk(*node.body)):
        return None
    try:
        for larger in _candidates(program, node, ("online_softmax", "logsumexp")):
            if larger.name != node.name and _is_mass(program, node, larger):
                edit = _read_mass(program, node, larger)
                if edit is not None:
                    return edit
    except NotHereError:
        return None
    return None


def _is_mass(program: Program, node: Comprehension, larger: Comprehension) -> bool:
    """Whether a sum is that of exp(s − max s) for the scores s of the larger one."""
    kept = larger.tensor(_second(larger)).dims
    if tuple(d.extent for d in kept) != tuple(d.extent for d in node.point):
        return False
    mine = Space(program, node.dims)
    parts = spread(mine, own(mine, node))
    weight = weight_of(parts) if all(is_weight(p) for p in parts) else None
    found = weight and stable_score(Sum(mine, node, weight), exact=False)
    if not found:
        return False
    space, ring = Space(program, larger.dims), Ring()
    at = {d.name: variable(k.name) for d, k in zip(node.point, kept, strict=True)}
    inner, wanted = Opened(space, node, at), space.full(own(space, larger))
    for naming in inner.namings([(d.name, d.extent) for d in larger.reduce]):
        if inner.where(naming) == conditions(larger, {}):
            score = space.moved(found.score, mine.reads, node.dims, inner.inner(naming))
            if ring.same(space.full(score), wanted):
                return True
    return False


def _second(larger: Comprehension) -> str:
    return larger.monoid.components[1].name if larger.monoid else ""


def _read_mass(program: Program, node: Comprehension, larger: Comprehension) -> Edit | None:
    new = Ref(larger.name, _second(larger))
    used = program.used(node.name)
    redirect = {Ref(node.name, o): new for o in value_names(node) if o in used}
    if not redirect or any(program.type_of(r) != program.type_of(new) for r in redirect):
        return None
    text = f"{node.name} → {new}, which {larger.name} keeps"
    tops = (program.node(r.source.node) for r in node.reads)
    maxima = tuple(n.name for n in tops if n is not None)
    if program.precedes(larger.name, node.name):
        context = (*_context(program, larger), *maxima)
        return Edit((node.name,), (), node.name, text, redirect, context)
    if not all(program.precedes(r.source.node, node.name) for r in reads_of(larger)):
        return None
    context = tuple(n for n in (*_context(program, larger), *maxima) if n != larger.name)
    removed = (node.name, larger.name)
    return Edit(removed, (larger,), node.name, text, redirect, context)


# --- means ---------------------------------------------------------------------------------------


def _mean(program: Program, node: Comprehension) -> Edit | None:
    """before: Σx in a body, where a Welford of x is at hand → after: n · its mean."""
    space = Space(program, node.dims)
    try:
        for part in range(len(node.body)):
            body = own(space, node, part)
            for a in (x for x in walk(body) if x.op == "arg"):
                edit = _read_mean(program, node, space, part, body, a)
                if edit is not None:
                    return edit
    except NotHereError:
        return None
    return None


def _read_mean(
    program: Program, node: Comprehension, space: Space, part: int, body: Expr, a: Expr
) -> Edit | None:
    inner = space.reduction(a, "sum")
    if inner is None:
        return None
    for larger in _candidates(program, inner.node):
        if larger.name == node.name or not program.precedes(larger.name, node.name):
            continue
        ratio = _ratio(program, inner.node, larger, exact=False)
        if ratio is None:
            continue
        names = [space.add(d) for d in larger.reduce]
        size = _size(space, node, names, inner, body)
        if size is None:
            continue
        forms = [inner.env[d.name] for d in inner.node.point]
        at = {d.name: f for d, f in zip(larger.point, forms, strict=True)}
        mean = arg(space.number(replaced(plain(larger, Ref(larger.name, "average")), at)))
        new = tidied(substitute(body, {a: mul_all([mean, size, real(ratio)])}), mean)
        text = f"{inner.node.name} → n · mean of {larger.name}"
        seen = (s for s in space.seen if s != node.name)  # the count of the elements among them
        context = (inner.node.name, *_context(program, larger), *seen)
        return Edit((node.name,), (rebuilt(space, node, part, new),), node.name, text,
                    context=tuple(dict.fromkeys(context)))  # fmt: skip
    return None


def _size(
    space: Space, node: Comprehension, names: Sequence[str], inner: Opened, body: Expr
) -> Expr | None:
    """The number of elements, if this node can say it."""
    known = {d.name for d in node.dims}
    for n in counts(space, names, inner.where(names), body):
        if all(x.payload in known for x in walk(n) if x.op == "extent"):
            return n
    return None


READ_BACK: Final = Rule(
    "read-back",
    "max s, where an online softmax, a logsumexp or an argmax of s is at hand → what that keeps",
    "extended reals with NaN",
    frozenset(),
    "Tang.read_back",
    _extremum,
)

READ_BACK_MASS: Final = Rule(
    "read-back-mass",
    "Σ exp(s − max s), where an online softmax or a logsumexp of s is at hand → the mass it keeps",
    "real exponential field",
    frozenset({Requirement.FINITE, Requirement.REASSOCIATES}),
    "Tang.read_back_mass",
    _mass,
    recalled=True,
)

READ_BACK_MEAN: Final = Rule(
    "read-back-mean",
    "Σ x, where a Welford of x is at hand → n · its mean",
    "real field",
    frozenset({Requirement.FINITE, Requirement.REASSOCIATES}),
    "Tang.read_back_mean",
    _mean,
    recalled=True,
)
