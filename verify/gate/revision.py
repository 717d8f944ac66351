"""A project at another revision: its tree, and its kernels as its own tang made them.

Defines `tree_at`, `state_at` and `holds_tang`. Relies on git, on a temporary folder and on a
process of its own, so neither the working tree nor this process changes. Submodules and files
outside git are not part of a revision.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from tang.verify.gate.config import ConfigError

_TIMEOUT: Final = 600.0


@contextlib.contextmanager
def tree_at(root: Path, revision: str) -> Iterator[Path]:
    """The project's folder as of a revision, in a temporary folder.

    Raises ConfigError outside a repository and for an unknown revision.
    """
    top = Path(_git(root, "rev-parse", "--show-toplevel").decode().strip())
    commit = _commit(root, revision)
    with tempfile.TemporaryDirectory(prefix="tang-since-") as folder:
        base = Path(folder).resolve() / "tree"
        archive = _git(top, "archive", "--format=tar", commit)
        _unpack(archive, base)
        yield base / root.resolve().relative_to(top.resolve())


def _unpack(archive: bytes, folder: Path) -> None:
    """Raises ConfigError for an archive with links that lead outside."""
    try:
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            tar.extractall(folder, filter="data")
    except tarfile.TarError as e:
        raise ConfigError(f"--since: the tree of that revision cannot be unpacked: {e}") from e


def _commit(root: Path, revision: str) -> str:
    try:
        name = ("--end-of-options", f"{revision}^{{commit}}")
        return _git(root, "rev-parse", "--verify", "--quiet", *name).decode().strip()
    except ConfigError as e:
        raise ConfigError(f"--since {revision}: git knows no such commit in {root}") from e


def _git(folder: Path, *arguments: str) -> bytes:
    command = ["git", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=_TIMEOUT)
    except (OSError, subprocess.TimeoutExpired) as e:
        raise ConfigError(f"--since needs git: {e}") from e
    if done.returncode != 0:
        words = done.stderr.decode(errors="replace").strip().splitlines() or ["no answer"]
        raise ConfigError(f"--since: git {arguments[0]} failed in {folder}: {words[0]}")
    return done.stdout


def state_at(tree: Path, request: Mapping[str, Any]) -> dict[str, Any]:
    """Graphs and kernel texts of the programs of a tree; see `snapshot.state`.

    Where the tree holds tang itself, its own tang makes them. A folder that did not exist then
    had no programs.
    """
    if not tree.is_dir():
        return {}
    with tempfile.TemporaryDirectory(prefix="tang-link-") as folder:
        own = _own_tang(tree, Path(folder).resolve())
        paths = [str(p) for p in (own, tree, tree / "src") if p is not None]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        script = str(Path(__file__).with_name("snapshot.py"))
        asked = {**request, "root": str(tree), "tang": str(own or "")}
        done = _ran(script, json.dumps(asked), tree, environment)
    if done.returncode != 0:
        words = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        raise ConfigError(f"--since: the kernels of that revision cannot be built: {words[-1]}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _ran(
    script: str, text: str, folder: Path, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            [sys.executable, "-P", script], input=text, env=environment, cwd=folder,
            capture_output=True, text=True, check=False, timeout=_TIMEOUT,
        )  # fmt: skip
    except subprocess.TimeoutExpired as e:
        raise ConfigError(f"--since: that revision's kernels took over {_TIMEOUT:.0f} s") from e


def holds_tang(tree: Path) -> bool:
    """Whether a tree is one of tang itself, whose own tang makes its kernels."""
    return (tree / "tang" / "__init__.py").is_file()


def _own_tang(tree: Path, folder: Path) -> Path | None:
    """A folder in which `tang` is that of the tree; None when the tree has none."""
    if not holds_tang(tree):
        return None
    package = folder / "tang"
    package.mkdir()
    for entry in (tree / "tang").iterdir():
        (package / entry.name).symlink_to(entry)
    for name, place in _package_folders(tree).items():
        if name.count(".") == 1 and name.startswith("tang.") and (tree / place).is_dir():
            (package / name.partition(".")[2]).symlink_to(tree / place)
    return folder


def _package_folders(tree: Path) -> dict[str, str]:
    with contextlib.suppress(OSError, tomllib.TOMLDecodeError):
        whole = tomllib.loads((tree / "pyproject.toml").read_text(encoding="utf-8"))
        found = whole.get("tool", {}).get("setuptools", {}).get("package-dir", {})
        return {str(k): str(v) for k, v in found.items()}
    return {}
