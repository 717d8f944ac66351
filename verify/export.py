"""Reports for other tools: JUnit XML, SARIF 2.1.0, GitHub annotations.

Defines `to_junit`, `to_sarif` and `to_github`. Relies on reports alone; escaping is the standard
library's. It decides nothing: what is a failure was decided by `Report.ok` and its allowances.

Sources: the JUnit schema of Jenkins' xUnit plugin; OASIS SARIF 2.1.0; GitHub's workflow commands.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree as Xml

from tang.verify.report import Finding, Report, RungResult
from tang.verify.verdict import SUSPECT, Rung, Verdict

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

MEANING = {
    Verdict.PASS: "The two sides are equal.",
    Verdict.WRONG: "A value is not what it must be.",
    Verdict.UNWRITTEN: "An output element was never written.",
    Verdict.STRAY_WRITE: "Something was written that must not change.",
    Verdict.OUT_OF_BOUNDS: "An access lies outside its buffer.",
    Verdict.NONDETERMINISTIC: "Two runs on equal inputs differ.",
    Verdict.RACE: "Two threads access one element without order, one of them writing.",
    Verdict.OVER_BUDGET: "The error exceeds the budget or the derived bound.",
    Verdict.CRASH: "The kernel killed its process.",
    Verdict.TIMEOUT: "The kernel did not end in time.",
    Verdict.UNSUPPORTED: "The backend cannot run the program.",
    Verdict.UNDECIDED: "Equality could not be decided.",
}


def to_junit(reports: Sequence[Report]) -> str:
    """One test suite per program, one test case per rung and backend.

    A finding is a failure; an unsupported or undecided rung that is not allowed is an error.
    """
    root = Xml.Element("testsuites", name="tang-verify")
    for report in reports:
        suite = Xml.SubElement(root, "testsuite", name=_printable(report.name))
        cases = [_case(suite, report, r) for r in _rows(report)]
        suite.set("tests", str(len(cases)))
        for kind in ("failure", "error"):
            suite.set(f"{kind}s", str(sum(c.find(kind) is not None for c in cases)))
    Xml.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + Xml.tostring(root, "unicode") + "\n"


def _rows(report: Report) -> list[RungResult]:
    """The results, and an empty one for every rung that has findings but no result."""
    known = {(r.rung, r.backend) for r in report.results}
    lost = dict.fromkeys((f.rung, f.backend) for f in report.findings)
    return [*report.results, *(RungResult(*key) for key in lost if key not in known)]


def _case(suite: Xml.Element, report: Report, row: RungResult) -> Xml.Element:
    name = f"{row.rung.value} {row.backend}".strip()
    case = Xml.SubElement(suite, "testcase", classname=_printable(report.name), name=name)
    for f in _findings(report, row):
        failure = Xml.SubElement(case, "failure", type=f.verdict.value)
        failure.set("message", _printable(f.message))
        failure.text = _printable(f.to_text())
    for verdict, words in _open(report, row):
        Xml.SubElement(case, "error", type=verdict.value, message=_printable(words))
    return case


def _findings(report: Report, row: RungResult) -> list[Finding]:
    mine = [f for f in report.findings if (f.rung, f.backend) == (row.rung, row.backend)]
    return [f for f in mine if f.verdict not in report.allowed]


def _open(report: Report, row: RungResult) -> list[tuple[Verdict, str]]:
    found = []
    if row.unsupported and Verdict.UNSUPPORTED not in report.allowed:
        found.append((Verdict.UNSUPPORTED, row.unsupported))
    if row.undecided and Verdict.UNDECIDED not in report.allowed:
        found.append((Verdict.UNDECIDED, f"{row.undecided} of {row.elements} elements"))
    return found


def to_sarif(reports: Sequence[Report], version: str) -> str:
    """One run; each verdict is a rule, each finding a result at its program's file."""
    driver = {
        "name": "tang-verify",
        "version": version,
        "rules": [
            {"id": v.value, "shortDescription": {"text": MEANING[v]}}
            for v in Verdict
            if v is not Verdict.PASS
        ],
    }
    results = [r for report in reports for r in _sarif_results(report)]
    run = {"tool": {"driver": driver}, "results": results}
    document = {"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _sarif_results(report: Report) -> list[dict[str, Any]]:
    found = [
        _sarif(report, f.verdict, f.rung, f.message, f.kernel)
        for row in _rows(report)
        for f in _findings(report, row)
    ]
    opened = [(row, v, words) for row in _rows(report) for v, words in _open(report, row)]
    return found + [_sarif(report, v, row.rung, words, "") for row, v, words in opened]


def _sarif(
    report: Report, verdict: Verdict, rung: Rung, message: str, kernel: str
) -> dict[str, Any]:
    location: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": {"uri": file_of(report)},
            "region": {"startLine": 1},
        }
    }
    if kernel:
        location["logicalLocations"] = [{"name": kernel, "kind": "function"}]
    text = f"rung {rung.value}: {message} (suspect: {SUSPECT[rung]})"
    return {
        "ruleId": verdict.value,
        "level": "error",
        "message": {"text": text},
        "locations": [location],
    }


def to_github(reports: Sequence[Report]) -> str:
    """Workflow commands, one line each, that GitHub shows beside the program's file."""
    lines = []
    for report in reports:
        file = _property(file_of(report))
        for row in _rows(report):
            for f in _findings(report, row):
                title = _property(f"{f.verdict.value} at rung {f.rung.value}")
                lines.append(f"::error file={file},title={title}::{_data(f.to_text())}")
            for verdict, words in _open(report, row):
                title = _property(f"{verdict.value} at rung {row.rung.value}")
                lines.append(f"::error file={file},title={title}::{_data(words)}")
    return "".join(line + "\n" for line in lines)


def file_of(report: Report) -> str:
    """The file that a report is about: its name less a case in brackets and a Python :NAME."""
    name = report.name.partition(" [")[0]
    stem, colon, _ = name.rpartition(":")
    return stem if colon and stem.endswith(".py") else name


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _printable(text: str) -> str:
    """The text without characters that XML 1.0 forbids."""
    return "".join(c if c in "\t\n" or " " <= c <= "\ud7ff" or c >= "\ue000" else "?" for c in text)
