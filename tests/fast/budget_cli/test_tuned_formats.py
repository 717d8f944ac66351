"""The search for formats: greedy, deterministic, and never over the judge's word."""

from __future__ import annotations

import numpy as np
import pytest
from budget_programs import chain_graph, matmul_graph

from tang.budget import Question, applied, budget_report, tune_precision
from tang.budget.report_cures import INPUTS
from tang.budget.tune import Point, front_of, moved_bytes, search
from tang.emulator import Budgets, ErrorBudget
from tang.errors import BudgetError, ScheduleError
from tang.kernel.ir import BF16, F16
from tang.kernel.lower import lower
from tang.kernel.schedule import NodeSchedule, Schedule, name_of

F32S = Schedule(nodes=tuple((f"stage{k}", NodeSchedule()) for k in (1, 2, 3)))


def lowered(schedule):
    """The nodes that are not stored in f32."""
    found = {n for n, s in schedule.nodes if name_of(s.storage) != "f32"}
    return found | ({INPUTS} if name_of(schedule.default.storage) != "f32" else set())


def test_a_judge_that_accepts_all_gets_the_cheapest_format_everywhere():
    tuned = search(chain_graph(), F32S, lambda s: 0.0, ("bf16", "e4m3fn"))
    assert {name_of(s.storage) for n, s in tuned.schedule.nodes if n != "y"} == {"e4m3fn"}
    assert all(m.kept and m.after == "e4m3fn" for m in tuned.moves)


def test_a_judge_that_accepts_nothing_else_leaves_the_start():
    tuned = search(chain_graph(), F32S, lambda s: 2.0 if lowered(s) else 0.5)
    assert lowered(tuned.schedule) == set()
    assert not any(m.kept for m in tuned.moves)
    assert [p.formats for p in tuned.front] == [()]


def test_a_move_that_breaks_the_budget_is_undone_and_the_next_is_tried():
    tuned = search(chain_graph(), F32S, lambda s: 1.5 if "stage2" in lowered(s) else 0.5, ("bf16",))
    assert "stage2" not in lowered(tuned.schedule)
    assert {"stage1", "stage3"} <= lowered(tuned.schedule)


def test_of_formats_of_one_size_the_one_with_the_least_error_is_taken():
    def judge(schedule):
        names = [name_of(s.storage) for s in (schedule.default, *(s for _, s in schedule.nodes))]
        return 0.1 + 0.1 * names.count("bf16")

    tuned = search(chain_graph(), F32S, judge, ("bf16", "f16"))
    assert {m.after for m in tuned.moves if m.kept} == {"f16"}


def test_the_search_does_not_start_over_budget():
    with pytest.raises(BudgetError, match="starts over budget"):
        search(chain_graph(), F32S, lambda s: 1.1)


def test_a_start_where_nothing_was_allowed_is_not_called_infinite():
    with pytest.raises(BudgetError, match="it takes more than any budget: allow more"):
        search(chain_graph(), F32S, lambda s: float("inf"))


@pytest.mark.parametrize("budget", [None, {}, Budgets()], ids=["none", "empty", "no-budgets"])
def test_a_search_without_a_budget_is_refused(budget):
    with pytest.raises(BudgetError, match=r"nothing to keep: give a budget of an output \(C\)"):
        tune_precision(matmul_graph(), budget)


def test_results_that_are_numbers_nowhere_are_refused_and_some_nan_is_told():
    data = {"A": np.full((6, 40), np.nan), "B": np.ones((40, 5))}
    words = r"no element of C is a number in f64, with NaN in A \(240 of 240 elements\): every"
    with pytest.raises(BudgetError, match=words):
        tune_precision(matmul_graph(), ErrorBudget(abs=1), inputs=data)
    data["A"][1:] = 1.0
    tuned = tune_precision(matmul_graph(), ErrorBudget(abs=1), inputs=data)
    assert tuned.odd == "NaN in A (40 of 240 elements)"
    assert tuned.lines()[0] == "judged on inputs with NaN in A (40 of 240 elements)"
    whole = tune_precision(matmul_graph(), ErrorBudget(abs=1))
    assert (whole.odd, whole.lines()[0][:4]) == ("", str(whole.moves[0])[:4])


@pytest.mark.parametrize("seed", [-1, 0.5, True, None], ids=str)
def test_a_seed_that_is_no_whole_number_is_refused(seed):
    with pytest.raises(BudgetError, match="a seed is a whole number, 0 or more, not"):
        tune_precision(matmul_graph(), ErrorBudget(abs=1), seed=seed)
    with pytest.raises(BudgetError, match="a seed is a whole number"):
        search(chain_graph(), F32S, lambda s: 0.0, seed=seed)


