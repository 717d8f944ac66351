"""The docstring of a module of `tang.budget` names the functions and classes that others import.

It sees imports by name alone, of what is not private; constants may go without.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
MODULES = sorted((ROOT / "budget").glob("*.py"))
PACKAGES = ("tang", "budget", "verify", "fuzz", "interpreter", "emulator", "tools", "benchmarks")


def imported():
    """The names that package code imports, by module of `tang.budget`."""
    found = {}
    for path in (p for f in PACKAGES for p in sorted((ROOT / f).rglob("*.py"))):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tang.budget."):
                found.setdefault(node.module, set()).update(a.name for a in node.names)
    return found


def unnamed(text, names):
    """Functions and classes of a module among the names that its docstring leaves out."""
    tree = ast.parse(text)
    defined = {n.name for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    said = ast.get_docstring(tree) or ""
    return sorted(n for n in names & defined if f"`{n}`" not in said)


IMPORTED = imported()


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.stem)
def test_a_module_names_what_others_import(path):
    assert unnamed(path.read_text(), IMPORTED.get(f"tang.budget.{path.stem}", set())) == []


def test_a_name_that_is_left_out_is_found():
    module = '"""Defines `f`."""\n\n\ndef f(): ...\n\n\ndef g(): ...\n'
    assert unnamed(module, {"f"}) == []
    assert unnamed(module, {"f", "g", "CONSTANT"}) == ["g"]
