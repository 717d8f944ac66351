"""Budgets by certificate: proved is what is proved, and nothing else passes."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tang as tg
from tang.budget import Question, budget_report
from tang.budget.report import Standing
from tang.budget.report_certified import same_terms, share_of
from tang.emulator import ErrorBudget
from tang.emulator.certificate import NodeBound
from tang.ir.format import FORMATS
from tang.ir.view import Ref

UNIT = {"A": (-1.0, 1.0), "B": (-1.0, 1.0)}


def certified(graph, precision, budget, **more):
    question = Question(budget=budget, rules=(), certified=True, **more)
    return budget_report(graph, precision, question)


def test_a_certificate_within_the_budget_is_the_only_way_to_be_safe(matmul):
    report = certified(matmul, "f32", ErrorBudget(abs=1e-3), ranges=UNIT)
    assert (report.ok, report.judged[0].standing) == (True, Standing.CERTIFIED)
    assert report.sentence().startswith("SAFE, certified: in f32 every output keeps abs=0.001")


def test_what_samples_keep_and_no_certificate_proves_is_unproved(matmul):
    report = certified(matmul, "f32", ErrorBudget(abs=1e-5), ranges=UNIT)
    assert (report.ok, report.judged[0].standing) == (False, Standing.UNPROVED)
    assert report.judged[0].used < 1 < report.judged[0].certified
    assert report.sentence().startswith("NOT CERTIFIED: in f32, the bound of C takes")


def test_a_certificate_counts_the_rounding_of_inputs(matmul):
    exact = certified(matmul, "f32", ErrorBudget(abs=1), ranges=UNIT).judged[0].certificate
    rounded = certified(matmul, "bf16", ErrorBudget(abs=1), ranges=UNIT).judged[0].certificate
    assert rounded > 100 * exact


def test_by_shape_a_sum_of_inputs_is_proved_against_t(matmul):
    budget = ErrorBudget(c=60, abs=1e-30)
    assert certified(matmul, "f32", budget).ok
    assert not certified(matmul, "f32", ErrorBudget(c=20, abs=1e-30)).ok
    assert "cannot be proved" in certified(matmul, "f32", ErrorBudget(rel=1e-3)).sentence()


def test_without_samples_nothing_is_sampled_and_the_verdict_is_the_same(matmul):
    report = certified(matmul, "f32", ErrorBudget(abs=1e-3), ranges=UNIT, samples=0)
    assert report.ok
    assert all(r.elements == 0 and math.isnan(r.error) for r in report.rows)


def test_errors_of_samples_are_within_what_is_certified(matmul):
    for precision in ("f32", "bf16", "f16-acc"):
        report = certified(matmul, precision, ErrorBudget(abs=1), ranges=UNIT, samples=3)
        assert all(r.error <= r.certificate for r in report.rows if not r.is_input)


def test_a_bound_that_says_nothing_is_vacuous_and_its_reason_is_told():
    i, x = tg.dim("i", 4), tg.input("x", (4,))
    graph = tg.Graph(y=tg.compute("y", i, 1.0 / x[i]))
    ranges = {"x": (-1.0, 1.0)}
    report = certified(graph, "f32", ErrorBudget(abs=1, rel=1), ranges=ranges)
    assert report.judged[0].standing is Standing.VACUOUS
    assert "is vacuous" in report.sentence()


def bound(relative, absolute, pure=False):
    return NodeBound(
        "n", "value", "f32", 0, -1.0, 1.0, 1.0, relative, absolute, pure, "", "", "", False
    )


@pytest.mark.parametrize(("pure", "same", "budget", "share"), [
    (False, False, ErrorBudget(abs=1), 0.5),
    (False, False, ErrorBudget(rel=1), math.inf),
    (False, False, ErrorBudget(c=1, abs=1), 0.5),
    (False, True, ErrorBudget(c=2.0**24, abs=0.25), 1.0),
    (True, False, ErrorBudget(rel=0.5, abs=0.25), 1.0),
    (True, False, ErrorBudget(rel=0.0, abs=0.0), math.inf),
], ids=["abs", "rel-cancels", "other-t", "same-t", "pure", "nothing"])  # fmt: skip
def test_the_share_of_a_budget_is_the_largest_over_all_t(pure, same, budget, share):
    found = share_of(bound(0.25, 0.25, pure), 1.0, budget, FORMATS["f32"], same)
    assert found == pytest.approx(share)


def test_t_of_a_reduction_over_reductions_is_not_t_of_the_program():
    x, w, i, j = tg.input("x", (2, 2)), tg.input("w", (2,)), *tg.dims("i j")
    h = tg.compute("h", i, tg.sum(x[i, j], j))
    graph = tg.Graph(
        y=tg.compute("y", (), tg.sum(h[i] * w[i], i)), z=tg.compute("z", i, h[i] + 1.0)
    )
    assert same_terms(graph, Ref("h", "value"))
    assert same_terms(graph, Ref("z", "value"))
    assert not same_terms(graph, Ref("y", "value"))


def test_indices_are_not_certified():
    x, i = tg.input("x", (8,)), tg.dim("i")
    graph = tg.Graph(at=tg.compute("at", (), tg.argmax(x[i], i)))
    report = certified(graph, "f32", ErrorBudget(abs=1), inputs={"x": np.arange(8.0)})
    assert not report.ok
    assert "indices or bools" in report.sentence()
