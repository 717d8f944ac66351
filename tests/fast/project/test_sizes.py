"""Files stay under 500 lines and functions under 60, tests included.

Counts physical lines; a function's decorators and docstring count too.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = ("tang", "interpreter", "emulator", "verify", "fuzz", "proofs", "budget", "tests",
           "tools", "benchmarks", "examples")  # fmt: skip
FILES = [p for f in FOLDERS for p in sorted((ROOT / f).rglob("*.py"))]


def long_functions(text: str) -> list[str]:
    """Names of functions of 60 lines or more."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = [n for n in ast.walk(ast.parse(text)) if isinstance(n, functions)]
    return [n.name for n in nodes if (n.end_lineno or 0) - n.lineno + 1 >= 60]


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_file_and_functions_are_small(path):
    text = path.read_text()
    assert len(text.splitlines()) < 500
    assert long_functions(text) == []


@pytest.mark.parametrize(
    "path", [p for p in FILES if "tests" not in p.parts], ids=lambda p: str(p.relative_to(ROOT))
)
def test_module_has_a_docstring(path):
    assert ast.get_docstring(ast.parse(path.read_text()))


def test_a_long_function_is_seen():
    assert long_functions("def f():\n" + "    x = 1\n" * 59) == ["f"]
    assert long_functions("def f():\n" + "    x = 1\n" * 58) == []
