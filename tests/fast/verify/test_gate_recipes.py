"""The hook definition and the example workflow call the command with options that it has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.main import get_command

from tang.cli.gate import FORMATS, app

ROOT = Path(__file__).resolve().parents[3]
FILES = (".pre-commit-hooks.yaml", "examples/github-workflow.yml", "docs/gate.md")


@pytest.mark.parametrize("name", FILES)
def test_every_option_in_a_recipe_exists(name):
    known = {o for p in get_command(app).params for o in p.opts} | {"--help"}
    text = (ROOT / name).read_text()
    calls = re.findall(r"tang-verify ((?:[^\n#`]|\n\s+--)*)", text)
    used = {o for c in calls for o in re.findall(r"(?<![\w-])--[a-z][a-z-]*", c)}
    assert used
    assert used <= known


@pytest.mark.parametrize("name", FILES[1:])
def test_every_format_in_a_recipe_exists(name):
    text = (ROOT / name).read_text()
    used = re.findall(r"--format ([a-z]+)", text) + re.findall(r"--report ([a-z]+)=", text)
    assert used
    assert set(used) <= set(FORMATS)


def test_the_hook_is_complete():
    text = (ROOT / ".pre-commit-hooks.yaml").read_text()
    keys = re.findall(r"^[- ] (\w+):", text, re.MULTILINE)
    assert {"id", "name", "entry", "language", "files", "pass_filenames"} <= set(keys)
