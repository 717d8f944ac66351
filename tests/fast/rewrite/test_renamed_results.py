"""Monoids that equal built-in ones under other names of results are left as they are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tang as tg
from tang.interpreter import interpret
from tang.ir import monoids
from tang.ir.monoid import Component, Monoid
from tang.rewrite import rewrite
from tang.rewrite.kinds import kind

t, s, r = (tg.dim(name, 3) for name in "tsr")
x = tg.input("x", (3, 3))


def named(monoid: Monoid, components: tuple[str, ...], outputs: tuple[str, ...]) -> Monoid:
    pairs = zip(components, monoid.components, strict=True)
    results = zip(outputs, monoid.outputs, strict=True)
    return replace(
        monoid,
        components=tuple(Component(n, c.sort) for n, c in pairs),
        outputs=tuple(Component(n, c.sort) for n, c in results),
    )


def spread(components: tuple[str, ...], outputs: tuple[str, ...]) -> tg.Tensor:
    made = named(monoids.WELFORD, components, outputs)
    return tg.compute("W", [t], tg.reduce(made, x[t, s], over=s))


HOSTILE = (
    (("average", "variance", "value"), ("n", "mean"), "n"),
    (("c", "mu", "ss"), ("A", "B"), "A"),
    (("c", "u", "w"), ("mean", "mu"), "mean"),
)


@pytest.mark.parametrize(("components", "outputs", "read"), HOSTILE, ids=["swapped", "own", "mean"])
def test_a_welford_under_other_names_keeps_its_results(
    components: tuple[str, ...], outputs: tuple[str, ...], read: str
) -> None:
    held = spread(components, outputs).output(read)
    deviation = tg.compute("q", [t, s], x[t, s] - tg.sum(x[t, r], r) / 3)
    graph = tg.Graph(q=deviation, m=held)
    data = {"x": np.arange(9.0).reshape(3, 3)}
    before, after = interpret(graph, data), interpret(rewrite(graph).graph, data)
    for name, value in before.items():
        np.testing.assert_allclose(after[name], value, rtol=1e-12)


def test_an_argmax_with_its_results_exchanged_is_no_argmax() -> None:
    made = named(monoids.ARGMAX, ("best", "at"), ("value", "index"))
    best = tg.compute("A", [t], tg.reduce(made, x[t, s], s, over=s))
    first, second = best.output("value"), best.output("index")
    rest = tg.select(s == first[t], float("-inf"), x[t, s])
    graph = tg.Graph(i=first, v=second, b=tg.compute("B", [t], tg.argmax(rest, s)))
    data = {"x": np.array([[1.0, 3.0, 2.0], [5.0, 4.0, 6.0], [7.0, 9.0, 8.0]])}
    before, after = interpret(graph, data), interpret(rewrite(graph).graph, data)
    for name, value in before.items():
        np.testing.assert_array_equal(after[name], value)


def test_a_monoid_is_known_whatever_it_is_called() -> None:
    assert kind(replace(monoids.WELFORD, name="other")) == "welford"
    assert kind(named(monoids.WELFORD, ("n", "mean", "m2"), ("a", "b"))) is None
