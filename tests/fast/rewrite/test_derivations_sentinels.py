"""Argmax written with a sentinel: the least of select(x = max x, position, something beyond).

Defines spellings as functions that make a graph. Relies on the frontend, the checked engine and
`derivation_checks`. A sentinel that may come before a position is none.
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

INF = float("inf")
i, j = tg.dim("i", 3), tg.dim("j", 5)
x = tg.input("x", (3, 5))
TOP = tg.compute("top", i, tg.max(x[i, j], j))
HERE = x[i, j] == TOP[i]


def least(value: Value) -> Graph:
    return tg.Graph(o=tg.compute("o", i, tg.min(value, j)))


def largest(value: Value) -> Graph:
    return tg.Graph(o=tg.compute("o", i, tg.max(value, j)))


def in_a_tensor() -> Graph:
    """The test as a tensor of zeros and ones, compared with 1."""
    here = tg.compute("here", [i, j], tg.select(HERE, 1.0, 0.0))
    return least(tg.select(here[i, j] == 1.0, tg.real(j), 1e9))


def negated_again() -> Graph:
    return tg.Graph(o=tg.compute("o", i, -tg.max(tg.select(HERE, -j, -1000), j)))


def bits() -> Value:
    return tg.select(HERE, 1.0, 0.0)


def smallest() -> Graph:
    low = tg.compute("low", i, tg.min(x[i, j], j))
    return largest(tg.select(x[i, j] - low[i] <= 0.0, -tg.real(j), -1e9))


def two_dims() -> Graph:
    top = tg.compute("both", [], tg.max(x[i, j], [i, j]))
    here = tg.select(x[i, j] == top[()], -(5 * i + j), -15)
    return tg.Graph(o=tg.compute("o", [], tg.max(here, [i, j])))


def beside_a_point_dim() -> Graph:
    """Positions that start elsewhere in each row."""
    return least(tg.select(HERE, tg.real(j + 7 * i), 1e6))


FOUND: dict[str, Callable[[], Graph]] = {
    "a large real": lambda: least(tg.select(HERE, tg.real(j), 1e9)),
    "the extent as a real": lambda: least(tg.select(HERE, tg.real(j), tg.real(tg.extent(j)))),
    "the last position": lambda: least(tg.select(HERE, tg.real(j), 4.0)),
    "a fraction beyond": lambda: least(tg.select(HERE, tg.real(j), 4.5)),
    "a large index": lambda: least(tg.select(HERE, j, 1000)),
    "a cast outside": lambda: least(tg.real(tg.select(HERE, j, 1000))),
    "added to the position": lambda: least(tg.real(j) + tg.select(HERE, 0.0, 1e4)),
    "another position beyond": lambda: least(tg.select(HERE, j, j + 5)),
    "multiplied": lambda: least(bits() * tg.real(j) + (1.0 - bits()) * 1e6),
    "largest of the negative": lambda: largest(tg.select(HERE, -j, -1000)),
    "largest of the negative real": lambda: largest(tg.select(HERE, -tg.real(j), -1e9)),
    "minus infinity": lambda: largest(tg.select(HERE, -tg.real(j), -INF)),
    "counted from the end": lambda: largest(tg.select(HERE, 5 - j, 0)),
    "counted from the end in reals": lambda: largest(tg.select(HERE, 5.0 - tg.real(j), 0.0)),
    "a difference": lambda: least(tg.select(x[i, j] - TOP[i] == 0.0, tg.real(j), 1e9)),
    "not less": lambda: least(tg.select((x[i, j] - TOP[i]) < 0.0, 1e9, tg.real(j))),
    "the last of the largest": lambda: largest(tg.select(HERE, j, -1)),
    "the last of the largest in reals": lambda: largest(tg.select(HERE, tg.real(j), -1e9)),
    "in a tensor": in_a_tensor,
    "negated again": negated_again,
    "smallest": smallest,
    "two dims": two_dims,
    "beside a point dim": beside_a_point_dim,
}


@pytest.mark.parametrize("name", FOUND)
def test_an_argmax_with_a_sentinel_is_found_however_it_is_written(name: str) -> None:
    judge = checker()
    rewrite(FOUND[name](), ["argmax", "read-back", "dead-node"], check=judge)
    assert judge.checked
    found = derive(FOUND[name](), "argmax", "read-back", "dead-node")
    assert set(monoids_of(found.graph)) - {"map"} == {"argmin" if name == "smallest" else "argmax"}
    assert not rewrite(FOUND[name](), ["argmax"], strict=True).trace


def test_positions_are_plain_where_they_can_be() -> None:
    """An offset is added behind the fold, so that later rules see the position itself."""
    for name in ("counted from the end", "beside a point dim", "largest of the negative"):
        (node,) = (n for n in rewrite(FOUND[name](), ["argmax"]).graph.nodes
                   if n.monoid and n.monoid.name == "argmax")  # fmt: skip
        assert node.body[1].op == "iota"


@pytest.mark.parametrize("sentinel", ["extent", "real", "index"])
def test_a_symbolic_size_is_below_its_extent_and_below_any_index(sentinel: str) -> None:
    b, m = tg.dim("b", "n"), tg.input("y", ("n",))
    top = tg.compute("top", [], tg.max(m[b], b))
    here = m[b] == top[()]
    value = {
        "extent": tg.select(here, b, tg.extent(b)),
        "real": tg.select(here, tg.real(b), 1e10),
        "index": tg.select(here, b, 2**31 - 1),
    }[sentinel]
    graph = tg.Graph(o=tg.compute("o", [], tg.min(value, b)))
    assert not rewrite(graph, ["argmax"]).trace  # it may be empty
    graph = tg.Graph(o=tg.compute("o", [], tg.min(value, b)), facts=[tg.fact("n", minimum=1)])
    found = derive(graph, "argmax", "dead-node", sizes={"n": 4})
    assert "argmax" in monoids_of(found.graph)


NEAR: dict[str, Callable[[], Graph]] = {
    "a real position": lambda: least(tg.select(HERE, tg.real(j), 3.0)),
    "a fraction before the last": lambda: least(tg.select(HERE, tg.real(j), 3.5)),
    "a negative position": lambda: largest(tg.select(HERE, -j, -3)),
    "an index position": lambda: largest(tg.select(HERE, 5 - j, 2)),
    "the wrong infinity": lambda: least(tg.select(HERE, tg.real(j), -INF)),
    "a position of its own": lambda: least(tg.select(HERE, tg.real(j), tg.real(j + 3))),
    "the largest of any": lambda: largest(tg.select(HERE, j, 1000)),
    "other elements": lambda: least(tg.select(x[i, j] < TOP[i], tg.real(j), 1e9)),
    "no position": lambda: least(tg.select(HERE, x[i, j], 1e9)),
    "half positions": lambda: least(tg.select(HERE, 0.5 * tg.real(j), 1e9)),
    "the smallest of a maximum": lambda: least(tg.select(x[i, j] <= -TOP[i], tg.real(j), 1e9)),
}


@pytest.mark.parametrize("name", NEAR)
def test_what_may_take_the_sentinel_is_no_argmax(name: str) -> None:
    assert not rewrite(NEAR[name](), ["argmax"]).trace
