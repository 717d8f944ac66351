"""Forward errors: zero where exact, and never below the distance to the exact value."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tang.interpreter import Measured, ball_interpret, interpret
from tang.interpreter.ball_numbers import from_float
from tang.ir.derived import exp, log, sigmoid, sub, tanh
from tang.ir.expr import REAL, apply, arg, index, named, real
from tang.ir.extent import poly
from tang.ir.graph import Comprehension, Dim, Graph, Input, Output
from tang.ir.monoids import SUM, WELFORD
from tang.ir.view import Read, Ref, View, variable


def mapped(body):
    reads = tuple(Read(Ref(n), View((variable("i"),))) for n in "xy")
    node = Comprehension("node", (Dim("i", poly("n")),), reads, (body,), outputs=("value",))
    inputs = tuple(Input(n, (poly("n"),)) for n in "xy")
    return Graph(inputs, (node,), (Output("value", Ref("node", "value")),))


X, Y = arg(0), arg(1)
FUNCTIONS = {
    "add": apply("add", X, Y), "mul": apply("mul", X, Y), "div": apply("mul", X, apply("recip", Y)),
    "sqrt": apply("sqrt", apply("mul", X, X)), "sin": apply("sin", apply("mul", X, Y)),
    "atan2": apply("atan2", sub(X, Y), apply("mul", X, Y)), "exp": exp(sub(X, Y)),
    "log": log(apply("add", apply("mul", X, X), real(Fraction(1, 3)))), "tanh": tanh(X),
    "sigmoid": sigmoid(apply("mul", X, named("pi"))), "erf": apply("erf", sub(X, real(0.1))),
    "cancelling": sub(apply("mul", exp(X), Y), apply("mul", Y, exp(X))),
}  # fmt: skip


def gap(measured, balls):
    """|f64 − exact| per element, as floats."""
    pairs = zip(measured.value.ravel(), balls.value.ravel(), strict=True)
    return np.array([float(abs(from_float(v) - b).upper()) for v, b in pairs])


@pytest.mark.parametrize("name", FUNCTIONS)
@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(*[st.floats(-8, 8).filter(lambda v: abs(v) > 1e-3)] * 2), min_size=1))
def test_the_error_bounds_the_distance_to_the_exact_value(name, pairs):
    x, y = (np.array(v) for v in zip(*pairs, strict=True))
    graph, inputs = mapped(FUNCTIONS[name]), {"x": x, "y": y}
    measured = interpret(graph, inputs, err=True)["value"]
    balls = ball_interpret(graph, inputs, 256)["value"]
    small = measured.err < 1e-6
    assert np.all(gap(measured, balls)[small] <= 2 * measured.err[small] + 1e-300)


def test_a_function_that_reports_no_error_would_be_caught():
    """The planted fault: a value whose error is taken as 0."""
    graph, inputs = mapped(FUNCTIONS["exp"]), {"x": np.array([0.3]), "y": np.array([0.1])}
    measured = interpret(graph, inputs, err=True)["value"]
    blind = Measured(measured.value, np.zeros(1))
    assert np.any(gap(blind, ball_interpret(graph, inputs)["value"]) > 2 * blind.err)


dyadic = st.integers(-64, 64).map(lambda n: n / 8)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(dyadic, dyadic), min_size=1, max_size=6))
def test_small_dyadic_numbers_have_no_error(pairs):
    x, y = (np.array(v) for v in zip(*pairs, strict=True))
    body = apply("add", apply("mul", X, Y), apply("mul", real(0.5), sub(Y, X)))
    measured = interpret(mapped(body), {"x": x, "y": y}, err=True)["value"]
    assert not measured.err.any()
    powers = interpret(mapped(apply("exp2", apply("floor", X))), {"x": x, "y": y}, err=True)
    assert not powers["value"].err.any()


def test_values_are_those_of_plain_evaluation_bit_for_bit(rows):
    data = np.random.default_rng(1).normal(size=(4, 9))
    for monoid in (SUM, WELFORD):
        graph, inputs = rows(monoid, data)
        plain, measured = interpret(graph, inputs), interpret(graph, inputs, err=True)
        for name, value in plain.items():
            assert value.tobytes() == measured[name].value.tobytes()


def test_the_error_of_a_sum_grows_with_its_length(rows):
    data = np.random.default_rng(1).uniform(1, 2, size=(1, 100))
    graph, inputs = rows(SUM, data)
    err = interpret(graph, inputs, err=True)["value"].err[0]
    assert 0 < err <= 100 * 2**-53 * data.sum()


def test_non_finite_values_have_no_error(formula):
    data = np.array([np.nan, np.inf, -np.inf])
    for op in ("exp2", "sin", "sqrt", "recip", "floor"):
        graph, inputs = formula(apply(op, arg(0)), data)
        value = interpret(graph, inputs, err=True)["value"]
        assert not value.err[~np.isfinite(value.value)].any()


def test_indices_and_bools_are_exact(formula):
    for body in (apply("to_index", arg(0, REAL)), apply("lt", arg(0), real(1))):
        found = interpret(*formula(body, np.array([0.5, 3.5])), err=True)["value"]
        assert not found.err.any()
    big = apply("to_real", apply("mul", index(2**31 + 1), index(2**31 - 5)))
    found = interpret(*formula(big, np.array([0.0])), err=True)["value"]
    assert 0 < found.err[0] <= 2**10
