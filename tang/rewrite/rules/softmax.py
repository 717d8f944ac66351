"""Rules `stabilize-softmax` and `shift-softmax`: Σ exp(s)·v / Σ exp(s) in one pass.

Defines the two rows. Relies on normal forms (`normal`), on opened nodes (`opened`) and on kinds of
monoids; no name takes part. Nodes that are no longer needed are left to `dead-node`, the maximum
that somebody else reads to `read-back`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from tang.ir import monoids
from tang.ir.expr import Expr, arg, substitute, walk
from tang.ir.graph import Comprehension
from tang.ir.view import Ref
from tang.rewrite.kinds import kind_of
from tang.rewrite.normal import Ring, factors, mul_all
from tang.rewrite.opened import (
    Env,
    NotHereError,
    Opened,
    Space,
    compact,
    conditions,
    inner_env,
    nonempty,
    own,
    plain,
    rebuilt,
    replaced,
)
from tang.rewrite.program import Program
from tang.rewrite.rule import Edit, Requirement, Rule
from tang.rewrite.scores import Sum, shifted_score, stable_score
from tang.rewrite.weights import Weight, conjuncts, is_weight, spread, weight_of


@dataclass(frozen=True, slots=True)
class _Quotient:
    """A product in the root's body that holds a numerator and the reciprocal of a denominator.

    rest  the other factors; numerator None: the root is a sum, and folds the weights itself
    """

    product: Expr
    rest: tuple[Expr, ...]
    numerator: Opened | None
    denominator: Opened
    weighted: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class _Numerator:
    """A sum Σ weight · value in a space of its own; the value as factors."""

    sum: Sum
    value: list[Expr]


def _find(program: Program, node: Comprehension, *, exact: bool) -> Edit | None:
    if not any(_may_divide(program, node, x) for b in node.body for x in walk(b)):
        return None
    space = Space(program, node.dims)
    try:
        for part in range(len(node.body)):
            body = own(space, node, part)
            for q in _quotients(space, node, body, exact):
                edit = _fuse(program, node, part, space, body, q, exact)
                if edit is not None:
                    return edit
    except NotHereError:
        return None
    return None


def _may_divide(program: Program, node: Comprehension, x: Expr) -> bool:
    """A cheap test: a reciprocal of a result, or a map that may hold one."""
    if x.op == "recip":
        return any(a.op == "arg" for a in walk(x.args[0]))
    if node.monoid is None or x.op != "arg" or not isinstance(x.payload, int):
        return False
    source = program.node(node.reads[x.payload].source.node)
    return source is not None and any(y.op == "recip" for b in source.body for y in walk(b))


def _quotients(space: Space, node: Comprehension, body: Expr, exact: bool) -> Iterator[_Quotient]:
    if kind_of(node) == "sum":
        yield from _normalised(space, node, body, exact)
    for x in reversed(list(walk(body))):
        parts = factors(x) if x.op == "mul" else []
        for n, f in enumerate(parts):
            below = space.reduction(f.args[0], "sum") if f.op == "recip" else None
            if below is None:
                continue
            for m, g in enumerate(parts):
                above = space.reduction(g, "sum")
                if above is not None and above.node is not below.node:
                    rest = tuple(p for k, p in enumerate(parts) if k not in (n, m))
                    yield _Quotient(x, rest, above, below)


def _normalised(space: Space, node: Comprehension, body: Expr, exact: bool) -> Iterator[_Quotient]:
    """Σ (weight / mass) · value: the division inside the sum."""
    reduce = {d.name for d in node.reduce}
    parts = spread(space, body, exact)
    if not any(is_weight(p) for p in parts):
        return
    found: list[tuple[int, Opened]] = []
    for n, f in enumerate(parts):
        below = space.reduction(f.args[0], "sum") if f.op == "recip" else None
        if below is not None and not space.depends(f) & reduce:
            found.append((n, below))
    if exact and len(found) > 1 and not space.program.strict:
        return  # weights that are normalised twice: the later mass is tried first, by the next rule
    for n, below in sorted(found, key=_latest(space.program, found)):
        rest = tuple(p for k, p in enumerate(parts) if k != n)
        yield _Quotient(body, (), None, below, rest)


def _latest(
    program: Program, found: list[tuple[int, Opened]]
) -> Callable[[tuple[int, Opened]], int]:
    """A key that puts masses that come later in the program first."""
    names = [o.node.name for _, o in found]
    after = {a: sum(a != b and program.precedes(a, b) for b in names) for a in names}
    return lambda pair: after[pair[1].node.name]


def _fuse(
    program: Program,
    node: Comprehension,
    part: int,
    space: Space,
    body: Expr,
    q: _Quotient,
    exact: bool,
) -> Edit | None:
    whole = q.numerator.node if q.numerator else node
    if q.numerator is None and not nonempty(program, node):
        return None
    for n in _numerators(program, whole, q, space, exact):
        value = _over_mass(space, q, n, exact)
        score = _score(n.sum, exact) if value else None
        if not value or score is None:
            continue
        fused = _online(program, n.sum, mul_all(value), score)
        seen = tuple(dict.fromkeys([*space.seen, *n.sum.space.seen]))
        return _edit(program, node, part, space, body, q, fused, seen)
    return None


def _numerators(
    program: Program, node: Comprehension, q: _Quotient, outer: Space, exact: bool
) -> Iterator[_Numerator]:
    """Every way to call some exponentials of the numerator weights and the rest its value."""
    space = outer if q.numerator is None else Space(program, node.dims)
    parts = list(q.weighted) if q.numerator is None else spread(space, own(space, node), exact)
    reduce = frozenset(d.name for d in node.reduce)
    chosen = [
        k for k, p in enumerate(parts) if is_weight(p, exact=exact) and space.depends(p) & reduce
    ]
    for mask in range((1 << min(len(chosen), 4)) - 1, 0, -1):
        picked = {k for n, k in enumerate(chosen[:4]) if mask >> n & 1}
        weight = weight_of([parts[k] for k in sorted(picked)])
        value = [p for k, p in enumerate(parts) if k not in picked]
        if weight is not None and value:
            yield _Numerator(Sum(space, node, weight), value)


def _over_mass(space: Space, q: _Quotient, n: _Numerator, exact: bool) -> list[Expr] | None:
    """The value, where the denominator is the sum of the numerator's weights over the same points.

    Both may hold the same reciprocals of what is constant along the sums: those are left out.
    """
    node = n.sum.node
    if q.numerator is None:
        names = [d.name for d in node.reduce]
        env = inner_env({}, node.reduce, names)
    else:
        names = [space.add(d) for d in node.reduce]
        env = q.numerator.inner(names)
    where = conditions(node, env)
    ring = Ring(exact=exact)
    mine = _key(space, ring, n.sum.weight.moved(n.sum.space, node, space, env))
    for naming in q.denominator.namings([(a, space.extents[a]) for a in names]):
        parts = spread(space, q.denominator.body(naming), exact)
        weight = weight_of([p for p in parts if is_weight(p, exact=exact)])
        if weight is None or q.denominator.where(naming) != where:
            continue
        others = [p for p in parts if not is_weight(p, exact=exact)]
        value = _without(space, ring, n, env, others) if not (exact and others) else None
        if value is None or _key(space, ring, weight) != mine:
            continue
        if not (exact and ring.lossy):
            return value
    return None


def _without(
    space: Space, ring: Ring, n: _Numerator, env: Env, others: list[Expr]
) -> list[Expr] | None:
    """The value without the reciprocals that the denominator holds too; None if it holds more."""
    left, own_space, node = list(n.value), n.sum.space, n.sum.node
    reduce = {d.name for d in node.reduce}
    fixed = [p for p in left if p.op == "recip" and not own_space.depends(p) & reduce]
    for other in others:
        same = [
            p for p in fixed if ring.same(space.full(_moved(n, p, space, env)), space.full(other))
        ]
        if not same:
            return None
        fixed.remove(same[0])
        left.remove(same[0])
    return left


def _moved(n: _Numerator, e: Expr, space: Space, env: Env) -> Expr:
    """An expression of the numerator in another space."""
    own_space = n.sum.space
    return e if space is own_space else space.moved(e, own_space.reads, n.sum.node.dims, env)


def _key(space: Space, ring: Ring, weight: Weight) -> tuple[frozenset[Expr], Expr]:
    chosen = conjuncts(ring, map(space.full, weight.conditions))
    return chosen, ring.canonical(space.full(weight.exponent))


# --- the edit ------------------------------------------------------------------------------------


def _score(n: Sum, exact: bool) -> Expr | None:
    if not exact:
        return shifted_score(n, drop=True)
    found = stable_score(n, exact=True)
    return found.score if found else None


def _online(program: Program, n: Sum, value: Expr, score: Expr) -> Comprehension:
    reads, body = compact(n.space.reads, (score, value))
    node = n.node
    return Comprehension(
        program.fresh(f"{node.name}.online"),
        node.point,
        reads,
        body,
        node.reduce,
        node.where,
        monoids.ONLINE_SOFTMAX,
    )


def _edit(
    program: Program,
    node: Comprehension,
    part: int,
    space: Space,
    body: Expr,
    q: _Quotient,
    fused: Comprehension,
    seen: tuple[str, ...],
) -> Edit | None:
    over = ", ".join(d.name for d in fused.reduce)
    below = q.denominator.node.name
    context = tuple(s for s in seen if s != node.name)
    new = Ref(fused.name, "value")
    if q.numerator is None:
        used = program.used(node.name)
        redirect = {Ref(node.name, o): new for o in used}
        if any(program.type_of(r) != (fused.tensor("value").shape, node.body[0].sort)
               for r in redirect):  # fmt: skip
            return None
        text = f"{node.name} = Σ exp(s)/{below} · v over {over} → online softmax {fused.name}"
        return Edit((node.name,), (fused,), node.name, text, redirect, context)
    above = q.numerator
    read = replaced(plain(fused, new), above.env)
    value = arg(space.number(read))
    whole = substitute(body, {q.product: mul_all([*q.rest, value])})
    changed = rebuilt(space, node, part, whole)
    text = (
        f"{above.node.name} / {below} = Σ exp(s)·v / Σ exp(s) over {over} → "
        f"online softmax {fused.name}"
    )
    return Edit((node.name,), (fused, changed), node.name, text, context=context)


def _stabilize(program: Program, node: Comprehension) -> Edit | None:
    return _find(program, node, exact=True)


def _shift(program: Program, node: Comprehension) -> Edit | None:
    return _find(program, node, exact=False)


STABILIZE_SOFTMAX: Final = Rule(
    "stabilize-softmax",
    "Σ exp(s − max s)·v / Σ exp(s − max s), all over the same points → online softmax of s and v",
    "extended reals with NaN",
    frozenset({Requirement.REASSOCIATES}),
    "Tang.stabilize_softmax",
    _stabilize,
    recalled=True,
)

SHIFT_SOFTMAX: Final = Rule(
    "shift-softmax",
    "Σ exp(s − c)·v / Σ exp(s − c), whatever c is along the sum → online softmax of s and v",
    "real exponential field",
    frozenset({Requirement.FINITE, Requirement.REASSOCIATES}),
    "Tang.shift_softmax",
    _shift,
    recalled=True,
)
