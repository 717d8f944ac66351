"""User monoids whose laws hold over finite values only."""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg
from tang.interpreter import interpret


def affine(*, strict):
    """h ← a·h + b as a user writes it."""
    return tg.monoid(
        "decay",
        {"a": "real", "b": "real"},
        lift=lambda a, b: {"a": a, "b": b},
        combine=lambda x, y: {"a": y.a * x.a, "b": y.a * x.b + y.b},
        project=lambda s: s.b,
        identity={"a": 1.0, "b": 0.0},
        inputs=("real", "real"),
        strict=strict,
    )


def test_an_affine_map_is_refused_as_strict_and_the_message_says_what_to_do():
    with pytest.raises(tg.GraphError, match="strict=False"):
        affine(strict=True)


def test_an_affine_map_is_accepted_over_finite_values_and_means_the_recurrence():
    t = tg.dims("t")
    a, b = tg.input("a", (3,)), tg.input("b", (3,))
    h = tg.compute("h", (), tg.reduce(affine(strict=False), a[t], b[t], over=t))
    data = {"a": np.array([2.0, 3.0, 0.5]), "b": np.array([1.0, 1.0, 4.0])}
    assert interpret(tg.Graph(h), data)["h"] == 6.0
