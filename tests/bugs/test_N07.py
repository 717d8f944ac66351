"""N07: a variance is never negative, and merging with nothing changes nothing (flax#1491)."""

from __future__ import annotations

import numpy as np
import pytest

import tang.frontend as tg
from tang.interpreter import ball_interpret, fast, fast_interpret, interpret

CONSTANT = np.full(7, np.float32(10000.1))


@pytest.fixture(autouse=True)
def no_node_is_too_small(monkeypatch):
    monkeypatch.setattr(fast, "_SMALL", 0)


def variance(n):
    return tg.Graph({"var": tg.var(tg.input("x", (n,)))})


def welford(n, start=0):
    k = tg.dims(k=n)
    x = tg.input("x", (n,))
    w = tg.compute("w", (), tg.welford(x[k], over=k, where=[k >= start]))
    return tg.Graph({name: w.output(name) for name in ("n", "average", "variance")})


@pytest.mark.parametrize("evaluate", [interpret, fast_interpret])
def test_equal_numbers_have_no_variance(evaluate):
    assert evaluate(variance(7), {"x": CONSTANT})["var"] == 0
    assert ball_interpret(variance(7), {"x": CONSTANT})["var"].value[()].is_zero()


@pytest.mark.parametrize(("x", "std"), [((1e30, 2e30), 5e29), ((1e-30, 2e-30), 5e-31)])
@pytest.mark.parametrize("evaluate", [interpret, fast_interpret])
def test_the_deviation_of_huge_and_tiny_numbers_is_right(x, std, evaluate):
    found = evaluate(variance(2), {"x": np.array(x)})["var"]
    np.testing.assert_allclose(np.sqrt(found), std, 1e-15)


@pytest.mark.parametrize("evaluate", [interpret, fast_interpret])
def test_elements_left_out_do_not_count(evaluate):
    data = np.array([1e6, 3.0, 5.0])
    found = evaluate(welford(3, start=1), {"x": data})
    assert (found["n"], found["average"], found["variance"]) == (2, 4, 1)
    nothing = evaluate(welford(3, start=3), {"x": data})
    assert nothing["n"] == 0
    assert np.isnan(nothing["average"])
    assert np.isnan(nothing["variance"])