def test_a_start_without_a_proof_says_what_would_give_one():
    with pytest.raises(BudgetError) as told:
        tune_precision(matmul_graph(), ErrorBudget(rel=1e-2), certified=True, samples=0)
    text = str(told.value)
    assert text.startswith("the search starts with formats that are not proved: rel=0.01 cannot be")
    assert text.endswith(
        "give abs, and c for sums of inputs or ranges of inputs for the size of terms"
    )
    little = ErrorBudget(abs=1e-9, c=1e-3)
    with pytest.raises(BudgetError, match=r"the bound of C takes .* allow more, or start with"):
        tune_precision(matmul_graph(), little, certified=True, samples=0)


SIZE = "ranges of inputs for the size of terms"
LACKS = {
    "abs": (ErrorBudget(abs=2), {}, f"give c for sums of inputs or {SIZE}"),
    "ulp": (ErrorBudget(ulp=2), {}, f"give c for sums of inputs or {SIZE}"),
    "c": (ErrorBudget(c=9), {}, "abs, and ranges of inputs, where it is no sum of inputs,"),
    "ranged": (ErrorBudget(rel=1), {"A": (-1, 1), "B": (-1, 1)}, "underflow: give abs"),
}


@pytest.mark.parametrize(("budget", "ranges", "cure"), LACKS.values(), ids=LACKS)
def test_a_start_without_a_proof_is_told_what_was_not_given_yet(budget, ranges, cure):
    with pytest.raises(BudgetError) as told:
        tune_precision(matmul_graph(), budget, certified=True, samples=0, ranges=ranges)
    text = str(told.value)
    assert cure in text
    assert "--" not in text
    assert ("ranges" in cure) == ("ranges" in text)


def test_what_was_lacking_gives_the_proof():
    wide = {"A": (-1, 1), "B": (-1, 1)}
    tuned = tune_precision(
        matmul_graph(), ErrorBudget(abs=2), certified=True, samples=0, ranges=wide
    )
    assert any(m.kept for m in tuned.moves)


def test_a_refusal_within_the_budget_says_why():
    def judge(schedule):
        return 0.25 * (name_of(schedule.of("stage1").storage) == "bf16")

    moves = search(chain_graph(), F32S, judge, ("bf16", "f16")).moves
    why = {m.node: m.why for m in moves if not m.kept}
    assert why["stage1"] == "f16 is as small and errs less"
    assert why["stage2"] == "bf16 is as small and as exact"
    assert all(m.why == "" for m in moves if m.kept)
    line = next(str(m) for m in moves if m.node == "stage2" and not m.kept)
    assert line.endswith("takes 0% of the budget: bf16 is as small and as exact")
    over = search(chain_graph(), F32S, lambda s: 2.0 * bool(lowered(s))).moves
    assert {m.why for m in over} == {""}


def test_an_unknown_candidate_is_refused_by_name():
    with pytest.raises(ScheduleError, match="candidates"):
        search(chain_graph(), F32S, lambda s: 0.0, ("f12",))
    with pytest.raises(ScheduleError, match="accumulators"):
        search(chain_graph(), F32S, lambda s: 0.0, accumulators=("f12",))


def test_scales_are_searched_on_the_program_that_they_make():
    graph, budget = matmul_graph(2, 64, 2), ErrorBudget(abs=1e3)
    with pytest.raises(BudgetError, match=r"take tang\.budget\.applied"):
        tune_precision(graph, budget, start="mxfp8-e4m3")
    made, schedule = applied("mxfp8-e4m3", graph)
    tuned = tune_precision(made, budget, start=schedule, rules=(), candidates=("bf16",))
    assert budget_report(made, tuned.schedule, Question(budget=budget, rules=())).ok


def test_the_front_has_no_point_that_another_one_beats():
    points = [
        Point(b, u, ()) for b, u in ((8, 0.1), (6, 0.3), (6, 0.2), (5, 0.2), (4, 0.9), (7, 0.5))
    ]
    assert [(p.bytes, p.used) for p in front_of(points)] == [(8, 0.1), (5, 0.2), (4, 0.9)]


def test_bytes_are_those_of_memory_where_narrow_formats_are_codes():
    graph = matmul_graph(8, 16, 4)
    whole = moved_bytes(lower(graph, Schedule()))
    assert whole == 4 * (8 * 16 + 16 * 4 + 8 * 4)
    tuned = search(graph, Schedule(), lambda s: 0.0, ("e4m3fn",))
    assert moved_bytes(lower(graph, tuned.schedule)) == whole // 4


