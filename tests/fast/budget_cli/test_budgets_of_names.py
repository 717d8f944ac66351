"""Budgets by name and by percentile."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tang as tg
from tang.budget import Question, budget_report, report_html
from tang.emulator.budget import Budgets, ErrorBudget, accepts, budgets_from
from tang.errors import BudgetError
from tang.ir.serial import to_json

UNIT = {"x": (-1, 1)}
REFERENCE = np.arange(1.0, 101.0)


def off(count):
    """The reference with so many elements one off."""
    found = REFERENCE.copy()
    found[:count] += 1
    return found


@pytest.mark.parametrize(("wrong", "percentile", "verdict"), [
    (0, 100, True), (1, 100, False), (1, 99, True), (2, 99, False), (2, 98, True), (10, 90, True),
])  # fmt: skip
def test_a_percentile_forgives_so_many_elements_and_no_more(wrong, percentile, verdict):
    assert accepts(off(wrong), REFERENCE, ErrorBudget(abs=0.5, percentile=percentile)) is verdict


@pytest.mark.parametrize("bad", [math.nan, math.inf], ids=["nan", "inf"])
def test_a_lost_element_is_beyond_every_percentile(bad):
    actual = REFERENCE.copy()
    actual[7] = bad
    assert not accepts(actual, REFERENCE, ErrorBudget(abs=1e9, percentile=1))


def test_a_difference_of_integers_is_beyond_every_percentile():
    assert not accepts(np.array([1, 2]), np.array([1, 3]), ErrorBudget(abs=9, percentile=10))


@pytest.mark.parametrize("bad", [0, -1, 100.1, math.nan, True, "50"],
                         ids=["zero", "negative", "above", "nan", "bool", "text"])  # fmt: skip
def test_a_malformed_percentile_is_rejected_by_name(bad):
    with pytest.raises(BudgetError, match="percentile"):
        ErrorBudget(abs=1, percentile=bad)


def test_a_budget_names_its_terms_as_the_command_line_does():
    assert str(ErrorBudget(rel=1e-3, abs=1e-6, c=2, percentile=99)) == (
        "rel=0.001, abs=1e-06, c=2, percentile=99"
    )


def test_a_mapping_gives_budgets_by_output_and_node_and_a_default():
    budgets = budgets_from({"y": ErrorBudget(abs=1), "inner": {"rel": 0.5}, "*": {"c": 3}})
    assert budgets.of_output("y", "sum") == ErrorBudget(abs=1)
    assert budgets.of_output("z", "sum") == ErrorBudget(c=3)
    assert budgets.of_node("inner") == ErrorBudget(rel=0.5)
    assert budgets.of_node("sum") is None


def test_one_budget_is_that_of_every_output_and_of_no_inner_node():
    budgets = budgets_from(ErrorBudget(abs=1))
    assert budgets.of_output("y", "n") == ErrorBudget(abs=1)
    assert budgets.of_node("n") is None


@pytest.mark.parametrize(("value", "words"), [
    (3.0, "ErrorBudget or a mapping"), ({"y": 3}, "budget of 'y'"), ({"y": {"rtol": 1}}, "'rtol'"),
    ({"y": {"abs": -1}}, "budget of 'y': abs must be"),
], ids=["number", "number-by-name", "unknown-term", "negative"])  # fmt: skip
def test_what_is_no_budget_is_refused_with_its_name(value, words):
    with pytest.raises(BudgetError, match=words):
        budgets_from(value)


def test_a_budget_of_an_unknown_name_lists_the_known_ones():
    with pytest.raises(BudgetError, match="'w', which is no output or node: one of y, n1"):
        Budgets(named={"w": ErrorBudget()}).check(["y"], ["n1"])


def test_a_budget_of_a_node_that_rules_removed_says_so():
    x, (i, k) = tg.input("x", (4, 8)), tg.dims("i k")
    h = tg.compute("h", (i, k), x[i, k] * 2.0)
    graph = tg.Graph(y=tg.compute("y", (i,), tg.sum(h[i, k] * h[i, k], k)))
    named = {"h": ErrorBudget(abs=1), "y": ErrorBudget(abs=1)}
    assert budget_report(graph, "f32", Question(budget=named, rules=())).ok
    words = r"'h', which rules made something else of: .* one of y, y\.sum; without rules"
    with pytest.raises(BudgetError, match=words):
        budget_report(graph, "f32", Question(budget=named))
    never = Question(budget={"w": ErrorBudget(abs=1)})
    with pytest.raises(BudgetError, match=r"'w', which is no output or node: one of y, y\.sum"):
        budget_report(graph, "f32", never)


@pytest.mark.parametrize("budget", [None, {}, Budgets()], ids=str)
@pytest.mark.parametrize("more", [{}, {"certified": True, "samples": 0}], ids=["samples", "proof"])
def test_a_report_without_any_budget_says_so_and_claims_no_safety(budget, more, chain):
    asked = budget_report(chain, "f32", Question(budget=ErrorBudget(abs=1e3), ranges=UNIT, **more))
    assert asked.ok
    report = budget_report(chain, "f32", Question(budget=budget, ranges=UNIT, **more))
    assert not report.ok
    assert not report.to_data()["ok"]
    assert report.sentence().startswith("Nothing is judged, so this says nothing of safety: no")
    assert 'class="answer safe"' not in report_html(report)


def test_outputs_of_which_nothing_is_asked_are_named_where_others_are_safe(chain):
    alone = Question(budget={"stage1": ErrorBudget(abs=1)}, rules=())
    report = budget_report(chain, "f32", alone)
    assert report.ok
    words = "in f32 every result with a budget (none is asked of z (stage3), y) keeps abs=1;"
    assert words in report.sentence()
    whole = budget_report(chain, "f32", Question(budget=ErrorBudget(abs=1e3)))
    assert "in f32 every output keeps abs=1000;" in whole.sentence()


def test_the_command_without_a_budget_is_a_wrong_request(tang, chain, tmp_path):
    (tmp_path / "chain.json").write_text(to_json(chain))
    assert tang("budget", "chain.json", "--abs", "1e3")[0] == 0
    code, out, said = tang("budget", "chain.json")
    assert (code, out) == (2, "")
    assert "give a budget: --rel, --abs, --ulp, --c, or --budget" in said
