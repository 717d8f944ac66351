"""Decays that depend on where they start are no scan; guards stay on what is not defined outside.

Every program is compared with itself after rewriting, on finite data.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import tang as tg
from tang.interpreter import interpret
from tang.ir import Graph
from tang.rewrite import rewrite
from tang.rewrite.rules import scan

N = 3
t, s, r = (tg.dim(name, N) for name in "tsr")
a, b, c, w = (tg.input(name, (N,)) for name in "abcw")
x = tg.input("x", (N, N))
BETWEEN = [s < r, r <= t]
DATA = {
    "a": np.array([1.0, 0.5, 2.0]),
    "b": np.array([1.0, 3.0, -1.0]),
    "c": np.array([0.0, 1.0, 2.0]),
    "w": np.array([1.0, -2.0, 3.0]),
    "x": np.arange(9.0).reshape(N, N) / 4,
}


def summed(decay: tg.Value) -> Graph:
    return tg.Graph(h=tg.compute("h", [t], tg.sum(decay * b[s], s, [s <= t])))


def row_quotient() -> Graph:
    p = tg.compute("P", [s, t], tg.prod(x[s, r] + 1.0, r, [r <= t]))
    return summed(p[s, t] / p[s, s])


def row_difference() -> Graph:
    p = tg.compute("P", [s, t], tg.sum(x[s, r], r, [r <= t]))
    return summed(tg.exp2(p[s, t] - p[s, s]))


def scaled_difference() -> Graph:
    p = tg.compute("L", [t], tg.sum(a[r], r, [r <= t]))
    return summed(tg.exp(c[s] * (p[t] - p[s])))


OF_ITS_START: dict[str, Callable[[], Graph]] = {
    "a factor before the sum": lambda: summed(tg.exp2(c[s] * tg.sum(a[r], r, BETWEEN))),
    "a factor before a difference": scaled_difference,
    "the start itself": lambda: summed(tg.exp(tg.real(s) * tg.sum(a[r], r, BETWEEN))),
    "a product along its row": lambda: summed(tg.prod(x[s, r], r, BETWEEN)),
    "a sum along its row": lambda: summed(tg.exp(tg.sum(x[s, r], r, BETWEEN))),
    "something added to every step": lambda: summed(tg.prod(a[r] + c[s], r, BETWEEN)),
    "the distance": lambda: summed(tg.prod(a[r] + tg.real(r - s), r, BETWEEN)),
    "a quotient of row products": row_quotient,
    "a difference of row sums": row_difference,
    "a gate on the start": lambda: summed(
        tg.exp(tg.sum(tg.select((s < r) & (r <= t) & (c[s] > 0.0), a[r], 0.0), r))
    ),
}  # fmt: skip


def agrees(graph: Graph, data: dict[str, np.ndarray]) -> Graph:
    given = {i.name: data[i.name] for i in graph.inputs}
    found = rewrite(graph).graph
    for name, value in interpret(graph, given).items():
        np.testing.assert_allclose(interpret(found, given)[name], value, rtol=1e-12)
    return found


def monoids_of(graph: Graph) -> set[str]:
    return {n.monoid.name for n in graph.nodes if n.monoid is not None}


@pytest.mark.parametrize("name", OF_ITS_START)
def test_a_decay_that_depends_on_its_start_is_no_scan(name: str) -> None:
    assert "affine_scan" not in monoids_of(agrees(OF_ITS_START[name](), DATA))


def test_a_decay_of_the_step_alone_is_a_scan() -> None:
    for decay in (tg.exp(tg.sum(a[r], r, BETWEEN)), tg.prod(a[r], r, BETWEEN) * c[s]):
        assert "affine_scan" in monoids_of(agrees(summed(decay), DATA))


def test_without_the_look_at_the_start_the_wrong_scan_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scan, "_at", lambda space, o, s: o.body([s]))
    with pytest.raises(AssertionError):
        agrees(OF_ITS_START["a product along its row"](), DATA)


# --- guards --------------------------------------------------------------------------------------

KEPT = x[t, s] > 0.0
ROWS = {
    "x": np.array([[1.0, 2.0, -1.0], [-1.0, -1.0, -1.0], [1.0, 4.0, 1.0]]),
    "w": np.array([1.0, -2.0, 3.0]),
}


def mass(exponent: tg.Value, kept: tg.Value = KEPT) -> tg.Value:
    return tg.compute("l", [t], tg.sum(tg.select(kept, tg.exp(exponent), 0.0), s))


def applied(p: tg.Value) -> Graph:
    return tg.Graph(o=tg.compute("o", [t], tg.sum(p * w[s], s)))


def in_a_map(guarded: bool) -> Graph:
    p = tg.exp(x[t, s]) / mass(x[t, s])[t]
    held = tg.compute("P", [t, s], tg.select(KEPT, p, 0.0) if guarded else p)
    return applied(held[t, s] if guarded else tg.select(KEPT, held[t, s], 0.0))


def below_the_maximum() -> Graph:
    top = tg.compute("m", [t], tg.max(tg.select(KEPT, x[t, s], float("-inf")), s))
    shifted = x[t, s] - top[t]
    return applied(tg.select(KEPT, tg.exp(shifted) / mass(shifted)[t], 0.0))


def before_the_diagonal() -> Graph:
    kept = s < t
    return applied(tg.select(kept, tg.exp(x[t, s]) / mass(x[t, s], kept)[t], 0.0))


GUARDED: dict[str, Callable[[], Graph]] = {
    "inline": lambda: applied(tg.select(KEPT, tg.exp(x[t, s]) / mass(x[t, s])[t], 0.0)),
    "in a map": lambda: in_a_map(True),
    "outside of a map": lambda: in_a_map(False),
    "below the maximum": below_the_maximum,
    "before the diagonal": before_the_diagonal,
}


@pytest.mark.parametrize("name", GUARDED)
def test_a_row_without_elements_keeps_the_zero_that_a_guard_gives_it(name: str) -> None:
    agrees(GUARDED[name](), ROWS)


PARTIAL: dict[str, Callable[[tg.Value], tg.Value]] = {
    "logarithm": tg.log,
    "root": tg.sqrt,
    "reciprocal": lambda v: 1.0 / (v + 1.0),
}


@pytest.mark.parametrize("stored", [False, True], ids=["inline", "stored"])
@pytest.mark.parametrize("name", PARTIAL)
def test_a_value_that_only_a_guard_makes_finite_keeps_it(name: str, stored: bool) -> None:
    value = tg.exp(x[t, s]) * PARTIAL[name](x[t, s])
    if stored:
        value = tg.compute("v", [t, s], value)[t, s]
    kept = {**ROWS, "x": np.where(ROWS["x"] > 0, ROWS["x"], -1.0)}
    kept["x"][1, 0] = 4.0
    total = tg.sum(tg.select(KEPT, value, 0.0), s)
    graph = tg.Graph(o=tg.compute("o", [t], total / mass(x[t, s])[t]))
    assert "online_softmax" in monoids_of(agrees(graph, kept))
