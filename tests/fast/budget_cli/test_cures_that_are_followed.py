"""A cure is said as what a precision file names, and whoever writes it down is within budget."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tang as tg
from tang.budget import Question, budget_report
from tang.budget.precision import applied
from tang.budget.scales import names_in_files
from tang.emulator.budget import ErrorBudget

E4M3, ROW = {"storage": "e4m3fn"}, {"storage": "e4m3fn", "scale": {"per": "row"}}
ASKED = Question(budget=ErrorBudget(abs=1e-3))
SCALED_NODE = {"version": 1, "nodes": {"C": ROW}}
PRECISIONS = {
    "narrow-input": ({"version": 1, "inputs": {"A": E4M3}}, "the input A"),
    "scaled-input": ({"version": 1, "inputs": {"A": ROW, "B": {}}}, "the input A"),
    "scaled-node": (SCALED_NODE, "C"),
    "narrow-node": ({"version": 1, "nodes": {"C": E4M3}}, "C"),
    "all-inputs": ({"version": 1, "default": E4M3, "nodes": {"C": {}}}, "the inputs"),
}


def followed(precision, cure):
    """The precision with its cure written into it."""
    if cure.startswith("the input"):
        names = ("A", "B") if cure == "the inputs" else (cure.removeprefix("the input "),)
        place = "inputs"
    else:
        place, names = "nodes", (cure,)
    wide = {name: {"storage": "f32"} for name in names}
    return precision | {place: precision.get(place, {}) | wide}


@pytest.mark.parametrize(("precision", "cure"), PRECISIONS.values(), ids=PRECISIONS)
def test_a_cure_that_is_written_into_the_file_cures(matmul, precision, cure):
    report = budget_report(matmul, precision, ASKED)
    assert not report.ok
    assert report.cure.node == cure
    assert f"Keep {cure} in f32: then within budget" in report.sentence()
    assert budget_report(matmul, followed(precision, cure), ASKED).ok


def test_the_culprit_is_said_by_the_same_name(matmul):
    precision, _ = PRECISIONS["scaled-input"]
    report = budget_report(matmul, precision, ASKED)
    assert "arises in the input A, by the rounding of its stored values" in report.sentence()
    assert "A_q" not in report.sentence()


def test_several_inputs_that_cure_together_are_said_as_inputs(matmul):
    report = budget_report(matmul, {"version": 1, "inputs": {"A": ROW, "B": ROW}}, ASKED)
    assert report.cure.node == ""
    assert set(report.cure.tried) == {"the input A", "the input B"}
    assert report.cure.everywhere is True


def test_every_node_that_scales_add_has_the_name_of_what_it_is_made_from():
    x, (i, k) = tg.input("x", (4, 64)), tg.dims("i k")
    graph = tg.Graph(y=tg.compute("y", (i, k), x[i, k] * 3.0))
    block = {"storage": "e2m1", "scale": {"per": "block", "format": "e8m0"}}
    precision = {"version": 1, "nodes": {"y": block}, "inputs": {"x": block}}
    names = names_in_files(graph, applied(precision, graph)[0])
    assert {n for n, name in names.items() if name == "y"} == {
        "y_amax", "y_scale", "y_q", "y_scaled",
    }  # fmt: skip
    assert {n for n, name in names.items() if name == "the input x"} == {
        "x_amax", "x_scale", "x_q", "x_scaled",
    }  # fmt: skip
    assert len(names) == 8
    assert names_in_files(graph, graph) == {}


def test_the_page_shows_the_json_of_a_followed_cure(matmul):
    page = (Path(__file__).parents[3] / "docs" / "budget.md").read_text()
    shown = page.partition("A cure is followed")[2].partition("```json\n")[2].partition("```")[0]
    precision = json.loads(shown)
    assert {p for p in precision if precision[p]} == {"version", "default", "nodes", "inputs"}
    assert budget_report(matmul, precision, ASKED).ok
    del precision["inputs"]
    assert budget_report(matmul, precision, ASKED).cure.node == "the inputs"
