"""Random monoids, with what they accept and what comes out.

Defines `Reduction`: a monoid, the limits that keep its folds inside f32, and the ranges of its
outputs and state. Relies on the built-in monoids and on a few of a user's kind defined here. It
draws no bodies and no dims. Shrinks to the sum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tang.fuzz.ranges import BOOLEAN, Range, rough, unbounded
from tang.fuzz.source import Source, between, choose, weighted
from tang.ir import monoids as builtin
from tang.ir.derived import maximum
from tang.ir.expr import (
    BOOL,
    REAL,
    Expr,
    apply,
    arg,
    boolean,
    fold,
    iota,
    named,
    real,
    state,
)
from tang.ir.monoid import Axis, Component, Monoid

Results = Callable[[tuple[Range, ...], int], tuple[Range, ...]]


@dataclass(frozen=True, slots=True)
class Reduction:
    """A monoid and how to use it.

    limits   largest magnitude per input, given how many elements are folded (reals and indices)
    results  ranges of outputs, then of components, from the ranges of the inputs and the count
    ranks    inputs that are to be the position of the element
    exact    inputs in which a tie between inexact values would decide the result
    axes     static axes that the body may use as dims
    least    fewest elements that it takes
    """

    monoid: Monoid
    limits: Callable[[int], tuple[float, ...]]
    results: Results
    ranks: frozenset[int] = frozenset()
    exact: frozenset[int] = frozenset()
    axes: tuple[Axis, ...] = ()
    least: int = 0


# --- monoids of a user's kind --------------------------------------------------------------------

MAX_PLUS: Final = Monoid(
    "max_plus",
    inputs=(REAL, REAL),
    components=(Component("a", REAL), Component("b", REAL)),
    lift=(arg(0), arg(1)),
    identity=(real(0), named("-inf")),
    combine=(
        apply("add", state(0, 0), state(1, 0)),
        maximum(apply("add", state(0, 1), state(1, 0)), state(1, 1)),
    ),
    outputs=(Component("value", REAL),),
    project=(state(0, 1),),
    commutative=False,
    strict=False,
)
"""Inputs a, b; output h after h ← max(h + a, b) from h = −inf: an affine map over (max, +)."""

PARITY: Final = Monoid(
    "parity",
    inputs=(BOOL,),
    components=(Component("odd", BOOL),),
    lift=(arg(0, BOOL),),
    identity=(boolean(False),),
    combine=(apply("not", apply("eq", state(0, 0, BOOL), state(1, 0, BOOL))),),
    outputs=(Component("value", BOOL),),
    project=(state(0, 0, BOOL),),
    commutative=True,
)
"""Whether an odd number of inputs is true."""

LAST: Final = Monoid(
    "last",
    inputs=(REAL,),
    components=(Component("seen", REAL),),
    lift=(arg(0),),
    identity=None,
    combine=(state(1, 0),),
    outputs=(Component("value", REAL),),
    project=(state(0, 0),),
    commutative=False,
)
"""The last element: a semigroup in which order is everything."""


def matrix_product(size: int) -> Monoid:
    """Ordered product of size × size matrices; the body depends on axes "row" and "col"."""
    row, col, mid = iota("row"), iota("col"), iota("mid")
    product = apply("mul", state(0, 0, REAL, (row, mid)), state(1, 0, REAL, (mid, col)))
    axes = ("row", "col")
    return Monoid(
        f"matrix_product_{size}",
        inputs=(REAL,),
        components=(Component("m", REAL, axes),),
        lift=(arg(0),),
        identity=(select_diagonal(row, col),),
        combine=(fold("mid", size, product),),
        outputs=(Component("value", REAL, axes),),
        project=(state(0, 0, REAL, (row, col)),),
        commutative=False,
        axes=(Axis("row", size), Axis("col", size), Axis("mid", size)),
        strict=False,
    )


def select_diagonal(row: Expr, col: Expr) -> Expr:
    """1 on the diagonal, else 0."""
    return apply("select", apply("eq", row, col), real(1), real(0))


# --- what comes out ------------------------------------------------------------------------------


def _every(limit: float, count: int) -> Callable[[int], tuple[float, ...]]:
    return lambda n: (limit,) * count


def _summed(r: Range, n: int) -> Range:
    """n terms, or fewer: zero is among the possible sums."""
    return Range(min(r.low * n, 0, r.low), max(r.high * n, 0, r.high), r.finite, r.exact)


def _sum(r: tuple[Range, ...], n: int) -> tuple[Range, ...]:
    return (_summed(r[0], n),) * 2


def _prod_limit(n: int) -> tuple[float, ...]:
    return (2.0 ** (40 / max(n, 1)),)


def _prod(r: tuple[Range, ...], n: int) -> tuple[Range, ...]:
    top = max(r[0].size, 1.0) ** max(n, 1)
    return (Range(-top, top, r[0].finite, r[0].exact and n <= 6),) * 2


def _extremum(r: tuple[Range, ...], n: int) -> tuple[Range, ...]:
    return (unbounded(r[0]),) * 2


def _bools(r: tuple[Range, ...], n: int) -> tuple[Range, ...]:
    return (BOOLEAN,) * 2


def _count_limit(n: int) -> tuple[float, ...]:
    return (2.0**31 // max(n, 1) - 1,)


def _arg(r: tuple[Range, ...], n: int) -> tuple[Range, ...]:
    value, rank = unbounded(r[0]), Range(min(r[1].low, -1), r[1].high)
    return rank, value, value, rank


def _top_k(r: tuple[Range, ...], n: int) -> tuple[Range, ...]:
    value, rank = unbounded(r[0]), Range(min(r[1].low, -1), r[1].high)
    return value, rank, value, rank


def _logsumexp(r: tuple[Range, ...], n: int) -> tuple[Range, ...]:
    m, total = unbounded(r[0]), rough(unbounded(Range(0, max(n, 1))))
    return rough(unbounded(Range(r[0].low, r[0].high + 9))), m, total


def _online(r: tuple[Range, ...], n: int) -> tuple[Range, ...]:
    total = rough(unbounded(Range(0, max(n, 1))))
    acc = rough(unbounded(_summed(r[1], max(n, 1))))
    return rough(unbounded(r[1])), unbounded(r[0]), total, acc


def _welford(r: tuple[Range, ...], n: int) -> tuple[Range, ...]:
    spread = (r[0].size * 2) ** 2
    average, variance = rough(unbounded(r[0])), rough(unbounded(Range(0, spread)))
    m2 = rough(unbounded(Range(0, spread * max(n, 1))))
    return average, variance, Range(0, n), rough(r[0]), m2


def _affine_limit(n: int) -> tuple[float, ...]:
    return 2.0 ** (24 / max(n, 1)), 2.0**20


def _affine(r: tuple[Range, ...], n: int) -> tuple[Range, ...]:
    a = max(r[0].size, 1.0) ** max(n, 1)
    b = a * r[1].size * max(n, 1)
    finite, exact = r[0].finite and r[1].finite, n <= 4 and r[0].exact and r[1].exact
    value = Range(-b, b, finite, exact)
    return value, Range(-a, a, finite, exact), value


def _max_plus(r: tuple[Range, ...], n: int) -> tuple[Range, ...]:
    total = _summed(r[0], n)
    value = unbounded(Range(r[1].low + total.low, r[1].high + total.high, exact=r[1].exact))
    return value, total, value


def _last(r: tuple[Range, ...], n: int) -> tuple[Range, ...]:
    return (unbounded(r[0]),) * 2


def _matrix(size: int) -> Results:
    def results(r: tuple[Range, ...], n: int) -> tuple[Range, ...]:
        top = max(r[0].size * size, 1.0) ** max(n, 1)
        return (Range(-top, top, r[0].finite, r[0].exact and n <= 3),) * 2

    return results


def _matrix_limit(size: int) -> Callable[[int], tuple[float, ...]]:
    return lambda n: (2.0 ** (24 / max(n, 1)) / size,)


# --- the table -----------------------------------------------------------------------------------

_BIG: Final = 2.0**30
_FIRST: Final = frozenset({0})
_SECOND: Final = frozenset({1})

_TABLE: Final[tuple[tuple[int, Reduction], ...]] = (
    (16, Reduction(builtin.SUM, _every(2.0**50, 1), _sum)),
    (5, Reduction(builtin.PROD, _prod_limit, _prod)),
    (7, Reduction(builtin.MAX, _every(2.0**60, 1), _extremum)),
    (5, Reduction(builtin.MIN, _every(2.0**60, 1), _extremum)),
    (5, Reduction(builtin.COUNT, _count_limit, _sum)),
    (8, Reduction(builtin.ANY, _every(1, 1), _bools)),
    (6, Reduction(builtin.ALL, _every(1, 1), _bools)),
    (5, Reduction(builtin.ARGMAX, _every(2.0**60, 2), _arg, _SECOND, _FIRST, least=1)),
    (7, Reduction(builtin.ARGMIN, _every(2.0**60, 2), _arg, _SECOND, _FIRST, least=1)),
    (8, Reduction(builtin.LOGSUMEXP, _every(64, 1), _logsumexp)),
    (6, Reduction(builtin.ONLINE_SOFTMAX, lambda n: (64, _BIG), _online)),
    (6, Reduction(builtin.WELFORD, _every(2.0**20, 1), _welford)),
    (8, Reduction(builtin.AFFINE_SCAN, _affine_limit, _affine)),
)
_USERS: Final = (
    Reduction(MAX_PLUS, _every(2.0**20, 2), _max_plus),
    Reduction(PARITY, _every(1, 1), _bools),
    Reduction(LAST, _every(_BIG, 1), _last, least=1),
    Reduction(
        matrix_product(2),
        _matrix_limit(2),
        _matrix(2),
        axes=(Axis("row", 2), Axis("col", 2)),
    ),
)


def draw_reduction(source: Source) -> Reduction:
    """A monoid: built in, top-k, a product, or of a user's kind; shrinks to the sum."""
    kind = weighted(source, ((56, "builtin"), (7, "top_k"), (9, "product"), (28, "user")))
    if kind == "top_k":
        k = between(source, 1, 3)
        limits = _every(2.0**60, 2)
        return Reduction(builtin.top_k(k), limits, _top_k, _SECOND, _FIRST, least=k)
    if kind == "user":
        return choose(source, _USERS)
    if kind == "product":
        return _product(weighted(source, _TABLE), weighted(source, _TABLE))
    return weighted(source, _TABLE)


def _product(a: Reduction, b: Reduction) -> Reduction:
    width, outputs, others = len(a.monoid.inputs), len(a.monoid.outputs), len(b.monoid.outputs)

    def results(r: tuple[Range, ...], n: int) -> tuple[Range, ...]:
        left, right = a.results(r[:width], n), b.results(r[width:], n)
        return (*left[:outputs], *right[:others], *left[outputs:], *right[others:])

    return Reduction(
        builtin.product(a.monoid, b.monoid),
        lambda n: a.limits(n) + b.limits(n),
        results,
        a.ranks | frozenset(i + width for i in b.ranks),
        a.exact | frozenset(i + width for i in b.exact),
        least=max(a.least, b.least),
    )
