"""The table of rules and derivations on the command line and as data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from structural_examples import EXAMPLES
from typer.testing import CliRunner

from tang.cli import app
from tang.cli.load import UsageError
from tang.ir import to_json
from tang.rewrite import RULES
from tang.rewrite.cost import BYTES
from tang.rewrite.derivation import derivation

RUN = CliRunner()


def printed(*arguments):
    done = RUN.invoke(app, [str(a) for a in arguments], catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


def file_of(name: str, folder: Path) -> Path:
    path = folder / "graph.json"
    path.write_text(to_json(EXAMPLES[name]().before))
    return path


def test_the_table_lists_every_rule_with_what_it_needs():
    text = printed("rules")
    assert all(f"\n{n}\n" in f"\n{text}" for n in RULES)
    rows = {r["name"]: r for r in json.loads(printed("rules", "--json"))}
    assert set(rows) == set(RULES)
    assert rows["hoist-invariant-factors"]["preconditions"] == ["needs-finite", "reassociates"]
    assert rows["substitute-maps"]["strict"] is True


def test_a_trace_counts_kernels_and_bytes_of_every_step(tmp_path):
    text = printed("show", file_of("common-subexpression", tmp_path), "--trace", "--size", "n=10")
    lines = text.splitlines()
    assert lines[0].split() == ["kernels", "bytes", "step"]
    assert lines[1].split()[:2] == ["3", str(9 * 10 * BYTES)]
    assert lines[2].split()[:4] == ["2", str(5 * 10 * BYTES), "common-subexpression", "at"]


def test_without_sizes_bytes_are_polynomials(tmp_path):
    rows = json.loads(printed("show", file_of("dead-node", tmp_path), "--trace", "--json"))
    assert rows[0]["bytes"] == "12*n"
    assert rows[0]["rule"] is None
    assert rows[1] == {
        "rule": "dead-node",
        "node": "a",
        "text": "a, which nobody reads → nothing",
        "requires": [],
        "kernels": 1,
        "bytes": "8*n",
    }


def test_strict_traces_leave_out_what_needs_finite_operands(tmp_path):
    path = file_of("hoist-invariant-factors", tmp_path)
    assert "hoist" in printed("show", path, "--trace")
    assert "hoist" not in printed("show", path, "--trace", "--strict")


def test_a_size_that_is_no_size_is_refused(tmp_path):
    with pytest.raises(UsageError, match="SYMBOL=NUMBER"):
        printed("show", file_of("dead-node", tmp_path), "--trace", "--size", "n")


def test_the_account_of_changed_nodes_is_that_of_the_whole():
    """Traffic is remembered per node; it must equal what a fresh count of the result gives."""
    for make in EXAMPLES.values():
        done, stages = derivation(make().before, list(EXAMPLES))
        assert derivation(done.graph, [])[1][0].bytes == stages[-1].bytes
