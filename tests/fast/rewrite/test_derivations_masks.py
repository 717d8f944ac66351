"""Masks that come after the maximum: weights that are multiplied or selected away.

Defines spellings as functions that make a graph. Relies on the frontend, the checked engine and
`derivation_checks`. Any shift along a row cancels in the quotient, so a maximum over all scores
will do where operands are finite; a masked score that is NaN or infinite tells them apart.
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

Spelling = Callable[[], Graph]
NINF = -math.inf
N = 4
t, s, e = tg.dim("t", N), tg.dim("s", N), tg.dim("e", 2)
x, v, mask = tg.input("x", (N, N)), tg.input("v", (N, 2)), tg.input("mask", (N, N), "bool")


TOP = tg.compute("m", t, tg.max(x[t, s], s))


def weights() -> Value:
    """exp(x − max x), the maximum over all scores."""
    return tg.exp(x[t, s] - TOP[t])


def over(above: Value, below: Value) -> Graph:
    """Σ above · v / Σ below."""
    return tg.Graph(o=tg.compute("o", [t, e], tg.sum(above * v[s, e], s) / tg.sum(below, s)))


def kept() -> Value:
    return tg.select(mask[t, s], 1.0, 0.0)


def selected() -> Graph:
    w = tg.select(mask[t, s], weights(), 0.0)
    return over(w, w)


def multiplied() -> Graph:
    return over(weights() * kept(), kept() * weights())


def multiplied_under_the_masked_maximum() -> Graph:
    top = tg.compute("top", t, tg.max(tg.select(mask[t, s], x[t, s], NINF), s))
    w = tg.exp(x[t, s] - top[t]) * kept()
    return over(w, w)


def mask_stored() -> Graph:
    """The mask as a tensor of zeros and ones, the weights in a tensor too."""
    bits = tg.compute("bits", [t, s], tg.select(mask[t, s], 1, 0))
    w = tg.compute("w", [t, s], weights() * tg.real(bits[t, s]))
    mass = tg.compute("mass", t, tg.sum(w[t, s], s))
    return tg.Graph(o=tg.compute("o", [t, e], tg.sum(w[t, s] * v[s, e], s) / mass[t]))


def complement() -> Graph:
    """Written as 1 − mask above and as a select below."""
    return over(weights() * (1 - kept()), tg.select(mask[t, s], 0.0, weights()))


def product_of_masks() -> Graph:
    causal = tg.select(s <= t, 1.0, 0.0)
    both = tg.select((t >= s) & mask[t, s], weights(), 0.0)
    return over(weights() * (causal * kept()), both)


def causal_after() -> Graph:
    w = tg.select(s <= t, weights(), 0.0)
    return over(w, w)


def renormalised() -> Graph:
    """A softmax over everything, masked and normalised again."""
    p = tg.softmax(x)
    q = tg.compute("q", [t, s], tg.select(mask[t, s], p[t, s], 0.0))
    return over(q[t, s], q[t, s])


def renormalised_by_products() -> Graph:
    p = tg.softmax(x)
    q = tg.compute("q", [t, s], p[t, s] * kept())
    mass = tg.compute("mass", t, tg.sum(q[t, s], s))
    n = tg.compute("n", [t, s], q[t, s] / mass[t])
    return tg.Graph(o=tg.compute("o", [t, e], tg.sum(n[t, s] * v[s, e], s)))


AFTER = (
    selected, multiplied, multiplied_under_the_masked_maximum, mask_stored, complement,
    product_of_masks, causal_after, renormalised, renormalised_by_products,
)  # fmt: skip


@pytest.mark.parametrize("spelling", AFTER)
def test_a_mask_after_the_maximum_is_a_mask_of_scores(spelling: Spelling) -> None:
    judge = checker()
    rewrite(spelling(), check=judge)
    assert judge.checked
    assert monoids_of(derive(spelling()).graph) == ["online_softmax"]


@pytest.mark.parametrize("spelling", [*AFTER[:7], renormalised])
def test_a_mask_after_the_maximum_is_left_alone_in_strict_mode(spelling: Spelling) -> None:
    """A masked score of +inf makes the maximum inf, and every weight 0 or NaN."""
    found = rewrite(spelling(), strict=True, check=checker())
    assert "online_softmax" not in monoids_of(found.graph)


def maximum_where() -> Graph:
    """The maximum over a where, the weights by a select of the same condition."""
    top = tg.compute("m", t, tg.max(x[t, s], s, [s <= t]))
    w = tg.select(t >= s, tg.exp(x[t, s] - top[t]), 0.0)
    return over(w, w)


def two_masks() -> Graph:
    """One condition of two in the maximum, two conditions in the weights."""
    top = tg.compute("m", t, tg.max(tg.select((s <= t) & mask[t, s], x[t, s], NINF), s))
    w = tg.exp(x[t, s] - top[t])
    return over(*[tg.select(mask[t, s], tg.select(s <= t, w, 0.0), 0.0)] * 2)


@pytest.mark.parametrize("spelling", [maximum_where, two_masks])
def test_the_same_mask_in_another_form_is_exact_on_specials(spelling: Spelling) -> None:
    before = spelling()
    judge = checker()
    after = rewrite(before, strict=True, check=judge).graph
    assert judge.checked
    assert monoids_of(after) == ["online_softmax"]
    rows = [*product((math.inf, NINF, math.nan, 0.0, 710.0), repeat=3)]
    values = np.array([[1.0, math.inf], [2.0, 0.0], [math.nan, -1.0], [0.5, 3.0]])
    for n in range(0, len(rows), N):
        scores = np.zeros((N, N))
        for k, row in enumerate(rows[n : n + N]):
            scores[k, [0, 1, 3]] = row
        data = {"x": scores, "v": values if n % 8 else np.ones((N, 2))}
        data["mask"] = np.arange(N * N).reshape(N, N) % 3 != n % 3
        given = {i.name: data[i.name] for i in before.inputs}
        assert agree(before, after, given, strict=True)


def test_a_masked_logsumexp_is_one_pass() -> None:
    mass = tg.sum(kept() * tg.exp(x[t, s]), s)
    found = derive(tg.Graph(o=tg.compute("o", t, tg.log(mass))))
    assert monoids_of(found.graph) == ["logsumexp"]


def masked_above() -> Graph:
    return over(weights() * kept(), weights())


def masked_below() -> Graph:
    return over(weights(), weights() * kept())


def opposite_masks() -> Graph:
    return over(weights() * (1 - kept()), weights() * kept())


def half_masked() -> Graph:
    """Weights that are halved are not masked."""
    half = tg.select(mask[t, s], 1.0, 0.5)
    return over(weights() * half, weights() * half)


def real_factor() -> Graph:
    """A factor that is any real is no mask, and may be negative."""
    w = weights() * tg.input("factor", (N, N))[t, s]
    return over(w, w)


def later_mask() -> Graph:
    """s ≤ t above, s < t below."""
    return over(tg.select(s <= t, weights(), 0.0), tg.select(s < t, weights(), 0.0))


def other_mass() -> Graph:
    """Divided by one sum above and by another below."""
    y, z = tg.input("y", (N, N)), tg.input("z", (N, N))
    first = tg.compute("first", t, tg.sum(y[t, s] * y[t, s], s))
    second = tg.compute("second", t, tg.sum(z[t, s] * z[t, s], s))
    return over(weights() * kept() / first[t], weights() * kept() / second[t])


@pytest.mark.parametrize("spelling", [masked_below, opposite_masks, half_masked, real_factor,
                                      later_mask, other_mass])  # fmt: skip
def test_masks_that_differ_are_no_softmax(spelling: Spelling) -> None:
    rules = ["stabilize-softmax", "shift-softmax"]
    assert "online_softmax" not in monoids_of(rewrite(spelling(), rules).graph)


def test_a_mask_above_alone_belongs_to_the_value() -> None:
    """Σ w·k·v / Σ w: the mass of what is masked stays in the denominator."""
    found = derive(masked_above())
    assert monoids_of(found.graph) == ["online_softmax"]
    (score, value) = found.graph.nodes[0].body
    assert score.op == "arg"
    assert "select" in {y.op for y in (value, *value.args)}
