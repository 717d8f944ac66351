"""The table of mutants: judged rung by rung, and failed by each of its conditions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

TOOLS = Path(__file__).resolve().parents[3] / "tools"


def a_report(count: int, *, exact: int, caught: int, findings: int = 0) -> dict[str, Any]:
    row = {
        "mutant": "m", "backend": "c", "seed": 1, "draw": 2, "blamed": "emit", "verdict": "WRONG",
        "kernel": "k", "origin": "",
    }  # fmt: skip
    return {
        "rows": [row] * count, "mutants": count, "blind": 0, "caught": caught, "exact": exact,
        "baseline": {"draws": 50, "findings": findings},
    }  # fmt: skip


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(sys, "path", [str(TOOLS), *sys.path])
    from full import power_table

    return power_table


def test_what_a_rung_lacks_in_exact_names_no_other_makes_up_for(table: Any):
    few = a_report(20, exact=18, caught=20)
    found = table({"emit": a_report(180, exact=180, caught=180), "round": few})
    assert not found.holds
    assert found.figures["named_exactly"] == "198 of 200"
    assert found.figures["by_rung"]["round"] == "caught 20, named exactly 18 of 20"
    assert not table({"round": few}).holds


@pytest.mark.parametrize(
    "bad",
    [
        a_report(20, exact=19, caught=19),
        a_report(20, exact=0, caught=20),
        a_report(20, exact=20, caught=20, findings=1),
        {**a_report(20, exact=20, caught=20), "baseline": None},
        a_report(0, exact=0, caught=0),
    ],
    ids=["missed", "misnamed", "unclean", "no baseline", "empty"],
)
def test_a_table_that_lacks_one_thing_does_not_hold(table: Any, bad: dict[str, Any]):
    assert table({"emit": a_report(20, exact=20, caught=20)}).holds
    assert not table({"emit": bad}).holds
