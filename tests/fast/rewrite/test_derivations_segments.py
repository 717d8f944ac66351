"""Sums gated by a sorted index become segmented sums; unsorted ones are left alone.

Defines spellings as functions that make a graph. Relies on the frontend, the checked engine and
`derivation_checks`. An index is sorted by construction, never by promise.
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


def dims() -> tuple[Value, Value, Value]:
    return tg.dim("k", 4), tg.dim("n", 6), tg.dim("d", 2)


def scatter(key: Callable[[Value], Value], x: tg.Tensor) -> Graph:
    k, n, d = dims()
    gated = tg.select(key(n) == k, x[n, d], 0.0)
    return tg.Graph(o=tg.compute("o", [k, d], tg.sum(gated, n)))


def rows() -> tg.Tensor:
    return tg.input("x", (6, 2))


def running_maximum() -> Graph:
    """Whatever comes in, its running maximum is sorted."""
    raw, (_, n, _), s = tg.input("raw", (6,), "index"), dims(), tg.dim("s", 6)
    key = tg.compute("key", n, tg.max(raw[s], s, [s <= n]))
    return scatter(lambda n: key[n], rows())


def running_count() -> Graph:
    """Segments start where a flag is set."""
    flag, (_, n, _), s = tg.input("flag", (6,), "bool"), dims(), tg.dim("s", 6)
    key = tg.compute("key", n, tg.count(flag[s], s, [s <= n]))
    return scatter(lambda n: key[n], rows())


def blocks() -> Graph:
    """Blocks of two, and an offset; the first bin and the last stay empty."""
    return scatter(lambda n: n // 2 + 1, rows())


def batched() -> Graph:
    raw, (k, n, d), s = tg.input("raw", (3, 6), "index"), dims(), tg.dim("s", 6)
    b, x = tg.dim("b", 3), tg.input("x", (3, 6, 2))
    key = tg.compute("key", [b, n], tg.max(raw[b, s], s, [s <= n]))
    gated = tg.select(k == key[b, n], x[b, n, d] * 2, 0.0)
    return tg.Graph(o=tg.compute("o", [k, b, d], tg.sum(gated, n)))


@pytest.mark.parametrize("spelling", [running_maximum, running_count, blocks, batched])
def test_a_sum_gated_by_a_sorted_index_is_a_sum_of_segments(spelling: Spelling) -> None:
    judge = checker()
    rewrite(spelling(), ["segment-sum"], check=judge)
    assert judge.checked
    found = derive(spelling(), "segment-sum")
    assert "affine_scan" in monoids_of(found.graph)
    assert "segment-sum" not in {s.rule for s in rewrite(spelling()).trace}


def unsorted() -> Graph:
    raw = tg.input("raw", (6,), "index")
    return scatter(lambda n: raw[n], rows())


def from_the_end() -> Graph:
    raw, (_, n, _), s = tg.input("raw", (6,), "index"), dims(), tg.dim("s", 6)
    key = tg.compute("key", n, tg.max(raw[s], s, [s >= n]))
    return scatter(lambda n: key[n], rows())


def running_sum_of_anything() -> Graph:
    raw, (_, n, _), s = tg.input("raw", (6,), "index"), dims(), tg.dim("s", 6)
    key = tg.compute("key", n, tg.sum(raw[s], s, [s <= n]))
    return scatter(lambda n: key[n], rows())


def backwards() -> Graph:
    return scatter(lambda n: 5 - n, rows())


def remainder() -> Graph:
    return scatter(lambda n: n % 3, rows())


NEAR = (unsorted, from_the_end, running_sum_of_anything, backwards, remainder)


@pytest.mark.parametrize("spelling", NEAR)
def test_an_index_that_is_not_sorted_stays_a_gated_sum(spelling: Spelling) -> None:
    assert not rewrite(spelling(), ["segment-sum"]).trace


def test_a_value_that_depends_on_the_bin_is_no_scatter() -> None:
    k, n, _ = dims()
    x = tg.input("x", (6, 4))
    gated = tg.select(n // 2 == k, x[n, k], 0.0)
    assert not rewrite(tg.Graph(o=tg.compute("o", k, tg.sum(gated, n))), ["segment-sum"]).trace
