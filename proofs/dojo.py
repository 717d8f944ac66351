"""The proofs in the shape that LeanDojo reads: a Git repository whose root is the Lake project.

Defines `export`, `repository` and `theorem`. Relies on `git`, and for the latter two on the extra
`dojo`. LeanDojo itself needs a full Lean toolchain (elan) to trace; it is not run by `tang prove`,
and what it finds proves nothing here.
"""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tang.errors import ProofError
from tang.proofs import sources
from tang.proofs.arguments import folder_of

if TYPE_CHECKING:
    from types import ModuleType

FILES: Final = ("lean-toolchain", "lakefile.toml")
_ENVIRONMENT: Final = {
    "GIT_AUTHOR_NAME": "tang", "GIT_AUTHOR_EMAIL": "tang@localhost",
    "GIT_COMMITTER_NAME": "tang", "GIT_COMMITTER_EMAIL": "tang@localhost",
    "GIT_AUTHOR_DATE": "2000-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2000-01-01T00:00:00Z",
    "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1",
}  # fmt: skip


def export(folder: Path, root: Path = sources.HERE) -> str:
    """Write the Lake project to a new folder as a repository of one commit; its hash.

    Equal sources give equal hashes: author and date are fixed. Raises ProofError if the folder
    is not empty or `git` fails.
    """
    folder = folder_of(folder, "export")
    if folder.exists() and any(folder.iterdir()):
        raise ProofError(f"{folder} is not empty; give a new folder for the exported proofs")
    (folder / "Tang").mkdir(parents=True, exist_ok=True)
    for name in FILES:
        shutil.copyfile(root / name, folder / name)
    for module in sources.read(root).modules:
        shutil.copyfile(module.path, folder / "Tang" / module.path.name)
    _git(folder, "init", "--quiet", "--initial-branch=main")
    _git(folder, "add", "--all")
    _git(folder, "commit", "--quiet", "--message", "The proofs of tang")
    return _git(folder, "rev-parse", "HEAD").strip()


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", *arguments]
    environment = {**os.environ, **_ENVIRONMENT}
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
    except OSError as e:
        raise ProofError(f"LeanDojo reads Git repositories, and git cannot be run: {e}") from e
    if done.returncode:
        raise ProofError(f"{' '.join(command)} failed in {folder}: {done.stderr.strip()}")
    return done.stdout


def _lean_dojo() -> ModuleType:
    try:
        return importlib.import_module("lean_dojo")
    except ImportError as e:
        raise ProofError(f"needs the extra: pip install '.[dojo]' in a checkout ({e})") from e


def repository(folder: Path) -> object:
    """The exported project as a `lean_dojo.LeanGitRepo`, to be given to `lean_dojo.trace`."""
    folder = folder_of(folder, "repository")
    return _lean_dojo().LeanGitRepo.from_path(folder)


def theorem(folder: Path, name: str) -> object:
    """One theorem by its full name as a `lean_dojo.Theorem`, to be opened with `lean_dojo.Dojo`."""
    folder = folder_of(folder, "theorem")
    found = next(
        ((d, m) for d, m in sources.theorems(sources.read(folder)) if d.name == name), None
    )
    if found is None:
        raise ProofError(f"no theorem is called {name!r}; `tang prove` lists them")
    path = Path(*found[1].split(".")).with_suffix(".lean")
    return _lean_dojo().Theorem(repository(folder), path, name)
