"""Foreign backends: honest rounding passes, faults, crashes and hangs are verdicts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tang.fuzz.blackbox import BlackBox
from tang.fuzz.case import draw_batch
from tang.interpreter import interpret
from tang.ir import bind
from tang.verify import Rung, Verdict
from tang.verify.freedom import allowed, distances

BACKENDS = Path(__file__).with_name("some_backends.py")


def check(name: str, count: int = 12, seconds: float = 20.0):
    box = BlackBox(f"{BACKENDS}:{name}", seconds)
    try:
        return box.check(draw_batch(seed=4, count=count))
    finally:
        box.close()


def verdicts(reports) -> set[Verdict]:
    return {f.verdict for r in reports for f in r.findings}


def test_the_definition_itself_passes():
    reports = check("honest")
    assert verdicts(reports) == set()
    assert sum(r.results[0].elements for r in reports) > 100


def test_an_honest_f32_evaluation_passes():
    assert verdicts(check("single", 40)) == set()


def test_a_relative_error_of_a_thousandth_is_wrong_and_says_where():
    reports = check("wrong")
    assert verdicts(reports) == {Verdict.WRONG}
    finding = next(f for r in reports for f in r.findings)
    assert finding.rung is Rung.BACKEND
    assert "first wrong value" in finding.detail
    assert "distance to f64" in finding.detail
    assert "criterion" in finding.detail


def test_what_a_backend_declines_is_unsupported_and_no_pass():
    reports = check("reserved", 2)
    assert all(r.results[0].unsupported == "not today" for r in reports)
    assert not any(r.ok for r in reports)


@pytest.mark.parametrize("name", ["fragile", "raising"])
def test_a_crash_is_a_verdict_and_the_next_case_still_runs(name):
    reports = check(name, 2)
    assert [f.verdict for r in reports for f in r.findings] == [Verdict.CRASH] * 2


def test_a_crash_shows_the_last_words_of_the_backend():
    assert "out of ideas" in check("raising", 1)[0].findings[0].detail


def test_a_hang_is_a_timeout():
    assert verdicts(check("slow", 1, seconds=0.5)) == {Verdict.TIMEOUT}


def test_a_second_answer_that_differs_is_nondeterministic_even_where_both_are_allowed():
    (report,) = check("unsteady", 1)
    (finding,) = report.findings
    assert finding.verdict is Verdict.NONDETERMINISTIC
    assert "first answer" in finding.detail
    assert "second answer" in finding.detail


def test_a_backend_that_declines_what_it_answered_is_nondeterministic():
    (report,) = check("fickle", 1)
    assert [f.verdict for f in report.findings] == [Verdict.NONDETERMINISTIC]
    assert "declined" in report.findings[0].detail


def test_what_a_backend_prints_and_reads_does_not_disturb_it():
    assert verdicts(check("chatty", 2)) == set()


def test_a_truth_value_of_supports_is_no_pass():
    (report,) = check("truthful", 1)
    assert [f.verdict for f in report.findings] == [Verdict.CRASH]
    assert "not False" in report.findings[0].origin


def test_an_exit_is_a_crash_that_tells_its_status():
    (report,) = check("leaver", 1)
    assert report.findings[0].message == "the backend ended with status 3"
    assert report.findings[0].origin == "ended with status 3"


def test_a_hanging_backend_leaves_no_process_behind(tmp_path, monkeypatch, is_gone):
    monkeypatch.setenv("TANG_TEST_PID", str(tmp_path / "pid"))
    assert verdicts(check("parent", 1, seconds=4.0)) == {Verdict.TIMEOUT}
    assert is_gone(int((tmp_path / "pid").read_text()))


def test_a_wrong_shape_is_wrong_even_without_values():
    assert Verdict.WRONG in verdicts(check("careless", 3))


def test_the_enclosure_holds_the_definition_and_decides_nearly_everything():
    known = total = 0
    for case in draw_batch(seed=6, count=40):
        graph = bind(case.graph, case.sizes)
        bounds = allowed(graph, case.inputs)
        for name, value in interpret(graph, case.inputs).items():
            fits, decided = distances(value, bounds[name])
            assert fits.all(), (case, name)
            known, total = known + decided.sum(), total + decided.size
    assert known > 0.95 * total


def test_the_enclosure_refuses_zeros_for_most_programs():
    refused = 0
    for case in draw_batch(seed=6, count=40):
        graph = bind(case.graph, case.sizes)
        bounds = allowed(graph, case.inputs)
        zeros = {n: np.zeros_like(v) for n, v in interpret(graph, case.inputs).items()}
        refused += any(not distances(v, bounds[n])[0].all() for n, v in zeros.items())
    assert refused >= 28
