"""The built-in monoids.

Defines sum, prod, max, min, argmax, argmin, logsumexp, online softmax, Welford, top-k, affine
scan, and the product of monoids; `is_plain_sum` tells sums from these. Relies on `monoid` and on
derived expressions; the laws of each are checked in tests by `laws`. Nothing here knows dims: what
an input means is in the docstrings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tang.errors import GraphError
from tang.ir.derived import absent, absolute, exp, log, lt, maximum, minimum, select, sub, zero
from tang.ir.derived import div as divide
from tang.ir.expr import (
    BOOL,
    INDEX,
    REAL,
    Expr,
    Sort,
    apply,
    arg,
    fold,
    index,
    iota,
    named,
    real,
    state,
)
from tang.ir.monoid import Axis, Component, Monoid
from tang.ir.renumber import renumbered

_NEGATIVE_INFINITY: Final = named("-inf")
Binary = Callable[[Expr, Expr], Expr]


def _add(a: Expr, b: Expr) -> Expr:
    return apply("add", a, b)


def _mul(a: Expr, b: Expr) -> Expr:
    return apply("mul", a, b)


def simple(name: str, combine: Binary, identity: Expr) -> Monoid:
    """A commutative monoid whose state is its value: state acc, output value."""
    sort = identity.sort
    return Monoid(
        name,
        inputs=(sort,),
        components=(Component("acc", sort),),
        lift=(arg(0, sort),),
        identity=(identity,),
        combine=(combine(state(0, 0, sort), state(1, 0, sort)),),
        outputs=(Component("value", sort),),
        project=(state(0, 0, sort),),
        commutative=True,
    )


def _either(a: Expr, b: Expr) -> Expr:
    return apply("or", a, b)


def _both(a: Expr, b: Expr) -> Expr:
    return apply("and", a, b)


SUM: Final = simple("sum", _add, real(0))
PROD: Final = simple("prod", _mul, real(1))
MAX: Final = simple("max", maximum, _NEGATIVE_INFINITY)
MIN: Final = simple("min", minimum, named("inf"))
COUNT: Final = simple("count", _add, index(0))
ANY: Final = simple("any", _either, zero(BOOL))
ALL: Final = simple("all", _both, apply("not", zero(BOOL)))


def _beats(value: Expr, rank: Expr, other: Expr, other_rank: Expr) -> Expr:
    """Strict order of argmax: NaN first, then the larger value, then the smaller index."""
    nan, other_nan = apply("isnan", value), apply("isnan", other)
    earlier = lt(rank, other_rank)
    tie = apply("or", apply("eq", value, other), apply("and", nan, other_nan))
    larger = apply("or", lt(other, value), apply("and", nan, apply("not", other_nan)))
    return apply("or", larger, apply("and", tie, earlier))


def _extremum(name: str, key: Callable[[Expr], Expr]) -> Monoid:
    left, right = state(0, 0), state(1, 0)
    at, other = state(0, 1, INDEX), state(1, 1, INDEX)
    wins = _beats(key(right), other, key(left), at)
    return Monoid(
        name,
        inputs=(REAL, INDEX),
        components=(Component("best", REAL), Component("at", INDEX)),
        lift=(arg(0), arg(1, INDEX)),
        identity=None,
        combine=(select(wins, right, left), select(wins, other, at)),
        outputs=(Component("index", INDEX), Component("value", REAL)),
        project=(at, left),
        commutative=True,
    )


ARGMAX: Final = _extremum("argmax", lambda x: x)
"""Inputs value, index; outputs index, value: the first NaN, else the first largest."""
ARGMIN: Final = _extremum("argmin", lambda x: apply("neg", x))
"""Inputs value, index; outputs index, value: the first NaN, else the first smallest."""


def _guarded_scale(m: Expr, maximum_: Expr) -> Expr:
    """exp(m − max), and 1 for a side at −inf (its sums are zero or NaN, and stay)."""
    return select(apply("eq", m, _NEGATIVE_INFINITY), real(1), exp(sub(m, maximum_)))


def _rescaled(component: int, m: Expr) -> Expr:
    parts = (_mul(_guarded_scale(state(side, 0), m), state(side, component)) for side in (0, 1))
    return _add(*parts)


def _logsumexp() -> Monoid:
    """State (m, l): maximum and Σ exp(x − m); value = m + log l.

    An element +inf makes exp(inf − inf) = NaN in the sum, so value is taken as m where m is +inf.
    """
    x, m, total = arg(0), state(0, 0), state(0, 1)
    joint = maximum(state(0, 0), state(1, 0))
    low = apply("eq", x, _NEGATIVE_INFINITY)
    infinite = apply("eq", m, named("inf"))
    empty = apply("eq", m, _NEGATIVE_INFINITY)
    value = select(apply("or", infinite, empty), m, _add(m, log(total)))
    return Monoid(
        "logsumexp",
        inputs=(REAL,),
        components=(Component("m", REAL), Component("l", REAL)),
        lift=(x, select(low, real(0), real(1))),
        identity=(_NEGATIVE_INFINITY, real(0)),
        combine=(joint, _logsum_part(joint)),
        outputs=(Component("value", REAL),),
        project=(value,),
        commutative=True,
    )


def _logsum_part(joint: Expr) -> Expr:
    """Rescaled sums; 1 at a maximum of +inf, where they mean nothing and would depend on order."""
    return select(apply("eq", joint, named("inf")), real(1), _rescaled(1, joint))


LOGSUMEXP: Final = _logsumexp()


def _online_softmax() -> Monoid:
    s, v = arg(0), arg(1)
    live = lt(_NEGATIVE_INFINITY, s)
    joint = maximum(state(0, 0), state(1, 0))
    return Monoid(
        "online_softmax",
        inputs=(REAL, REAL),
        components=(Component("m", REAL), Component("l", REAL), Component("acc", REAL)),
        lift=(s, select(live, real(1), real(0)), select(live, v, _mul(real(0), v))),
        identity=(_NEGATIVE_INFINITY, real(0), real(0)),
        combine=(joint, _rescaled(1, joint), _rescaled(2, joint)),
        outputs=(Component("value", REAL),),
        project=(divide(state(0, 2), state(0, 1)),),
        commutative=True,
    )


ONLINE_SOFTMAX: Final = _online_softmax()
"""Inputs score, value; output Σ softmax(score) · value (Milakov & Gimelshein 2018).

