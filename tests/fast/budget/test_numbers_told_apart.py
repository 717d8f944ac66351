"""Numbers of which an error says that they differ are printed so that they do."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tang as tg
from tang.budget import Question, budget_report
from tang.budget.tolerance import Tolerance
from tang.emulator.budget import ErrorBudget
from tang.errors import BudgetError
from tang.ir.given import apart
from tang.testing import assert_within


def test_as_few_digits_are_printed_as_tell_numbers_apart():
    assert apart(1.5, 2.25) == ("1.5", "2.25")
    assert apart(65504.0, 65504.0) == ("6.55e+04", "6.55e+04")
    assert apart(65520.0, 65504.0) == ("6.552e+04", "6.55e+04")
    assert apart(1 + 2**-52, 1) == ("1.0000000000000002", "1")
    assert apart(math.nan, math.inf, 1.23456) == ("nan", "inf", "1.23")
    assert apart(0.5000001, 0.5, digits=6) == ("0.5000001", "0.5")


def copied():
    x, i = tg.input("x", (4,)), tg.dim("i")
    return tg.Graph(y=tg.compute("y", (i,), x[i] * 1.0))


def judged(values, **budget):
    asked = Question(
        budget=ErrorBudget(**budget), inputs={"x": np.full(4, values)}, rules=(), cures=False
    )
    return budget_report(copied(), {"version": 1, "default": {"storage": "f16"}}, asked)


def test_a_result_barely_over_its_budget_is_not_called_once_it():
    off = abs(0.1 - float(np.float16(0.1)))
    assert judged(0.1, abs=off).ok
    text = judged(0.1, abs=off * (1 - 1e-5)).to_text()
    assert "is 0.0999756 instead of 0.1, 1.00001 times what abs=" in text
    assert "100.001%" in text


def test_a_result_that_differs_in_its_last_digits_is_printed_with_them():
    text = judged(1 + 2**-20, abs=2**-22).to_text()
    assert "is 1 instead of 1.000001, 4 times what" in text


def test_an_element_barely_outside_its_range_is_printed_outside_of_it():
    asked = {"budget": ErrorBudget(abs=1), "inputs": {"x": np.full(4, 1 + 2**-30)}}
    assert budget_report(copied(), "f32", Question(**asked, ranges={"x": (-1, 1.5)})).ok
    words = r"holds 1\.000000001 at \[0\], outside its stated range -1:1 \("
    with pytest.raises(BudgetError, match=words):
        budget_report(copied(), "f32", Question(**asked, ranges={"x": (-1, 1)}))


def test_a_tolerance_barely_above_the_largest_value_is_printed_above_it():
    made = Tolerance("y", "f32", "data", tight=19.71, value=19.7)
    assert made.vacuity("") == "19.71 is larger than the largest value, 19.7"


def test_a_gap_barely_above_what_is_allowed_is_printed_above_it():
    budget = ErrorBudget(abs=0.25)
    check = {"graph": copied(), "expected": np.zeros(4), "budget": budget}
    assert_within(np.full(4, 0.25), **check)
    with pytest.raises(AssertionError, match=r"0\.25001 apart, 0\.25 allowed"):
        assert_within(np.full(4, 0.25001), **check)
