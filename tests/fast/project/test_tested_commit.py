"""The commit that tools write down: that of the tree, marked where the tree differs from it."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path

import pytest

PLACE = Path(__file__).resolve().parents[3] / "tools" / "tree.py"


@pytest.fixture(scope="module")
def commit_of():
    spec = importlib.util.spec_from_file_location("commit_of", PLACE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.commit_of


@pytest.fixture
def tree(tmp_path):
    def git(*arguments):
        who = ("-c", "user.name=a", "-c", "user.email=a@example.com")
        done = subprocess.run(
            ["git", *who, *arguments], cwd=tmp_path, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    git("init", "-q")
    (tmp_path / "results").mkdir()
    for name in ("a.py", "results/b.json"):
        (tmp_path / name).write_text("1\n")
    git("add", ".")
    git("commit", "-qm", "first")
    return tmp_path, git("rev-parse", "HEAD")


def test_a_clean_tree_is_its_commit_whatever_results_hold(commit_of, tree):
    root, head = tree
    (root / "results" / "b.json").write_text("2\n")
    (root / "new.txt").write_text("not tracked")
    assert commit_of(root) == head


def test_a_changed_tree_is_marked(commit_of, tree):
    root, head = tree
    (root / "a.py").write_text("2\n")
    assert commit_of(root) == f"{head}-modified"


def test_what_is_no_checkout_has_no_commit(commit_of, tmp_path):
    assert commit_of(tmp_path) == ""
