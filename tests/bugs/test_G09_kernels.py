"""G09, kernels: a decayed sum is refused, and right in chunks once its decay is in its state.

triton#3485.
"""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg
from tang.errors import GraphError


def decayed():
    """State (g, acc): acc ← g·acc + x with g multiplied up."""
    return tg.monoid(
        "decayed_sum",
        {"g": "real", "acc": "real"},
        lift=lambda x: {"g": 0.5, "acc": x},
        combine=lambda a, b: {"g": a.g * b.g, "acc": b.g * a.acc + b.acc},
        project=lambda s: {"value": s.acc},
        identity={"g": 1.0, "acc": 0.0},
        strict=False,
    )


def test_a_combine_that_is_not_associative_is_refused():
    with pytest.raises(GraphError, match="breaks"):
        tg.monoid(
            "bad", {"acc": "real"}, lambda x: x, lambda a, b: a.acc * 0.5 + b.acc, identity=0.0
        )


@pytest.mark.parametrize("split", [1, 2, 3, 4, 9])
def test_every_split_of_the_lawful_one_gives_the_serial_value(split, compiled):
    k = tg.dims(k=4)
    x = tg.input("x", (4,))
    graph = tg.Graph(tg.compute("y", (), tg.reduce(decayed(), x[k], over=k)))
    assert compiled(graph, split=split)({"x": np.ones(4)})["y"] == 1.875
    assert compiled(graph, split=split)({"x": np.array([8.0, 0, 0, 1])})["y"] == 2


def test_every_rung_agrees(verified):
    k = tg.dims(k=4)
    graph = tg.Graph(tg.compute("y", (), tg.reduce(decayed(), tg.input("x", (4,))[k], over=k)))
    verified([(graph, {"x": np.ones(4)})])
