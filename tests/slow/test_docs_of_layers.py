"""docs/budget.md: the commands about layers of models print the sentences and rows shown there."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "budget.md").read_text()
COMMANDS = [c for c in PAGE.split("\n$ ")[1:] if c.startswith("tang budget models.py")]
SOURCE = PAGE.split("```python\n# models.py\n")[1].split("```")[0]
PRECISION = PAGE.split("$ cat precision.json\n")[1].split("\n$ ")[0]


def spaced(line):
    return " ".join(line.split())


@pytest.mark.parametrize("text", COMMANDS, ids=["decoder", "block"])
def test_a_command_about_a_layer_prints_what_is_shown(text, tmp_path):
    (tmp_path / "models.py").write_text(SOURCE)
    (tmp_path / "precision.json").write_text(PRECISION)
    command, *shown = text.split("```")[0].split("\n")
    done = subprocess.run(
        [sys.executable, "-m", *shlex.split(command)], cwd=tmp_path, capture_output=True,
        text=True, check=False, env={**os.environ, "PYTHONSAFEPATH": "1"},
    )  # fmt: skip
    printed = {spaced(line) for line in done.stdout.split("\n")}
    assert done.returncode == 1
    for line in shown:
        assert spaced(line) in printed or line.startswith("…"), (line, done.stdout, done.stderr)
