"""Tolerances: right results of any order pass, planted faults fail, and the message says why."""

from __future__ import annotations

import numpy as np
import pytest
from budget_programs import matmul_graph

import tang as tg
from tang.budget.report_tolerance import tolerances_of
from tang.emulator import Budgets, ErrorBudget
from tang.errors import BudgetError, GraphError
from tang.testing import assert_within

RNG = np.random.default_rng(0)
DATA = {"A": RNG.standard_normal((6, 40)).astype(np.float32),
        "B": RNG.standard_normal((40, 5)).astype(np.float32)}  # fmt: skip
EXACT = DATA["A"].astype(np.float64) @ DATA["B"].astype(np.float64)


def in_order(order):
    """The product in f32, its terms added one by one in an order."""
    total = np.zeros((6, 5), np.float32)
    for k in order:
        total = (total + DATA["A"][:, k : k + 1] * DATA["B"][k]).astype(np.float32)
    return total


@pytest.mark.parametrize("order", [range(40), range(39, -1, -1), RNG.permutation(40)],
                         ids=["forwards", "backwards", "shuffled"])  # fmt: skip
def test_right_products_pass_in_any_order(order, matmul):
    assert_within(in_order(order), EXACT, graph=matmul, inputs=DATA)
    assert_within({"C": DATA["A"] @ DATA["B"]}, graph=matmul, inputs=DATA)


def test_a_missing_term_fails_and_the_message_has_place_values_and_derivation(matmul):
    wrong = in_order(range(40))
    wrong[2, 3] -= DATA["A"][2, 7] * DATA["B"][7, 3]
    with pytest.raises(AssertionError) as told:
        assert_within(wrong, EXACT, graph=matmul, inputs=DATA)
    assert "   for all inputs that overflow nowhere\n" in str(told.value)
    text = str(told.value)
    assert text.startswith(f"C[2, 3] is {float(wrong[2, 3])!s}, expected {EXACT[2, 3]!s}: ")
    assert "1 of 30 elements are over" in text
    assert "a sum of 40 terms, 39 additions deep, in f32" in text


def test_the_derived_tolerance_is_narrow(matmul):
    shifted = EXACT + 3e-4
    with pytest.raises(AssertionError):
        assert_within(shifted.astype(np.float32), EXACT, graph=matmul, inputs=DATA)
    assert_within(shifted.astype(np.float32), EXACT, graph=matmul, inputs=DATA, precision="bf16")


def test_results_in_a_narrow_format_are_held_against_that_format(matmul):
    half = EXACT.astype(np.float16)
    assert_within(half, EXACT, graph=matmul, inputs=DATA, precision="f16")
    with pytest.raises(AssertionError):
        assert_within(half, EXACT, graph=matmul, inputs=DATA)


def test_what_an_attention_kernel_computes_passes_and_a_dropped_key_fails():
    q, k, v = (tg.input(n, (5, 4)) for n in "qkv")
    graph = tg.Graph(out=tg.attention(q, k, v, causal=True))
    data = {n: RNG.standard_normal((5, 4)).astype(np.float32) for n in "qkv"}
    good = tg.emulate(graph, data)
    assert_within(good, graph=graph, inputs=data)
    other = {**data, "k": data["k"].copy()}
    other["k"][3] = 0
    with pytest.raises(AssertionError, match="out"):
        assert_within(tg.emulate(graph, other), graph=graph, inputs=data)


@pytest.mark.parametrize("bad", [np.nan, np.inf], ids=["nan", "inf"])
def test_a_lost_element_is_within_no_tolerance(bad, matmul):
    wrong = EXACT.astype(np.float32)
    wrong[0, 0] = bad
    with pytest.raises(AssertionError, match=r"C\[0, 0\]"):
        assert_within(wrong, EXACT, graph=matmul, inputs=DATA, budget=ErrorBudget(abs=1e9))


