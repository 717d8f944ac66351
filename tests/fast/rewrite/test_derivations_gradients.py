"""What a hand-written gradient sends through a stabilising maximum is proved zero and dropped.

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


def dims() -> tuple[Value, Value]:
    return tg.dim("i", 3), tg.dim("j", 5)


def softmax_parts() -> tuple[tg.Tensor, ...]:
    """x, v, g and the maximum, its place, the mass and the weighted sum."""
    (i, j), x, v = dims(), tg.input("x", (3, 5)), tg.input("v", (5,))
    g = tg.input("g", (3,))
    m = tg.compute("m", i, tg.max(x[i, j], j))
    at = tg.compute("at", i, tg.argmax(x[i, j], j))
    e = tg.exp(x[i, j] - m[i])
    mass = tg.compute("mass", i, tg.sum(e, j))
    acc = tg.compute("acc", i, tg.sum(e * v[j], j))
    return x, v, g, m, at, mass, acc


def of_softmax_times_value(factor: float = 1.0) -> Graph:
    """d_x = d_e·e + [j = argmax]·d_m with d_m = −Σ d_e·e."""
    (i, j), (x, v, g, m, at, mass, acc) = dims(), softmax_parts()
    e = tg.exp(x[i, j] - m[i])
    d_e = g[i] / mass[i] * v[j] - factor * g[i] * acc[i] / (mass[i] * mass[i])
    d_m = tg.compute("d_m", i, tg.sum(-d_e * e, j))
    through = tg.select(at[i] == j, d_m[i], 0.0)
    return tg.Graph(d_x=tg.compute("d_x", [i, j], d_e * e + through))


def in_probabilities() -> Graph:
    """d_s = p·(d_p − Σ p·d_p), whose sum over a row is nothing."""
    (i, j), (x, v, g, m, at, mass, _) = dims(), softmax_parts()
    p = tg.compute("p", [i, j], tg.exp(x[i, j] - m[i]) / mass[i])
    d_p = tg.compute("d_p", [i, j], g[i] * v[j] + x[i, j])
    row = tg.compute("row", i, tg.sum(p[i, j] * d_p[i, j], j))
    d_s = tg.compute("d_s", [i, j], p[i, j] * (d_p[i, j] - row[i]))
    d_m = tg.compute("d_m", i, -tg.sum(d_s[i, j], j))
    gate = tg.select(at[i] == j, 1.0, 0.0)
    return tg.Graph(d_x=tg.compute("d_x", [i, j], gate * d_m[i] + d_s[i, j]))


def of_logsumexp() -> Graph:
    """d_m = g − Σ g·e / mass."""
    (i, j), (x, _, g, m, at, mass, _) = dims(), softmax_parts()
    e = tg.exp(x[i, j] - m[i])
    d_m = tg.compute("d_m", i, g[i] - tg.sum(g[i] / mass[i] * e, j))
    through = tg.select(j == at[i], d_m[i], 0.0)
    return tg.Graph(d_x=tg.compute("d_x", [i, j], g[i] / mass[i] * e + through))


def renamed() -> Graph:
    """One cotangent for two columns, other names, the maximum gated the other way round."""
    a, b, c = tg.dim("a", 3), tg.dim("b", 5), tg.dim("c", 2)
    x, v, g = tg.input("x", (3, 5)), tg.input("v", (5, 2)), tg.input("g", (3, 2))
    top = tg.compute("min", a, tg.max(x[a, b], b))
    at = tg.compute("sum", a, tg.argmax(x[a, b], b))
    w = tg.compute("w", [b, a], tg.exp(x[a, b] - top[a]))
    low = tg.compute("low", a, tg.sum(w[b, a], b))
    high = tg.compute("high", [c, a], tg.sum(v[b, c] * w[b, a], b))
    d_w = (v[b, c] - high[c, a] / low[a]) * g[a, c] / low[a]
    lost = tg.compute("lost", [a, c], tg.sum(w[b, a] * d_w, b))
    d_x = tg.select(at[a] == b, -lost[a, c], 0.0) + d_w * w[b, a]
    return tg.Graph(d_x=tg.compute("d_x", [a, b, c], d_x))


@pytest.mark.parametrize(
    "spelling", [of_softmax_times_value, in_probabilities, of_logsumexp, renamed]
)
def test_the_gradient_through_a_stabilising_maximum_is_dropped(spelling: Spelling) -> None:
    judge = checker()
    rewrite(spelling(), ["stop-max-gradient", "dead-node"], check=judge)
    assert judge.checked
    found = derive(spelling(), "stop-max-gradient", "dead-node")
    assert "argmax" in monoids_of(spelling())
    assert "argmax" not in monoids_of(found.graph)
    assert any("cancel" in s.text for s in found.trace)


def other_factor() -> Graph:
    return of_softmax_times_value(2.0)


def maximum_that_counts() -> Graph:
    """The loss depends on the maximum itself."""
    (i, j), (x, _, g, m, at, mass, _) = dims(), softmax_parts()
    e = tg.exp(x[i, j] - m[i])
    d_m = tg.compute("d_m", i, 2 * g[i] - tg.sum(g[i] / mass[i] * e, j))
    through = tg.select(j == at[i], d_m[i], 0.0)
    return tg.Graph(d_x=tg.compute("d_x", [i, j], g[i] / mass[i] * e + through))


def cotangent_along_the_row() -> Graph:
    (i, j), (x, _, _, m, at, mass, _) = dims(), softmax_parts()
    h = tg.input("h", (3, 5))
    e = tg.exp(x[i, j] - m[i])
    d_m = tg.compute("d_m", i, -tg.sum(h[i, j] / mass[i] * e, j))
    return tg.Graph(d_x=tg.compute("d_x", [i, j], h[i, j] + tg.select(at[i] == j, d_m[i], 0.0)))


def sum_over_part_of_the_row() -> Graph:
    (i, j), (x, _, g, m, at, mass, _) = dims(), softmax_parts()
    e = tg.exp(x[i, j] - m[i])
    d_m = tg.compute("d_m", i, g[i] - tg.sum(g[i] / mass[i] * e, j, [j < 4]))
    through = tg.select(j == at[i], d_m[i], 0.0)
    return tg.Graph(d_x=tg.compute("d_x", [i, j], g[i] / mass[i] * e + through))


NEAR = (other_factor, maximum_that_counts, cotangent_along_the_row, sum_over_part_of_the_row)


@pytest.mark.parametrize("spelling", NEAR)
def test_a_gradient_that_does_not_cancel_stays(spelling: Spelling) -> None:
    found = derive(spelling(), "stop-max-gradient", "dead-node")
    assert "argmax" in monoids_of(found.graph)


def test_nothing_is_dropped_in_strict_mode() -> None:
    assert not rewrite(of_logsumexp(), ["stop-max-gradient"], strict=True).trace
