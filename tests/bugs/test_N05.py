"""N05: every extremum propagates NaN from either operand (pytorch#93784, burn#5609, mlx#4044)."""

from __future__ import annotations

import numpy as np
import pytest

import tang.frontend as tg
from tang.interpreter import fast, fast_interpret, interpret

NAN = np.nan


@pytest.fixture(autouse=True)
def no_node_is_too_small(monkeypatch):
    monkeypatch.setattr(fast, "_SMALL", 0)


@pytest.mark.parametrize("f", [tg.maximum, tg.minimum])
@pytest.mark.parametrize("evaluate", [interpret, fast_interpret])
def test_both_operands_pass_their_nan_on(f, evaluate):
    a, b = tg.input("a", (3,)), tg.input("b", (3,))
    data = {"a": np.array([NAN, 1, NAN]), "b": np.array([1, NAN, NAN])}
    (found,) = evaluate(tg.Graph(f(a, b)), data).values()
    assert np.isnan(found).all()


@pytest.mark.parametrize("evaluate", [interpret, fast_interpret])
def test_relu_and_clip_pass_nan_on(evaluate):
    i = tg.dims("i")
    x, lo = tg.input("x", (2,)), tg.input("lo", (2,))
    graph = tg.Graph(
        {
            "relu": tg.compute("r", i, tg.relu(x[i])),
            "clip": tg.compute("c", i, tg.clip(x[i], lo[i], 2.0)),
        }
    )
    found = evaluate(graph, {"x": np.array([NAN, 1.0]), "lo": np.array([0.0, NAN])})
    np.testing.assert_array_equal(found["relu"], [NAN, 1])
    assert np.isnan(found["clip"]).all()


@pytest.mark.parametrize("evaluate", [interpret, fast_interpret])
def test_reductions_and_running_maxima_pass_nan_on(evaluate):
    t, s = tg.dims(t=4), tg.dims(s=4)
    x = tg.input("x", (4,))
    graph = tg.Graph(
        {
            "running": tg.compute("running", t, tg.max(x[s], over=s, where=[s <= t])),
            "whole": tg.max(x),
            "least": tg.min(x),
        }
    )
    found = evaluate(graph, {"x": np.array([1.0, 3, NAN, 5])})
    np.testing.assert_array_equal(found["running"], [1, 3, NAN, NAN])
    assert np.isnan(found["whole"])
    assert np.isnan(found["least"])


def test_a_maximum_of_zeros_is_a_zero_of_either_sign():
    a, b = tg.input("a", (2,)), tg.input("b", (2,))
    data = {"a": np.array([0.0, -0.0]), "b": np.array([-0.0, 0.0])}
    (found,) = interpret(tg.Graph(tg.maximum(a, b)), data).values()
    assert (found == 0).all()
