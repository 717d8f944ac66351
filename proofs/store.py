"""What was built, kept by content: compiled modules, and verdicts about unchanged text.

Defines `Store`. Relies on `lean` to compile and on a cache folder outside the sources. It is
never consulted for a fresh run, and a compiled module whose digest is not the recorded one is
built again.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from tang.errors import ProofError
from tang.proofs.lean import Lean, Message, Outcome
from tang.proofs.sources import Module, Project

FORMAT: Final = "4"
"""Changes with the form of what is kept, so that older entries are never read."""


@dataclass(frozen=True, slots=True)
class Built:
    """One module as compiled: what Lean said and how long it took."""

    outcome: Outcome
    seconds: float


@dataclass(frozen=True, slots=True)
class Store:
    """A cache folder; every entry is named by the digest of what it depends on."""

    folder: Path

    @staticmethod
    def default() -> Store:
        """The user's cache: $XDG_CACHE_HOME/tang/proofs, else ~/.cache/tang/proofs."""
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        return Store(Path(base) / "tang" / "proofs")

    @staticmethod
    def digest(file: Path) -> str:
        with file.open("rb") as f:
            return hashlib.file_digest(f, "sha256").hexdigest()

    @staticmethod
    def key(*parts: str) -> str:
        """A digest of some texts, which no other split of the same characters has."""
        framed = "".join(f"{len(p)}:{p}" for p in (FORMAT, *parts))
        return hashlib.sha256(framed.encode()).hexdigest()

    def load(self, key: str) -> dict[str, Any] | None:
        """A saved verdict, or None."""
        try:
            data = json.loads((self.folder / f"{key}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return None
        return data if isinstance(data, dict) else None

    def save(self, key: str, data: Mapping[str, Any]) -> None:
        """Write a verdict; readers see all of it or nothing."""
        self._write(self.folder / f"{key}.json", json.dumps(data, ensure_ascii=False).encode())

    def stage(self, project: Project, lean: Lean) -> Path:
        """The folder in which compiled modules lie as Lean looks for them."""
        key = Store.key(lean.identity, *(m.digest for m in project.modules))
        folder = self.folder / "stages" / key[:24]
        self._make(folder / "Tang")
        return folder

    def module(self, key: str, m: Module, stage: Path, lean: Lean, *, fresh: bool) -> Built:
        """Compile a module into the stage, or put there what the same text gave before.

        The text is what was read and checked: its file may have changed since.
        """
        place = stage.joinpath(*m.name.split(".")).with_suffix(".olean")
        known = None if fresh else self._known(key, place)
        if known is not None:
            return known
        start = time.perf_counter()
        with tempfile.TemporaryDirectory(dir=stage) as folder:
            made, source = Path(folder) / "made", Path(folder, *m.name.split("."))
            source.parent.mkdir(parents=True, exist_ok=True)
            source.with_suffix(".lean").write_bytes(m.text.encode())
            outcome = lean.compile(source.with_suffix(".lean"), Path(folder), stage, made)
            if made.is_file():
                _put(made, place)
        built = Built(outcome, time.perf_counter() - start)
        if outcome.clean and place.is_file():
            self._write(self.folder / f"{key}.olean", place.read_bytes())
            self.save(key, {"olean": Store.digest(place), **asdict(built)})
        return built

    def _known(self, key: str, place: Path) -> Built | None:
        data, kept = self.load(key), self.folder / f"{key}.olean"
        try:
            built, digest = _built(data or {}), (data or {})["olean"]
        except (KeyError, TypeError, ValueError, AttributeError):
            return None
        if not kept.is_file() or Store.digest(kept) != digest:
            return None
        if not (place.is_file() and Store.digest(place) == digest):
            self._write(place, kept.read_bytes())
        return built

    def _write(self, file: Path, content: bytes) -> None:
        self._make(file.parent)
        handle, name = tempfile.mkstemp(dir=file.parent)
        with os.fdopen(handle, "wb") as f:
            f.write(content)
        _put(Path(name), file)

    def _make(self, folder: Path) -> None:
        """Make a folder that can be written to, or ProofError."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError as e:
            raise ProofError(
                f"{self.folder}: cannot be written to ({e.strerror}), and compiled proofs are kept "
                "there; set XDG_CACHE_HOME to a folder that can"
            ) from e


def _put(made: Path, place: Path) -> None:
    """Move a file to where an entry lies; a folder there is none, and goes."""
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    made.replace(place)


def _built(data: Mapping[str, Any]) -> Built:
    """A module as it was saved; an error if the entry is not of that form."""
    outcome = data["outcome"]
    messages = tuple(Message(**m) for m in outcome["messages"])
    times = {int(line): t for line, t in outcome["seconds"].items()}
    places = tuple((a, b, c, d) for a, b, c, d in outcome["commands"])
    found = Outcome(outcome["status"], messages, outcome["noise"], times, places)
    return Built(found, data["seconds"])
