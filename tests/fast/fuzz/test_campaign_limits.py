"""Limits of campaigns: seconds, folders, and what the report says of both."""

from __future__ import annotations

import time
from pathlib import Path

from tang.fuzz import Options, run_campaign
from tang.fuzz.campaign import CampaignReport, Found
from tang.fuzz.coverage import Coverage
from tang.fuzz.pace import Pace
from tang.fuzz.pool import Died
from tang.fuzz.worker import Batch, Batched
from tang.verify import Finding, Rung, Verdict

BACKENDS = Path(__file__).with_name("some_backends.py")
ENDED = Batched(Coverage(), ())


def test_a_campaign_ends_at_its_limit_of_seconds_and_what_is_over_it_is_cut_off():
    start = time.monotonic()
    options = Options(backends=(f"{BACKENDS}:slow",), examples=50, seconds=1.0, patience=60.0)
    report = run_campaign(options)
    assert time.monotonic() - start < options.seconds + options.overtime + 3
    assert (report.coverage.draws, report.found) == (0, ())
    assert report.cut == report.to_data()["cut"] == 5
    assert "cut off by the limit of seconds: 5 draws" in report.to_text()


def test_a_campaign_without_a_limit_cuts_nothing():
    report = run_campaign(Options(backends=(f"{BACKENDS}:honest",), examples=6, batch=3))
    assert (report.coverage.draws, report.cut) == (6, 0)
    assert "cut off" not in report.to_text()


def test_batches_shrink_with_the_time_that_is_left():
    pace = Pace(10.0, 3.0)
    assert pace.size(50) == 5
    pace.begin(Batch(0, 5), 100.0)
    time.sleep(0.05)
    assert not pace.ended(Batch(0, 5), ENDED)
    assert pace.size(50) == 50
    pace.start -= 9.9
    assert 1 <= pace.size(50) < 20
    pace.start -= 9.9
    assert pace.size(50) == 1
    assert Pace(None, 3.0).size(50) == 50


def test_a_batch_may_take_the_time_left_and_the_overtime_but_no_more_than_its_own_limit():
    pace = Pace(10.0, 3.0)
    assert 12.9 < pace.begin(Batch(0, 5), 100.0) <= 13.0
    assert pace.begin(Batch(5, 5), 2.0) == 2.0
    assert Pace(None, 3.0).begin(Batch(0, 5), 100.0) == 100.0


def test_only_a_timeout_after_the_limit_is_a_cut():
    pace = Pace(10.0, 3.0)
    died = Died("no answer in time", timeout=True)
    pace.begin(Batch(0, 5), 100.0)
    assert not pace.ended(Batch(0, 5), died)
    pace.begin(Batch(0, 5), 100.0)
    pace.start -= 11
    assert not pace.ended(Batch(0, 2), died), "a half of a batch that died"
    assert pace.ended(Batch(0, 5), died)
    pace.begin(Batch(5, 5), 100.0)
    assert not pace.ended(Batch(5, 5), Died("ended by signal 11"))
    assert pace.cut == 5


def test_the_report_counts_the_findings_that_have_no_folder(tmp_path):
    found = tuple(
        Found(Finding(Rung.EMIT, Verdict.WRONG, "x", origin=str(n)), n, folder=folder)
        for n, folder in enumerate((tmp_path, None, None))
    )
    options = Options(out=tmp_path, max_buckets=1)
    report = CampaignReport(options, Coverage(), found, 1.0)
    assert report.unwritten == report.to_data()["unwritten"] == 2
    assert "findings: 3, 2 without a folder (at most 1)" in report.to_text()
    whole = CampaignReport(options, Coverage(), found[:1], 1.0)
    assert "folder" not in whole.to_text()
    assert CampaignReport(Options(), Coverage(), found, 1.0).unwritten == 0


def test_no_more_folders_are_written_than_asked_for(tmp_path):
    options = Options(
        backends=(f"{BACKENDS}:wrong", f"{BACKENDS}:unsteady"), examples=9, out=tmp_path,
        max_buckets=1, shrink=False,
    )  # fmt: skip
    report = run_campaign(options)
    assert len(report.found) == 2
    assert len(list(tmp_path.iterdir())) == 1
    assert report.unwritten == 1


def test_the_data_of_a_report_have_every_cell_even_those_without_a_draw():
    data = CampaignReport(Options(), Coverage(), (), 1.0).to_data()
    assert data["cells"] == Coverage().counts()
    assert set(data["cells"].values()) == {0}
