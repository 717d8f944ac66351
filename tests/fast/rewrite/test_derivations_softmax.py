"""Softmax·V is found however it is written, and what only looks like it is left alone.

Defines spellings as functions that make a graph. Relies on the frontend, the checked engine and
`derivation_checks`. Which kernels come of it is the business of schedules.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from derivation_checks import agree, derive, monoids_of

import tang as tg
from tang.frontend.values import Value
from tang.ir.graph import Graph
from tang.rewrite import rewrite
from tang.verify.rewriting import checker

NINF = -math.inf
LOG2E = 1.4426950408889634


def dims() -> tuple[Value, Value, Value]:
    return tg.dim("t", 4), tg.dim("s", 5), tg.dim("e", 2)


def inputs() -> tuple[tg.Tensor, tg.Tensor, tg.Tensor]:
    return tg.input("x", (4, 5)), tg.input("v", (5, 2)), tg.input("mask", (4, 5), "bool")


def naive() -> Graph:
    """Three reductions and a division."""
    (t, s, e), (x, v, _) = dims(), inputs()
    m = tg.compute("m", t, tg.max(x[t, s], s))
    w = tg.exp(x[t, s] - m[t])
    return tg.Graph(o=tg.compute("o", [t, e], tg.sum(w * v[s, e], s) / tg.sum(w, s)))


def renamed() -> Graph:
    """The same with other names, factors exchanged and nodes in another order."""
    (row, col, out), (x, v, _) = dims(), inputs()
    top = tg.compute("sum", row, tg.max(x[row, col], col))
    mass = tg.compute("matmul", row, tg.sum(tg.exp(-top[row] + x[row, col]), col))
    acc = tg.compute("max", [row, out], tg.sum(v[col, out] * tg.exp(x[row, col] - top[row]), col))
    return tg.Graph(o=tg.compute("relu", [row, out], (1 / mass[row]) * acc[row, out]))


def exp_as_power_of_two() -> Graph:
    """exp written as exp2 with log₂e as a decimal."""
    (t, s, e), (x, v, _) = dims(), inputs()
    m = tg.compute("m", t, tg.max(x[t, s], s))
    w = tg.exp2((x[t, s] - m[t]) * LOG2E)
    return tg.Graph(o=tg.compute("o", [t, e], tg.sum(w * v[s, e], s) / tg.sum(w, s)))


def scale_folded() -> Graph:
    """exp2 with the scale folded into log₂e, and the maximum taken of the raw scores."""
    (t, s, e), (x, v, _) = dims(), inputs()
    m = tg.compute("m", t, tg.max(x[t, s], s))
    w = tg.exp2(x[t, s] * (0.125 * LOG2E) - m[t] * (0.125 * LOG2E))
    return tg.Graph(o=tg.compute("o", [t, e], tg.sum(w * v[s, e], s) / tg.sum(w, s)))


def scale_before() -> Graph:
    """The maximum of scaled scores."""
    (t, s, e), (x, v, _) = dims(), inputs()
    m = tg.compute("m", t, tg.max(0.5 * x[t, s], s))
    w = tg.exp(x[t, s] * 0.5 - m[t])
    return tg.Graph(o=tg.compute("o", [t, e], tg.sum(w * v[s, e], s) / tg.sum(w, s)))


def scale_after() -> Graph:
    """The maximum subtracted before the scale."""
    (t, s, e), (x, v, _) = dims(), inputs()
    m = tg.compute("m", t, tg.max(x[t, s], s))
    w = tg.exp(0.5 * (x[t, s] - m[t]))
    return tg.Graph(o=tg.compute("o", [t, e], tg.sum(w * v[s, e], s) / tg.sum(w, s)))


def weights_stored() -> Graph:
    """The weights in a tensor of their own."""
    (t, s, e), (x, v, _) = dims(), inputs()
    m = tg.compute("m", t, tg.max(x[t, s], s))
    w = tg.compute("w", [t, s], tg.exp(x[t, s] - m[t]))
    return tg.Graph(o=tg.compute("o", [t, e], tg.sum(w[t, s] * v[s, e], s) / tg.sum(w[t, s], s)))


def normalised_first() -> Graph:
    """Softmax as a tensor, then a product of matrices."""
    (t, s, e), (x, v, _) = dims(), inputs()
    p = tg.softmax(x)
    return tg.Graph(o=tg.compute("o", [t, e], tg.sum(p[t, s] * v[s, e], s)))


def masked_by_score() -> Graph:
    """A mask that selects −inf, a scale and a bias linear in the distance."""
    (t, s, e), (x, v, mask) = dims(), inputs()
    bias = -0.25 * tg.real(t - s)
    score = tg.compute("score", [t, s], tg.select(mask[t, s], x[t, s] * 0.5 + bias, NINF))
    m = tg.compute("m", t, tg.max(score[t, s], s))
    w = tg.exp(score[t, s] - m[t])
    return tg.Graph(o=tg.compute("o", [t, e], tg.sum(w * v[s, e], s) / tg.sum(w, s)))


def masked_by_weight() -> Graph:
    """A mask that selects −inf in the maximum and 0 in the weights."""
    (t, s, e), (x, v, mask) = dims(), inputs()
    m = tg.compute("m", t, tg.max(tg.select(mask[t, s], x[t, s], NINF), s))
    w = tg.select(mask[t, s], tg.exp(x[t, s] - m[t]), 0.0)
    return tg.Graph(o=tg.compute("o", [t, e], tg.sum(w * v[s, e], s) / tg.sum(w, s)))


def causal() -> Graph:
    """A causal mask as a where, the same condition in the order of each node."""
    (t, s, e), (x, v, _) = dims(), inputs()
    keep = [s <= t]
    m = tg.compute("m", t, tg.max(x[t, s], s, keep))
    w = tg.exp(x[t, s] - m[t])
    mass = tg.compute("l", t, tg.sum(w, s, [t >= s]))
    return tg.Graph(o=tg.compute("o", [t, e], tg.sum(w * v[s, e], s, keep) / mass[t]))


def sliding_window() -> Graph:
    """A window as two conditions."""
    (t, s, e), (x, v, _) = dims(), inputs()
    keep = [s <= t, t - s < 2]
    m = tg.compute("m", t, tg.max(x[t, s], s, keep))
    w = tg.exp(x[t, s] - m[t])
    num = tg.sum(w * v[s, e], s, keep[::-1])
    return tg.Graph(o=tg.compute("o", [t, e], num / tg.sum(w, s, keep)))


def two_dims() -> Graph:
    """Over two reduce dims, named in either order."""
    a, b, e = tg.dim("a", 2), tg.dim("b", 3), tg.dim("e", 2)
    x, v = tg.input("x", (2, 3)), tg.input("v", (2, 3, 2))
    m = tg.compute("m", [], tg.max(x[a, b], [a, b]))
    w = tg.exp(x[a, b] - m[()])
    num = tg.sum(w * v[a, b, e], [b, a])
    return tg.Graph(o=tg.compute("o", e, num / tg.sum(w, [a, b])))


def several_values() -> Graph:
    """Two values under one mass, in one expression."""
    (t, s, e), (x, v, _) = dims(), inputs()
    u = tg.input("u", (5,))
    m = tg.compute("m", t, tg.max(x[t, s], s))
    w = tg.exp(x[t, s] - m[t])
    mass = tg.compute("l", t, tg.sum(w, s))
    first = tg.sum(w * v[s, e], s) / mass[t]
    return tg.Graph(o=tg.compute("o", [t, e], first + tg.sum(w * u[s], s) / mass[t]))


STABLE = (
    naive, renamed, exp_as_power_of_two, scale_folded, scale_before, scale_after, weights_stored,
    normalised_first, masked_by_score, masked_by_weight, causal, sliding_window, two_dims,
    several_values,
)  # fmt: skip


@pytest.mark.parametrize("spelling", STABLE)
def test_softmax_times_value_is_one_pass_however_it_is_written(
    spelling: Callable[[], Graph],
) -> None:
    found = derive(spelling(), "stabilize-softmax", "dead-node")
    kinds = monoids_of(found.graph)
    assert "online_softmax" in kinds
    assert not {"sum", "max"} & set(kinds)


@pytest.mark.parametrize("spelling", STABLE)
def test_every_step_passes_the_checker_in_strict_mode(spelling: Callable[[], Graph]) -> None:
    judge = checker()
    rewrite(spelling(), ["stabilize-softmax", "dead-node"], strict=True, check=judge)
    assert judge.checked


def unstable() -> Graph:
    (t, s, e), (x, v, _) = dims(), inputs()
    w = tg.exp(x[t, s])
    return tg.Graph(o=tg.compute("o", [t, e], tg.sum(w * v[s, e], s) / tg.sum(w, s)))


def shifted_by_a_constant() -> Graph:
    (t, s, e), (x, v, _) = dims(), inputs()
    w = tg.exp(x[t, s] - x[t, 0])
    return tg.Graph(o=tg.compute("o", [t, e], tg.sum(w * v[s, e], s) / tg.sum(w, s)))


def masked_sums() -> Graph:
    (t, s, e), (x, v, mask) = dims(), inputs()
    w = tg.exp(x[t, s])
    num = tg.sum(tg.select(mask[t, s], w * v[s, e], 0.0), s)
    mass = tg.sum(tg.select(mask[t, s], w, 0.0), s)
    return tg.Graph(o=tg.compute("o", [t, e], num / mass))


def two_exponentials() -> Graph:
    (t, s, e), (x, v, _) = dims(), inputs()
    b = tg.input("b", (5,))
    num = tg.sum(tg.exp(x[t, s]) * tg.exp(b[s]) * v[s, e], s)
    return tg.Graph(o=tg.compute("o", [t, e], num / tg.sum(tg.exp(b[s] + x[t, s]), s)))


def maximum_over_more_points() -> Graph:
    (t, s, e), (x, v, _) = dims(), inputs()
    m = tg.compute("m", t, tg.max(x[t, s], s))
    w = tg.exp(x[t, s] - m[t])
    keep = [s <= t]
    return tg.Graph(o=tg.compute("o", [t, e], tg.sum(w * v[s, e], s, keep) / tg.sum(w, s, keep)))


SHIFTED = (
    unstable, shifted_by_a_constant, masked_sums, two_exponentials, maximum_over_more_points,
)  # fmt: skip


@pytest.mark.parametrize("spelling", SHIFTED)
def test_an_unstable_softmax_becomes_stable_where_operands_are_finite(
    spelling: Callable[[], Graph],
) -> None:
    graph = spelling()
    assert not rewrite(graph, ["stabilize-softmax"]).trace
    assert not rewrite(graph, ["shift-softmax"], strict=True).trace
    found = derive(graph, "shift-softmax", "dead-node")
    assert set(monoids_of(found.graph)) <= {"online_softmax", "map"}


def other_where_below() -> Graph:
    (t, s, e), (x, v, _) = dims(), inputs()
    m = tg.compute("m", t, tg.max(x[t, s], s))
    w = tg.exp(x[t, s] - m[t])
    num = tg.sum(w * v[s, e], s, [s <= t])
    return tg.Graph(o=tg.compute("o", [t, e], num / tg.sum(w, s)))


def mask_dropped_below() -> Graph:
    (t, s, e), (x, v, mask) = dims(), inputs()
    m = tg.compute("m", t, tg.max(x[t, s], s))
    w = tg.exp(x[t, s] - m[t])
    num = tg.sum(tg.select(mask[t, s], w, 0.0) * v[s, e], s)
    return tg.Graph(o=tg.compute("o", [t, e], num / tg.sum(w, s)))


def value_inside_exp() -> Graph:
    (t, s, e), (x, v, _) = dims(), inputs()
    w = tg.exp(x[t, s])
    num = tg.sum(tg.exp(x[t, s] * v[s, e]), s)
    return tg.Graph(o=tg.compute("o", [t, e], num / tg.sum(w, s)))


def other_scale_below() -> Graph:
    (t, s, e), (x, v, _) = dims(), inputs()
    num = tg.sum(tg.exp(x[t, s]) * v[s, e], s)
    return tg.Graph(o=tg.compute("o", [t, e], num / tg.sum(tg.exp(0.5 * x[t, s]), s)))


def other_dims_below() -> Graph:
    t, s, e = tg.dim("t", 4), tg.dim("s", 4), tg.dim("e", 2)
    x, v = tg.input("x", (4, 4)), tg.input("v", (4, 2))
    num = tg.sum(tg.exp(x[t, s]) * v[s, e], s)
    mass = tg.compute("l", t, tg.sum(tg.exp(x[s, t]), s))
    return tg.Graph(o=tg.compute("o", [t, e], num / mass[t]))


def mass_of_another_row() -> Graph:
    (t, s, e), (x, v, _) = dims(), inputs()
    mass = tg.compute("l", t, tg.sum(tg.exp(x[t, s]), s))
    num = tg.sum(tg.exp(x[t, s]) * v[s, e], s)
    return tg.Graph(o=tg.compute("o", [t, e], num / mass[3 - t]))


def a_mean() -> Graph:
    (t, s, e), (x, v, _) = dims(), inputs()
    m = tg.compute("m", t, tg.max(x[t, s], s))
    num = tg.sum(tg.exp(m[t]) * v[s, e], s)
    return tg.Graph(o=tg.compute("o", [t, e], num / tg.sum(tg.exp(m[t] + 0.0 * tg.real(s)), s)))


def normalised_over_nothing() -> Graph:
    """An empty row of a sum is 0, of a softmax NaN: a division inside the sum must not be moved."""
    (t, s, e), (x, v, _) = dims(), inputs()
    keep = [s < t]
    m = tg.compute("m", t, tg.max(x[t, s], s, keep))
    mass = tg.compute("l", t, tg.sum(tg.exp(x[t, s] - m[t]), s, keep))
    p = tg.exp(x[t, s] - m[t]) / mass[t]
    return tg.Graph(o=tg.compute("o", [t, e], tg.sum(p * v[s, e], s, keep)))


NEAR = (
    other_where_below, mask_dropped_below, value_inside_exp, other_scale_below, other_dims_below,
    mass_of_another_row, a_mean, normalised_over_nothing,
)  # fmt: skip


@pytest.mark.parametrize("spelling", NEAR)
def test_what_only_looks_like_a_softmax_is_left_alone(spelling: Callable[[], Graph]) -> None:
    assert not rewrite(spelling(), ["stabilize-softmax", "shift-softmax"]).trace


def other_where_above() -> Graph:
    return maximum_over_more_points()


def mask_dropped_from_the_maximum() -> Graph:
    (t, s, e), (x, v, mask) = dims(), inputs()
    m = tg.compute("m", t, tg.max(x[t, s], s))
    score = tg.select(mask[t, s], x[t, s], NINF)
    w = tg.exp(score - m[t])
    return tg.Graph(o=tg.compute("o", [t, e], tg.sum(w * v[s, e], s) / tg.sum(w, s)))


def maximum_of_something_else() -> Graph:
    (t, s, e), (x, v, _) = dims(), inputs()
    m = tg.compute("m", t, tg.max(x[t, s] * 2, s))
    w = tg.exp(x[t, s] - m[t])
    return tg.Graph(o=tg.compute("o", [t, e], tg.sum(w * v[s, e], s) / tg.sum(w, s)))


def minimum() -> Graph:
    (t, s, e), (x, v, _) = dims(), inputs()
    m = tg.compute("m", t, tg.min(x[t, s], s))
    w = tg.exp(x[t, s] - m[t])
    return tg.Graph(o=tg.compute("o", [t, e], tg.sum(w * v[s, e], s) / tg.sum(w, s)))


UNPROVED = (other_where_above, mask_dropped_from_the_maximum, maximum_of_something_else, minimum)


@pytest.mark.parametrize("spelling", UNPROVED)
def test_a_shift_that_is_not_the_maximum_needs_finite_operands(
    spelling: Callable[[], Graph],
) -> None:
    assert not rewrite(spelling(), ["stabilize-softmax", "shift-softmax"], strict=True).trace
    derive(spelling(), "shift-softmax")


SPECIALS = (math.inf, -math.inf, math.nan, 0.0, 1.0, -745.0, 710.0)


@pytest.mark.parametrize("spelling", [naive, masked_by_weight, scale_after, normalised_first])
def test_the_stabilised_form_is_exact_on_every_small_row_of_specials(
    spelling: Callable[[], Graph],
) -> None:
    """All 7³ rows of three scores against values with specials, the rest fixed at −inf or masked.

    Four rows are evaluated at once; 1 of 3 combinations of a value column is enough for each.
    """
    before = spelling()
    after = rewrite(before, ["stabilize-softmax", "dead-node"], strict=True).graph
    rows = [*product(SPECIALS, repeat=3)]
    for n in range(0, len(rows), 4):
        x = np.full((4, 5), -math.inf)
        for k, row in enumerate(rows[n : n + 4]):
            x[k, [0, 2, 3]] = row
        v = np.array([[1.0, math.inf], [2.0, 0.0], [math.nan, -1.0], [0.5, math.inf], [0.0, 3.0]])
        if n % 8:
            v[2] = 1.0
        mask = np.ones((4, 5), bool)
        mask[:, 1] = mask[n % 3, 0] = False
        data = {"x": x, "v": v, "mask": mask}
        assert agree(before, after, {i.name: data[i.name] for i in before.inputs}, strict=True)


def test_attention_of_grouped_heads_becomes_flash() -> None:
    q, k, v = (tg.input(n, (h, 4, 3)) for n, h in (("q", 4), ("k", 2), ("v", 2)))
    mask = tg.input("mask", (4, 4), "bool")
    for masked, causally in product((False, True), repeat=2):
        o = tg.attention(q, k, v, mask=mask, masked=masked, causal=causally)
        found = derive(tg.Graph(o=o), "stabilize-softmax", "read-back", "dead-node")
        assert [m for m in monoids_of(found.graph) if m != "map"] == ["sum", "online_softmax"]


def test_the_trace_is_readable() -> None:
    found = rewrite(naive(), ["stabilize-softmax"])
    assert str(found.trace[0]) == (
        "stabilize-softmax at o: o.sum / o.sum_2 = Σ exp(s)·v / Σ exp(s) over s → "
        "online softmax o.sum.online"
    )
