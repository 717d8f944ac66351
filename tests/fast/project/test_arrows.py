"""The import arrows of the architecture hold, and no module imports a folder by its bare name.

Reads the source with `ast`, so imports inside functions and under TYPE_CHECKING count too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
OUTSIDE = ("interpreter", "emulator", "verify", "fuzz", "proofs", "budget")
SOURCES = [
    *(p for p in (ROOT / "tang").rglob("*.py")),
    *(p for o in OUTSIDE for p in (ROOT / o).rglob("*.py")),
]

ALLOWED = {
    "tang.errors": (),
    "tang.toolchain": ("tang.errors",),
    "tang.ir": ("tang.errors",),
    "tang.kernel": ("tang.errors", "tang.ir"),
    "tang.frontend": ("tang.errors", "tang.ir"),
    "tang.rewrite": ("tang.errors", "tang.ir"),
    "tang.autodiff": ("tang.errors", "tang.ir", "tang.rewrite"),
    "tang.schedule": ("tang.errors", "tang.ir", "tang.kernel"),
    "tang.emit": ("tang.errors", "tang.ir", "tang.kernel"),
    "tang.device": ("tang.errors", "tang.toolchain", "tang.ir", "tang.kernel", "tang.emit"),
    "tang.interpreter": ("tang.errors", "tang.ir"),
    "tang.emulator": (
        "tang.errors",
        "tang.toolchain",  # text to a library: it knows no kernel
        "tang.ir",
        "tang.kernel.ir",
        "tang.kernel.plan",
        "tang.kernel.profile",  # how a device computes, as data: replay follows it
        "tang.kernel.schedule",  # formats and orders of sums, as data
        "tang.kernel.narrow",  # which roundings there are, as data
        "tang.kernel.accuracy",  # what functions claim, as data
        "tang.interpreter",
    ),
}
"""Package → what it may import besides itself; packages not listed may import everything."""

ORACLES = ("tang.interpreter", "tang.emulator", "tang.verify", "tang.fuzz", "tang.budget")
COMPILER = ("tang", "tang.ir", "tang.kernel", "tang.frontend", "tang.schedule", "tang.emit")


def module_name(path: Path) -> str:
    """The installed name of a source file."""
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    if parts[0] != "tang":
        parts = ["tang", *parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path) -> Iterator[str]:
    """Every absolute module that a file imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{a.name}" for a in node.names)


def inside(module: str, package: str) -> bool:
    """Whether a module is the package or lies in it."""
    return module == package or module.startswith(package + ".")


def violations(path: Path) -> list[str]:
    """Imports of a file that its package may not make."""
    name = module_name(path)
    package = next((p for p in ALLOWED if inside(name, p)), None)
    if package is None:
        return []
    legal = (package, *ALLOWED[package])
    found = [m for m in imports(path) if inside(m, "tang")]
    return [m for m in found if not any(inside(m, p) for p in legal)]


@pytest.mark.parametrize("path", SOURCES, ids=module_name)
def test_every_import_follows_an_arrow(path):
    assert violations(path) == []


@pytest.mark.parametrize("path", SOURCES, ids=module_name)
def test_no_folder_is_imported_by_its_bare_name(path):
    bare = [m for m in imports(path) if m.split(".")[0] in OUTSIDE]
    assert bare == []


@pytest.mark.parametrize("path", sorted((ROOT / "tang").rglob("*.py")), ids=module_name)
def test_the_compiler_does_not_import_its_judges(path):
    name = module_name(path)
    if name in ("tang.api", "tang.cli", "tang.testing") or name.startswith("tang.cli."):
        pytest.skip("the top layer may import everything")
    assert [m for m in imports(path) if any(inside(m, o) for o in ORACLES)] == []


def test_a_forbidden_import_is_seen(tmp_path, monkeypatch):
    fault = ROOT / "tang" / "kernel" / "x.py"
    monkeypatch.setattr(Path, "read_text", lambda self: "from tang.interpreter import interpret")
    assert violations(fault) == ["tang.interpreter.interpret"]
