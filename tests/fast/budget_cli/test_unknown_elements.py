"""Where another right kernel may overflow, decide otherwise or leave a domain, nothing is demanded.

Each case has a right kernel whose result differs from f64 by more than rounding, which must not
fail, and a wrong one, which must not pass.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from budget_programs import matmul_graph
from ml_dtypes import bfloat16

import tang as tg
from tang.budget.overflow import fits_by_terms
from tang.budget.report_tolerance import kernel_for, tolerances_of
from tang.emulator import ErrorBudget, certify
from tang.errors import BudgetError, UnjudgedWarning
from tang.ir.view import Ref
from tang.testing import assert_within

ROW, K = tg.dims("i k")
RNG = np.random.default_rng(0)
NEAR = np.array([[1, 1.1 * 2.0**-20, -1, -1.1 * 2.0**-20]], np.float32)
"""Terms whose sum is 0 in f64, and 2⁻²³ or so in f32 in another order."""


def rows(expression, shape=(1, 4)):
    """A program of the sum of each row."""
    x = tg.input("x", shape)
    total = tg.compute("s", ROW, tg.sum(x[ROW, K], over=K))
    return tg.Graph(y=tg.compute("y", ROW, expression(total[ROW])))


# --- no number in f64 -----------------------------------------------------------------------------


@pytest.mark.parametrize("expression", [tg.log, lambda s: 1 / s, lambda s: s / s, tg.sqrt],
                         ids=["log", "reciprocal", "quotient", "root"])  # fmt: skip
def test_what_another_order_makes_a_number_is_unknown(expression):
    graph = rows(expression)
    for given in (np.float32([-15.9]), np.float32([np.nan]), np.float32([-np.inf])):
        with pytest.raises(BudgetError, match="1 of 1 elements have no bound"):
            assert_within(given, graph=graph, inputs={"x": NEAR})


@pytest.mark.parametrize("expression", [tg.log, lambda s: 1 / s], ids=["log", "reciprocal"])
def test_unknown_elements_are_skipped_alone_and_on_demand(expression):
    graph, x = rows(expression, (2, 4)), np.vstack([NEAR, np.float32([[1, 2, 3, 4]])])
    right = np.asarray(tg.emulate(graph, {"x": x[:, ::-1]})["y"], np.float64)
    with pytest.warns(UnjudgedWarning, match="^1 of 2 elements of 'y' are not judged$") as told:
        assert_within(right, graph=graph, inputs={"x": x}, doubtful="skip")
    assert told[0].filename == __file__
    with pytest.raises(BudgetError, match=r'or judge the others with doubtful="skip"'):
        assert_within(right, graph=graph, inputs={"x": x})
    wrong = right * [1, 1.001]
    told = r"y\[1\] .*1 of 2 elements(.|\n)*1 are not judged"
    with pytest.warns(UnjudgedWarning), pytest.raises(AssertionError, match=told):
        assert_within(wrong, graph=graph, inputs={"x": x}, doubtful="skip")
    with pytest.raises(BudgetError, match='doubtful is "refuse" or "skip", not True'):
        assert_within(right, graph=graph, inputs={"x": x}, doubtful=True)


def test_a_row_without_variance_is_unknown():
    x = tg.input("x", (2, 8))
    mean = tg.compute("mean", ROW, tg.sum(x[ROW, K], over=K) / 8)
    moved = x[ROW, K] - mean[ROW]
    spread = tg.compute("spread", ROW, tg.sum(moved * moved, over=K) / 8)
    graph = tg.Graph(y=tg.compute("y", (ROW, K), moved / tg.sqrt(spread[ROW])))
    data = {"x": np.float32([[0.1] * 8, range(8)])}
    right = tg.emulate(graph, data, rules=())["y"]
    with pytest.raises(BudgetError, match="8 of 16 elements have no bound"):
        assert_within(right, graph=graph, inputs=data)
    with pytest.warns(UnjudgedWarning, match="8 of 16"):
        assert_within(right, graph=graph, inputs=data, doubtful="skip")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("values", [[0, -1, np.inf, 2], [0, -1, 0, np.nan]], ids=["some", "all"])
def test_what_is_no_number_in_any_order_must_be_the_same(values):
    x = tg.input("x", (4,))
    graph, data = tg.Graph(y=tg.compute("y", ROW, tg.log(x[ROW]))), {"x": np.float32(values)}
    right = np.log(data["x"].astype(np.float64))
    assert_within(right, graph=graph, inputs=data)
    for k, other in ((0, 0.0), (0, np.inf), (1, 0.0)):
        wrong = right.copy()
        wrong[k] = other
        with pytest.raises(AssertionError, match=rf"y\[{k}\]"):
            assert_within(wrong, graph=graph, inputs=data)


# --- overflow -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("precision", "size"), [
    ("fp6-e2m3", 4), ("fp4-e2m1", 4), ("fp8-e4m3", 100),
], ids=["e2m3", "e2m1", "e4m3"])  # fmt: skip
def test_sums_that_saturate_pass_as_they_are_emulated(precision, size):
    graph = matmul_graph(8, 24, 5)
    data = {"A": size * RNG.standard_normal((8, 24)), "B": RNG.standard_normal((24, 5))}
    right = tg.emulate(graph, data, precision, rules=())["C"]
    (found,) = tolerances_of(graph, precision, inputs=[data])
    assert (np.abs(right) == np.abs(right).max()).sum() > 1, "several saturate"
    assert found.kind == "data"
    assert found.derivation[0].startswith("by shape: it leaves overflow out, and on these inputs C")
    assert_within(right, graph=graph, inputs=data, precision=precision)
    with pytest.raises(AssertionError):
        assert_within(np.where(right > 1, 0, right), graph=graph, inputs=data, precision=precision)


def test_statistics_that_saturate_on_the_way_leave_no_bound_by_shape():
    x = tg.input("x", (3, 24))
    graph = tg.Graph(y=tg.softmax(x, axis=-1))
    data = {"x": 0.25 * np.arange(72.0).reshape(3, 24) % 2}
    (right,) = tg.emulate(graph, data, "fp6-e2m3", rules=()).values()
    with pytest.raises(BudgetError, match=r"on these inputs softmax\.sum may leave e2m3"):
        assert_within(right, graph=graph, inputs=data, precision="fp6-e2m3")


@pytest.mark.parametrize("precision", ["f16", "f16-acc"])
def test_a_sum_that_overflows_in_some_order_is_unknown(precision):
    graph = rows(lambda s: s * 1.0)
    data = {"x": np.array([[6e4, 6e4, -6e4, -5e4]])}
    if precision == "f16":  # f32 holds the sum, and f16 holds the result
        right = tg.emulate(graph, data, precision, rules=())["y"]
        assert_within(right, graph=graph, inputs=data, precision=precision)
        return
    for right in (np.float16([1e4]), np.float16([np.inf]), np.float16([np.nan])):
        with pytest.raises(BudgetError, match="no tolerance of 'y' can be derived"):
            assert_within(right, graph=graph, inputs=data, precision=precision)


def test_a_schedule_that_adds_up_in_a_saturating_format_has_no_bound_by_shape():
    graph = rows(lambda s: s * 1.0, (1, 3))
    written = json.dumps({"version": 1, "default": {"storage": "f32", "accumulate": "e4m3fn"}})
    data = {"x": np.array([[384.0, 384.0, -384.0]])}
    right = tg.emulate(graph, data, written, rules=())["y"]
    assert right == [64.0], "saturated at 448 on the way"
    (found,) = tolerances_of(graph, written, inputs=[data])
    assert found.kind != "shape"
    assert np.all(np.abs(right - 384) <= found.tight)


def test_large_products_that_fit_are_not_replayed():
    """T of plain sums is enough where ranges are not: 4096 terms of up to 5 · 5."""
    graph = matmul_graph(64, 4096, 64)
    data = {"A": RNG.standard_normal((64, 4096)), "B": RNG.standard_normal((4096, 64))}
    data["A"][0, 0], data["B"][0, 0] = 5, 5
    made, schedule = kernel_for("f16", graph)
    shape = certify(made, schedule, {})
    terms = {Ref("A"): np.abs(data["A"]), Ref("B"): np.abs(data["B"])}
    terms[Ref("C", "value")] = terms[Ref("A")] @ terms[Ref("B")]
    terms[Ref("C", "acc")] = terms[Ref("C", "value")]
    assert terms[Ref("C", "value")].max() < 65504 < 4096 * 25
    assert fits_by_terms(made, schedule, shape, terms, Ref("C", "value"))
    larger = {r: 30 * t for r, t in terms.items()}
    assert not fits_by_terms(made, schedule, shape, larger, Ref("C", "value"))
    assert not fits_by_terms(made, schedule, shape, {Ref("A"): terms[Ref("A")]}, Ref("C", "value"))


# --- decisions ------------------------------------------------------------------------------------


def argmax_of_sums():
    x = tg.input("x", (4, 24))
    total = tg.compute("s", ROW, tg.sum(x[ROW, K], over=K))
    return tg.Graph(at=tg.compute("at", (), tg.argmax(total[ROW], ROW)))


def test_indices_that_sums_decide_clearly_must_be_equal():
    graph, data = argmax_of_sums(), {"x": RNG.standard_normal((4, 24)).astype(np.float32)}
    best = int(np.argmax(data["x"].sum(1)))
    assert_within(np.asarray(best), graph=graph, inputs=data)
    with pytest.raises(AssertionError, match=r"must be equal\n  inexact numbers decide it, on"):
        assert_within(np.asarray((best + 1) % 4), graph=graph, inputs=data)
    with pytest.raises(BudgetError, match="perhaps near a border; give inputs"):
        assert_within(np.asarray(best), np.asarray(best), graph=graph)


def test_indices_that_sums_decide_nearly_are_unknown():
    graph, row = argmax_of_sums(), RNG.standard_normal(24).astype(np.float32)
    data = {"x": np.vstack([row, row[::-1], row - 5, row - 5])}
    for either in (0, 1):
        with pytest.raises(BudgetError, match=r"take finer accumulators or other inputs$"):
            assert_within(np.asarray(either), graph=graph, inputs=data)


def test_bools_that_sums_decide_nearly_are_skipped_alone():
    graph = rows(lambda s: s > 0, (4, 24))
    x = RNG.standard_normal((4, 24)).astype(np.float32)
    x[0, 12:] = -x[0, :12]
    right = x.sum(1) > 0
    for first in (True, False):
        given = np.array([first, *right[1:]])
        with pytest.warns(UnjudgedWarning, match="1 of 4"):
            assert_within(given, graph=graph, inputs={"x": x}, doubtful="skip")
    with pytest.raises(BudgetError, match="1 of 4 elements have no bound"):
        assert_within(right, graph=graph, inputs={"x": x})
    with pytest.warns(UnjudgedWarning), pytest.raises(AssertionError, match=r"y\[1\]"):
        assert_within(~right, graph=graph, inputs={"x": x}, doubtful="skip")


def test_what_an_unsure_index_gathers_is_unknown():
    x = tg.input("x", (4, 24))
    total = tg.compute("s", ROW, tg.sum(x[ROW, K], over=K))
    best = tg.compute("at", (), tg.argmax(total[ROW], ROW))
    graph = tg.Graph(y=tg.compute("y", K, x[best[()], K]))
    row = RNG.standard_normal(24).astype(np.float32)
    data = {"x": np.vstack([row, row[::-1], row - 5, row - 5])}
    with pytest.raises(BudgetError, match="24 of 24 elements have no bound"):
        assert_within(row, graph=graph, inputs=data)


def test_what_inputs_decide_alone_is_exact_without_inputs_too():
    x = tg.input("x", (4, 24))
    graph = tg.Graph(y=tg.compute("y", (ROW, K), x[ROW, K] > 0))
    right = RNG.standard_normal((4, 24)) > 0
    assert_within(right, right, graph=graph)
    with pytest.raises(AssertionError, match="no inexact number decides it"):
        assert_within(~right, right, graph=graph)


INF = float("inf")


@pytest.mark.parametrize(("expression", "kernel"), [
    (lambda a: a * a < INF, lambda a: a * a < INF),
    (lambda a: tg.select(a * a < INF, a, 0.0), lambda a: np.where(a * a < INF, a, 0)),
    (lambda a: 0.0 * (a * a), lambda a: 0 * (a * a)),
    (lambda a: tg.select(tg.exp(a) < INF, 1.0, 0.0), lambda a: np.where(np.exp(a) < INF, 1.0, 0)),
], ids=["finite", "guard", "zero-times", "exponential"])  # fmt: skip
def test_a_decision_on_what_overflows_is_no_exact_one(expression, kernel):
    a = tg.input("a", (3,))
    graph = tg.Graph(y=tg.compute("y", ROW, expression(a[ROW])))
    small, large = np.float32([1, 2, 3]), np.float32([1e20, 1, 2])
    with np.errstate(all="ignore"):
        right, other = kernel(small), kernel(large)
    assert_within(right, graph=graph, inputs={"a": small})
    with pytest.raises(
        BudgetError, match=r"1 of 3 elements have no bound|says nothing: it allows 1,"
    ):
        assert_within(other, graph=graph, inputs={"a": large})


def test_a_wrong_output_is_told_before_another_that_is_unknown():
    x = tg.input("x", (1, 4))
    total = tg.compute("s", ROW, tg.sum(x[ROW, K], over=K))
    largest = tg.compute("m", ROW, tg.max(x[ROW, K], over=K))
    graph = tg.Graph(y=tg.compute("y", ROW, tg.log(total[ROW])), m=largest)
    unsure = np.float32([-15.9])
    with pytest.raises(AssertionError, match=r"m\[0\] is 2"):
        assert_within({"y": unsure, "m": [2.0]}, graph=graph, inputs={"x": NEAR})
    with pytest.raises(BudgetError, match="no tolerance of 'y'"):
        assert_within({"y": unsure, "m": [1.0]}, graph=graph, inputs={"x": NEAR})


def test_choices_among_many_are_not_replayed():
    """A tensor whose elements are only moved is compared at once, whatever its monoid costs."""
    x = tg.input("x", (64, 256))
    values, _ = tg.top_k(x, 8, axis=1)
    graph, data = tg.Graph(v=values), RNG.standard_normal((64, 256)).astype(np.float32)
    (found,) = tolerances_of(graph, "f32", inputs=[{"x": data}])
    assert (found.kind, found.bound) == ("shape", None)
    assert_within(-np.sort(-data, axis=1)[:, :8], graph=graph, inputs={"x": data})


def test_bf16_arrays_are_inputs_too():
    x = tg.input("x", (4,))
    graph, data = tg.Graph(y=tg.compute("y", ROW, x[ROW] * 3.0)), np.arange(4).astype(bfloat16)
    assert_within(data * bfloat16(3), graph=graph, inputs={"x": data}, precision="bf16")
    with pytest.raises(AssertionError):
        assert_within(data * bfloat16(4), graph=graph, inputs={"x": data}, precision="bf16")


# --- zeros ----------------------------------------------------------------------------------------


def test_zeros_do_not_pass_below_the_smallest_normal_number():
    x = tg.input("x", (8,))
    graph = tg.Graph(y=tg.compute("y", ROW, x[ROW] * x[ROW]))
    data = {"x": np.linspace(1, 1.5, 8) * 1e-4}
    right = tg.emulate(graph, data, "f16-acc", rules=())["y"]
    with pytest.raises(BudgetError, match=r"says nothing: it allows 2\.98e-08"):
        assert_within(right, graph=graph, inputs=data, precision="f16-acc")
    larger = {"x": 2 * data["x"]}
    right = tg.emulate(graph, larger, "f16-acc", rules=())["y"]
    assert_within(right, graph=graph, inputs=larger, precision="f16-acc")
    with pytest.raises(AssertionError):
        assert_within(0 * right, graph=graph, inputs=larger, precision="f16-acc")


def test_the_command_says_what_decides_and_how_to_judge_the_rest(tang):
    Path("g.py").write_text(
        "import tang as tg\ni, k = tg.dims('i k')\nx = tg.input('x', (8, 24))\n"
        "s = tg.compute('s', i, tg.sum(x[i, k], over=k))\n"
        "sign = tg.compute('sign', i, s[i] > 0)\n"
        "graph = tg.Graph(sign=sign, top=tg.compute('top', i, x[i, 0] > 0))\n"
    )
    code, out, _ = tang("tolerance", "g.py")
    assert code == 0
    assert out == (
        "sign (exact): actual == expected   for random inputs of seed 0 alone, sums in any order\n"
        "  derivation:\n    inexact numbers decide it, on these inputs away from their borders\n\n"
        "top (exact): actual == expected\n  derivation:\n    no inexact number decides it\n"
    )
    code, out, _ = tang("tolerance", "g.py", "--precision", "bf16-acc")
    assert code == 1
    assert 'or judge the others: assert_within(..., doubtful="skip")' in out
    rows = json.loads(tang("tolerance", "g.py", "--precision", "bf16-acc", "--json")[1])
    assert [(r["kind"], r["unknown"] > 0, r["ok"]) for r in rows] == [
        ("none", True, False), ("equality", False, True),
    ]  # fmt: skip


def test_equality_within_ranges_says_so_and_is_not_for_all_inputs():
    graph = rows(lambda s: s > 1000.0, (8, 24))
    data = {"x": RNG.standard_normal((8, 24)).astype(np.float32)}
    (found,) = tolerances_of(graph, "f32", inputs=[data])
    assert (found.kind, found.scope) == ("data", "for these inputs alone")
    assert found.derivation[0].startswith("no inexact number decides it for x in -")
    (stated,) = tolerances_of(graph, "f32", ranges={"x": (-1, 1)})
    assert (stated.kind, stated.scope) == ("range", "for all inputs in these ranges")
    (open_,) = tolerances_of(graph, "f32")
    assert open_.kind == "none"
    assert_within(np.zeros(8, bool), graph=graph, inputs=data)


def test_a_schedule_speaks_of_its_own_order_whatever_its_functions():
    x, k = tg.input("x", (4096,)), tg.dim("k")
    graph = tg.Graph(y=tg.compute("y", (), tg.sum(x[k], over=k)))
    lanes = {"version": 1, "nodes": {"y": {"lanes": 256, "workgroup": 256}}}
    data = np.full(4096, 1.1, np.float32)
    data[0] = 2.0**23
    in_turn = np.float32(0)
    for term in data:
        in_turn += term
    for math in ("portable", "any"):
        (found,) = tolerances_of(graph, json.dumps(lanes), inputs=[{"x": data}], math=math)
        assert found.order == "in the order of the schedule"
    (anyhow,) = tolerances_of(graph, "f32", inputs=[{"x": data}])
    assert anyhow.order == "sums in any order"
    assert abs(float(in_turn) - float(data.astype(np.float64).sum())) <= anyhow.tight


def test_a_whole_number_that_a_sum_decides_nearly_is_unknown():
    graph = rows(lambda s: tg.index(s), (4, 24))
    x = RNG.standard_normal((4, 24)).astype(np.float32)
    x[0] = [0.1] * 10 + [0] * 14  # 1 and 1.5e-8 more
    right = np.floor(x.astype(np.float64).sum(1)).astype(int)
    with pytest.raises(BudgetError, match="1 of 4 elements have no bound"):
        assert_within(right, graph=graph, inputs={"x": x})
    right[0] -= 1
    with pytest.warns(UnjudgedWarning):
        assert_within(right, graph=graph, inputs={"x": x}, doubtful="skip")


def test_what_overflows_f64_itself_is_unknown():
    """In f64 the sum is infinite one after the other, and 0 in two lanes."""
    x, k = tg.input("x", (4,)), tg.dim("k")
    graph = tg.Graph(y=tg.compute("y", (), tg.sum(x[k], over=k)))
    data = {"x": np.array([1e308, 1e308, -1e308, -1e308])}
    lanes = {"storage": "f64", "accumulate": "f64", "lanes": 2}
    wide = json.dumps({"version": 1, "default": {"storage": "f64"}, "nodes": {"y": lanes}})
    with pytest.raises(BudgetError, match="1 of 1 elements have no bound"):
        assert_within(np.float64(0), graph=graph, inputs=data, precision=wide)


def test_zeros_that_are_expected_allow_no_more_than_a_zero():
    graph = rows(lambda s: s * 1.0)
    data = {"x": np.float32([[1.1, -1.1, 0.7, -0.7]])}
    with pytest.raises(BudgetError, match="the largest value expected is 0, so that zeros would"):
        assert_within(np.zeros(1), graph=graph, inputs=data)


def test_the_share_of_elements_at_which_zeros_pass_is_said(tang):
    matmul = str(Path(__file__).resolve().parents[3] / "examples" / "matmul.py")
    code, out, _ = tang("tolerance", matmul, "--precision", "fp8-e4m3-scaled")
    assert code == 0
    assert "  zeros would pass at 48% of the elements: it tests little\n" in out
    assert "zeros would pass" not in tang("tolerance", matmul)[1]


def test_a_percentile_forgives_no_nan():
    graph = matmul_graph(6, 40, 5)
    exact = RNG.standard_normal((6, 5))
    few = exact.copy()
    few[0, 0] += 9
    budget = ErrorBudget(abs=1, percentile=96)
    assert_within(few, exact, graph=graph, budget=budget)
    few[0, 0] = np.nan
    with pytest.raises(AssertionError, match=r"C\[0, 0\] is nan"):
        assert_within(few, exact, graph=graph, budget=budget)