State (m, l, acc) depends on the value's own dims in acc alone. A fully masked row is 0/0 = NaN.
"""


def _welford() -> Monoid:
    """Chan, Golub & LeVeque (1979): merge of (n, mean, M2)."""
    n, n2 = state(0, 0), state(1, 0)
    mean, mean2 = state(0, 1), state(1, 1)
    count = _add(n, n2)
    delta = sub(mean2, mean)
    shift = divide(_mul(delta, n2), count)
    spread = divide(_mul(_mul(_mul(delta, delta), n), n2), count)
    left_empty, right_empty = apply("eq", n, real(0)), apply("eq", n2, real(0))

    def merged(left: Expr, right: Expr, both: Expr) -> Expr:
        return select(left_empty, right, select(right_empty, left, both))

    m2, other = state(0, 2), state(1, 2)
    known = lt(real(0), n)
    finite = lt(absolute(delta), named("inf"))
    return Monoid(
        "welford",
        inputs=(REAL,),
        components=(Component("n", REAL), Component("mean", REAL), Component("m2", REAL)),
        lift=(real(1), arg(0), sub(arg(0), arg(0))),
        identity=(real(0), real(0), real(0)),
        combine=(
            count,
            merged(mean, mean2, select(finite, _add(mean, shift), _add(mean, mean2))),
            merged(m2, other, _add(_add(m2, other), spread)),
        ),
        outputs=(Component("average", REAL), Component("variance", REAL)),
        project=(
            select(known, mean, named("nan")),
            select(known, divide(m2, n), named("nan")),
        ),
        commutative=True,
    )


WELFORD: Final = _welford()
"""Input x; outputs average and variance (divided by n); the state keeps n, mean and m2.

