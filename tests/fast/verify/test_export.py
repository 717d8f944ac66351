"""Reports for other tools parse, count and escape."""

from __future__ import annotations

import json
from xml.etree import ElementTree

from tang.verify import Finding, Report, Rung, RungResult, Verdict
from tang.verify.export import MEANING, to_github, to_junit, to_sarif

NASTY = Finding(
    Rung.EMIT, Verdict.WRONG, 'a<b & "c"\x00', "k:1,2", "n", "c", "line 1\nline 2: 100%"
)
BAD = Report(
    "dir/p.py:graph",
    (RungResult(Rung.LOWER, elements=4, undecided=2), RungResult(Rung.EMIT, "c", 4)),
    (NASTY,),
)
GOOD = Report("q.json", (RungResult(Rung.LOWER, elements=4),))


def test_every_verdict_has_a_meaning():
    assert set(MEANING) == set(Verdict)


def test_junit_counts_failures_and_errors():
    root = ElementTree.fromstring(to_junit([BAD, GOOD]))  # noqa: S314 — our own text
    bad, good = root
    assert (bad.get("tests"), bad.get("failures"), bad.get("errors")) == ("2", "1", "1")
    assert (good.get("tests"), good.get("failures"), good.get("errors")) == ("1", "0", "0")
    assert 'a<b & "c"' in bad[1][0].get("message")


def test_an_allowed_verdict_is_no_failure_anywhere():
    allowed = BAD.allow([Verdict.WRONG, Verdict.UNDECIDED])
    suite = ElementTree.fromstring(to_junit([allowed]))[0]  # noqa: S314
    assert (suite.get("failures"), suite.get("errors")) == ("0", "0")
    assert to_github([allowed]) == ""
    assert json.loads(to_sarif([allowed], "0"))["runs"][0]["results"] == []


def test_sarif_names_rule_file_and_kernel():
    results = json.loads(to_sarif([BAD, GOOD], "1.2"))["runs"][0]["results"]
    assert [r["ruleId"] for r in results] == ["WRONG", "UNDECIDED"]
    place = results[0]["locations"][0]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "dir/p.py"
    assert place["logicalLocations"][0]["name"] == "k:1,2"


def test_github_annotations_are_one_escaped_line_each():
    undecided, wrong = to_github([BAD, GOOD]).splitlines()
    assert wrong.startswith("::error file=dir/p.py,title=WRONG at rung emit::")
    assert "%0A" in wrong
    assert "100%25" in wrong
    assert "UNDECIDED" in undecided


def test_a_finding_without_a_result_still_has_a_case():
    report = Report("g", (), (NASTY,))
    root = ElementTree.fromstring(to_junit([report]))  # noqa: S314
    assert root[0].get("failures") == "1"
