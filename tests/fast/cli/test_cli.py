"""The command line: exit codes, messages and machine-readable output, without a device."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from tang.cli import load
from tang.verify.gate import snapshot

ROOT = Path(__file__).resolve().parents[3]
MATMUL = str(ROOT / "examples" / "matmul.py")
KERNEL = str(ROOT / "examples" / "kernels" / "saxpy.cu")


def tang(*arguments, cwd=ROOT):
    """A finished `python -m tang` with these arguments."""
    environment = {**os.environ, "PYTHONSAFEPATH": "1", "NO_COLOR": "1", "COLUMNS": "200"}
    return subprocess.run(
        [sys.executable, "-m", "tang", *arguments],
        cwd=cwd, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("verify", "nowhere.json"), "no file nowhere.json"),
        (("verify", KERNEL), "saxpy.cu is a kernel, not a program"),
        (("verify", KERNEL), "saxpy.cu --spec GRAPH --launch LAUNCH.json"),
        (("show", MATMUL + ":nope"), "graphs there: graph"),
        (("verify", MATMUL, "--allow", "FOO"), "unknown verdict 'FOO'"),
        (("verify", MATMUL, "--size", "seq"), "SYMBOL=NUMBER"),
        (("emit", MATMUL, "--target", "fortran"), "'fortran': one of c, opencl"),
        (("fuzz", "--backends", "zzz"), "unknown backend 'zzz'"),
        (("fuzz", "--backends", "no_module:thing"), "no_module"),
        (("fuzz", "--backends", "no_file.py:Mine"), "no file no_file.py"),
        (("fuzz", "--backends", MATMUL + ":graph"), "is a Graph, no factory of backends: give a"),
        (("fuzz", "--backends", "tang.ir:Graph"), "'tang.ir:Graph' has no method 'supports'"),
        (("fuzz", "--examples", "0"), "--examples"),
        (("nonsense",), "nonsense"),
    ],
)
def test_a_wrong_request_exits_with_2_and_says_what_is_wrong(arguments, words):
    done = tang(*arguments)
    assert done.returncode == 2, done.stdout + done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_the_gate_knows_the_same_kernel_files():
    assert set(load.KERNELS) == set(snapshot.KERNELS)


def test_the_version_is_that_of_the_package():
    done = tang("--version")
    assert (done.returncode, done.stdout) == (0, f"tang {version('tang')}\n")
    assert "a verification-first tensor compiler" in tang("--help").stdout


def test_malformed_json_exits_with_2_and_names_the_file(tmp_path):
    (tmp_path / "bad.json").write_text('{"a": [[[')
    done = tang("verify", "bad.json", cwd=tmp_path)
    assert done.returncode == 2
    assert "bad.json" in done.stderr


def test_show_prints_the_program_and_its_json_reads_back(tmp_path):
    done = tang("show", MATMUL)
    assert done.returncode == 0
    assert "C[i:64, j:32] = sum[k:128](A[i, k] * B[k, j])" in done.stdout
    (tmp_path / "m.json").write_text(tang("show", MATMUL, "--json").stdout)
    assert tang("show", str(tmp_path / "m.json")).stdout == done.stdout


def test_show_says_where_every_node_is_computed_and_from_which_numbers():
    done = tang("show", str(ROOT / "examples" / "attention.py"))
    assert done.returncode == 0
    text = done.stdout.partition("\nschedule\n")[2]
    assert "\n    inline: few operations for the bytes (inlining repeats " in text
    assert "operations and saves 18432 bytes, limit 16384 a byte)" in text


def test_show_plan_lists_buffers_and_kernels():
    done = tang("show", MATMUL, "--plan")
    assert done.returncode == 0
    assert "kernel" in done.stdout


def test_emit_needs_no_compiler_and_has_a_machine_form():
    done = tang("emit", MATMUL, "--json")
    (row,) = json.loads(done.stdout)
    assert row["language"] == "c"
    assert "void" in row["text"]


def test_help_teaches_every_command():
    top = tang("--help").stdout
    for command in ("fuzz", "verify", "emit", "show", "doctor"):
        assert command in top
        assert "Example" in tang(command, "--help").stdout or command == "doctor"


def test_verify_without_backends_runs_the_rungs_up_to_replay():
    done = tang("verify", MATMUL, "--backends", "", "--json")
    assert done.returncode == 0, done.stderr
    (report,) = json.loads(done.stdout)
    assert [r["rung"] for r in report["results"]] == ["rewrite", "lower", "expand", "round"]


def test_a_file_that_exits_or_asks_for_too_much_exits_with_2(tmp_path):
    (tmp_path / "leaves.py").write_text("raise SystemExit(3)")
    (tmp_path / "large.py").write_text(
        "import tang as tg\ni = tg.dims('i')\nx = tg.input('x', ('n',))\n"
        "graph = tg.Graph(tg.compute('y', i, x[i]))\n"
    )
    left = tang("verify", "leaves.py", cwd=tmp_path)
    assert left.returncode == 2
    assert "leaves.py: SystemExit: 3" in left.stderr
    large = tang("verify", "large.py", "--size", f"n={2**45}", cwd=tmp_path)
    assert large.returncode == 2
    assert "do not fit" in large.stderr
    assert "Traceback" not in large.stderr


def test_a_program_may_come_through_a_pipe(tmp_path):
    text = tang("show", MATMUL, "--json").stdout
    (tmp_path / "m.json").write_text(text)
    environment = {**os.environ, "PYTHONSAFEPATH": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "tang", "show", "/dev/stdin"],
        cwd=ROOT, env=environment, input=text, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout == tang("show", str(tmp_path / "m.json")).stdout
