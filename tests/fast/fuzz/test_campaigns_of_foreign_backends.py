"""Campaigns against a foreign backend: the example of the README, findings on disk, survival."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tang.fuzz import Options, run_campaign
from tang.fuzz.case import draw_case
from tang.fuzz.findings import folder_name, repro_text, write_finding
from tang.fuzz.pool import Died, Pool
from tang.fuzz.worker import Shrunk
from tang.ir import from_json
from tang.verify import Finding, Rung, Verdict

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "fuzz_your_compiler.py"
BACKENDS = Path(__file__).with_name("some_backends.py")


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    out = tmp_path_factory.mktemp("findings")
    options = Options(
        backends=(f"{EXAMPLE}:Mine",), examples=60, seed=1, batch=20, out=out, shrink_seconds=30
    )
    return run_campaign(options), out


def test_the_example_has_at_most_thirty_lines():
    lines = [line for line in EXAMPLE.read_text().splitlines() if line.strip()]
    assert len(lines) <= 30


def test_the_planted_bug_of_the_example_is_found(found):
    report, _ = found
    assert not report.ok
    assert {f.finding.rung for f in report.found} == {Rung.BACKEND}
    assert {f.finding.verdict for f in report.found} == {Verdict.WRONG}


def test_a_finding_is_a_whole_folder_with_a_small_program(found):
    _, out = found
    (folder,) = out.iterdir()
    names = {p.name for p in folder.iterdir()}
    assert {"graph.json", "schedule.json", "inputs.npz", "repro.py", "report.txt"} <= names
    graph = from_json((folder / "graph.json").read_text())
    assert len(graph.nodes) == 1
    assert "floor" in (folder / "report.txt").read_text()


def test_the_repro_exits_1_with_the_fault_and_0_without(found, tmp_path):
    _, out = found
    (folder,) = out.iterdir()
    program = (folder / "repro.py").read_text()
    assert _status(tmp_path, program) == 1
    honest = program.replace(f"{EXAMPLE}:Mine", f"{BACKENDS}:honest")
    assert honest != program
    assert _status(tmp_path, honest) == 0


def _status(folder: Path, program: str) -> int:
    path = folder / "pasted.py"
    path.write_text(program)
    return subprocess.run([sys.executable, str(path)], check=False, capture_output=True).returncode


def test_the_same_seed_finds_the_same(found):
    report, _ = found
    again = run_campaign(
        Options(backends=(f"{EXAMPLE}:Mine",), examples=60, seed=1, batch=7, jobs=2)
    )
    assert min(f.index for f in again.found) == min(f.index for f in report.found)


def test_a_campaign_goes_on_after_crashes():
    report = run_campaign(Options(backends=(f"{BACKENDS}:raising",), examples=2, batch=1))
    assert report.coverage.draws == 2
    assert report.count(Verdict.CRASH) == 2
    assert len(report.found) == 1


def test_a_backend_that_hangs_is_a_whole_finding_too(tmp_path):
    options = Options(
        backends=(f"{BACKENDS}:slow",), examples=1, out=tmp_path, patience=2.0, shrink_seconds=0.1
    )
    report = run_campaign(options)
    assert report.count(Verdict.TIMEOUT) == 1
    (folder,) = tmp_path.iterdir()
    assert {"graph.json", "repro.py", "report.txt", "inputs.npz"} <= {
        p.name for p in folder.iterdir()
    }
    assert report.count(Verdict.PASS) == 0


def test_findings_of_one_name_do_not_replace_each_other(tmp_path):
    finding = Finding(Rung.BACKEND, Verdict.WRONG, "x", backend="m", origin="values")
    shrunk = Shrunk(draw_case(1, 0), finding, "", {})
    first = write_finding(tmp_path, shrunk, ("m",), "")
    second = write_finding(tmp_path, shrunk, ("m",), "", {first})
    assert first != second
    assert write_finding(tmp_path, shrunk, ("m",), "") == first


def test_the_report_counts_every_draw_in_text_and_data(found):
    report, _ = found
    assert f"{report.coverage.draws} draws" in report.to_text()
    data = report.to_data()
    assert data["draws"] == 60
    assert data["ok"] is False


def test_a_pool_answers_with_the_death_of_a_child_and_starts_another():
    pool = Pool("some_pool_handlers:serve", (str(Path(__file__).parent),), 2)
    sys.path.insert(0, str(Path(__file__).parent))
    try:
        for task in (1, "die", 2, "raise", 3):
            pool.submit(task, 60.0)
        answers = {}
        while pool.busy:
            answers.update(dict(pool.results()))
    finally:
        sys.path.pop(0)
        pool.close()
    assert [answers[n] for n in (1, 2, 3)] == [2, 4, 6]
    assert isinstance(answers["die"], Died)
    assert "no such luck" in answers["raise"].reason


def test_a_pool_ends_a_child_that_takes_too_long():
    sys.path.insert(0, str(Path(__file__).parent))
    pool = Pool("some_pool_handlers:serve", ("",), 1)
    try:
        pool.submit("sleep", 2.0)
        ((_, answer),) = pool.results()
    finally:
        sys.path.pop(0)
        pool.close()
    assert answer.timeout


def test_folders_are_named_by_rung_verdict_backend_and_origin():
    finding = Finding(Rung.EMIT, Verdict.WRONG, "x", backend="c", origin="n0 / mul (f32)")
    assert folder_name(finding) == "emit-wrong-c-n0-mul-f32"


def _hears_interrupts() -> None:
    """Jobs that a shell puts into the background ignore SIGINT, and so would their children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_an_interrupted_campaign_reports_and_leaves_no_process(tmp_path, is_gone):
    pid = tmp_path / "pid"
    campaign = subprocess.Popen(
        [sys.executable, "-m", "tang", "fuzz", "--backends", f"{BACKENDS}:parent", "--json",
         "--examples", "9", "--jobs", "1", "--out", str(tmp_path / "out")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "TANG_TEST_PID": str(pid)},
        preexec_fn=_hears_interrupts,
    )  # fmt: skip
    while not (pid.exists() and pid.read_text()):
        assert campaign.poll() is None
        time.sleep(0.05)
    campaign.send_signal(signal.SIGINT)
    text, noise = campaign.communicate(timeout=90)
    assert campaign.returncode == 130, noise
    assert json.loads(text)["interrupted"]
    assert noise == b""
    assert is_gone(int(pid.read_text()))


@pytest.mark.parametrize("place", ["own.py", "own"], ids=["file", "module"])
def test_the_repro_runs_from_any_folder_until_its_backend_is_gone(tmp_path, monkeypatch, place):
    home = tmp_path / "home"
    home.mkdir()
    (home / "own.py").write_text(BACKENDS.read_text())
    monkeypatch.chdir(home)
    monkeypatch.syspath_prepend(str(home))
    finding = Finding(Rung.BACKEND, Verdict.CRASH, "x", backend=f"{place}:raising")
    program = repro_text(draw_case(1, 0), finding, (finding.backend,), "by hand")
    monkeypatch.chdir(tmp_path)
    assert _status(tmp_path, program) == 1
    assert _status(tmp_path, program.replace(":raising", ":honest")) == 0
    (home / "own.py").unlink()
    assert _status(tmp_path, program) == 2
