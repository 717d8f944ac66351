"""Run mypy --strict over a link tree that shows the package as it is installed.

mypy does not follow the finder of an editable install, so `build/types/tang` links every folder
to its place in the namespace. Exits with mypy's status; it checks types and nothing else.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TREE = ROOT / "build" / "types"
OUTSIDE = ("interpreter", "emulator", "verify", "fuzz", "proofs", "budget")


def link_tree() -> Path:
    """Build the tree afresh and return it."""
    shutil.rmtree(TREE, ignore_errors=True)
    package = TREE / "tang"
    package.mkdir(parents=True)
    for entry in sorted((ROOT / "tang").iterdir()):
        if entry.name != "__pycache__":
            (package / entry.name).symlink_to(entry)
    for name in OUTSIDE:
        if (ROOT / name).is_dir():
            (package / name).symlink_to(ROOT / name)
    return TREE


def main() -> int:
    """Type-check the package; the exit status is mypy's."""
    tree = link_tree()
    command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml")]
    command += ["--cache-dir", str(ROOT / ".mypy_cache"), "-p", "tang"]
    return subprocess.run(command, cwd=tree, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
