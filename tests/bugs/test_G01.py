"""G01: a fully masked softmax row is NaN at every length; masked softmax 0 (pytorch#103963)."""

from __future__ import annotations

import numpy as np
import pytest

import tang.frontend as tg
from tang.interpreter import ball_interpret, fast, fast_interpret, interpret

INF = np.inf
LENGTHS = (1, 31, 32, 33, 127, 128, 129, 1023, 1025)


def direct():
    s, v = tg.input("s", ("r", "n")), tg.input("v", ("n", 1))
    return tg.Graph(tg.matmul(tg.softmax(s), v))


def online():
    i, d, j = tg.dims("i d j")
    s, v = tg.input("s", ("r", "n")), tg.input("v", ("n", 1))
    return tg.Graph(tg.compute("out", (i, d), tg.online_softmax(s[i, j], v[j, d], over=j)))


@pytest.mark.parametrize("build", [direct, online])
def test_a_fully_masked_row_is_nan_and_its_neighbour_is_not(build):
    inputs = {"s": np.array([[0.0, 1], [-INF, -INF]]), "v": np.ones((2, 1))}
    for evaluate in (interpret, fast_interpret):
        (out,) = evaluate(build(), inputs).values()
        assert abs(out[0, 0] - 1) < 1e-15
        assert np.isnan(out[1, 0])
    (balls,) = ball_interpret(build(), inputs).values()
    assert np.isnan(balls.value[1, 0])


@pytest.mark.parametrize("n", LENGTHS)
def test_the_answer_does_not_depend_on_the_length(n, monkeypatch):
    monkeypatch.setattr(fast, "_SMALL", 0)
    inputs = {"s": np.full((1, n), -INF), "v": np.ones((n, 1))}
    for build in (direct, online):
        for evaluate in (interpret, fast_interpret):
            (out,) = evaluate(build(), inputs).values()
            assert np.isnan(out).all()


def test_masked_softmax_of_a_fully_masked_row_is_zero():
    s, mask = tg.input("s", (2, 2)), tg.input("mask", (2, 2), "bool")
    graph = tg.Graph(tg.masked_softmax(s, mask))
    data = {"s": np.zeros((2, 2)), "mask": np.array([[True, True], [False, False]])}
    (out,) = interpret(graph, data).values()
    assert out.tolist() == [[0.5, 0.5], [0, 0]]
