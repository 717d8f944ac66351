"""A01: a gather and its adjoint treat indices out of range alike (jax PR#2895)."""

from __future__ import annotations

import numpy as np

import tang as tg
from tang.interpreter import interpret
from tang.interpreter.dual import interpret_dual

INDEX = np.array([0, 3, 9])
X = np.array([1.0, 2.0, 3.0, 4.0])


def gathered():
    i = tg.dim("i")
    x, index, g = tg.input("x", (4,)), tg.input("n", (3,), "index"), tg.input("g", (3,))
    return tg.Graph(L=tg.compute("L", (), tg.sum(x.at(index[i], fill=0) * g[i], over=i)))


def test_an_index_out_of_range_takes_the_fill_forwards_and_nothing_backwards():
    made = tg.grad(gathered(), "L", ["x"])
    found = interpret(made, {"x": X, "n": INDEX, "g": np.ones(3)})
    assert found["d_x"].tolist() == [1.0, 0.0, 0.0, 1.0]


def test_the_gradient_is_the_transpose_of_the_derivative():
    rng = np.random.default_rng(0)
    g, direction = rng.normal(size=3), rng.normal(size=4)
    inputs = {"x": X, "n": INDEX, "g": g}
    gradient = interpret(tg.grad(gathered(), "L", ["x"]), inputs)["d_x"]
    _, tangents = interpret_dual(gathered(), inputs, {"x": direction})
    np.testing.assert_allclose(gradient @ direction, tangents["L"], rtol=1e-14)
