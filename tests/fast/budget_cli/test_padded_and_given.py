"""Tolerances of padded sums, of inputs that are outputs, and of indices beside budgets."""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg
from tang.budget.report_tolerance import tolerances_of
from tang.emulator import ErrorBudget
from tang.errors import BudgetError, UnjudgedWarning
from tang.testing import assert_within

I_, J = tg.dims("i j")
RNG = np.random.default_rng(0)


@pytest.mark.parametrize("fill", [-3.0, 3.0, -0.0, float("-inf")], ids=str)
def test_t_counts_the_magnitude_of_a_fill(fill):
    """Between −3 · 1.1 and 3.3 all digits cancel: T is 6.6 for either sign."""
    x, b, c = (tg.input(n, (4,)) for n in "xbc")
    graph = tg.Graph(y=tg.compute("y", I_, x.at(I_ - 1, fill=fill) * b[I_] + c[I_]))
    third = -np.sign(fill) * np.float32(3.3000002) if np.isfinite(fill) else np.float32(1)
    data = {"x": np.float32([1, 2, 3, 4]), "b": np.float32([1.1, 0.3, 0.7, 0.9]),
            "c": np.float32([third, 0.1, 0.2, 0.3])}  # fmt: skip
    padded = np.concatenate([np.float32([fill]), data["x"][:-1]])
    assert_within(padded * data["b"] + data["c"], graph=graph, inputs=data)
    (found,) = tolerances_of(graph, "f32", inputs=[data])
    assert found.largest == pytest.approx({3.0: 6.6}.get(abs(fill), 3.0), rel=1e-6)
    wrong = padded * data["b"] + data["c"]
    wrong[1] += 1e-5
    with pytest.raises(AssertionError, match=r"y\[1\]"):
        assert_within(wrong, graph=graph, inputs=data)


def test_padded_sums_pass_in_any_order():
    n = 8
    a, w = tg.input("a", (n,)), tg.input("w", (n, n))
    graph = tg.Graph(y=tg.compute("y", I_, tg.sum(a.at(I_ + J - 7, fill=-3.0) * w[I_, J], over=J)))
    places = np.add.outer(np.arange(n), np.arange(n)) - 7
    given = RNG.standard_normal(n).astype(np.float32)
    inside = (places >= 0) & (places < n)
    padded = np.where(inside, given[np.clip(places, 0, n - 1)], np.float32(-3))
    for _ in range(40):
        weights = RNG.standard_normal((n, n)).astype(np.float32)
        total = np.zeros(n, np.float32)
        for k in RNG.permutation(n):
            total = (total + padded[:, k] * weights[:, k]).astype(np.float32)
        assert_within(total, graph=graph, inputs={"a": given, "w": weights})


@pytest.mark.parametrize("math", ["c", "cuda", "opencl"])
@pytest.mark.parametrize("name", ["exp", "sigmoid"])
def test_f64_results_count_what_their_printed_form_is_off_by(name, math):
    x = tg.input("x", (256,))
    graph = tg.Graph(y=tg.compute("y", I_, getattr(tg, name)(x[I_])))
    values = 20 * RNG.standard_normal(256)
    right = np.exp(values) if name == "exp" else 1 / (1 + np.exp(-values))
    assert_within(right, graph=graph, inputs={"x": values}, precision="f64", math=math)
    wrong = right * (1 + 1e-13)
    with pytest.raises(AssertionError):
        assert_within(wrong, graph=graph, inputs={"x": values}, precision="f64", math=math)


def test_an_input_that_is_an_output_must_come_back_as_it_is_stored():
    x, n = tg.input("x", (4, 3)), tg.input("n", (3,), sort="index")
    graph = tg.Graph(y=x, m=n)
    data = {"x": RNG.standard_normal((4, 3)), "n": np.arange(3)}
    half = data["x"].astype(np.float16)
    assert_within({"y": half, "m": data["n"]}, graph=graph, inputs=data, precision="f16")
    kinds = [t.kind for t in tolerances_of(graph, "f16", inputs=[data])]
    assert kinds == ["shape", "equality"]
    given = {"y": half + np.float16(0.01), "m": data["n"]}
    with pytest.raises(AssertionError, match="an input as it is stored"):
        assert_within(given, graph=graph, inputs=data, precision="f16")


def test_a_budget_of_all_outputs_leaves_doubtful_indices_doubtful():
    x = tg.input("x", (2, 64))
    total = tg.compute("s", I_, tg.sum(x[I_, J], over=J))
    sign = tg.compute("sign", I_, total[I_] > 0)
    graph, budget = tg.Graph(s=total, sign=sign), ErrorBudget(abs=1e-3)
    rows = RNG.standard_normal((2, 64)).astype(np.float32)
    rows[0, 32:] = -rows[0, :32]
    sums = rows.sum(1)
    for first in (True, False):
        given = {"s": sums, "sign": np.array([first, sums[1] > 0])}
        with pytest.raises(BudgetError, match="no tolerance of 'sign'"):
            assert_within(given, graph=graph, inputs={"x": rows}, budget=budget)
        with pytest.warns(UnjudgedWarning, match="1 of 2 elements of 'sign'"):
            assert_within(given, graph=graph, inputs={"x": rows}, budget=budget, doubtful="skip")
    assert_within(given, given, graph=graph, budget=budget)
    wrong = {"s": sums, "sign": np.array([True, sums[1] <= 0])}
    with pytest.warns(UnjudgedWarning), pytest.raises(AssertionError, match=r"sign\[1\]"):
        assert_within(wrong, graph=graph, inputs={"x": rows}, budget=budget, doubtful="skip")
