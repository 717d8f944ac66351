"""How long a report took; how long the replay of every element would, said to be an estimate."""

from __future__ import annotations

import json

from budget_programs import matmul_graph

from tang.budget import Question, budget_report
from tang.emulator import ErrorBudget
from tang.ir.serial import to_json

LOOSE = ErrorBudget(abs=100.0)


def asked(graph, **more):
    return budget_report(graph, "bf16", Question(budget=LOOSE, rules=(), **more))


LARGE = matmul_graph(512, 160, 512)
"""Above the limit to which programs are replayed whole, and not by much."""


def test_on_tiles_the_replay_of_every_element_is_an_estimate_beside_the_time_of_samples():
    report = asked(LARGE)
    assert report.tiles
    assert report.times.estimated
    assert report.times.whole > 0 < report.times.sampled
    note = report.notes()[-1]
    assert note.startswith("sampled in ")
    assert note.endswith("s of processor: an estimate, by the rate of the largest tile")
    assert note in report.to_text()


def test_whole_programs_are_measured_and_no_estimate_is_printed():
    report = asked(matmul_graph(96, 160, 96))
    assert not report.tiles
    assert not report.times.estimated
    assert report.times.whole > 0
    assert "estimate" not in report.to_text()


def test_a_program_beyond_the_limit_has_an_estimate_by_its_elements(monkeypatch):
    graph = matmul_graph(96, 400, 96)
    monkeypatch.setattr("tang.budget.report_case.LIMIT", 1)
    times = asked(graph).times
    assert times.estimated
    assert times.whole > 0


def test_certificates_have_a_time_of_their_own_and_equal_reports_may_differ_in_times():
    first, second = (asked(LARGE, certified=True, samples=0) for _ in range(2))
    assert first.times.certified > 0
    assert first.notes()[-1].startswith("certified in ")
    assert first == second


def test_json_has_the_times(tang, tmp_path):
    (tmp_path / "m.json").write_text(to_json(matmul_graph()))
    code, out, _ = tang("budget", "m.json", "--abs", "100", "--json")
    assert code == 0
    assert set(json.loads(out)["seconds"]) == {"sampled", "whole", "estimated", "certified"}
