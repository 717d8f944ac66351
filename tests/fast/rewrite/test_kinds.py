"""A monoid is told by its expressions: exchanged sides count as equal where they are equal.

Defines mirrored monoids and folds of them. Relies on the interpreter for what a fold gives. Laws
of monoids are tested elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import tang as tg
from tang.interpreter import interpret
from tang.ir import monoids
from tang.ir.expr import INDEX
from tang.ir.monoid import Monoid
from tang.rewrite import kinds
from tang.rewrite.kinds import kind, same_monoid

KNOWN = {
    m.name: m
    for m in (
        monoids.SUM, monoids.PROD, monoids.MAX, monoids.MIN, monoids.ARGMAX, monoids.ARGMIN,
        monoids.LOGSUMEXP, monoids.ONLINE_SOFTMAX, monoids.WELFORD, monoids.AFFINE_SCAN,
    )
}  # fmt: skip
X = np.array([0.5, -1.5, 2.0, 0.5, 2.0])
Y = np.array([1.0, 3.0, -2.0, 0.25, 1.0])


def mirrored(m: Monoid) -> Monoid:
    """The monoid with left and right exchanged, under another name."""
    return replace(m, name="other", combine=tuple(map(kinds._swapped, m.combine)))


def folded(m: Monoid) -> list[np.ndarray]:
    """Every output of a fold over five elements."""
    j, x, y = tg.dim("j", 5), tg.input("x", (5,)), tg.input("y", (5,))
    second = {INDEX: j}.get(m.inputs[-1], y[j])
    inputs = [x[j], second][: len(m.inputs)]
    fold = tg.reduce(m, *inputs, over=j)
    graph = tg.Graph(**{o.name: tg.compute(o.name, [], fold.output(o.name)) for o in m.outputs})
    data = {i.name: {"x": X, "y": Y}[i.name] for i in graph.inputs}
    found = interpret(graph, data)
    return [np.asarray(found[o.name]) for o in m.outputs]


def agree(a: Monoid, b: Monoid) -> bool:
    pairs = zip(folded(a), folded(b), strict=True)
    return all(np.allclose(x, y, rtol=1e-12, equal_nan=True) for x, y in pairs)


@pytest.mark.parametrize("name", KNOWN)
def test_a_mirrored_monoid_is_the_same_exactly_where_its_folds_are(name: str) -> None:
    m = KNOWN[name]
    assert kind(m) == kind(replace(m, name="renamed")) == name
    assert same_monoid(m, mirrored(m)) == agree(m, mirrored(m)) == m.commutative
    assert kind(mirrored(m)) == (name if m.commutative else None)


def test_a_reversed_scan_that_claims_to_commute_is_still_no_scan() -> None:
    liar = replace(mirrored(monoids.AFFINE_SCAN), commutative=True)
    assert kind(liar) is None


def test_a_projection_of_the_other_side_is_another_monoid() -> None:
    other = replace(monoids.ONLINE_SOFTMAX, project=(monoids.ONLINE_SOFTMAX.project[0].args[0],))
    assert kind(other) is None


def loose(honest: Callable[..., bool]) -> Callable[..., bool]:
    return lambda x, y, *, either: honest(x, y, either=True)


def test_taking_a_mirrored_monoid_for_the_same_would_be_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scan = monoids.AFFINE_SCAN
    assert not same_monoid(scan, mirrored(scan))
    monkeypatch.setattr(kinds, "_same", loose(kinds._same))
    assert same_monoid(scan, mirrored(scan))
    assert not agree(scan, mirrored(scan))
