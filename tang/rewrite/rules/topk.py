"""Rule `top-k`: successive masked argmax, and positions by rank, in one pass.

Defines `TOP_K`. Relies on normal forms and opened nodes. Values equal to the mask itself (−inf)
may be picked twice as written, so operands are finite; more ranks than elements never match.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tang.ir import monoids
from tang.ir.derived import le, lt
from tang.ir.expr import INDEX, Expr, apply, arg, index, iota, named, real, walk
from tang.ir.extent import poly
from tang.ir.graph import Comprehension, Dim
from tang.ir.view import Read, Ref, View, constant, variable
from tang.rewrite.kinds import kind_of
from tang.rewrite.normal import Ring
from tang.rewrite.opened import NotHereError, Opened, Space, compact, own
from tang.rewrite.program import Program
from tang.rewrite.rule import Edit, Requirement, Rule

_NEGATIVE_INFINITY: Final = named("-inf")


def _find(program: Program, node: Comprehension) -> Edit | None:
    try:
        if kind_of(node) == "argmax":
            return _next_rank(program, node)
        if kind_of(node) in ("index_sum", "sum"):
            return _by_rank(program, node)
    except NotHereError:
        return None
    return None


# --- argmax of what earlier ranks left -----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Taken:
    """An earlier pick: its node, how many that has, its rank, and the element in the space."""

    node: Comprehension
    count: int
    rank: int
    element: Expr


def _next_rank(program: Program, node: Comprehension) -> Edit | None:
    if len(node.reduce) != 1 or node.body[1] is not iota(node.reduce[0].name) or node.where:
        return None
    space = Space(program, node.dims)
    picks, element = _unmasked(space, space.full(own(space, node)), node.reduce[0].name)
    if not picks:
        return None
    found = [_taken(space, node, p, element) for p in picks]
    taken = [t for t in found if t is not None]
    if len(taken) < len(found) or {t.rank for t in taken} != set(range(len(picks))):
        return None
    k, size = len(picks) + 1, node.reduce[0].extent
    base = max(taken, key=lambda t: t.count)
    if not size.is_constant or size.constant < k or base.count != k - 1:
        return None
    return _replace(program, node, space, base, k)


def _unmasked(space: Space, e: Expr, over: str) -> tuple[list[Expr], Expr]:
    """before: select(j = a or j = b, −inf, x) → after: ([a, b], x), also nested and negated."""
    picks: list[Expr] = []
    while e.op == "select":
        test, a, b = e.args
        if b is _NEGATIVE_INFINITY:
            test, a, b = apply("not", test), b, a
        found = _equalities(test, over) if a is _NEGATIVE_INFINITY else None
        if found is None:
            break
        picks += found
        e = b
    return list(dict.fromkeys(space.through(p) for p in picks)), e


def _equalities(test: Expr, over: str, positive: bool = True) -> list[Expr] | None:
    """The indices p of a disjunction of tests j = p; None for any other test."""
    if test.op == "not":
        return _equalities(test.args[0], over, not positive)
    if test.op == ("or" if positive else "and"):
        parts = [_equalities(a, over, positive) for a in test.args]
        return None if None in parts else [p for ps in parts for p in ps or []]
    if test.op != "eq" or not positive or iota(over) not in test.args:
        return None
    return [next(a for a in test.args if a is not iota(over))]


def _taken(space: Space, node: Comprehension, pick: Expr, element: Expr) -> _Taken | None:
    """The rank that a pick has among the elements; None when it is no pick of them."""
    found = space.source(pick)
    if found is None:
        return None
    source, read = found
    if source.monoid is None or read.view.guard or read.view.gathers or source.where:
        return None
    if kind_of(source) == "argmax" and read.source.output == source.monoid.outputs[0].name:
        rank, count, coords = 0, 1, read.view.coords
    else:
        last = read.view.coords[-1] if read.view.coords else constant(0)
        known = _is_top_k(source) and read.source.output in ("indices", "at")
        if not known or last.terms or not last.const.is_constant:
            return None
        rank, coords = last.const.constant, read.view.coords[:-1]
        count = source.monoid.axes[0].size
    at = {d.name: c for d, c in zip(source.point, coords, strict=True)}
    space.seen[source.name] = None
    inner = Opened(space, source, at)
    ring = Ring()
    names = [node.reduce[0].name]
    if [d.extent for d in source.reduce] != [d.extent for d in node.reduce]:
        return None
    first = inner.body(names)
    if inner.body(names, 1) is not iota(names[0]):
        return None
    if tuple(coords) != tuple(variable(d.name) for d in node.point):
        return None
    return _Taken(source, count, rank, first) if ring.same(space.full(first), element) else None


def _is_top_k(node: Comprehension) -> bool:
    m = node.monoid
    return m is not None and len(m.axes) > 0 and m == monoids.top_k(m.axes[0].size)


_RESULTS: Final = {
    "index": "indices", "at": "indices", "value": "values", "best": "values",
    "indices": "indices", "values": "values",
}  # fmt: skip
"""Results of argmax and top-k, and which results of a longer top-k hold them."""


def _replace(
    program: Program, node: Comprehension, space: Space, base: _Taken, k: int
) -> Edit | None:
    """One more rank in the place of the earlier picks, which are then read from it."""
    reads, body = compact(space.reads, (base.element, iota(node.reduce[0].name)))
    old = base.node
    top = Comprehension(
        program.fresh(f"{old.name}.top"), node.point, reads, body, node.reduce, (),
        monoids.top_k(k),
    )  # fmt: skip
    last = _ranks(program, node, node.name, top, Dim("rank", poly(1)), k - 1)
    earlier = _ranks(
        program, old, program.fresh(f"{top.name}.before"), top, Dim("rank", poly(k - 1)), 0
    )
    if last is None or earlier is None:
        return None
    redirect = {Ref(old.name, o): Ref(earlier.name, o) for o in earlier.outputs}
    text = f"{node.name}, the argmax of what {k - 1} picks left → rank {k - 1} of {top.name}"
    context = tuple(s for s in space.seen if s not in (node.name, old.name))
    new = (top, earlier, last) if earlier.outputs else (top, last)
    return Edit((node.name, old.name), new, old.name, text, redirect, context)


def _ranks(
    program: Program, node: Comprehension, name: str, top: Comprehension, rank: Dim, first: int
) -> Comprehension | None:
    """The results of a search that are needed, read from a longer one, its ranks from `first`."""
    used = sorted(program.used(node.name))
    single = kind_of(node) == "argmax"
    point = node.point if single else (*node.point, rank)
    at = constant(first) if single else variable(rank.name) + first
    coords = (*(variable(d.name) for d in top.point), at)
    shape = tuple(d.extent for d in point)
    if any(o not in _RESULTS or node.tensor(o).shape != shape for o in used):
        return None
    renamed = dict(zip((d.name for d in top.point), (d.name for d in node.point), strict=True))
    coords = tuple(c.substitute({a: variable(b) for a, b in renamed.items()}) for c in coords)
    return Comprehension(
        name,
        point,
        tuple(Read(Ref(top.name, _RESULTS[o]), View(coords)) for o in used),
        tuple(arg(i, node.tensor(o).sort) for i, o in enumerate(used)),
        outputs=tuple(used),
    )


# --- positions by rank ---------------------------------------------------------------------------


def _by_rank(program: Program, node: Comprehension) -> Edit | None:
    """before: Σ_j select(rank(j) = r, j or x(j), 0) → after: top-k, rank r."""
    if len(node.reduce) != 1 or node.where:
        return None
    over, space = node.reduce[0], Space(program, node.dims)
    body = own(space, node)
    position = body.payload if body.op == "arg" else None
    inner = space.opened(position) if isinstance(position, int) else body
    if inner is None or inner.op != "select":
        return None
    body = space.full(body)
    zero = index(0) if body.sort is INDEX else real(0)
    if body.op != "select" or body.args[2] is not zero or body.args[0].op != "eq":
        return None
    for r in (d for d in node.point if iota(d.name) in body.args[0].args):
        rank = next(a for a in body.args[0].args if a is not iota(r.name))
        counted = space.reduction(rank, "index_sum")
        if counted is None or not r.extent.is_constant or not over.extent.is_constant:
            continue
        element = _ranked(space, counted, over.name)
        if element is None or not 0 < r.extent.constant <= over.extent.constant:
            continue
        result = "indices" if body.args[1] is iota(over.name) else "values"
        if result == "values" and not Ring().same(body.args[1], space.full(element)):
            continue
        return _replace_rank(program, node, space, element, r.name, result)
    return None


def _ranked(space: Space, counted: Opened, over: str) -> Expr | None:
    """x with rank(j) = #{i: x(i) > x(j), or x(i) = x(j) and i < j}; None for another count."""
    inner = counted.node.reduce
    if len(inner) != 1 or counted.node.where or inner[0].extent != space.extents[over]:
        return None
    i = space.add(inner[0])
    body = space.full(counted.body([i]))
    if body.op != "select" or body.args[1:] != (index(1), index(0)):
        return None
    ring = Ring()
    for a in walk(body.args[0]):
        if a.op != "lt" or a.args[0].sort is INDEX or over not in space.depends(a.args[0]):
            continue
        mine, other = a.args
        if i in space.depends(mine) or not _is_renamed(space, mine, other, over, i):
            continue
        wanted = _before(mine, other, over, i)
        if any(ring.canonical(w) is ring.canonical(body.args[0]) for w in wanted):
            return mine
    return None


