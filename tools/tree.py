"""The commit that a tool tests, marked where the tree differs from it.

Defines `commit_of`. Relies on git, and on the tree that this file lies in. It changes nothing
and knows nothing of results, which it leaves out when it looks for differences.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def commit_of(root: Path = ROOT) -> str:
    """The commit of a tree, "-modified" behind it where tracked files outside results/ differ.

    "" where the sources are no checkout, or there is no git.
    """
    head = _git(root, "rev-parse", "HEAD")
    if not head:
        return ""
    changed = _git(
        root, "status", "--porcelain", "--untracked-files=no", "--", ".", ":!results"
    )  # fmt: skip
    return head + ("-modified" if changed else "")


def _git(root: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=root, capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
