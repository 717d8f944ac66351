"""The proofs can be exported as the Git repository that LeanDojo reads.

LeanDojo's own tracing is not run: it needs elan and a network.
"""

from __future__ import annotations

import pytest

from tang.errors import ProofError
from tang.proofs import dojo, sources


def test_the_export_is_a_lake_project_at_a_commit(tmp_path):
    commit = dojo.export(tmp_path / "a")
    assert len(commit) == 40
    modules = {f"Tang/{m.path.name}" for m in sources.read().modules}
    found = {str(p.relative_to(tmp_path / "a")) for p in (tmp_path / "a").rglob("*") if p.is_file()}
    assert {f for f in found if not f.startswith(".git/")} == modules | set(dojo.FILES)


def test_equal_sources_give_the_same_commit(tmp_path):
    assert dojo.export(tmp_path / "a") == dojo.export(tmp_path / "b")


def test_a_folder_that_is_in_use_is_refused(tmp_path):
    (tmp_path / "x").write_text("mine")
    with pytest.raises(ProofError, match="not empty"):
        dojo.export(tmp_path)


def test_an_unknown_theorem_is_refused(tmp_path):
    dojo.export(tmp_path / "a")
    with pytest.raises(ProofError, match="no theorem is called"):
        dojo.theorem(tmp_path / "a", "Tang.fermat")


def test_without_the_extra_the_message_says_how_to_get_it(tmp_path, monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(dojo.importlib, "import_module", missing)
    dojo.export(tmp_path / "a")
    with pytest.raises(ProofError, match=r"'\.\[dojo\]'"):
        dojo.repository(tmp_path / "a")


def test_a_theorem_is_given_with_its_file_and_full_name(tmp_path, monkeypatch):
    class Fake:
        class LeanGitRepo:
            from_path = staticmethod(str)

        @staticmethod
        def Theorem(*parts):  # noqa: N802
            return tuple(map(str, parts))

    monkeypatch.setattr(dojo, "_lean_dojo", lambda: Fake)
    dojo.export(tmp_path / "a")
    _, path, name = dojo.theorem(tmp_path / "a", "Tang.softmax_assoc")
    assert (path, name) == ("Tang/Softmax.lean", "Tang.softmax_assoc")