def _is_renamed(space: Space, mine: Expr, other: Expr, over: str, i: str) -> bool:
    """Whether one expression is the other with the dim exchanged."""
    moved = space.moved(mine, space.reads, (), {over: variable(i)})
    return Ring().same(space.full(moved), other)


def _before(mine: Expr, other: Expr, over: str, i: str) -> tuple[Expr, ...]:
    """Ways to say that element i comes before element `over` in descending order."""
    earlier = lt(iota(i), iota(over))
    larger, same = lt(mine, other), apply("eq", mine, other)
    return (
        apply("or", larger, apply("and", same, earlier)),
        apply("select", earlier, le(mine, other), larger),
        apply("or", larger, apply("and", apply("eq", other, mine), earlier)),
    )


def _replace_rank(
    program: Program,
    node: Comprehension,
    space: Space,
    element: Expr,
    r: str,
    result: str,
) -> Edit | None:
    point = tuple(d for d in node.point if d.name != r)
    k = next(d.extent.constant for d in node.point if d.name == r)
    reads, body = compact(space.reads, (element, iota(node.reduce[0].name)))
    used = sorted(program.used(node.name))
    if r in space.depends(element) or any(node.tensor(o).dims != node.point for o in used):
        return None
    top = Comprehension(
        program.fresh(f"{node.name}.top"), point, reads, body, node.reduce, (), monoids.top_k(k)
    )
    coords = (*(variable(d.name) for d in point), variable(r))
    sort = node.body[0].sort
    last = Comprehension(
        node.name, node.point, (Read(Ref(top.name, result), View(coords)),),
        tuple(arg(0, sort) for _ in used), outputs=tuple(used),
    )  # fmt: skip
    text = f"{node.name}, the element of rank {r} → {top.name}.{result}"
    context = tuple(s for s in space.seen if s != node.name)
    return Edit((node.name,), (top, last), node.name, text, context=context)


TOP_K: Final = Rule(
    "top-k",
    "argmax of what earlier picks left, or the element whose rank is counted → a rank of top-k",
    "total order",
    frozenset({Requirement.FINITE}),
    "Tang.top_k",
    _find,
    recalled=True,
)
