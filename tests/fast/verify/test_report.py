"""Reports: closed verdicts, stable words, plain data."""

from __future__ import annotations

import json

import pytest

from tang.emulator.records import Kind
from tang.verify import Finding, Report, Rung, RungResult, Verdict
from tang.verify.sanitizer import VERDICT
from tang.verify.verdict import SUSPECT

WRONG = Finding(
    Rung.EMIT, Verdict.WRONG, "C is not what the kernel IR says", "C_k", "C", "c", "1 of 4 differ"
)


def test_every_sanitizer_kind_has_a_verdict_and_every_rung_a_suspect():
    assert set(VERDICT) == set(Kind)
    assert set(SUSPECT) == set(Rung)


def test_a_report_without_findings_is_ok():
    assert Report("g", (RungResult(Rung.LOWER, elements=4),)).ok


def test_a_pass_that_compared_nothing_says_so():
    empty = (RungResult(Rung.LOWER), RungResult(Rung.EMIT, "c"))
    assert Report("g", empty).to_text().startswith("g: PASS (nothing to compare: 0 elements)\n")
    some = (RungResult(Rung.EXPAND), RungResult(Rung.EMIT, "c", 1, 1))
    assert Report("g", some).to_text().startswith("g: PASS\n")
    assert Report("g", empty, (WRONG,)).to_text().startswith("g: FAIL\n")


@pytest.mark.parametrize(
    "result",
    [
        RungResult(Rung.EMIT, "c", unsupported="no barriers"),
        RungResult(Rung.LOWER, undecided=1),
    ],
)
def test_undecided_and_unsupported_are_never_success(result):
    assert not Report("g", (result,)).ok


def test_a_verdict_passes_only_when_it_is_allowed_by_name():
    report = Report("g", (RungResult(Rung.LOWER, undecided=1),), (WRONG,))
    assert report.verdicts() == (Verdict.WRONG, Verdict.UNDECIDED)
    assert not report.allow([Verdict.UNDECIDED]).ok
    assert report.allow([Verdict.UNDECIDED, Verdict.WRONG]).ok


def test_the_text_is_in_reader_order():
    results = (
        RungResult(Rung.LOWER, "", 4, 0, 0, 1),
        RungResult(Rung.EMIT, "c", 4, 0),
        RungResult(Rung.ROUND, unsupported="no bound"),
    )
    assert Report("g", results, (WRONG,)).to_text() == (
        "g: FAIL\n"
        "  lower          4 elements, 1 skipped\n"
        "  emit c         4 elements, 0 bit-equal\n"
        "  round          UNSUPPORTED: no bound\n"
        "WRONG at rung emit on c, kernel C_k (node C): C is not what the kernel IR says\n"
        "  suspect: emitter text, vendor compiler or driver\n"
        "  1 of 4 differ"
    )


def test_the_data_form_is_json():
    data = json.loads(json.dumps(Report("g", (), (WRONG,)).to_data()))
    assert data["ok"] is False
    assert data["findings"][0]["kernel"] == "C_k"
