"""Random instances of the recognised patterns: masks, conditions, scales, extents and specials.

Defines generators from a seed. Relies on the frontend, the checked engine and `derivation_checks`.
Half of the instances are spoilt in one place: those may be rewritten or not, but stay equal.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from derivation_checks import agree, draw

import tang as tg
from tang.frontend.values import Value
from tang.ir.graph import Graph
from tang.rewrite import RULES, rewrite
from tang.verify.rewriting import checker

SEEDS = range(24)


def condition(rng: np.random.Generator, t: Value, s: Value) -> list[Value]:
    """No condition, a prefix, a window, or one that leaves rows empty."""
    offset = int(rng.integers(-2, 3))
    return [[], [s <= t + offset], [s <= t, t - s < 2], [s < t, s >= 1]][int(rng.integers(4))]


def score_of(rng: np.random.Generator, t: Value, s: Value, x: tg.Tensor) -> Value:
    """A scaled score, perhaps masked, biased by distance, or added to a bias of its own."""
    score = x[t, s] * float(rng.choice([1.0, 0.5, 3.0]))
    if rng.random() < 0.4:
        score = score + tg.real(t - s) * 0.25
    if rng.random() < 0.5:
        mask = tg.input("mask", x.shape, "bool")
        score = tg.select(mask[t, s], score, -math.inf)
    return score


def softmax(seed: int, spoilt: bool) -> Graph:
    """A softmax·V; spoilt, the mass or the maximum is over something else."""
    rng = np.random.default_rng(seed)
    rows, columns = int(rng.integers(1, 5)), int(rng.integers(1, 6))
    t, s, e = tg.dim("t", rows), tg.dim("s", columns), tg.dim("e", 2)
    x, v = tg.input("x", (rows, columns)), tg.input("v", (columns, 2))
    keep, score = condition(rng, t, s), score_of(rng, t, s, x)
    others = condition(rng, t, s) if spoilt and rng.random() < 0.5 else keep
    top = score * 2 if spoilt and rng.random() < 0.5 else score
    m = tg.compute("m", t, tg.max(top, s, others))
    w = tg.exp(score - m[t]) if rng.random() < 0.7 else tg.exp2((score - m[t]) * 1.5)
    mass = tg.sum(w, s, condition(rng, t, s) if spoilt else keep)
    value = v[s, e] if rng.random() < 0.7 else v[s, e] * x[t, s]
    return tg.Graph(o=tg.compute("o", [t, e], tg.sum(w * value, s, keep) / mass), m=m)


def statistics(seed: int, spoilt: bool) -> Graph:
    """A variance or a logsumexp; spoilt, about the mean or maximum of something else."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6))
    i, j = tg.dim("i", 3), tg.dim("j", n)
    x, y = tg.input("x", (3, n)), tg.input("y", (3, n))
    value = x[i, j] * 2 + y[i, j] if rng.random() < 0.5 else x[i, j]
    other = y[i, j] if spoilt else value
    if rng.random() < 0.5:
        m = tg.compute("m", i, tg.sum(other, j) / n)
        spread = tg.sum((value - m[i]) * (value - m[i]), j)
        return tg.Graph(o=tg.compute("o", i, spread / n), m=m)
    m = tg.compute("m", i, tg.max(other, j))
    lse = tg.log(tg.sum(tg.exp(value - m[i]), j)) + m[i]
    return tg.Graph(o=tg.compute("o", i, lse), m=m)


def scan(seed: int, spoilt: bool) -> Graph:
    """A decayed sum; spoilt, with other ends of the decay or of the sum."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))
    t, s, r = tg.dim("t", n), tg.dim("s", n), tg.dim("r", n)
    a, b = tg.input("a", (n,)), tg.input("b", (n,))
    ends = [s <= r if rng.random() < 0.5 else s < r, r < t if spoilt else r <= t]
    decay = tg.compute("decay", [t, s], tg.prod(tg.exp(-(a[r] * a[r])), r, ends))
    keep = s < t if spoilt and rng.random() < 0.5 else s <= t
    return tg.Graph(o=tg.compute("o", t, tg.sum(decay[t, s] * b[s], s, [keep])))


def search(seed: int, spoilt: bool) -> Graph:
    """An argmax by equality, then the pick after it; spoilt, masks another position."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    i, j, x = tg.dim("i", 3), tg.dim("j", n), tg.input("x", (3, n))
    m = tg.compute("m", i, tg.max(x[i, j], j))
    first = tg.compute("first", i, tg.min(tg.select(x[i, j] == m[i], j, n - 1 - spoilt), j))
    at = tg.compute("at", i, tg.argmax(x[i, j], j))
    left = tg.select(j == (at[2 - i] if spoilt else at[i]), -math.inf, x[i, j])
    return tg.Graph(first=first, second=tg.compute("second", i, tg.argmax(left, j)), m=m)


FAMILIES = {"softmax": softmax, "statistics": statistics, "scan": scan, "search": search}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_drawn_instances_keep_their_meaning(family: str, seed: int) -> None:
    """In strict mode on special values, else on finite ones, each step and the whole."""
    spoilt = seed % 2 == 1
    before = FAMILIES[family](seed, spoilt)
    for strict in (True, False):
        found = rewrite(before, strict=strict, check=checker(seed))
        kinds = ("dyadic", "special") if strict else ("dyadic", "random")
        for kind in kinds:
            assert agree(before, found.graph, draw(before, seed, kind), strict)
        assert not strict or all(RULES[s.rule].strict for s in found.trace)


@pytest.mark.parametrize("family", FAMILIES)
def test_most_instances_that_are_not_spoilt_are_recognised(family: str) -> None:
    plain = [FAMILIES[family](seed, False) for seed in SEEDS]
    wanted = {"stabilize-softmax", "welford", "logsumexp", "recognise-scan", "argmax", "top-k"}
    found = [{s.rule for s in rewrite(g).trace} & wanted for g in plain]
    assert sum(map(bool, found)) >= len(plain) * 3 // 4
