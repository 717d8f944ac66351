"""Equality of two programs on data, for tests of rules.

Defines `agree` and `derive`. Relies on the interpreter in f64 and in balls, as the rung `rewrite`
does. It draws no programs; data is random, dyadic or special.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tang.interpreter import Decision, ball_interpret, compare, decide, interpret
from tang.interpreter.equality import scale_of
from tang.ir import bind
from tang.ir.expr import Sort
from tang.ir.graph import Graph
from tang.rewrite import RULES, Rewritten, rewrite

Array = np.ndarray[Any, np.dtype[Any]]
Data = Mapping[str, Array]


def differences(before: Graph, after: Graph, data: Data, strict: bool) -> dict[str, Array]:
    """Per output where the two sides differ or are undecided; NaN and infinities if strict."""
    left, right = interpret(before, data, err=True), interpret(after, data, err=True)
    found = {}
    for o in before.outputs:
        a, b = left[o.name], right[o.name]
        pending = ~compare(a, b)
        if not strict and np.asarray(a.value).dtype.kind == "f":
            pending = pending & np.isfinite(a.value)
        pending = np.asarray(pending, np.bool_)
        sides = [lambda p, g=g, n=o.name: ball_interpret(g, data, p)[n] for g in (before, after)]
        found[o.name] = decide(sides[0], sides[1], pending, scale_of(a)) != Decision.EQUAL
    return found


def agree(before: Graph, after: Graph, data: Data, strict: bool = False) -> bool:
    """Whether all outputs are equal on this data."""
    return not any(d.any() for d in differences(before, after, data, strict).values())


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