def test_by_samples_the_result_keeps_the_budget_and_depends_on_its_arguments_alone():
    graph, budget = chain_graph(), ErrorBudget(rel=2e-2)
    first, second = (tune_precision(graph, budget, rules=(), seed=3) for _ in range(2))
    assert first == second
    assert first.front[-1].bytes < first.front[0].bytes
    question = Question(budget=budget, rules=(), seed=3)
    assert budget_report(graph, first.schedule, question).ok


def test_by_certificate_only_what_is_proved_is_kept():
    ranges = {"A": (-1.0, 1.0), "B": (-1.0, 1.0)}
    budget = ErrorBudget(abs=0.02)
    tuned = tune_precision(
        matmul_graph(), budget, rules=(), certified=True, ranges=ranges, samples=0
    )
    assert any(m.kept for m in tuned.moves)
    question = Question(budget=budget, rules=(), certified=True, ranges=ranges, samples=0)
    assert budget_report(matmul_graph(), tuned.schedule, question).ok
    sampled = tune_precision(matmul_graph(), budget, rules=(), ranges=ranges)
    assert sampled.front[-1].bytes <= tuned.front[-1].bytes


def test_lines_tell_every_move_and_the_front():
    lines = search(chain_graph(), F32S, lambda s: 0.25, ("bf16",)).lines()
    assert any(line.startswith("kept    stage1: f32 -> bf16, saves") for line in lines)
    assert lines[-1].endswith("moves kept")


# --- accumulators -------------------------------------------------------------------------------

SPLIT = Schedule(nodes=(("C", NodeSchedule(split=4)),))
ACC = (F16, BF16)


def accumulator(schedule):
    return name_of(schedule.of("C").accumulate)


def test_an_accumulator_is_lowered_where_that_saves_the_bytes_of_parts():
    graph = matmul_graph(8, 2048, 4)
    tuned = search(graph, SPLIT, lambda s: 0.5, (), accumulators=ACC)
    assert accumulator(tuned.schedule) == "f16"
    (move,) = tuned.moves
    assert str(move).startswith("kept    C accumulates: f32 -> f16, saves ")
    assert tuned.front[-1].formats == (("C accumulates", "f16"),)
    bytes_at_first = moved_bytes(lower(graph, SPLIT))
    assert tuned.front[-1].bytes == bytes_at_first - move.saved == bytes_at_first - 512


def test_an_accumulator_that_saves_nothing_is_left_alone_without_a_timer():
    tuned = search(matmul_graph(8, 64, 4), Schedule(), lambda s: 0.5, (), accumulators=ACC)
    assert tuned.moves == ()
    assert accumulator(tuned.schedule) == "f32"


def test_an_accumulator_over_budget_is_refused_and_the_next_is_tried():
    def judge(schedule):
        return 2.0 if accumulator(schedule) == "f16" else 0.5

    tuned = search(matmul_graph(8, 2048, 4), SPLIT, judge, (), accumulators=ACC)
    assert [(m.after, m.kept) for m in tuned.moves] == [("f16", False), ("bf16", True)]
    never = search(matmul_graph(8, 2048, 4), SPLIT, lambda s: 0.5, ())
    assert accumulator(never.schedule) == "f32"


@pytest.mark.parametrize(("seconds", "kept"), [(0.5, True), (0.99, False), (2.0, False)], ids=str)
def test_by_time_an_accumulator_is_kept_only_where_it_is_quicker(seconds, kept):
    def timer(schedule):
        return seconds if accumulator(schedule) == "f16" else 1.0

    found = search(
        matmul_graph(8, 64, 4), Schedule(), lambda s: 0.5, (), accumulators=(F16,), timer=timer
    )
    (move,) = found.moves
    assert (move.kept, move.quicker) == (kept, pytest.approx(1 - seconds))
    assert accumulator(found.schedule) == ("f16" if kept else "f32")


def test_by_samples_accumulators_keep_the_budget():
    graph, budget = matmul_graph(2, 1024, 2), ErrorBudget(c=2.0**14)
    tuned = tune_precision(graph, budget, start=SPLIT, candidates=(), rules=())
    assert all(m.accumulates for m in tuned.moves)
    assert budget_report(graph, tuned.schedule, Question(budget=budget, rules=())).ok
    tight = tune_precision(graph, ErrorBudget(c=64), start=SPLIT, candidates=(), rules=())
    assert accumulator(tight.schedule) == "f32"
