"""Reports: errors are those of emulation, bounds hold, culprits and cures are the right ones."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from budget_programs import chain_graph, matmul_graph

import tang as tg
from tang.budget import Question, budget_report, emulate, precision_from
from tang.budget.report import Standing
from tang.budget.report_case import case_of
from tang.budget.report_isolate import Tile, isolated
from tang.budget.report_samples import measure, setting_of
from tang.budget.report_terms import terms_of
from tang.emulator import ErrorBudget
from tang.errors import BudgetError, GraphError
from tang.interpreter import interpret
from tang.ir.view import Ref
from tang.kernel.ir import F16, F32
from tang.kernel.narrow import E2M1
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.models import TransformerSizes, transformer_block

TIGHT, WIDE = ErrorBudget(rel=1e-5), ErrorBudget(rel=0.5, abs=1.0)


def asked(graph, precision, budget, **more):
    return budget_report(graph, precision, Question(budget=budget, rules=(), **more))


def row(report, name):
    return next(r for r in report.rows if r.name == name)


# --- numbers ------------------------------------------------------------------------------------


def test_in_f64_nothing_is_wrong(chain):
    report = asked(chain, "f64", ErrorBudget(abs=0))
    assert report.ok
    assert all(r.error == 0 and r.standing is Standing.PASS for r in report.rows)


@pytest.mark.parametrize("precision", ["f32", "f16-acc", "fp8-e4m3"])
def test_sampled_values_are_those_of_emulation_bit_for_bit(precision):
    graph = transformer_block(TransformerSizes(batch=1, seq=6, width=8, heads=2, hidden=12))
    case = case_of(graph, precision, Question(budget=WIDE))
    setting = case.settings[0]
    found = measure(setting, case.schedule, tiles=False)
    stored = {i.name: found.emulated[Ref(i.name)] for i in graph.inputs}
    want = emulate(case.graph, stored, case.schedule, rules=())
    for o in case.graph.outputs:
        assert np.array_equal(found.of(o.ref).value, want[o.name], equal_nan=True)


@pytest.mark.parametrize("precision", ["bf16", "f16-acc"])
@pytest.mark.parametrize("tiles", [False, True], ids=["whole", "tiles"])
def test_errors_are_within_their_bounds(precision, tiles):
    graph = transformer_block(TransformerSizes(batch=1, seq=6, width=8, heads=2, hidden=12))
    case = case_of(graph, precision, Question(budget=WIDE))
    for sample in measure(case.settings[0], case.schedule, tiles=tiles).samples:
        with np.errstate(invalid="ignore"):
            error = np.abs(sample.value - sample.exact)
        assert np.all((error <= sample.bound) | np.isnan(error))


def test_a_tile_holds_what_the_whole_replay_holds_there():
    graph = matmul_graph(70, 9, 80)
    case = case_of(graph, "f16-acc", Question(budget=WIDE, rules=()))
    whole = measure(case.settings[0], case.schedule, tiles=False).of(Ref("C", "value"))
    part = measure(case.settings[0], case.schedule, 3, tiles=True).of(Ref("C", "value"))
    assert part.value.shape == (64, 64)
    at = part.tile.of(graph.node("C").point)
    for plane in ("value", "exact", "bound", "kept"):
        assert np.array_equal(getattr(part, plane), getattr(whole, plane)[at]), plane


def test_a_tile_is_the_same_node_over_fewer_points():
    i, j, k, x = tg.dim("i", 9), tg.dim("j", 12), tg.dim("k", 3), tg.input("x", (9, 12))
    value = tg.sum(x.at(i + k - 1, j, fill=2) * tg.real(i + tg.extent(i)), k, [k <= j])
    graph = tg.Graph(y=tg.compute("y", (i, j), value))
    data = np.random.default_rng(0).standard_normal((9, 12))
    alone = isolated(graph, graph.node("y"), Tile((("i", 4, 3), ("j", 0, 5))))
    found = interpret(alone, {alone.inputs[0].name: data})["value"]
    assert np.array_equal(found, interpret(graph, {"x": data})["y"][4:7, 0:5])


def test_t_is_the_sum_of_the_magnitudes_of_the_terms(matmul):
    data = {n: np.random.default_rng(k).standard_normal(s)
            for k, (n, s) in enumerate((("A", (6, 40)), ("B", (40, 5))))}  # fmt: skip
    found = terms_of(matmul, setting_of(matmul, data).exact)[Ref("C", "value")]
    assert np.allclose(found, np.abs(data["A"]) @ np.abs(data["B"]), rtol=1e-14)


def test_t_of_the_last_reduction_and_of_the_whole_program_differ_where_terms_cancel():
    x, w, i, j = tg.input("x", (2, 2)), tg.input("w", (2,)), *tg.dims("i j")
    h = tg.compute("h", i, tg.sum(x[i, j], j))
    graph = tg.Graph(y=tg.compute("y", (), tg.sum(h[i] * w[i], i)))
    exact = setting_of(graph, {"x": np.array([[3, -2], [1, 1]]), "w": np.array([1, -1])}).exact
    y = Ref("y", "value")
    assert terms_of(graph, exact)[y] == 3
    assert terms_of(graph, exact, through=True)[y] == 7


# --- verdicts -----------------------------------------------------------------------------------


def test_the_sentence_says_safe_and_how_near_it_was(chain):
    report = asked(chain, "f32", WIDE)
    assert report.ok
    assert report.sentence().startswith("SAFE on 1 random input set: in f32 every output keeps")


def coarse(node, storage=E2M1):
    """f32, but for one node."""
    return Schedule(nodes=((node, NodeSchedule(storage=storage)),))


@pytest.mark.parametrize("node", ["stage1", "stage2"])
def test_a_planted_coarse_node_is_the_culprit_and_the_cure_that_was_tried(chain, node):
    report = asked(chain, coarse(node), TIGHT)
    assert not report.ok
    assert (report.cure.culprit, report.cure.node) == (node, node)
    assert report.cure.origin == "storage"
    assert f"Keep {node} in f32: then within budget" in report.sentence()
    assert row(report, node).dominated == "storage"
    assert row(report, "stage3").dominated == "inherited"


def test_a_coarse_accumulator_is_the_culprit_by_its_arithmetic():
    schedule = Schedule(nodes=(("C", NodeSchedule(storage=F32, accumulate=F16)),))
    report = asked(matmul_graph(), schedule, ErrorBudget(abs=1e-4, rel=1e-5))
    assert report.cure.origin == "accumulation"
    assert "by the arithmetic of its accumulator" in report.sentence()
    assert report.cure.node == "C"


@pytest.mark.parametrize(("more", "culprit"), [(0, "x"), (4, "y")])
def test_the_culprit_is_that_of_the_worst_element_not_of_one_with_the_same_numbers(more, culprit):
    """1 + 2⁻¹² becomes 1 where x is stored, or where y is; a larger T allows the first more."""
    i, j = tg.dims("i j")
    y = tg.compute("y", (i,), tg.sum(tg.input("x", (2, 3))[i, j], over=j))
    data = np.array([[1 + 2**-12, more, -more], [1, 2**-12, 0]])
    report = asked(tg.Graph(y), "f16", ErrorBudget(c=1e-3), inputs={"x": data})
    worst = row(report, "y").worst
    assert (worst.actual, worst.exact) == (1, 1 + 2**-12)
    assert report.cure.culprit == culprit


def test_two_planted_nodes_have_no_single_cure_and_it_says_so(chain):
    schedule = Schedule(
        nodes=(("stage1", NodeSchedule(storage=E2M1)), ("stage2", NodeSchedule(storage=E2M1)))
    )
    report = asked(chain, schedule, TIGHT)
    assert report.cure.node == ""
    assert report.cure.everywhere is True
    assert "No single node in f32 cures it (all tried); f32 everywhere does" in report.sentence()


def test_a_budget_that_f32_cannot_keep_has_no_cure(chain):
    report = asked(chain, coarse("stage1"), ErrorBudget(abs=1e-12))
    assert "nor does f32 everywhere" in report.sentence()


def test_an_overflow_is_named_with_the_element():
    report = asked(chain_graph(4), "f16", WIDE, inputs={"x": np.full(4, 5e3)})
    assert not report.ok
    assert "overflows" in report.sentence()
    assert row(report, "stage3").overflows == 4


def test_a_vacuous_bound_is_never_called_a_pass():
    i = tg.dim("i", 2)
    x = tg.input("x", (2,))
    graph = tg.Graph(y=tg.compute("y", i, tg.exp(x[i] * 1e4) - tg.exp(x[i] * 1e4)))
    report = asked(graph, "bf16-acc", ErrorBudget(abs=10), inputs={"x": np.array([1e-5, 2e-5])})
    assert report.ok
    y = row(report, "y")
    assert y.standing in (Standing.VACUOUS, Standing.PASS)
    exact = replace(y, bound=math.inf, standing=Standing.VACUOUS)
    told = replace(report, rows=(exact,)).sentence()
    assert "no proof" in told


def test_a_node_can_have_a_budget_of_its_own(chain):
    report = asked(chain, coarse("stage1"), {"*": WIDE, "stage1": ErrorBudget(rel=1e-3)})
    assert not report.ok
    assert row(report, "stage1").standing is Standing.OVER
    assert "stage1" in report.sentence()


def test_a_percentile_asks_less_than_the_maximum():
    data = {"x": np.r_[np.ones(63), 1 + 2.0**-9]}
    strict = asked(chain_graph(), "bf16", {"z": ErrorBudget(abs=1e-6)}, inputs=data)
    most = asked(chain_graph(), "bf16", {"z": ErrorBudget(abs=1e-6, percentile=98)}, inputs=data)
    assert (strict.ok, most.ok) == (False, True)


def test_an_output_of_indices_must_be_equal():
    x, i = tg.input("x", (8,)), tg.dim("i")
    graph = tg.Graph(at=tg.compute("at", (), tg.argmax(x[i], i)))
    near = {"x": 1 + np.arange(8) * 2.0**-12}
    assert asked(graph, "f32", ErrorBudget(), inputs=near).ok
    report = asked(graph, "bf16", ErrorBudget(abs=100), inputs=near)
    (at,) = report.judged
    assert at.standing is Standing.OVER


def test_reports_depend_on_the_arguments_alone(chain):
    first, second = (asked(chain, "bf16", TIGHT, samples=2, seed=5).to_text() for _ in range(2))
    assert first == second


@pytest.mark.parametrize(("more", "words"), [
    ({"ranges": {"q": (0, 1)}}, "'q', which is no real input: one of x"),
    ({"ranges": {"x": (1, 0)}}, "range of 'x'"),
    ({"ranges": {"x": (0, 1)}, "inputs": {"x": np.full(64, 2.0)}}, r"'x' holds 2 at \[0\], "),
    ({"samples": 0}, "samples are 1 or more"),
], ids=["unknown", "empty", "outside", "no-samples"])  # fmt: skip
def test_a_request_that_makes_no_sense_is_refused(more, words, chain):
    with pytest.raises(BudgetError, match=words):
        asked(chain, "f32", WIDE, **more)


def test_drawn_inputs_lie_in_their_range(chain):
    report = asked(chain, "f32", WIDE, ranges={"x": (3.0, 3.5)})
    assert 3.0 <= row(report, "x").largest <= 3.5


def test_inputs_that_do_not_fit_are_refused(chain):
    with pytest.raises(GraphError, match="no data for input 'x'"):
        asked(chain, "f32", WIDE, inputs={})


def test_a_precision_that_names_a_missing_node_is_refused(chain):
    with pytest.raises(tg.ScheduleError, match="schedule names 'q'"):
        asked(chain, coarse("q"), WIDE)
    with pytest.raises(tg.ScheduleError, match="unknown precision"):
        precision_from("f31", chain)


def test_tiles_are_taken_where_the_program_is_large(monkeypatch):
    monkeypatch.setattr("tang.budget.report_case.LIMIT", 100)
    report = asked(matmul_graph(70, 8, 70), "bf16", ErrorBudget(abs=1e-9))
    assert report.tiles
    assert row(report, "C").elements == 64 * 64
    assert row(report, "C").of == 70 * 70
    assert report.cure.culprit in ("A", "B", "C")
    assert not asked(matmul_graph(70, 8, 70), "bf16", WIDE, whole=True).tiles


def test_a_tie_that_f64_cannot_tell_has_no_bound_and_is_no_pass():
    """x·0.1 + 0.2 in two ways: equal in f64 as in f32, and unknown in exact arithmetic."""
    x, i = tg.input("x", (4,)), tg.dim("i")
    a, b = x[i] * 0.1 + 0.2, 0.2 + 0.1 * x[i]
    near = tg.Graph(y=tg.compute("y", i, tg.select(a < b, 2.0, 1.0)))
    far = tg.Graph(y=tg.compute("y", i, tg.select(a < b + 1.0, 2.0, 1.0)))
    verdicts = [row(asked(g, "f32", WIDE), "y") for g in (near, far)]
    assert [r.bound for r in verdicts] == [math.inf, 0.0]
    assert [r.standing for r in verdicts] == [Standing.VACUOUS, Standing.PASS]
