"""Softmax and softmax·V of the same scores share one pass: its maximum and its mass are read back.

Defines programs that want both. Relies on the frontend, the checked engine and
`derivation_checks`. Nothing of the size of the scores is stored but what the caller wants.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from derivation_checks import derive, monoids_of

import tang as tg
from tang.errors import RewriteError
from tang.frontend.values import Value
from tang.ir.graph import Graph
from tang.rewrite import rewrite
from tang.rewrite.derivation import derivation
from tang.rewrite.rules import readback
from tang.verify.rewriting import checker

NINF = float("-inf")
N = 4
t, s, e = tg.dim("t", N), tg.dim("s", N), tg.dim("e", 2)
x, v, mask = tg.input("x", (N, N)), tg.input("v", (N, 2)), tg.input("mask", (N, N), "bool")
KEEP = [s <= t]


def both(score: Value, where: list[Value] | None = None) -> Graph:
    """Probabilities in a tensor that the caller wants, and their product with v."""
    top = tg.compute("top", t, tg.max(score, s, where or ()))
    mass = tg.compute("mass", t, tg.sum(tg.exp(score - top[t]), s, where or ()))
    p = tg.compute("p", [t, s], tg.exp(score - top[t]) / mass[t])
    return tg.Graph(p=p, o=tg.compute("o", [t, e], tg.sum(p[t, s] * v[s, e], s, where or ())))


def weights_stored() -> Graph:
    top = tg.compute("top", t, tg.max(x[t, s], s))
    w = tg.compute("w", [t, s], tg.exp(x[t, s] - top[t]))
    mass = tg.compute("mass", t, tg.sum(w[t, s], s))
    o = tg.compute("o", [t, e], tg.sum(w[t, s] * v[s, e], s) / mass[t])
    return tg.Graph(o=o, p=tg.compute("p", [t, s], w[t, s] / mass[t]))


def library() -> Graph:
    p = tg.softmax(x)
    return tg.Graph(p=p, o=tg.compute("o", [t, e], tg.sum(p[t, s] * v[s, e], s)))


def mass_wanted() -> Graph:
    """The mass and the maximum are results, too."""
    top = tg.compute("top", t, tg.max(x[t, s], s))
    mass = tg.compute("mass", t, tg.sum(tg.exp(x[t, s] - top[t]), s))
    p = tg.exp(x[t, s] - top[t]) / mass[t]
    return tg.Graph(top=top, mass=mass, o=tg.compute("o", [t, e], tg.sum(p * v[s, e], s)))


SHARED: dict[str, Callable[[], Graph]] = {
    "plain": lambda: both(x[t, s]),
    "scaled": lambda: both(x[t, s] * 0.5),
    "masked": lambda: both(tg.select(mask[t, s], x[t, s], NINF)),
    "causal": lambda: both(x[t, s], KEEP),
    "weights stored": weights_stored,
    "of the library": library,
    "mass wanted": mass_wanted,
}


@pytest.mark.parametrize("name", SHARED)
def test_probabilities_and_their_product_take_one_pass_over_the_scores(name: str) -> None:
    judge = checker()
    after = rewrite(SHARED[name](), check=judge).graph
    assert judge.checked
    folds = [k for k in monoids_of(after) if k != "map"]
    assert folds == ["online_softmax"]
    derive(SHARED[name]())


def test_strict_mode_keeps_the_mass_of_a_row_without_a_live_score() -> None:
    """Σ exp(−inf + inf) is NaN as written; an online softmax has a mass of 0."""
    found = rewrite(library(), strict=True, check=checker())
    assert monoids_of(found.graph) == ["max", "sum", "map", "online_softmax"]


def test_sharing_moves_fewer_bytes_in_fewer_kernels() -> None:
    steps = derivation(library())[1]
    after = [
        n for n, stage in enumerate(steps) if stage.step and stage.step.rule.startswith("read")
    ]
    assert after
    first, last = steps[after[0] - 1], steps[after[-1]]
    assert last.kernels == first.kernels - 2
    assert last.bytes.constant < first.bytes.constant


def of_other_scores() -> Graph:
    y = tg.input("y", (N, N))
    top = tg.compute("top", t, tg.max(y[t, s], s))
    mass = tg.compute("mass", t, tg.sum(tg.exp(y[t, s] - top[t]), s))
    return tg.Graph(mass=mass, o=online(x[t, s]))


def online(score: Value) -> tg.Tensor:
    return tg.compute("o", [t, e], tg.online_softmax(score, v[s, e], s))


def of_other_points() -> Graph:
    top = tg.compute("top", t, tg.max(x[t, s], s, KEEP))
    mass = tg.compute("mass", t, tg.sum(tg.exp(x[t, s] - top[t]), s, KEEP))
    return tg.Graph(mass=mass, o=online(x[t, s]))


def of_another_scale() -> Graph:
    top = tg.compute("top", t, tg.max(x[t, s], s))
    mass = tg.compute("mass", t, tg.sum(tg.exp(x[t, s] - top[t]), s))
    return tg.Graph(mass=mass, o=online(x[t, s] * 0.5))


def of_another_shift() -> Graph:
    mass = tg.compute("mass", t, tg.sum(tg.exp(x[t, s] - x[t, 0]), s))
    return tg.Graph(mass=mass, o=online(x[t, s]))


def transposed() -> Graph:
    top = tg.compute("top", t, tg.max(x[s, t], s))
    mass = tg.compute("mass", t, tg.sum(tg.exp(x[s, t] - top[t]), s))
    return tg.Graph(mass=mass, o=online(x[t, s]))


def values_of_the_mass() -> Graph:
    """The values depend on the mass, so that the online softmax cannot come first."""
    top = tg.compute("top", t, tg.max(x[t, s], s))
    mass = tg.compute("mass", t, tg.sum(tg.exp(x[t, s] - top[t]), s))
    total = tg.compute("total", [], tg.sum(mass[t], t))
    value = tg.compute("value", [s, e], v[s, e] * total[()])
    return tg.Graph(o=tg.compute("o", [t, e], tg.online_softmax(x[t, s], value[s, e], s)))


NEAR = (
    of_other_scores, of_other_points, of_another_scale, of_another_shift, transposed,
    values_of_the_mass,
)  # fmt: skip


@pytest.mark.parametrize("spelling", NEAR)
def test_another_mass_is_not_read_back(spelling: Callable[[], Graph]) -> None:
    assert not rewrite(spelling(), ["read-back-mass"]).trace


def test_taking_any_sum_for_the_mass_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    assert rewrite(both(x[t, s]), ["stabilize-softmax", "read-back-mass"], check=checker()).trace
    monkeypatch.setattr(readback, "_is_mass", lambda *args: True)
    with pytest.raises(RewriteError, match="rule read-back-mass "):
        rewrite(of_another_scale(), ["read-back-mass"], check=checker())