def test_a_budget_replaces_the_derivation_and_is_named(matmul):
    wrong = EXACT + 0.5
    assert_within(wrong, EXACT, graph=matmul, budget=ErrorBudget(abs=1))
    with pytest.raises(AssertionError, match=r"the budget abs=0\.1"):
        assert_within(wrong, EXACT, graph=matmul, budget={"C": ErrorBudget(abs=0.1)})
    few = EXACT.copy()
    few[0, 0] += 9
    assert_within(few, EXACT, graph=matmul, budget=ErrorBudget(abs=1, percentile=96))


def test_a_budget_of_t_takes_t_from_the_inputs(matmul):
    assert_within(in_order(range(40)), EXACT, graph=matmul, inputs=DATA, budget=ErrorBudget(c=8))
    with pytest.raises(BudgetError, match="pass inputs"):
        assert_within(EXACT, EXACT, graph=matmul, budget=ErrorBudget(c=8))


def test_indices_must_be_equal():
    x, i = tg.input("x", (8,)), tg.dim("i")
    graph = tg.Graph(at=tg.compute("at", (), tg.argmax(x[i], i)))
    data = {"x": np.arange(8.0)}
    assert_within(np.asarray(7), graph=graph, inputs=data)
    with pytest.raises(AssertionError, match="must be equal"):
        assert_within(np.asarray(6), graph=graph, inputs=data)


def test_symbolic_extents_come_from_the_inputs(matmul):
    graph = matmul_graph("m", "k", "n")
    assert_within(in_order(range(40)), EXACT, graph=graph, inputs=DATA)


@pytest.mark.parametrize(("actual", "more", "error", "words"), [
    (EXACT[:3], {"inputs": DATA}, AssertionError, r"C has shape \(3, 5\), expected \(6, 5\)"),
    (EXACT > 0, {"inputs": DATA}, AssertionError, "holds bool, expected reals"),
    (EXACT[:3], {"expected": EXACT[:3], "inputs": DATA}, BudgetError,
     r"expected: C has shape \(3, 5\), in the program \(6, 5\)"),
    (EXACT.astype(int), {"inputs": DATA}, AssertionError, "C holds int64, expected reals"),
    (EXACT + 0j, {"inputs": DATA}, BudgetError, "actual: C holds complex128: give an array of"),
    (EXACT.astype(str), {"inputs": DATA}, BudgetError, "actual: C holds <U"),
    ([[1], [2, 3]], {"inputs": DATA}, BudgetError, "actual: C is no array"),
    (None, {"inputs": DATA}, BudgetError, "actual: C holds object"),
    ({"D": EXACT}, {"inputs": DATA}, BudgetError, "no array for the output 'C'"),
    ({"C": EXACT, "D": EXACT}, {"inputs": DATA}, BudgetError, "no output 'D'"),
    (EXACT, {}, BudgetError, "give expected=, or inputs="),
    (EXACT, {"expected": EXACT}, BudgetError, "T is the sum of"),
    (EXACT, {"inputs": {"A": DATA["A"]}}, GraphError, "no data for input 'B'"),
    (EXACT, {"inputs": DATA, "budget": 3}, BudgetError, "ErrorBudget or a mapping"),
], ids=[
    "shape", "sort", "both-shapes", "whole", "complex", "text", "ragged", "none",
    "missing", "unknown", "nothing", "no-t", "half-inputs", "no-budget",
])  # fmt: skip
def test_a_call_that_makes_no_sense_is_refused(actual, more, error, words, matmul):
    with pytest.raises(error, match=words):
        assert_within(actual, graph=matmul, **more)


def test_an_output_of_several_needs_a_mapping():
    x, i = tg.input("x", (3,)), tg.dim("i")
    graph = tg.Graph(y=tg.compute("y", i, x[i] + 1.0), z=tg.compute("z", i, x[i] * 2.0))
    with pytest.raises(BudgetError, match="give a mapping, since there are outputs y, z"):
        assert_within(np.ones(3), graph=graph, inputs={"x": np.zeros(3)})


