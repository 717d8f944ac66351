"""Random masks after the maximum, gates of decays and sentinels: found or not, they stay equal.

Defines generators from a seed. Relies on the frontend, the checked engine and `derivation_checks`.
Half of the instances are spoilt in one place.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from derivation_checks import agree, draw, monoids_of

import tang as tg
from tang.frontend.values import Value
from tang.ir.graph import Graph
from tang.rewrite import RULES, rewrite
from tang.verify.rewriting import checker

SEEDS = range(24)
Rng = np.random.Generator


def hidden(rng: Rng, mask: Value, w: Value) -> Value:
    """A weight where a mask holds: selected, multiplied by 1 or 0, or by 1 minus the rest."""
    kinds = (
        tg.select(mask, w, 0.0),
        w * tg.select(mask, 1.0, 0.0),
        w * (1 - tg.select(mask, 0.0, 1.0)),
        tg.real(tg.select(mask, 1, 0)) * w,
    )
    return kinds[int(rng.integers(4))]


def masks(seed: int, spoilt: bool) -> Graph:
    """Weights masked after any stabiliser; spoilt, by another mask below."""
    rng = np.random.default_rng(seed)
    rows, columns = int(rng.integers(1, 5)), int(rng.integers(1, 6))
    t, s, e = tg.dim("t", rows), tg.dim("s", columns), tg.dim("e", 2)
    x, v = tg.input("x", (rows, columns)), tg.input("v", (columns, 2))
    bits = tg.input("mask", (rows, columns), "bool")
    some = bits[t, s] if rng.random() < 0.5 else s <= t + int(rng.integers(-1, 2))
    seen = rng.random()
    score = tg.select(some, x[t, s], -math.inf) if seen < 0.4 else x[t, s]
    m = tg.compute("m", t, tg.max(score * 0.5 if seen > 0.8 else score, s))
    w = tg.exp(x[t, s] - m[t])
    other = (s < t) if spoilt else some
    above, below = hidden(rng, some, w), hidden(rng, other, w)
    if rng.random() < 0.4:
        mass = tg.compute("mass", t, tg.sum(below, s))
        return tg.Graph(o=tg.compute("o", [t, e], tg.sum(above / mass[t] * v[s, e], s)))
    return tg.Graph(o=tg.compute("o", [t, e], tg.sum(above * v[s, e], s) / tg.sum(below, s)))


def gates(seed: int, spoilt: bool) -> Graph:
    """A decayed sum with a gate somewhere; spoilt, with other ends."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6))
    t, s, r = tg.dim("t", n), tg.dim("s", n), tg.dim("r", n)
    a, b = tg.input("a", (n,)), tg.input("b", (n,))
    inside = (s < r) & (r < t if spoilt else r <= t)
    small = -0.25 * a[r] * a[r]
    forms = (
        tg.exp(tg.sum(tg.select(inside, small, 0.0), r)),
        tg.exp(tg.sum(small * tg.select(inside, 1.0, 0.0), r)),
        tg.prod(tg.exp(tg.select(inside, small, 0.0)), r),
        tg.prod(tg.select(inside, tg.exp(small), 1.0), r),
    )
    decay = forms[int(rng.integers(4))]
    outer = s <= t + int(spoilt and rng.random() < 0.5)
    if rng.random() < 0.4:
        kept = tg.compute("kept", [t, s], hidden(rng, outer, decay))
        return tg.Graph(o=tg.compute("o", t, tg.sum(kept[t, s] * b[s], s)))
    return tg.Graph(o=tg.compute("o", t, tg.sum(decay * b[s], s, [outer])))


def sentinels(seed: int, spoilt: bool) -> Graph:
    """An argmax by equality; spoilt, the sentinel may come before a position."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6))
    i, j, x = tg.dim("i", 3), tg.dim("j", n), tg.input("x", (3, n))
    m = tg.compute("m", i, tg.max(x[i, j], j))
    here = x[i, j] >= m[i] if rng.random() < 0.5 else x[i, j] - m[i] == 0.0
    beyond = int(rng.integers(n - 1, 3 * n)) - (n + 1 if spoilt else 0)
    if rng.random() < 0.5:
        value = tg.select(here, tg.real(j), float(beyond))
    else:
        value = tg.real(tg.select(here, j, beyond))
    fold = tg.min(value, j) if rng.random() < 0.5 else -tg.max(-value, j)
    return tg.Graph(o=tg.compute("o", i, fold))


FAMILIES = {"masks": masks, "gates": gates, "sentinels": sentinels}
WANTED = {"masks": "online_softmax", "gates": "affine_scan", "sentinels": "argmax"}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_drawn_masks_and_gates_keep_their_meaning(family: str, seed: int) -> None:
    """In strict mode on special values, else on finite ones, each step and the whole."""
    before = FAMILIES[family](seed, seed % 2 == 1)
    for strict in (True, False):
        found = rewrite(before, strict=strict, check=checker(seed))
        for kind in ("dyadic", "special") if strict else ("dyadic", "random"):
            assert agree(before, found.graph, draw(before, seed, kind), strict)
        assert not strict or all(RULES[s.rule].strict for s in found.trace)


@pytest.mark.parametrize("family", FAMILIES)
def test_most_drawn_masks_and_gates_are_recognised(family: str) -> None:
    plain = [FAMILIES[family](seed, False) for seed in SEEDS]
    found = [WANTED[family] in monoids_of(rewrite(g).graph) for g in plain]
    assert sum(found) >= len(plain) * 3 // 4, found
