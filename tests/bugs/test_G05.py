"""G05: extrema start from no element of the data; counts do not wrap (pytorch#191499)."""

from __future__ import annotations

import numpy as np
import pytest

import tang.frontend as tg
from tang.interpreter import fast, fast_interpret, interpret

LENGTHS = (7, 8, 15, 16, 17, 18, 33)


@pytest.fixture(autouse=True)
def no_node_is_too_small(monkeypatch):
    monkeypatch.setattr(fast, "_SMALL", 0)


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int32])
@pytest.mark.parametrize("evaluate", [interpret, fast_interpret])
def test_extrema_of_one_sign_are_elements_of_the_data(n, dtype, evaluate):
    x = tg.input("x", (n,))
    graph = tg.Graph({"max": tg.max(x), "min": tg.min(x), "at": tg.argmax(x), "low": tg.argmin(x)})
    for sign in (1, -1):
        if sign < 0 and dtype is np.uint8:
            continue
        data = (sign * (np.arange(n) % 5 + 3)).astype(dtype)
        found = evaluate(graph, {"x": data})
        assert found["max"] == data.max()
        assert found["min"] == data.min()
        assert found["at"] == int(data.argmax())
        assert found["low"] == int(data.argmin())


@pytest.mark.parametrize("evaluate", [interpret, fast_interpret])
def test_three_hundred_ones_count_to_three_hundred(evaluate):
    x = tg.input("x", (300,), "bool")
    graph = tg.Graph(tg.count(x))
    (found,) = evaluate(graph, {"x": np.ones(300, bool)}).values()
    assert found == 300


@pytest.mark.parametrize("evaluate", [interpret, fast_interpret])
def test_the_running_sum_of_ones_does_not_wrap(evaluate):
    x = tg.input("x", (300,))
    (found,) = evaluate(tg.Graph(tg.cumsum(x, axis=0)), {"x": np.ones(300, np.uint8)}).values()
    assert found.tolist() == list(range(1, 301))