def test_the_kinds_of_tolerances_are_tried_from_the_most_general():
    x, i = tg.input("x", (4,)), tg.dim("i")
    square = tg.Graph(y=tg.compute("y", i, x[i] * x[i]))
    bent = tg.Graph(y=tg.compute("y", i, tg.exp(x[i] + 1.0)))
    divided = tg.Graph(y=tg.compute("y", i, 1.0 / (x[i] * x[i] - 0.3 * x[i])))
    data = [{"x": np.array([0.5, 0.25, -1, 2])}]
    ranges = {"x": (-1, 2)}
    kinds = [tolerances_of(g, "f32", inputs=data, ranges=ranges)[0].kind
             for g in (square, bent, divided)]  # fmt: skip
    assert kinds == ["shape", "range", "data"]
    assert tolerances_of(bent, "f32", ranges=ranges)[0].kind == "range"
    assert tolerances_of(divided, "f32")[0].kind == "none"


def test_a_tolerance_of_data_with_nan_takes_t_where_it_is_a_number(matmul):
    odd = {**DATA, "A": DATA["A"].copy()}
    odd["A"][1] = np.nan
    (found,) = tolerances_of(matmul, "f32", inputs=[odd])
    (whole,) = tolerances_of(matmul, "f32", inputs=[DATA])
    assert 0 < found.largest <= whole.largest


def test_results_in_the_formats_of_ml_dtypes_are_reals(matmul):
    bf16 = pytest.importorskip("ml_dtypes").bfloat16
    assert_within(EXACT.astype(bf16), EXACT, graph=matmul, budget=ErrorBudget(rel=0.01))


def two_results():
    """h = A·B, which no test is given; y = 2h and z = h + 1."""
    a, b = tg.input("A", (6, 40)), tg.input("B", (40, 5))
    i, j, d = tg.dims("i j d")
    h = tg.compute("h", (i, j), tg.sum(a[i, d] * b[d, j], d))
    return tg.Graph(
        y=tg.compute("double", (i, j), h[i, j] * 2.0), z=tg.compute("next", (i, j), h[i, j] + 1.0)
    )


LOOSE = ErrorBudget(abs=1e6)


@pytest.mark.parametrize("budget", [
    {}, {"y": LOOSE}, {"double": LOOSE}, Budgets(), Budgets(named={"y": LOOSE}),
], ids=["none", "output", "node", "no-budgets", "named"])  # fmt: skip
def test_an_output_without_a_budget_of_its_own_is_held_to_the_derived_tolerance(budget):
    right = {"y": 2 * EXACT, "z": EXACT + 1}
    assert_within(right, graph=two_results(), inputs=DATA, budget=budget)
    with pytest.raises(AssertionError, match=r"^z\[.*\n.*\n.* T .*for all inputs"):
        assert_within(right | {"z": EXACT + 2}, graph=two_results(), inputs=DATA, budget=budget)


def test_what_has_a_budget_of_its_own_is_held_to_that_alone():
    wrong = {"y": 2 * EXACT, "z": EXACT + 2}
    for budget in (LOOSE, {"*": LOOSE}, {"z": LOOSE}, {"next": LOOSE}):
        assert_within(wrong, graph=two_results(), inputs=DATA, budget=budget)


def test_a_budget_of_a_node_that_is_no_output_is_refused():
    right = {"y": 2 * EXACT, "z": EXACT + 1}
    with pytest.raises(BudgetError, match=r"names 'h', a node that is no output.*\(y, z\)"):
        assert_within(right, graph=two_results(), inputs=DATA, budget={"h": LOOSE, "y": LOOSE})
    with pytest.raises(BudgetError, match="names 'q', which is no output or node"):
        assert_within(right, graph=two_results(), inputs=DATA, budget={"q": LOOSE})
    x, i = tg.input("x", (8,)), tg.dim("i")
    graph = tg.Graph(at=tg.compute("at", (), tg.argmax(x[i], i)))
    with pytest.raises(BudgetError, match="names 'q'"):
        assert_within(np.asarray(7), graph=graph, inputs={"x": np.arange(8.0)}, budget={"q": LOOSE})
