"""Lean is looked for on PATH first, and only version 4.35 is taken."""

from __future__ import annotations

import pytest

from tang.errors import ProofError
from tang.proofs import lean


@pytest.fixture(autouse=True)
def forget():
    lean.find.cache_clear()
    yield
    lean.find.cache_clear()


@pytest.fixture
def toolchain(tmp_path, monkeypatch):
    """A command `lean` on PATH that says a version."""

    def make(version, status=0):
        file = tmp_path / "lean"
        file.write_text(f"#!/bin/sh\necho 'Lean (version {version}, Release)'\nexit {status}\n")
        file.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
        return str(file)

    return make


def test_a_real_toolchain_on_path_comes_first(toolchain):
    place = toolchain("4.35.0")
    assert lean.find().command == (place,)
    assert lean.find().library == ""


@pytest.mark.parametrize(("version", "status"), [("4.34.0", 0), ("4.35.0", 1)],
                         ids=["older", "broken"])  # fmt: skip
def test_another_version_or_a_broken_command_is_not_taken(toolchain, monkeypatch, version, status):
    toolchain(version, status)
    wheel = lean.Lean(("wheel",), "wheel", "wheel")
    monkeypatch.setattr(lean, "_in_wheel", lambda: wheel)
    assert lean.find() is wheel


def test_without_any_lean_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setattr(lean, "_on_path", lambda: None)
    monkeypatch.setattr(lean, "_in_wheel", lambda: None)
    with pytest.raises(ProofError, match=r"tang\[proofs\]"):
        lean.find()


def test_a_run_that_takes_too_long_is_no_success(tmp_path):
    slow = lean.Lean(("/bin/sh", "-c", "sleep 5", "x"), "slow", "slow")
    outcome = slow.compile(tmp_path / "x.lean", tmp_path, tmp_path, timeout=0.2)
    assert not outcome.clean
    assert "longer than" in outcome.noise
