"""Rule `welford`: mean and spread of the same elements in one stable pass.

Defines `WELFORD`. Relies on polynomials over opened nodes: Σ (x − Σx/n)², however it is
multiplied out, and Σx²/n − (Σx/n)². The pass takes the place of the plain sum; reading the mean
itself back is the work of `read-back-mean`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Final

from tang.ir import monoids
from tang.ir.expr import Expr, apply, arg, real, substitute, walk
from tang.ir.graph import Comprehension
from tang.ir.view import Ref, variable
from tang.rewrite.counts import counts
from tang.rewrite.kinds import kind_of
from tang.rewrite.normal import (
    Ring,
    Terms,
    add_all,
    emit,
    factors,
    inverse,
    multiplied,
    scaled,
    summands,
    total,
)
from tang.rewrite.opened import (
    NotHereError,
    Opened,
    Space,
    compact,
    conditions,
    nonempty,
    own,
    plain,
    rebuilt,
    replaced,
)
from tang.rewrite.program import Program
from tang.rewrite.rule import Edit, Requirement, Rule

_TWICE: Final = 2
_DEPTH: Final = 3
"""Maps between a difference of moments and the sums that it is made of."""


def _find(program: Program, node: Comprehension) -> Edit | None:
    if not any(x.op == "mul" for b in node.body for x in walk(b)) and node.monoid is None:
        return None
    try:
        if kind_of(node) == "sum":
            return None if _distinct_factors(node) else _spread(program, node)
        squares = map(_has_twice, _sums_behind(program, node))
        return _difference(program, node) if any(squares) else None
    except NotHereError:
        return None


def _distinct_factors(node: Comprehension) -> bool:
    """A cheap test for products of different tensors, which are no squares."""
    parts = factors(node.body[0])
    return len(parts) > 1 and len(set(parts)) == len(parts) and all(p.op == "arg" for p in parts)


def _sums_behind(program: Program, node: Comprehension) -> Iterator[Comprehension]:
    """Sums and means that a node reads, also through a few maps; each once."""
    level, seen = [node], {node.name}
    for _ in range(_DEPTH + 1):
        names = dict.fromkeys(r.source.node for n in level for r in n.reads)
        sources = [program.node(name) for name in names if name not in seen]
        seen.update(names)
        found = [s for s in sources if s is not None]
        yield from (s for s in found if kind_of(s) in ("sum", "welford"))
        level = [s for s in found if s.monoid is None]


# --- Σ (x − mean)² -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Mean:
    """A mean in the space of a sum: the element, as written and as terms, the mean's terms.

    sum    the node that adds up the elements; None where a Welford pass has done it
    pass_  that Welford pass
    """

    element: Expr
    terms: Terms
    mean: Terms
    sum: Comprehension | None
    pass_: Opened | None = None


def _spread(program: Program, node: Comprehension) -> Edit | None:
    space, ring = Space(program, node.dims), Ring()
    body = space.full(own(space, node))
    names = [d.name for d in node.reduce]
    if not _may_be_square(ring, body) or not _reads_results(space, body, names):
        return None
    have = ring.terms(body)
    for n in counts(space, names, conditions(node, {}), body):
        size = ring.terms(n)
        if len(size) != 1:
            continue  # of no element, or of a count that has no reciprocal here
        for mean in _means(space, ring, node, body, size):
            square = _squared(ring, mean)
            one: Terms = {(): Fraction(1)}
            for output, scale in (("m2", one), ("variance", inverse(size))):
                if output == "variance" and not nonempty(program, node):
                    continue  # of nothing, the sum is 0 and the variance NaN
                if have == multiplied(square, scale):
                    return _replace_spread(program, node, space, mean, output)
    return None


def _may_be_square(ring: Ring, body: Expr) -> bool:
    """A cheap test: a product with one factor twice, up to sign, or a sum of three terms."""
    if body.op == "add":
        return len(summands(body)) > _TWICE
    found: list[Terms] = []
    parts = factors(body)
    for f in parts if len(parts) > 1 else ():
        mine = ring.terms(f)
        if mine in found or scaled(mine, Fraction(-1)) in found:
            return True
        found.append(mine)
    return False


def _has_twice(node: Comprehension) -> bool:
    """A cheap test for Σ x²: a factor that occurs twice."""
    parts = factors(node.body[0])
    return len(set(parts)) < len(parts) or (any(p.op == "arg" for p in parts) and len(parts) == 1)


def _reads_results(space: Space, body: Expr, names: Sequence[str]) -> bool:
    """Whether a reduction is read that does not depend on these dims: a mean may be among them."""
    return any(
        _sum_or_mean(space, a) and not space.depends(a) & set(names)
        for a in walk(body)
        if a.op == "arg"
    )


def _sum_or_mean(space: Space, e: Expr) -> Opened | None:
    return space.reduction(e, "sum") or space.reduction(e, "welford", outputs=("average", "mean"))


def _squared(ring: Ring, m: _Mean) -> Terms:
    deviation = total([m.terms, scaled(m.mean, Fraction(-1))])
    return ring.product(deviation, deviation)


def _means(
    space: Space, ring: Ring, node: Comprehension, body: Expr, size: Terms
) -> Iterator[_Mean]:
    """Sums that the body reads, over the same points, as means of their elements."""
    reduce = [(d.name, d.extent) for d in node.reduce]
    for a in walk(body):
        inner = _sum_or_mean(space, a)
        if inner is None or space.depends(a) & {n for n, _ in reduce}:
            continue
        known = kind_of(inner.node) == "welford"
        for naming in inner.namings(reduce):
            if inner.where(naming) != conditions(node, {}):
                continue
            element = inner.body(naming)
            x, s = ring.terms(space.full(element)), ring.terms(a)
            if known:
                yield _Mean(element, x, s, None, inner)
                continue
            yield _Mean(element, x, multiplied(s, inverse(size)), inner.node)
            times = emit(multiplied(ring.terms(element), size))
            yield _Mean(times, multiplied(x, size), s, inner.node)


def _replace_spread(
    program: Program, node: Comprehension, space: Space, mean: _Mean, output: str
) -> Edit | None:
    known = mean.pass_
    done = known.node if known is not None and _at_own_dims(known, node) else None
    fused = done or _welford(program, node, space, mean.element)
    new = Ref(fused.name, output)
    redirect = {Ref(node.name, o): new for o in program.used(node.name)}
    sort = node.body[0].sort
    if any(program.type_of(r) != (fused.tensor(output).shape, sort) for r in redirect):
        return None
    over = ", ".join(d.name for d in node.reduce)
    text = f"{node.name} = Σ (x − mean)² over {over} → {output} of welford {fused.name}"
    if done is not None:
        return Edit((node.name,), (), node.name, text, redirect, tuple(space.seen))
    gone = (node.name,) if mean.sum is None else (node.name, mean.sum.name)
    context = tuple(s for s in space.seen if s not in gone)
    if mean.sum is None:
        return Edit(gone, (fused,), node.name, text, redirect, context)
    return Edit(gone, (fused, mean.sum), mean.sum.name, text, redirect, context)


def _at_own_dims(o: Opened, node: Comprehension) -> bool:
    """Whether a reduction is read at the point dims of the node, in order."""
    forms = tuple(o.env[d.name] for d in o.node.point)
    return forms == tuple(variable(d.name) for d in node.point)


def _welford(program: Program, like: Comprehension, space: Space, element: Expr) -> Comprehension:
    reads, body = compact(space.reads, (element,))
    name = program.fresh(f"{like.name}.welford")
    return Comprehension(name, like.point, reads, body, like.reduce, like.where, monoids.WELFORD)


# --- mean of squares − square of mean ------------------------------------------------------------


def _difference(program: Program, node: Comprehension) -> Edit | None:
    space, ring = Space(program, node.dims), Ring()
    for part in range(len(node.body)):
        body = own(space, node, part)
        if not any(x.op == "mul" for x in walk(space.full(body))):
            continue
        for whole in reversed(list(walk(body))):
            if whole.op == "add":
                edit = _moments(program, node, part, space, ring, body, whole)
                if edit is not None:
                    return edit
    return None


def _moments(
    program: Program,
    node: Comprehension,
    part: int,
    space: Space,
    ring: Ring,
    body: Expr,
    whole: Expr,
) -> Edit | None:
    parts = summands(whole)
    sums = [s for a in walk(space.full(whole)) if (s := _sum_or_mean(space, a))]
    if len(sums) < _TWICE or len(parts) > 8 or not any(_has_twice(o.node) for o in sums):
        return None
    values = [_read(space, o) for o in sums]
    for pair in combinations(range(len(parts)), _TWICE):
        have = ring.terms(space.full(add_all([parts[k] for k in pair])))
        squared = {a for m in have for a, p in m if p == _TWICE}
        means = [o for o, v in zip(sums, values, strict=True) if v in squared]
        for squares, plain_sum in ((a, b) for a in sums for b in means if a.node is not b.node):
            found = _which(space, ring, have, squares, plain_sum)
            if found is None:
                continue
            rest = [p for k, p in enumerate(parts) if k not in pair]
            return _replace_moments(program, node, part, space, body, whole, rest, plain_sum, found)
    return None


Result = tuple[str, Fraction]
"""A result of Welford, and a constant that it is multiplied by."""


def _which(
    space: Space, ring: Ring, have: Terms, squares: Opened, plain_sum: Opened
) -> Result | None:
    """Which result of Welford the terms are: Q/n − S²/n² or Q − S²/n, with Q = Σx², S = Σx.

    A mean that is read stands for its sum over n; constants may multiply Q and the whole.
    """
    node = plain_sum.node
    names = [space.add(d) for d in node.reduce]
    where = plain_sum.where(names)
    x = ring.terms(space.full(plain_sum.body(names)))
    multiples = (
        _ratio(ring.terms(space.full(squares.body(n))), ring.product(x, x))
        for n in squares.namings([(n, space.extents[n]) for n in names])
        if squares.where(n) == where
    )
    multiple = next(filter(None, multiples), None)
    if multiple is None:
        return None
    reads = [ring.terms(_read(space, o)) for o in (squares, plain_sum)]
    means = [kind_of(o.node) == "welford" for o in (squares, plain_sum)]
    for n in counts(space, names, where, emit(have)):
        size = ring.terms(n)
        if len(size) != 1:
            continue
        each = inverse(size)
        q, s = (multiplied(r, size) if m else r for r, m in zip(reads, means, strict=True))
        q = scaled(q, 1 / multiple)
        m2 = total([q, scaled(multiplied(multiplied(s, s), each), Fraction(-1))])
        known = {"m2": m2, "variance": multiplied(m2, each)}
        ratios = {output: _ratio(have, terms) for output, terms in known.items()}
        found = [(output, ratio) for output, ratio in ratios.items() if ratio is not None]
        if found:
            return min(found, key=lambda r: r[1] != 1)
    return None


def _ratio(a: Terms, b: Terms) -> Fraction | None:
    """The constant c with a = c · b, if there is one."""
    found = {a[m] / c for m, c in b.items()} if a.keys() == b.keys() else set()
    return found.pop() if len(found) == 1 else None


def _read(space: Space, o: Opened) -> Expr:
    return arg(space.number(replaced(plain(o.node, Ref(o.node.name, o.output)), o.env)))


def _replace_moments(
    program: Program,
    node: Comprehension,
    part: int,
    space: Space,
    body: Expr,
    whole: Expr,
    rest: list[Expr],
    plain_sum: Opened,
    result: Result,
) -> Edit | None:
    like, (output, constant) = plain_sum.node, result
    inside = Space(program, like.dims)
    known = kind_of(like) == "welford"
    fused = like if known else _welford(program, like, inside, own(inside, like))
    if tuple(d.name for d in fused.tensor(output).dims) != tuple(d.name for d in like.point):
        return None
    value = arg(space.number(replaced(plain(fused, Ref(fused.name, output)), plain_sum.env)))
    if constant != 1:
        value = apply("mul", value, real(constant))
    new = substitute(body, {whole: add_all([*rest, value])})
    changed = rebuilt(space, node, part, new)
    over = ", ".join(d.name for d in like.reduce)
    text = f"mean of x² − (mean of x)² over {over} → {output} of welford {fused.name}"
    context = tuple(s for s in space.seen if s != node.name)
    new_nodes = (changed,) if known else (fused, changed)
    return Edit((node.name,), new_nodes, node.name, text, context=context)


WELFORD: Final = Rule(
    "welford",
    "Σ (x − Σx/n)², or Σx²/n − (Σx/n)² → one pass that keeps n, mean and Σ (x − mean)²",
    "real field",
    frozenset({Requirement.FINITE, Requirement.REASSOCIATES}),
    "Tang.welford",
    _find,
    recalled=True,
)
