"""A checkout works as a place to run programs in, whatever tang is installed besides."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np

import tang

ROOT = Path(__file__).resolve().parents[3]


def imported(folder: Path, *names: str) -> subprocess.CompletedProcess[str]:
    """A program in a folder, without what is installed but for NumPy."""
    site = Path(np.__file__).parents[1]
    lines = (f"import sys; sys.path.append({str(site)!r})", *(f"import {n}" for n in names))
    command = (sys.executable, "-S", "-c", "\n".join(lines))
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env={}, check=False, timeout=60
    )


def test_every_package_is_found_in_a_checkout():
    packages = sorted(f"tang.{name}" for name in tang._PACKAGES)
    assert "tang.verify" in packages
    done = imported(ROOT, *packages)
    assert done.returncode == 0, done.stderr


def test_packages_inside_tang_are_taken_from_there(tmp_path):
    package = tmp_path / "tang"
    (package / "verify").mkdir(parents=True)
    (tmp_path / "verify").mkdir()
    for place in (tmp_path, package):
        (place / "verify" / "__init__.py").touch()
    (package / "__init__.py").write_text((ROOT / "tang" / "__init__.py").read_text())
    for name in ("errors", "frontend"):
        (package / name).symlink_to(ROOT / "tang" / name)
    (package / "errors.py").symlink_to(ROOT / "tang" / "errors.py")
    (package / "ir").symlink_to(ROOT / "tang" / "ir")
    done = imported(tmp_path, "tang.verify", "tang; print(*tang.__path__)")
    assert done.stdout.split() == [str(package)], done.stderr
