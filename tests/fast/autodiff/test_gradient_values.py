"""Gradients against central differences in 200-bit balls, and against known values."""

from __future__ import annotations

import numpy as np
import pytest
from flint import ctx

import tang as tg
from tang.interpreter import ball_interpret, interpret
from tang.interpreter.dual import interpret_dual
from tang.ir.expr import REAL
from tang.verify.gradient import check_gradient, with_scalar_loss

PREC = 200
STEP = 2.0**-30
"""Exact to add to small dyadic numbers; the error of the difference is about 2⁻⁶⁰ · |f'''|."""
RNG = np.random.default_rng(3)
DYADIC = (RNG.permutation(12).reshape(3, 4) - 5.0) / 8.0
X = tg.input("x", (3, 4))
i, j, k, s = tg.dims("i j k s")


def shifted(inputs, name, place, by):
    array = np.array(inputs[name])
    array[place] += by
    return {**inputs, name: array}


def slope(graph, inputs, name, place):
    """(f(x + h) − f(x − h)) / 2h, a float from 200-bit balls."""
    ends = [
        ball_interpret(graph, shifted(inputs, name, place, h), PREC)["out"].value[()]
        for h in (STEP, -STEP)
    ]
    previous, ctx.prec = ctx.prec, PREC
    try:
        return float(((ends[0] - ends[1]) / (2 * STEP)).mid())
    finally:
        ctx.prec = previous


def assert_fits_differences(tensor, **inputs):
    graph = with_scalar_loss(tg.Graph(out=tensor), "out")
    wrt = [a.name for a in graph.inputs if a.sort is REAL]
    found = interpret(tg.grad(graph, "out", wrt), inputs)
    for name in wrt:
        for place in np.ndindex(*np.shape(inputs[name])):
            expected = slope(graph, inputs, name, place)
            assert found[f"d_{name}"][place] == pytest.approx(expected, rel=1e-11, abs=1e-13)


def each(f):
    return lambda: tg.compute("y", (i, j), f(X[i, j]))


