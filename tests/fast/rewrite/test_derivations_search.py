"""Argmax and top-k are found however they are written; near misses are left alone.

Defines spellings as functions that make a graph. Relies on the frontend, the checked engine and
`derivation_checks`.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from derivation_checks import derive, monoids_of

import tang as tg
from tang.frontend.values import Value
from tang.ir.graph import Graph
from tang.rewrite import rewrite
from tang.verify.rewriting import checker

Spelling = Callable[[], Graph]
BIG = 2**31 - 1
NINF = float("-inf")


def dims() -> tuple[Value, Value]:
    return tg.dim("i", 3), tg.dim("j", 5)


def matrix() -> tg.Tensor:
    return tg.input("x", (3, 5))


def first_among_equals() -> Graph:
    (i, j), x = dims(), matrix()
    m = tg.compute("m", i, tg.max(x[i, j], j))
    return tg.Graph(o=tg.compute("o", i, tg.min(tg.select(x[i, j] == m[i], j, BIG), j)))


def renamed_and_negated() -> Graph:
    (a, b), x = dims(), matrix()
    top = tg.compute("sum", a, tg.max(2 * x[a, b] + 1, b))
    below = x[a, b] + x[a, b] + 1 < top[a]
    return tg.Graph(o=tg.compute("prod", a, tg.min(tg.select(below, tg.extent(b), b), b)))


def at_least() -> Graph:
    (i, j), x = dims(), matrix()
    m = tg.compute("m", i, tg.max(x[i, j], j))
    return tg.Graph(o=tg.compute("o", i, tg.min(tg.select(x[i, j] >= m[i], j, 4), j)))


def as_reals() -> Graph:
    (i, j), x = dims(), matrix()
    m = tg.compute("m", i, tg.max(x[i, j], j))
    chosen = tg.select(m[i] == x[i, j], tg.real(j), float("inf"))
    return tg.Graph(o=tg.compute("o", i, tg.min(chosen, j)), m=m)


def smallest() -> Graph:
    (i, j), x = dims(), matrix()
    m = tg.compute("m", i, tg.min(x[i, j], j))
    return tg.Graph(o=tg.compute("o", i, tg.min(tg.select(x[i, j] == m[i], j, 9), j)))


def with_where() -> Graph:
    (i, j), x = dims(), matrix()
    m = tg.compute("m", i, tg.max(x[i, j], j, [j <= i]))
    return tg.Graph(o=tg.compute("o", i, tg.min(tg.select(x[i, j] == m[i], j, 9), j, [j <= i])))


def over_two_dims() -> Graph:
    (i, j), x = dims(), matrix()
    m = tg.compute("m", [], tg.max(x[i, j], [i, j]))
    return tg.Graph(
        o=tg.compute("o", [], tg.min(tg.select(x[i, j] == m[()], 5 * i + j, 15), [j, i]))
    )


ARGMAX = (
    first_among_equals, renamed_and_negated, at_least, as_reals, smallest, with_where,
    over_two_dims,
)  # fmt: skip


@pytest.mark.parametrize("spelling", ARGMAX)
def test_the_first_of_the_largest_is_an_argmax_however_it_is_written(spelling: Spelling) -> None:
    rules = ["argmax", "read-back", "dead-node"]
    judge = checker()
    rewrite(spelling(), rules, check=judge)
    assert judge.checked
    kinds = set(monoids_of(derive(spelling(), *rules).graph))
    assert kinds & {"argmax", "argmin"}
    if spelling is not as_reals:
        assert kinds <= {"argmax", "argmin", "map"}


def test_argmax_by_equality_is_off_in_strict_mode() -> None:
    """Where an element is NaN no element equals the maximum."""
    assert not rewrite(first_among_equals(), ["argmax"], strict=True).trace


def beyond_is_a_position() -> Graph:
    (i, j), x = dims(), matrix()
    m = tg.compute("m", i, tg.max(x[i, j], j))
    return tg.Graph(o=tg.compute("o", i, tg.min(tg.select(x[i, j] == m[i], j, 3), j)))


def maximum_of_another_row() -> Graph:
    (i, j), x = dims(), matrix()
    m = tg.compute("m", i, tg.max(x[i, j], j))
    return tg.Graph(o=tg.compute("o", i, tg.min(tg.select(x[i, j] == m[2 - i], j, 9), j)))


def maximum_elsewhere() -> Graph:
    (i, j), x = dims(), matrix()
    m = tg.compute("m", i, tg.max(x[i, j], j, [j < 3]))
    return tg.Graph(o=tg.compute("o", i, tg.min(tg.select(x[i, j] == m[i], j, 9), j)))


def maybe_nothing() -> Graph:
    (i, j), x = dims(), matrix()
    m = tg.compute("m", i, tg.max(x[i, j], j, [j < i]))
    return tg.Graph(o=tg.compute("o", i, tg.min(tg.select(x[i, j] == m[i], j, 9), j, [j < i])))


def the_other_side() -> Graph:
    (i, j), x = dims(), matrix()
    m = tg.compute("m", i, tg.max(x[i, j], j))
    return tg.Graph(o=tg.compute("o", i, tg.min(tg.select(x[i, j] == m[i], 9, j), j)))


NEAR = (
    beyond_is_a_position, maximum_of_another_row, maximum_elsewhere,
    maybe_nothing, the_other_side,
)  # fmt: skip


@pytest.mark.parametrize("spelling", NEAR)
def test_what_only_looks_like_an_argmax_is_left_alone(spelling: Spelling) -> None:
    assert not rewrite(spelling(), ["argmax"]).trace


def test_the_element_at_its_argmax_is_the_value_that_was_kept() -> None:
    (i, j), x = dims(), matrix()
    at = tg.compute("at", i, tg.argmax(x[i, j], j))
    found = derive(tg.Graph(o=tg.compute("o", i, x[i, at[i]] * 2), at=at), "gather-at-argmax")
    assert [s.rule for s in found.trace] == ["gather-at-argmax"]
    assert not any(r.view.gathers for n in found.graph.nodes for r in n.reads)
    for other in (x[2 - i, at[i]], matrix()[i, at[2 - i]]):
        left = tg.Graph(o=tg.compute("o", i, other))
        assert not rewrite(left, ["gather-at-argmax"]).trace


# --- top-k ---------------------------------------------------------------------------------------


def two_picks() -> Graph:
    (i, j), x = dims(), matrix()
    first = tg.compute("first", i, tg.argmax(x[i, j], j))
    left = tg.select(j == first[i], NINF, x[i, j])
    return tg.Graph(first=first, second=tg.compute("second", i, tg.argmax(left, j)))


def three_picks() -> Graph:
    """Each pick masks those before, in tensors of their own; values are gathered."""
    (i, j), x = dims(), matrix()
    a = tg.compute("a", i, tg.argmax(x[i, j], j))
    y = tg.compute("y", [i, j], tg.select(a[i] == j, NINF, x[i, j]))
    b = tg.compute("b", i, tg.argmax(y[i, j], j))
    z = tg.compute("z", [i, j], tg.select(b[i] == j, NINF, y[i, j]))
    c = tg.compute("c", i, tg.argmax(z[i, j], j))
    routed = x[i, a[i]] + 2 * x[i, b[i]] + 4 * x[i, c[i]]
    return tg.Graph(o=tg.compute("o", i, routed), a=a, b=b, c=c)


def picks_in_one_test() -> Graph:
    (u, w), x = dims(), matrix()
    a = tg.compute("max", u, tg.argmax(x[u, w], w))
    b = tg.compute("min", u, tg.argmax(tg.select(w == a[u], NINF, x[u, w]), w))
    free = ~((w == b[u]) | (a[u] == w))
    c = tg.compute("sum", u, tg.argmax(tg.select(free, x[u, w], NINF), w))
    return tg.Graph(a=a, b=b, c=c)


def by_rank() -> Graph:
    """How many elements come before each, then the element of every rank."""
    (i, j), r, h = dims(), tg.dim("r", 2), tg.dim("h", 5)
    x = matrix()
    before = (x[i, h] > x[i, j]) | ((x[i, h] == x[i, j]) & (h < j))
    rank = tg.compute("rank", [i, j], tg.count(before, h))
    here = rank[i, j] == r
    return tg.Graph(
        indices=tg.compute("n", [i, r], tg.sum(tg.select(here, j, 0), j)),
        values=tg.compute("v", [i, r], tg.sum(tg.select(here, x[i, j], 0.0), j)),
    )


@pytest.mark.parametrize("spelling", [two_picks, three_picks, picks_in_one_test, by_rank])
def test_successive_picks_and_ranks_are_top_k(spelling: Spelling) -> None:
    judge = checker()
    rewrite(spelling(), ["top-k", "dead-node"], check=judge)
    assert judge.checked
    found = derive(spelling(), "top-k", "dead-node")
    kinds = [k for k in monoids_of(found.graph) if k != "map"]
    assert set(kinds) == {"top_k_2" if spelling in (two_picks, by_rank) else "top_k_3"}
    assert len(kinds) == (2 if spelling is by_rank else 1)


def same_pick_twice() -> Graph:
    (i, j), x = dims(), matrix()
    a = tg.compute("a", i, tg.argmax(x[i, j], j))
    left = tg.select(j == a[2 - i], NINF, x[i, j])
    return tg.Graph(o=tg.compute("o", i, tg.argmax(left, j)))


def masked_by_zero() -> Graph:
    (i, j), x = dims(), matrix()
    a = tg.compute("a", i, tg.argmax(x[i, j], j))
    return tg.Graph(o=tg.compute("o", i, tg.argmax(tg.select(j == a[i], 0.0, x[i, j]), j)))


def pick_of_another() -> Graph:
    (i, j), x, y = dims(), matrix(), tg.input("y", (3, 5))
    a = tg.compute("a", i, tg.argmax(y[i, j], j))
    return tg.Graph(o=tg.compute("o", i, tg.argmax(tg.select(j == a[i], NINF, x[i, j]), j)))


def rank_without_ties() -> Graph:
    (i, j), r, h = dims(), tg.dim("r", 2), tg.dim("h", 5)
    x = matrix()
    rank = tg.compute("rank", [i, j], tg.count(x[i, h] > x[i, j], h))
    return tg.Graph(n=tg.compute("n", [i, r], tg.sum(tg.select(rank[i, j] == r, j, 0), j)))


def rank_upwards() -> Graph:
    (i, j), r, h = dims(), tg.dim("r", 2), tg.dim("h", 5)
    x = matrix()
    before = (x[i, h] < x[i, j]) | ((x[i, h] == x[i, j]) & (h < j))
    rank = tg.compute("rank", [i, j], tg.count(before, h))
    return tg.Graph(n=tg.compute("n", [i, r], tg.sum(tg.select(rank[i, j] == r, j, 0), j)))


@pytest.mark.parametrize(
    "spelling",
    [same_pick_twice, masked_by_zero, pick_of_another, rank_without_ties, rank_upwards],
)
def test_what_only_looks_like_top_k_is_left_alone(spelling: Spelling) -> None:
    assert not rewrite(spelling(), ["top-k"]).trace
