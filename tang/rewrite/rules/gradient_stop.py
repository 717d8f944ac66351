"""Rule `stop-max-gradient`: what a gradient sends through a stabilising maximum is zero.

Defines `STOP_MAX_GRADIENT`. Relies on polynomials over opened nodes: a sum whose terms add up to
nothing once Σ over its elements is replaced by the sums that the program already has. Gradients
made by `tang.autodiff` stop at the source; this row is for gradients that were written by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from tang.ir.derived import zero
from tang.ir.expr import REAL, Expr, arg, real, rebuild, walk
from tang.ir.graph import Comprehension, reads_of
from tang.ir.monoids import LOGSUMEXP, ONLINE_SOFTMAX
from tang.ir.view import Ref
from tang.rewrite.kinds import kind_of
from tang.rewrite.normal import (
    Monomial,
    Ring,
    Terms,
    emit,
    inverse,
    joined,
    multiplied,
    scaled,
    total,
)
from tang.rewrite.opened import (
    NotHereError,
    Space,
    compact,
    conditions,
    own,
    plain,
    replaced,
)
from tang.rewrite.program import Program
from tang.rewrite.rule import Edit, Requirement, Rule

_ZERO: Final = real(0)
_BEHIND: Final = 6
"""Nodes between a cotangent and the softmax that it belongs to."""
_STABLE: Final = (ONLINE_SOFTMAX.name, LOGSUMEXP.name)
_FAR: Final = 32
"""Maps behind a node that the cheap test looks at."""
_UNKNOWN: Final = 1 << 30
"""Arguments from here on stand for unknown sums; no node has so many reads."""


def _find(program: Program, node: Comprehension) -> Edit | None:
    try:
        if kind_of(node) == "sum":
            return _closed_sum(program, node)
        return _without_zeros(program, node) or _vanishing(program, node)
    except NotHereError:
        return None


# --- sums that cancel ----------------------------------------------------------------------------


def _closed_sum(program: Program, node: Comprehension) -> Edit | None:
    """before: Σ_j (a·d_j + b·e_j) → after: a·D + b·E, where that needs no sum any more."""
    if node.body[0].sort is not REAL or not _may_hold(program, node, "exp2"):
        return None
    space, ring = Space(program, node.dims), Ring()
    reduce = frozenset(d.name for d in node.reduce)
    body = space.full(own(space, node))
    exponential = any(x.op == "exp2" for x in walk(body))
    known = list(_known_sums(space, node, body, reduce)) if exponential else []
    if not known:
        return None
    equations = _Equations(space, reduce)
    for value, element in known:
        equations.add(value, ring.terms(space.full(element)))
    if not equations.solved:
        return None
    result = equations.summed(ring.terms(body))
    if result is None or any(a in equations.values for m in result for a, _ in m):
        return None  # the sums are still there: nothing was won
    edit = _replaced(program, node, space, emit(result))
    if edit is not None:
        program.remember(STOP_MAX_GRADIENT.name, node.name)
    return edit


def _may_hold(program: Program, node: Comprehension, op: str) -> bool:
    """A cheap test: whether a body, or that of a map behind it, holds an operation."""
    waiting, seen = [node], {node.name}
    while waiting and len(seen) <= _FAR:
        at = waiting.pop()
        if any(x.op == op for b in at.body for x in walk(b)):
            return True
        for read in at.reads:
            source = program.node(read.source.node)
            if source is not None and source.monoid is None and source.name not in seen:
                seen.add(source.name)
                waiting.append(source)
    return bool(waiting)


def _may_cancel(e: Expr) -> bool:
    """A cheap test: terms whose coefficients are all positive never add up to nothing."""
    return any(x.op in ("neg", "real", "index") and not _is_positive(x) for x in walk(e))


def _is_positive(e: Expr) -> bool:
    return isinstance(e.payload, Fraction | int) and e.payload > 0


def _known_sums(
    space: Space, node: Comprehension, body: Expr, reduce: frozenset[str]
) -> Iterator[tuple[Expr, Expr]]:
    """Sums over the same points that the body reads: value and element."""
    for a in walk(body):
        found = space.reduction(a, "sum")
        if found is None or space.depends(a) & reduce or found.node.name == node.name:
            continue
        for naming in found.namings([(d.name, d.extent) for d in node.reduce]):
            if found.where(naming) == conditions(node, {}):
                ref = Ref(found.node.name, found.output)
                read = replaced(plain(found.node, ref), found.env)
                yield arg(space.number(read)), found.body(naming)


class _Equations:
    """Linear equations between known sums and Σ of single products, solved as they come.

    A product is split into what depends on the reduce dims, whose Σ is an unknown, and a factor.
    """

    def __init__(self, space: Space, reduce: frozenset[str]) -> None:
        self.space, self.reduce = space, reduce
        self.unknowns: dict[Monomial, Expr] = {}
        self.solved: dict[Expr, Terms] = {}
        self.values: set[Expr] = set()

    def add(self, value: Expr, element: Terms) -> None:
        """Take in Σ element = value, and solve it for an unknown that is not solved yet."""
        sums = self._linear(element)
        if sums is None:
            return
        self.values.add(value)
        for m, c in sums.items():
            unknown = next((a for a, p in m if a in self.unknowns.values() and p == 1), None)
            if unknown is None:
                continue
            rest = {k: v for k, v in sums.items() if k != m}
            factor = tuple(ap for ap in m if ap[0] is not unknown)
            known = total([{((value, 1),): Fraction(1)}, scaled(rest, Fraction(-1))])
            solution = multiplied(known, inverse({factor: c}))
            if not any(unknown in dict(k) for k in solution):
                self.solved = {u: _put(t, unknown, solution) for u, t in self.solved.items()}
                self.solved[unknown] = solution
            return

    def summed(self, element: Terms) -> Terms | None:
        """Σ element over known values alone; None when an unknown is left."""
        found = self._linear(element)
        left = self.unknowns.values()
        if found is None or any(a in left for m in found for a, _ in m):
            return None
        return found

    def _linear(self, element: Terms) -> Terms | None:
        """Σ element over unknowns, those that are solved put in."""
        found: Terms = {}
        for m, c in element.items():
            inner = tuple(ap for ap in m if self.space.depends(ap[0]) & self.reduce)
            if not inner:
                return None
            unknown = self.unknowns.setdefault(inner, arg(_UNKNOWN + len(self.unknowns)))
            outer = tuple(ap for ap in m if ap not in inner)
            found = total([found, {joined(outer, ((unknown, 1),)): c}])
        for unknown, solution in self.solved.items():
            found = _put(found, unknown, solution)
        return found


def _put(terms: Terms, unknown: Expr, solution: Terms) -> Terms:
    """The terms with an unknown replaced."""
    parts = []
    for m, c in terms.items():
        rest = tuple(ap for ap in m if ap[0] is not unknown)
        parts.append({m: c} if len(rest) == len(m) else scaled(solution, c, rest))
    return total(parts)


def _replaced(program: Program, node: Comprehension, space: Space, value: Expr) -> Edit | None:
    used = sorted(program.used(node.name))
    if any(node.tensor(o).dims != node.point for o in used):
        return None
    reads, body = compact(space.reads, tuple(value for _ in used))
    changed = Comprehension(node.name, node.point, reads, body, outputs=tuple(used))
    shown = "0" if value is _ZERO else "a value without the sum"
    text = f"{node.name}, whose terms cancel against the sums at hand → {shown}"
    context = tuple(s for s in space.seen if s != node.name)
    return Edit((node.name,), (changed,), node.name, text, context=context)


# --- maps that vanish, and zeros in others -------------------------------------------------------


def _vanishing(program: Program, node: Comprehension) -> Edit | None:
    """before: g − g, across maps → after: 0."""
    if node.monoid is not None or not any(b.op == "add" and b.sort is REAL for b in node.body):
        return None
    if len(node.reads) > 8 or not _normalised(program, node):
        return None
    space, ring = Space(program, node.dims), Ring()
    bodies = []
    for part, b in enumerate(node.body):
        body = own(space, node, part)
        full = space.full(body) if b.op == "add" and b.sort is REAL else None
        gone = full is not None and _may_cancel(full) and not ring.terms(full)
        bodies.append(_ZERO if gone else body)
    if _ZERO not in bodies:
        return None
    reads, exprs = compact(space.reads, bodies)
    changed = Comprehension(node.name, node.point, reads, exprs, outputs=node.outputs)
    text = f"{node.name}, whose terms cancel → 0"
    context = tuple(s for s in space.seen if s != node.name)
    return Edit((node.name,), (changed,), node.name, text, context=context)


def _normalised(program: Program, node: Comprehension) -> bool:
    """Whether a sum of exponentials and a maximum lie, or lay, behind a node, a few nodes up.

    Elsewhere x − x and b − ((a + b) − a) stay as they are: they tell NaN and infinities from
    numbers, and what rounding loses.
    """
    seen, front = {node.name}, [node]
    exponential = maximum = False
    closed = program.remembered(STOP_MAX_GRADIENT.name)
    for _ in range(_BEHIND):
        names = {r.source.node for n in front for r in reads_of(n)} - seen
        seen |= names
        if names & closed:
            return True
        front = [n for n in map(program.node, sorted(names)) if n is not None]
        for n in front:
            if n.monoid is not None:
                parts = (*n.body, *n.monoid.combine)
                exponential |= any(e.op == "exp2" for e in walk(*parts))
                maximum |= kind_of(n) == "max" or n.monoid.name in _STABLE
    return exponential and maximum


def _without_zeros(program: Program, node: Comprehension) -> Edit | None:
    """before: x + select(c, z, 0) with a map z that is 0 → after: x."""
    zeros: dict[Expr, str] = {}
    for k, read in enumerate(node.reads):
        source = program.node(read.source.node)
        plainly = not read.view.guard and not read.view.gathers
        if source is None or source.monoid is not None or not plainly:
            continue
        if source.body[source.outputs.index(read.source.output)] is _ZERO:
            zeros[arg(k)] = source.name
    used = {x for b in node.body for x in walk(b)} & zeros.keys()
    if not used:
        return None
    bodies = [folded(b, used) for b in node.body]
    reads, exprs = compact(node.reads, bodies)
    changed = Comprehension(
        node.name, node.point, reads, exprs, node.reduce, node.where, node.monoid, node.outputs
    )
    names = sorted({zeros[a] for a in used})
    text = f"{node.name} reads {', '.join(names)}, which is 0 → it does not"
    return Edit((node.name,), (changed,), node.name, text, context=tuple(names))


def folded(root: Expr, zeros: set[Expr]) -> Expr:
    """The expression with zeros put in and folded: 0 + x, 0·x, −0, select(c, 0, 0)."""
    done: dict[Expr, Expr] = {}
    for e in walk(root):
        args = tuple(done[a] for a in e.args)
        done[e] = _ZERO if e in zeros else _fold_one(rebuild(e, args))
    return done[root]


def _fold_one(e: Expr) -> Expr:
    none = [a is zero(a.sort) for a in e.args]
    match e.op:
        case "add" if any(none) and e.sort is REAL:
            return e.args[1] if none[0] else e.args[0]
        case "mul" if any(none) and e.sort is REAL:
            return _ZERO
        case "neg" if all(none) and e.sort is REAL:
            return _ZERO
        case "select" if none[1] and none[2] and e.sort is REAL:
            return _ZERO
        case _:
            return e


STOP_MAX_GRADIENT: Final = Rule(
    "stop-max-gradient",
    "a cotangent whose terms add up to nothing, such as that of a stabilising maximum → 0",
    "real field",
    frozenset({Requirement.FINITE, Requirement.DEGREE, Requirement.REASSOCIATES}),
    "Tang.stop_max_gradient",
    _find,
    recalled=True,
)
