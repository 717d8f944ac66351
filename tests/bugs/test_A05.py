"""A05: the gradient of max finds its element by index, never by equality (pytorch#195214)."""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg
from tang.interpreter import interpret
from tang.ir.expr import REAL, walk
from tang.verify import verify

X = tg.input("x", (4,))
i = tg.dim("i")


def scaled_maximum(reduce):
    s = tg.compute("s", i, X[i] / 3.0)
    return tg.Graph(L=reduce(s))


@pytest.mark.parametrize("reduce", [tg.max, tg.min], ids=["max", "min"])
def test_no_gradient_compares_real_values_for_equality(reduce):
    made = tg.grad(scaled_maximum(reduce), "L", ["x"])
    tests = [e for n in made.nodes for b in n.body for e in walk(b) if e.op == "eq"]
    assert tests
    assert all(e.args[0].sort is not REAL for e in tests)


def test_ties_go_to_the_first():
    found = interpret(tg.grad(tg.Graph(L=tg.max(X)), "L", ["x"]), {"x": np.array([1.0, 3, 3, 2])})
    assert found["d_x"].tolist() == [0.0, 1.0, 0.0, 0.0]


def test_the_count_of_winners_is_one_when_the_maximum_is_recomputed_in_f32():
    made = tg.grad(scaled_maximum(tg.max), "L", ["x"])
    report = verify(made, {"x": np.array([1, 2, 5, 4], np.float32)}, backends=())
    assert report.ok, report.to_text()
