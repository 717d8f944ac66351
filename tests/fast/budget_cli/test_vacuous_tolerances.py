"""A tolerance that lets zeros pass is refused; with data the tightest sound bound is taken."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tang as tg
from tang.budget.report_inputs import drawn_inputs
from tang.budget.report_tolerance import tolerances_of
from tang.cli.load import load_graph
from tang.errors import BudgetError
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.testing import assert_within

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
PROGRAMS = ("attention", "layer_norm", "gqa_attention")


def example(name):
    """A program of examples/, and data of seed 0."""
    graph = load_graph(str(EXAMPLES / f"{name}.py"))
    return graph, drawn_inputs(graph, {}, {}, 0)


def wrong_ones(good):
    """Results that no kernel may give."""
    return {"zeros": 0 * good, "twenties": 0 * good + 20, "negated": -good, "5% off": good * 1.05}


@pytest.mark.parametrize(("name", "precision", "wrong"), [
    ("attention", "f16", ("zeros", "twenties", "negated", "5% off")),
    ("attention", "bf16", ("zeros",)),
    ("layer_norm", "f16", ("zeros", "5% off")),
    ("layer_norm", "bf16", ("zeros",)),
    ("gqa_attention", "f16", ("zeros",)),
], ids=["attention-f16", "attention-bf16", "norm-f16", "norm-bf16", "gqa-f16"])  # fmt: skip
def test_what_a_kernel_computes_passes_and_what_is_plainly_wrong_does_not(name, precision, wrong):
    graph, data = example(name)
    (good,) = tg.emulate(graph, data, precision).values()
    assert_within(good, graph=graph, precision=precision, inputs=data)
    for given in (wrong_ones(good)[kind] for kind in wrong):
        with pytest.raises(AssertionError, match="elements are over"):
            assert_within(given, graph=graph, precision=precision, inputs=data)


@pytest.mark.parametrize("lanes", [2, 8], ids=str)
def test_kernels_that_sum_in_another_order_pass_too(lanes):
    graph, data = example("attention")
    folds = [n.name for n in graph.nodes if n.monoid is not None]
    chosen = NodeSchedule(lanes=lanes, workgroup=64)
    other = Schedule(nodes=tuple((n, chosen) for n in folds))
    got = tg.emulate(graph, data, other, rules=())
    assert_within(got, graph=graph, precision="f32", inputs=data)


@pytest.mark.parametrize(("name", "most"), [
    ("attention", 0.02), ("layer_norm", 0.004), ("gqa_attention", 0.03),
], ids=PROGRAMS)  # fmt: skip
def test_a_finer_format_has_the_narrower_tolerance(name, most):
    graph, data = example(name)
    f32, f16, bf16 = (
        tolerances_of(graph, p, inputs=[data])[0].plain for p in ("f32", "f16", "bf16")
    )
    assert f32 < f16 < most
    assert f16 < bf16


def test_every_element_gets_the_least_of_what_is_known(matmul):
    rng = np.random.default_rng(0)
    data = {"A": rng.standard_normal((6, 40)), "B": rng.standard_normal((40, 5))}
    (found,) = tolerances_of(matmul, "f16", inputs=[data])
    assert found.kind == "shape"
    assert found.bound.max() == found.tight < found.plain / 2
    assert "by data: at most" in found.derivation[-1]


def test_a_tolerance_above_the_largest_value_is_refused_with_a_cure():
    graph, data = example("attention")
    (good,) = tg.emulate(graph, data, "fp8-e4m3").values()
    with pytest.raises(BudgetError) as told:
        assert_within(good, graph=graph, precision="fp8-e4m3", inputs=data)
    text = str(told.value)
    assert text.startswith("the tolerance of 'out' says nothing: it allows 19.")
    assert "the largest value expected is 2, so that zeros would pass" in text
    assert "take finer accumulators or formats" in text


def test_a_schedule_has_a_tolerance_where_its_preset_has_none():
    graph, data = example("layer_norm")
    written = {"version": 1, "default": {"storage": "f16", "accumulate": "f16"}}
    (good,) = tg.emulate(graph, data, json.dumps(written), rules=()).values()
    told = r"320 of 960 elements have no bound: .*\): take .* or a schedule"
    with pytest.raises(BudgetError, match=told):
        assert_within(good, graph=graph, precision="f16-acc", inputs=data)
    assert_within(good, graph=graph, precision=json.dumps(written), inputs=data)
    with pytest.raises(AssertionError):
        assert_within(0 * good, graph=graph, precision=json.dumps(written), inputs=data)


def test_a_sum_that_cancels_to_less_than_its_tolerance_is_refused(matmul):
    data = {"A": np.ones((6, 40)), "B": np.tile([[1.0], [-1.0]], (20, 5))}
    data["B"][0] += 2.0**-7
    right = np.full((6, 5), 2.0**-7)
    assert_within(right, graph=matmul, inputs=data, precision="bf16")
    with pytest.raises(
        BudgetError, match=r"allows 6\.62, and the largest value expected is 0\.0078"
    ):
        assert_within(right, graph=matmul, inputs=data, precision="bf16-acc")


def test_zeros_that_are_right_pass(matmul):
    data = {"A": np.zeros((6, 40)), "B": np.ones((40, 5))}
    assert_within(np.zeros((6, 5)), graph=matmul, inputs=data, precision="f16")
    with pytest.raises(AssertionError):
        assert_within(np.full((6, 5), 1e-6), graph=matmul, inputs=data, precision="f16")


@pytest.mark.parametrize("odd", [np.nan, np.inf], ids=str)
def test_results_that_are_no_numbers_must_be_the_same_and_loosen_nothing(odd):
    graph, data = example("attention")
    data = {**data, "V": data["V"].copy()}
    data["V"][0, 3, 5] = odd
    (good,) = tg.emulate(graph, data, "f16").values()
    assert not np.isfinite(good).all()
    assert_within(good, graph=graph, precision="f16", inputs=data)
    numbers = np.where(np.isfinite(good), good, 0.0)
    with pytest.raises(AssertionError, match=f"expected {odd}"):
        assert_within(numbers, graph=graph, precision="f16", inputs=data)
    nothing = {n: np.full_like(a, np.nan) for n, a in data.items()}
    assert_within(np.full_like(good, np.nan), graph=graph, precision="f16", inputs=nothing)
    with pytest.raises(AssertionError):
        assert_within(np.zeros_like(good), graph=graph, precision="f16", inputs=nothing)


def test_ranges_that_are_stated_come_before_data():
    x, i = tg.input("x", (4,)), tg.dim("i")
    bent = tg.Graph(y=tg.compute("y", i, tg.exp(x[i] + 1.0)))
    data = [{"x": np.array([0.5, 0.25, -1, 2])}]
    (found,) = tolerances_of(bent, "f32", inputs=data)
    (stated,) = tolerances_of(bent, "f32", inputs=data, ranges={"x": (-2, 2)})
    assert (found.kind, stated.kind) == ("data", "range")
    assert found.tight <= stated.tight < stated.atol


# --- the command ----------------------------------------------------------------------------------


def test_the_command_says_where_a_tolerance_says_nothing_and_exits_with_1(tang):
    arguments = ("tolerance", str(EXAMPLES / "attention.py"), "--precision", "fp8-e4m3")
    code, out, _ = tang(*arguments)
    assert code == 1
    assert "  VACUOUS: 19." in out
    assert "is larger than the largest value, 2 on random inputs of seed 0, so zeros would" in out
    assert "  cure: give the data of the test with --inputs, or state narrower ranges with" in out
    code, out, _ = tang(*arguments, "--json")
    (row,) = json.loads(out, parse_constant=pytest.fail)
    assert code == 1
    assert (row["kind"], row["vacuous"], row["ok"]) == ("data", True, False)
    assert row["tight"] > row["value"]


def test_no_tolerance_at_all_exits_with_1_too(tang):
    Path("g.py").write_text(
        "import tang as tg\ni = tg.dim('i', 4)\nx = tg.input('x', (4,))\n"
        "graph = tg.Graph(y=tg.compute('y', i, tg.exp(x[i] * 30.0)))\n"
    )
    code, out, _ = tang("tolerance", "g.py", "--precision", "f16")
    assert code == 1
    assert out.startswith("y (f16): no tolerance can be derived\n  cure: ")
    (row,) = json.loads(tang("tolerance", "g.py", "--precision", "f16", "--json")[1])
    assert (row["kind"], row["ok"]) == ("none", False)


def test_a_tolerance_without_t_says_for_which_t_it_holds(tang):
    code, out, _ = tang("tolerance", str(EXAMPLES / "matmul.py"))
    assert code == 0
    first, plain, data, *_ = out.splitlines()
    assert first.endswith(" T + 8.97e-44   for all inputs that overflow nowhere")
    assert plain.endswith("only where T <= 110.832, its largest on random inputs of seed 0")
    assert data.endswith("rtol=0   for random inputs of seed 0 alone, sums in any order")


def test_what_is_only_chosen_is_said_to_be_exact(tang):
    code, out, _ = tang("tolerance", str(EXAMPLES / "argmax.py"))
    assert code == 0
    assert out.endswith("    exact: elements are chosen or moved, and none is computed\n")


def test_sums_in_f64_may_differ_by_the_rounding_of_the_results_they_are_compared_with():
    """Added backwards these are 2 ulps off, and no farther from the exact sum than the f64 one."""
    i, k = tg.dims("i k")
    x = tg.input("x", (1, 3))
    graph = tg.Graph(y=tg.compute("y", (i,), tg.sum(x[i, k], over=k)))
    terms = np.array([[0.599106729621056, 0.5258290270130164, 0.7806356807037588]])
    forwards, backwards = ((a + b + c) for a, b, c in (terms[0], terms[0, ::-1]))
    assert abs(forwards - backwards) == 2 * np.spacing(1.0)
    for right in (forwards, backwards):
        assert_within(np.array([right]), graph=graph, precision="f64", inputs={"x": terms})
    wrong = np.array([forwards + 6 * np.spacing(1.0)])
    with pytest.raises(AssertionError, match="1 of 1 elements are over"):
        assert_within(wrong, graph=graph, precision="f64", inputs={"x": terms})