PROGRAMS = {
    "recip": each(lambda x: 1.0 / (x + 3.0)),
    "sqrt": each(lambda x: tg.sqrt(x + 2.0)),
    "sin": each(tg.sin),
    "atan2": each(lambda x: tg.atan2(x, x + 2.0)),
    "exp2": each(tg.exp2),
    "log2": each(lambda x: tg.log2(x + 2.0)),
    "erf": each(tg.erf),
    "select": each(lambda x: tg.select(x < 0.0625, x * x, tg.sin(x))),
    "floor": each(lambda x: tg.floor(4.0 * x + 0.25) * x),
    "sum": lambda: tg.sum(X, axis=1),
    "prod": lambda: tg.prod(X, axis=1),
    "max": lambda: tg.max(X, axis=1),
    "min": lambda: tg.min(X, axis=1),
    "argmax": lambda: tg.compute("m", i, tg.argmax(X[i, j], over=j).output("value")),
    "argmin": lambda: tg.compute("m", i, tg.argmin(X[i, j], over=j).output("value")),
    "logsumexp": lambda: tg.logsumexp(X, axis=1),
    "online softmax": lambda: tg.compute(
        "o", (i, k), tg.online_softmax(X[i, j], X[k, j], over=j)
    ),
    "welford": lambda: tg.var(X, axis=1),
    "affine scan": lambda: tg.compute("h", i, tg.affine_scan(X[i, j], X[i, j], over=j)),
    "top-k": lambda: tg.top_k(X, 2)[0],
    "softmax": lambda: tg.softmax(X),
    "layer norm": lambda: tg.layer_norm(X),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_gradient_fits_central_differences(name):
    assert_fits_differences(PROGRAMS[name](), x=DYADIC)


def test_the_gradient_of_a_user_monoid_without_identity_fits_central_differences():
    last = tg.monoid(
        "damped", {"a": "real", "b": "real"},
        lift=lambda a, b: {"a": a, "b": b},
        combine=lambda x, y: {"a": x.a * y.a, "b": y.a * x.b + y.b},
        project=lambda s: s.b, identity=None, inputs=("real", "real"), strict=False,
    )  # fmt: skip
    y = tg.compute("h", i, tg.reduce(last, X[i, j], tg.sin(X[i, j]), over=j))
    assert_fits_differences(y, x=DYADIC)


def test_the_second_derivative_fits_central_differences_of_the_first():
    graph = with_scalar_loss(tg.Graph(out=tg.softmax(X)), "out")
    first = tg.grad(graph, "out", ["x"])
    weighted = with_scalar_loss(first, "d_x")
    second = interpret(tg.grad(weighted, "d_x", ["x"]), {"x": DYADIC})["d_x_2"]
    renamed = type(weighted)(
        weighted.inputs, weighted.nodes,
        tuple(type(o)("out", o.ref) for o in weighted.outputs if o.name == "d_x"),
    )  # fmt: skip
    for place in np.ndindex(3, 4):
        expected = slope(renamed, {"x": DYADIC}, "x", place)
        assert second[place] == pytest.approx(expected, rel=1e-10, abs=1e-13)


SECOND = {
    "softmax": lambda: tg.softmax(X),
    "logsumexp": lambda: tg.logsumexp(X, axis=1),
    "prod": lambda: tg.prod(X, axis=1),
    "welford": lambda: tg.var(X, axis=1),
    "gelu": lambda: tg.gelu(X),
    "merge": lambda: tg.merge_axes(tg.compute("y", (i, j), tg.sin(X[i, j])), 0),
    "online softmax": PROGRAMS["online softmax"],
    "affine scan": PROGRAMS["affine scan"],
}


@pytest.mark.parametrize("name", SECOND)
def test_a_hessian_times_a_vector_fits_dual_numbers(name):
    graph = with_scalar_loss(tg.Graph(out=SECOND[name]()), "out")
    first = tg.grad(graph, "out", ["x"])
    assert check_gradient(first, "d_x", ["x"], {"x": DYADIC}) is None


def test_a_third_derivative_of_a_cube_is_six():
    x = tg.input("x", ())
    graph = tg.Graph(L=tg.compute("L", (), x[()] * x[()] * x[()]))
    once = tg.grad(graph, "L", ["x"])
    twice = tg.grad(once, "d_x", ["x"])
    thrice = tg.grad(twice, "d_x_2", ["x"])
    assert interpret(thrice, {"x": np.array(5.0)})["d_x"] == 6.0


def test_every_small_convolution_fits_dual_numbers():
    rng = np.random.default_rng(1)
    for stride, dilation, padding, taps in [
        (1, 1, 0, 1), (1, 2, 1, 3), (2, 1, 1, 3), (2, 1, 0, 2), (2, 2, 2, 3), (2, 3, 3, 3),
        (3, 1, 1, 2), (3, 2, 2, 3), (3, 3, 0, 2), (4, 1, 0, 2), (4, 3, 5, 4), (5, 2, 1, 3),
    ]:  # fmt: skip
        x, w = tg.input("x", (1, 1, 11)), tg.input("w", (2, 1, taps))
        y = tg.conv1d(x, w, stride=stride, dilation=dilation, padding=padding)
        inputs = {"x": rng.normal(size=(1, 1, 11)), "w": rng.normal(size=(2, 1, taps))}
        assert check_gradient(tg.Graph(out=y), "out", ["x", "w"], inputs) is None


def test_the_tangents_of_dual_numbers_are_those_of_calculus():
    graph = tg.Graph(out=tg.compute("y", (i, j), tg.sin(X[i, j]) * X[i, j]))
    direction = RNG.normal(size=(3, 4))
    values, tangents = interpret_dual(graph, {"x": DYADIC}, {"x": direction})
    expected = (np.cos(DYADIC) * DYADIC + np.sin(DYADIC)) * direction
    np.testing.assert_allclose(values["out"], np.sin(DYADIC) * DYADIC, rtol=1e-15)
    np.testing.assert_allclose(tangents["out"], expected, rtol=1e-13)


def test_a_gradient_that_is_wrong_is_found(monkeypatch):
    from tang.autodiff import derivative

    original = derivative.slope
    monkeypatch.setattr(derivative, "slope", lambda e, a: original(e, a) if e.op != "sin" else a)
    graph = tg.Graph(out=tg.compute("y", (i, j), tg.sin(X[i, j])))
    found = check_gradient(graph, "out", ["x"], {"x": DYADIC})
    assert found is not None
    assert "dual numbers give" in found
