"""G02: NaN at a masked-out key: select hides it, a zero weight does not (pytorch#101967)."""

from __future__ import annotations

import numpy as np
import pytest

import tang.frontend as tg
from tang.interpreter import fast, fast_interpret, interpret

X = np.array([1.0, np.nan])


@pytest.fixture(autouse=True)
def no_node_is_too_small(monkeypatch):
    monkeypatch.setattr(fast, "_SMALL", 0)


@pytest.mark.parametrize("evaluate", [interpret, fast_interpret])
def test_select_hides_what_it_does_not_take(evaluate):
    k = tg.dims("k")
    x, m = tg.input("x", (2,)), tg.input("m", (2,), "bool")
    total = tg.sum(tg.select(m[k], x[k], 0.0), over=k)
    graph = tg.Graph(tg.compute("total", (), total))
    assert evaluate(graph, {"x": X, "m": np.array([True, False])})["total"] == 1


@pytest.mark.parametrize("evaluate", [interpret, fast_interpret])
def test_zero_times_nan_stays_nan(evaluate):
    k = tg.dims("k")
    x, p = tg.input("x", (2,)), tg.input("p", (2,))
    graph = tg.Graph(tg.compute("total", (), tg.sum(p[k] * x[k], over=k)))
    assert np.isnan(evaluate(graph, {"x": X, "p": np.array([1.0, 0.0])})["total"])
