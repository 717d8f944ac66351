"""What a hostile reader got out of reports once: each right value stays a test."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import tang as tg
from tang.budget import Question, budget_report
from tang.budget.report import Standing
from tang.budget.report_certified import share_of
from tang.budget.report_judge import is_vacuous
from tang.emulator import (
    ErrorBudget,
    certificate_from_json,
    certificate_to_json,
    certify,
    check_certificate,
    fda,
)
from tang.emulator.budget import ulp_of
from tang.emulator.certificate import NodeBound
from tang.errors import BudgetError, FormatError, GraphError
from tang.ir.format import FORMATS
from tang.kernel.ir import F16
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.testing import assert_within


def _sum():
    i, k = tg.dims("i k")
    x = tg.input("x", (4, 8))
    return tg.Graph(y=tg.compute("y", (i,), tg.sum(x[i, k], over=k)))


def _pure(relative, absolute):
    fields = {f.name: None for f in dataclasses.fields(NodeBound)}
    fields |= {"relative": relative, "absolute": absolute, "pure": True}
    return NodeBound(**fields)


def test_a_share_of_ulps_is_no_less_than_what_any_value_takes():
    f16 = FORMATS["f16"]
    bound = _pure(2.0**-5, 3 * float(f16.quantum))
    values = np.unique(np.concatenate([2.0 ** np.arange(-30, 4), 1.9 * 2.0 ** np.arange(-30, 3)]))
    room = 66 * np.asarray(ulp_of(values, "f16"))
    taken = (bound.relative * values + bound.absolute) / room
    share = share_of(bound, float(values.max()), ErrorBudget(ulp=66), f16, same=False)
    assert taken.max() <= share <= 4 * taken.max()


def test_by_shape_nothing_is_shown_not_to_overflow():
    schedule = Schedule(default=NodeSchedule(storage=F16, accumulate=F16))
    right = certify(_sum(), schedule, {}, None)
    assert check_certificate(right)
    nodes = tuple(dataclasses.replace(b, overflow="cannot overflow") for b in right.nodes)
    bad = certificate_to_json(dataclasses.replace(right, nodes=nodes))
    assert not check_certificate(certificate_from_json(bad))


def test_a_bound_above_values_that_are_all_zero_is_vacuous():
    assert is_vacuous(1.0, 0.0)
    assert not is_vacuous(0.0, 0.0)
    assert not is_vacuous(1.0, 2.0)
    row = np.array([0.1, 1e3, 0.3, 0.7, -0.1, -1e3, -0.3, -0.7])
    question = Question(budget=ErrorBudget(abs=1), inputs={"x": np.tile(row, (4, 1))})
    report = budget_report(_sum(), "f16-acc", question)
    assert report.judged[0].standing is Standing.VACUOUS


def test_an_index_that_rounding_of_the_inputs_flips_is_laid_on_the_inputs():
    i, k = tg.dims("i k")
    x = tg.input("x", (1, 2))
    graph = tg.Graph(y=tg.compute("y", (i,), tg.argmax(x[i, k], over=k)))
    data = {"x": np.array([[1.0, 1 + 1e-5]])}
    report = budget_report(graph, "f16", Question(budget=ErrorBudget(abs=0.5), inputs=data))
    assert "the largest part arises in x, by the rounding of its stored values" in report.sentence()


def test_what_is_no_program_certificate_or_atom_is_named():
    with pytest.raises(GraphError, match="must be a Graph, not NoneType"):
        assert_within(np.ones(4), graph=None)
    with pytest.raises(BudgetError, match="a certificate is checked, not NoneType"):
        check_certificate(None)
    with pytest.raises(FormatError, match="an atom is a FusedDot"):
        fda([1.0], [1.0], 0.0, "nope")


def test_a_bound_above_all_values_is_not_certified_by_a_budget_that_is_wider_still():
    i = tg.dims("i")
    x = tg.input("x", (4,))
    for factor, standing in ((1e-9, Standing.VACUOUS), (0.5, Standing.CERTIFIED)):
        graph = tg.Graph(y=tg.compute("y", (i,), x[i] * factor))
        question = Question(
            budget=ErrorBudget(abs=1), certified=True, ranges={"x": (0.0, 1.0)}, rules=()
        )
        assert budget_report(graph, "f16-acc", question).judged[0].standing is standing
