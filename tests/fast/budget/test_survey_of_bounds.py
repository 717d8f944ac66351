"""The survey of bounds: what it counts, how it goes on, and that it sees a violation."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from tang.emulator import shadow

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def survey():
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("certificates", ROOT / "tools/certificates.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def quick(survey, monkeypatch):
    """Without the programs of three kinds, which take seconds."""
    monkeypatch.setattr(survey, "kinds", lambda seed: iter(()))
    return survey


def test_draws_are_counted_and_none_violates_its_bounds(quick):
    found = quick.survey(6, 60.0, 3, 1, None)
    t = found["total"]
    assert t["draws"] == 6
    assert t["violations"] == []
    assert 0 < t["finite"] <= t["smooth"] <= 6
    assert "violations: none" in quick.report(found)


def test_a_survey_goes_on_where_it_stopped(quick, tmp_path, monkeypatch):
    out = tmp_path / "survey.json"
    quick.survey(2, 60.0, 3, 1, out)
    asked = []
    right = quick.draw
    monkeypatch.setattr(quick, "draw", lambda seed, i: asked.append(i) or right(seed, i))
    assert len(quick.survey(4, 60.0, 3, 1, out)["rows"]) == 4
    assert asked == [2, 3]
    assert [r["index"] for r in json.loads(out.read_text())["rows"]] == [0, 1, 2, 3]


def test_draws_of_another_commit_are_not_counted(quick, tmp_path, monkeypatch):
    out = tmp_path / "survey.json"
    quick.survey(2, 60.0, 3, 1, out)
    monkeypatch.setattr(quick, "commit_of", lambda: "0" * 40)
    asked = []
    right = quick.draw
    monkeypatch.setattr(quick, "draw", lambda seed, i: asked.append(i) or right(seed, i))
    quick.survey(2, 60.0, 3, 1, out)
    assert asked == [0, 1]


def test_a_bound_that_is_too_small_is_written_down_with_its_draw(quick, monkeypatch):
    right = shadow.total
    monkeypatch.setattr(shadow, "total", lambda *args: np.asarray(right(*args)) / 1e6)
    found = quick.survey(6, 60.0, 3, 1, None)
    assert found["total"]["violations"]


def test_a_tree_of_lanes_has_a_tight_bound(survey):
    graph = survey._tree()
    inputs = {"x": np.random.default_rng(0).random((64, survey.LANES))}
    task = survey.Task(graph=graph, inputs=inputs, schedule=survey._trees(graph, survey.F16))
    found = survey.summary(survey.prepare(task))
    assert found["violations"] == found["infinite"] == found["vacuous"] == 0
    assert 1 <= found["ratio"] < 30
