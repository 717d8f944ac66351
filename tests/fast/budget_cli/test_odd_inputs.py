"""NaN and infinities among the inputs: the first sentence of a report speaks of them."""

from __future__ import annotations

import json

import numpy as np
import pytest

import tang as tg
from tang.budget import Question, budget_report
from tang.budget.report import Standing
from tang.budget.report_inputs import drawn_inputs
from tang.emulator.budget import ErrorBudget
from tang.ir.serial import to_json

BUDGET = ErrorBudget(c=100)


def sums():
    i, k = tg.dims("i k")
    x, w = tg.input("x", (3, 4)), tg.input("w", (4,))
    return tg.Graph(y=tg.compute("y", (i,), tg.sum(x[i, k] * w[k], over=k)))


def asked(x, precision="f32", budget=BUDGET):
    inputs = {"x": np.array(x, np.float32), "w": np.arange(4.0)}
    return budget_report(sums(), precision, Question(budget=budget, inputs=inputs))


GOOD = np.arange(12.0).reshape(3, 4) / 7


def with_one(value):
    x = GOOD.copy()
    x[1, 2] = value
    return x


def test_numbers_alone_are_not_mentioned():
    assert "with" not in asked(GOOD).sentence().split(":")[0]
    assert asked(GOOD).to_data()["odd"] == ""


@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinities")], ids=str)
def test_nan_and_infinities_are_in_the_first_sentence_with_their_input(value, word):
    report = asked(with_one(value))
    start = f"SAFE on 1 given input set, with {word} in x (1 of 12 elements): in f32 every"
    assert report.ok
    assert report.sentence().startswith(start)
    assert report.to_data()["odd"] == f"{word} in x (1 of 12 elements)"
    tight = asked(with_one(value), "bf16", ErrorBudget(abs=1e-9))
    assert tight.sentence().startswith(f"NOT SAFE, with {word} in x (1 of 12 elements): in bf16")


def test_both_are_named_where_there_are_both():
    x = with_one(np.nan)
    x[0] = -np.inf
    assert asked(x).odd == "NaN in x (1 of 12 elements) and infinities in x (4 of 12 elements)"


def test_results_that_are_no_numbers_in_f64_either_never_pass():
    report = asked(np.full((3, 4), np.nan))
    assert [r.standing for r in report.judged] == [Standing.VACUOUS]
    assert "This is no proof: no element of y is a number in f64 either." in report.sentence()


def test_a_file_with_nan_is_mentioned_on_the_command_line(tang, matmul, tmp_path):
    a = np.ones((6, 40), np.float32)
    a[3, 4] = np.nan
    np.savez(tmp_path / "a.npz", A=a, B=np.ones((40, 5)))
    (tmp_path / "m.json").write_text(to_json(matmul))
    code, out, _ = tang("budget", "m.json", "--inputs", "a.npz", "--c", "100", "--json")
    assert code == 0
    assert "with NaN in A (1 of 240 elements)" in json.loads(out)["sentence"]


@pytest.mark.parametrize("span", [(1e39, 1e40), (-1e300, 1e300), (-1.7e308, 1.7e308)], ids=str)
def test_ranges_beyond_f32_are_drawn_as_they_are_stated(span):
    drawn = drawn_inputs(sums(), {}, {"x": span}, 0)["x"]
    assert ((drawn >= span[0]) & (drawn <= span[1])).all()
    assert drawn.max() / 2 - drawn.min() / 2 > span[1] / 8 - span[0] / 8
