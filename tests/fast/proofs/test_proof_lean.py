"""The pinned wheel comes first; on PATH only version 4.35 is taken, and none is pinned."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tang.errors import ProofError
from tang.proofs import gate, lean
from tang.proofs.store import Store


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


def test_the_wheel_comes_before_whatever_is_on_path(toolchain, monkeypatch):
    place = toolchain("4.35.0")
    wheel = lean.Lean(("wheel",), "wheel", "wheel", "/x/libleanshared.so")
    monkeypatch.setattr(lean, "_in_wheel", lambda: wheel)
    assert lean.find() is wheel
    lean.find.cache_clear()
    monkeypatch.setattr(lean, "_in_wheel", lambda: None)
    assert lean.find().command == (place,)
    assert lean.find().library == ""
    assert "not pinned" in lean.find().label


def test_verdicts_of_a_toolchain_are_not_those_of_another_program_in_its_place(
    toolchain, monkeypatch
):
    monkeypatch.setattr(lean, "_in_wheel", lambda: None)
    toolchain("4.35.0")
    first = lean.find().identity
    lean.find.cache_clear()
    assert lean.find().identity == first
    place = Path(toolchain("4.35.0"))
    place.write_text(place.read_text() + "# another one\n")
    lean.find.cache_clear()
    assert lean.find().identity != first


@pytest.mark.parametrize(("version", "status"), [("4.34.0", 0), ("4.35.0", 1)],
                         ids=["older", "broken"])  # fmt: skip
def test_another_version_or_a_broken_command_is_not_taken(toolchain, monkeypatch, version, status):
    monkeypatch.setattr(lean, "_in_wheel", lambda: None)
    toolchain("4.35.0")
    assert lean.find().command
    lean.find.cache_clear()
    toolchain(version, status)
    with pytest.raises(ProofError, match="pip install"):
        lean.find()


def test_without_any_lean_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setattr(lean, "_on_path", lambda: None)
    monkeypatch.setattr(lean, "_in_wheel", lambda: None)
    with pytest.raises(ProofError, match=r"'\.\[proofs\]'"):
        lean.find()


def test_a_run_that_takes_too_long_is_no_success(tmp_path):
    slow = lean.Lean(("/bin/sh", "-c", "sleep 5", "x"), "slow", "slow")
    outcome = slow.compile(tmp_path / "x.lean", tmp_path, tmp_path, timeout=0.2)
    assert not outcome.clean
    assert "longer than" in outcome.noise


@pytest.fixture
def pinned(tmp_path, monkeypatch):
    """A wheel whose library has the digest that is pinned, and a store that knows nothing."""
    library = tmp_path / "libleanshared.so"
    library.write_bytes(b"the pinned library")
    monkeypatch.setattr(lean, "LIBRARY_SHA256", lean._digest(library))
    return lean.Lean((), "", "", str(library)), Store(tmp_path / "store")


@pytest.mark.parametrize("fresh", [False, True], ids=["unchanged", "fresh"])
def test_a_library_that_was_written_to_is_refused_though_its_times_are_put_back(pinned, fresh):
    found, store = pinned
    gate.pin(found, store, fresh=fresh)
    gate.pin(found, store, fresh=fresh)
    library = Path(found.library)
    before = library.stat()
    library.write_bytes(b"another library!!!")
    os.utime(library, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert library.stat().st_size == before.st_size
    with pytest.raises(ProofError, match="sha256"):
        gate.pin(found, store, fresh=fresh)


def test_a_library_that_is_known_is_not_read_again(pinned, monkeypatch):
    found, store = pinned
    gate.pin(found, store)
    monkeypatch.setattr(gate, "check_library", lambda _: pytest.fail("read again"))
    gate.pin(found, store)


def test_the_gate_looks_at_the_library_before_it_looks_for_a_verdict(pinned, monkeypatch):
    found, store = pinned
    Path(found.library).write_bytes(b"another library!!!")
    monkeypatch.setattr(gate, "find", lambda: found)
    monkeypatch.setattr(gate, "_from_data", lambda _: pytest.fail("believed a verdict"))
    with pytest.raises(ProofError, match="force-reinstall"):
        gate.prove(store=store)