A mean over an infinity is that infinity, its variance NaN: `shift` is used only where finite.
"""

AFFINE_SCAN: Final = Monoid(
    "affine_scan",
    inputs=(REAL, REAL),
    components=(Component("a", REAL), Component("b", REAL)),
    lift=(arg(0), arg(1)),
    identity=(real(1), real(0)),
    combine=(
        _mul(state(1, 0), state(0, 0)),
        _add(_mul(state(1, 0), state(0, 1)), state(1, 1)),
    ),
    outputs=(Component("value", REAL),),
    project=(state(0, 1),),
    commutative=False,
    strict=False,
)
"""Inputs a, b; output h after h ← a·h + b from h = 0, in order (Blelloch 1990)."""


def top_k(k: int) -> Monoid:
    """Inputs value, index; outputs values and indices of the k largest, on static axis "rank".

    Order: NaN first, then descending, ties by smaller index; ranks beyond the number of
    elements hold −inf and −1 in the state.
    """
    if isinstance(k, bool) or not hasattr(k, "__index__") or k < 1:
        raise GraphError(f"top_k needs an int k ≥ 1, not {k!r}")
    k = k.__index__()
    r = iota("rank")
    first = apply("eq", r, index(0))
    return Monoid(
        f"top_k_{k}",
        inputs=(REAL, INDEX),
        components=(Component("best", REAL, ("rank",)), Component("at", INDEX, ("rank",))),
        lift=(select(first, arg(0), _NEGATIVE_INFINITY), select(first, arg(1, INDEX), index(-1))),
        identity=(_NEGATIVE_INFINITY, index(-1)),
        combine=(_merged_rank(k, 0, REAL), _merged_rank(k, 1, INDEX)),
        outputs=(Component("values", REAL, ("rank",)), Component("indices", INDEX, ("rank",))),
        project=(
            select(lt(state(0, 1, INDEX, (r,)), index(0)), named("nan"), state(0, 0, REAL, (r,))),
            state(0, 1, INDEX, (r,)),
        ),
        commutative=True,
        axes=(Axis("rank", k), Axis("mine", k), Axis("other", k)),
    )


def _merged_rank(k: int, component: int, sort: Sort) -> Expr:
    """The element of rank iota("rank") in the union of both sides: Σ over who has that rank."""
    sides = (_of_rank(k, side, component, sort) for side in (0, 1))
    return _chosen(sort, *sides)


def _of_rank(k: int, side: int, component: int, sort: Sort) -> tuple[Expr, Expr]:
    """(is there an element of that rank on this side, its component)."""
    i = iota("mine")
    here = apply("eq", apply("add", i, _beaten_by(k, side)), iota("rank"))
    value = state(side, component, sort, (i,))
    found = fold("mine", k, select(here, index(1), index(0)))
    return lt(index(0), found), fold("mine", k, select(here, value, zero(sort)))


def _beaten_by(k: int, side: int) -> Expr:
    """How many elements of the other side precede element iota("mine") of this one."""
    i, j, other = iota("mine"), iota("other"), 1 - side
    precedes = _entry_precedes(other, j, side, i)
    return fold("other", k, select(precedes, index(1), index(0)))


def _entry_precedes(a: int, i: Expr, b: int, j: Expr) -> Expr:
    """Whether entry i of side a precedes entry j of side b; absent entries (index −1) come last."""
    at, other_at = state(a, 1, INDEX, (i,)), state(b, 1, INDEX, (j,))
    present, other_present = lt(index(-1), at), lt(index(-1), other_at)
    real_order = _beats(state(a, 0, REAL, (i,)), at, state(b, 0, REAL, (j,)), other_at)
    alone = apply("not", other_present)
    both = apply("and", present, other_present)
    return select(both, real_order, alone if a == 0 else apply("and", present, alone))


def _chosen(sort: Sort, left: tuple[Expr, Expr], right: tuple[Expr, Expr]) -> Expr:
    return select(left[0], left[1], select(right[0], right[1], absent(sort)))


def product(*monoids: Monoid) -> Monoid:
    """Several reductions over one loop, side by side; names are prefixed p0_, p1_ ….

    Inputs are concatenated, static axes prefixed too. The product is commutative when all are,
    strict when all are, and has an identity when all have one.
    """
    if not monoids:
        raise GraphError("a product needs at least one monoid")
    parts = [_part(m, n, monoids[:n]) for n, m in enumerate(monoids)]
    identities = [p.identity for p in parts]
    return Monoid(
        "product(" + ", ".join(m.name for m in monoids) + ")",
        inputs=tuple(s for m in monoids for s in m.inputs),
        components=tuple(c for p in parts for c in p.components),
        lift=tuple(e for p in parts for e in p.lift),
        identity=None if None in identities else tuple(e for i in identities for e in i or ()),
        combine=tuple(e for p in parts for e in p.combine),
        outputs=tuple(c for p in parts for c in p.outputs),
        project=tuple(e for p in parts for e in p.project),
        commutative=all(m.commutative for m in monoids),
        axes=tuple(a for p in parts for a in p.axes),
        strict=all(m.strict for m in monoids),
    )


def is_plain_sum(monoid: Monoid | None) -> bool:
    """Whether a fold is a sum, or any number of sums side by side; a map is none."""
    if monoid is None:
        return False
    return monoid == SUM or monoid == product(*[SUM] * max(len(monoid.inputs), 1))


@dataclass(frozen=True, slots=True)
class _Part:
    """One factor of a product, with names prefixed and positions moved."""

    components: tuple[Component, ...]
    lift: tuple[Expr, ...]
    identity: tuple[Expr, ...] | None
    combine: tuple[Expr, ...]
    outputs: tuple[Component, ...]
    project: tuple[Expr, ...]
    axes: tuple[Axis, ...]


def _part(m: Monoid, n: int, before: tuple[Monoid, ...]) -> _Part:
    inputs = sum(len(b.inputs) for b in before)
    components = sum(len(b.components) for b in before)
    prefix = f"p{n}_"

    def moved(exprs: tuple[Expr, ...]) -> tuple[Expr, ...]:
        return tuple(
            renumbered(e, lambda i: i + inputs, lambda c: c + components, lambda a: prefix + a)
            for e in exprs
        )

    return _Part(
        components=tuple(_prefixed(c, prefix) for c in m.components),
        lift=moved(m.lift),
        identity=None if m.identity is None else moved(m.identity),
        combine=moved(m.combine),
        outputs=tuple(_prefixed(c, prefix) for c in m.outputs),
        project=moved(m.project),
        axes=tuple(Axis(prefix + a.name, a.size) for a in m.axes),
    )


def _prefixed(c: Component, prefix: str) -> Component:
    return Component(prefix + c.name, c.sort, tuple(prefix + a for a in c.axes))


BUILTIN: Final = {
    m.name: m
    for m in (
        SUM, PROD, MAX, MIN, COUNT, ANY, ALL, ARGMAX, ARGMIN,
        LOGSUMEXP, ONLINE_SOFTMAX, WELFORD, AFFINE_SCAN,
    )
}  # fmt: skip
"""Monoids without parameters by name; `top_k` and `product` make more."""
