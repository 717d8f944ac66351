"""What the README shows is what happens."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", README, re.DOTALL)
ENVIRONMENT = {**os.environ, "PYTHONSAFEPATH": "1"}


def python_blocks():
    return [text for language, text in BLOCKS if language == "python"]


def test_the_first_session_prints_what_the_readme_says(tmp_path):
    session = python_blocks()[0]
    expected = next(text for language, text in BLOCKS if text.startswith("input A[64, 128]"))
    (tmp_path / "session.py").write_text(session)
    done = subprocess.run(
        [sys.executable, "session.py"],
        cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stderr == ""
    assert done.stdout == expected


def test_the_backend_in_the_readme_is_the_example_and_its_bug_is_found(tmp_path):
    example = (ROOT / "examples" / "fuzz_your_compiler.py").read_text()
    shown = next(text for text in python_blocks() if "fuzz your own compiler" in text.lower())
    assert shown == example
    assert len(shown.splitlines()) <= 30
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "fuzz_your_compiler.py").write_text(shown)
    command = re.search(r"tang (fuzz --backends examples/\S+ [^`(]*)`", README).group(1)
    done = subprocess.run(
        [sys.executable, "-m", "tang", *command.split(), "--json"],
        cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
