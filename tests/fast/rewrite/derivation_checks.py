"""Equality of two programs on data, for tests of rules.

Defines `agree` and `derive`. Relies on the measure of the rung `rewrite`. It draws no programs;
data is random, dyadic, wide or special.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tang.interpreter import Decision
from tang.ir import bind
from tang.ir.expr import Sort
from tang.ir.graph import Graph
from tang.rewrite import RULES, Rewritten, rewrite
from tang.verify.equality import Comparison, compare_graphs

Array = np.ndarray[Any, np.dtype[Any]]
Data = Mapping[str, Array]


def agree(before: Graph, after: Graph, data: Data, strict: bool = False) -> bool:
    """Whether all outputs are equal on this data; NaN and infinities too if strict.

    What balls cannot decide (an exact zero against one that cancelled) must be close.
    """
    found = compare_graphs(before, after, data, strict=strict)
    return not any(c.different or (_apart(c) & (c.decisions == Decision.UNDECIDED)).any()
                   for c in found)  # fmt: skip


def _apart(c: Comparison) -> Array:
    """Where two values differ by more than four times their errors."""
    with np.errstate(all="ignore"):
        distance = np.abs(np.asarray(c.left.value) - np.asarray(c.right.value))
        return np.asarray(distance > 4 * (c.left.err + c.right.err))


def reals(rng: np.random.Generator, shape: tuple[int, ...], kind: str) -> Array:
    """Numbers of a kind: "random", "dyadic" (ties and zeros), "wide", or "special"."""
    if kind == "dyadic":
        return rng.integers(-8, 9, shape) / 4.0
    if kind == "wide":
        return rng.normal(size=shape) * 40
    x = rng.normal(size=shape)
    if kind == "special":
        special = rng.choice([np.inf, -np.inf, np.nan, 0.0, -0.0, 1.0, -np.inf], shape)
        x = np.where(rng.random(shape) < 0.5, special, x)
    return np.asarray(x)


def draw(graph: Graph, seed: int, kind: str, sizes: Mapping[str, int] | None = None) -> Data:
    """An array per input; indices are small."""
    rng = np.random.default_rng(seed)
    bound = bind(graph, dict(sizes or {}))
    data = {}
    for i in bound.inputs:
        shape = tuple(e.constant for e in i.shape)
        if i.sort is Sort.BOOL:
            data[i.name] = np.asarray(rng.random(shape) < 0.6)
        elif i.sort is Sort.INDEX:
            data[i.name] = rng.integers(0, 3, shape)
        else:
            data[i.name] = reals(rng, shape, kind)
    return data


FINITE_KINDS = ("random", "dyadic", "wide")


def holds(
    before: Graph,
    after: Graph,
    strict: bool,
    sizes: Mapping[str, int] | None = None,
    seeds: Iterable[int] = range(4),
) -> bool:
    """Whether the two sides agree on data of every kind; special values too if strict."""
    kinds = (*FINITE_KINDS, "special") if strict else FINITE_KINDS
    return all(
        agree(before, after, draw(before, seed, kind, sizes), strict)
        for kind in kinds
        for seed in seeds
    )


def derive(
    graph: Graph,
    *rules: str,
    sizes: Mapping[str, int] | None = None,
) -> Rewritten:
    """The graph under these rules (all by default), checked on data."""
    found = rewrite(graph, list(rules) or None)
    strict = all(RULES[s.rule].strict for s in found.trace)
    assert holds(graph, found.graph, strict, sizes)
    return found


def monoids_of(graph: Graph) -> list[str]:
    """The names of the monoids of the nodes, in order; "map" for maps."""
    return [n.monoid.name if n.monoid else "map" for n in graph.nodes]
