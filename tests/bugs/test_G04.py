"""G04: argmax of ties is the first index, in every order of evaluation (torchdynamo#859)."""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg
from tang.interpreter import fast, fast_interpret, interpret

X = np.random.default_rng(0).integers(0, 3, (5, 4, 66)).astype(np.float32)
AXES = (0, 1, 2)


def program():
    """argmax and argmin along each axis, and of the whole."""
    x = tg.input("x", X.shape)
    whole = {"max": tg.argmax(x), "min": tg.argmin(x)}
    along = {f"max{a}": tg.argmax(x, axis=a) for a in AXES}
    return tg.Graph({**whole, **along, **{f"min{a}": tg.argmin(x, axis=a) for a in AXES}})


def check(found):
    assert found["max"] == X.argmax()
    assert found["min"] == X.argmin()
    for a in AXES:
        np.testing.assert_array_equal(found[f"max{a}"], X.argmax(a))
        np.testing.assert_array_equal(found[f"min{a}"], X.argmin(a))


def borders(n):
    """A row for each pair of neighbours that share the maximum, one for each other distance."""
    rows = np.zeros((n - 1, n))
    for r in range(n - 1):
        rows[r, [r, r + 1]] = 1
        rows[r, r + 1 :: 3] = 1
    return rows


def test_both_evaluators_take_the_first(monkeypatch):
    check(interpret(program(), {"x": X}))
    monkeypatch.setattr(fast, "_SMALL", 0)
    check(fast_interpret(program(), {"x": X}))


@pytest.mark.parametrize("split", [1, 2, 3, 7])
def test_every_split_takes_the_first(split, compiled):
    check(compiled(program(), split=split)({"x": X}))


@pytest.mark.parametrize("split", [2, 4, 5, 40])
def test_ties_across_the_borders_of_chunks_are_settled_by_index(split, compiled):
    rows = borders(33)
    run = compiled(tg.Graph(at=tg.argmax(tg.input("x", ("r", "n")), axis=1)), split=split)
    assert run({"x": rows})["at"].tolist() == list(range(32))


def test_every_rung_agrees(verified):
    graph = tg.Graph(at=tg.argmax(tg.input("x", (8, 9)), axis=1))
    verified([(graph, {"x": borders(9)})], splits=(1, 2, 5))
