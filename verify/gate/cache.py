"""Results of unchanged programs, kept under a hash of everything that they depend on.

Defines `Cache` and `write_atomically`. Relies on atomic renames, so any number of processes may
share a folder. Only reports without any verdict but PASS are kept; what cannot be read back whole
is as if it were not there.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from tang.device.compiler import default_cache
from tang.verify.report import Report, RungResult
from tang.verify.verdict import Rung

VERSION: Final = 1


def write_atomically(path: Path, text: str) -> None:
    """Write a whole text file or nothing; raises OSError."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name[:40]}-", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def usual_folder() -> Path:
    """`tang/verified` in the user's cache folder."""
    return default_cache() / "verified"


@dataclass(frozen=True, slots=True)
class Cache:
    """A folder of passed reports by key."""

    folder: Path

    def get(self, key: str, name: str) -> Report | None:
        """The report kept under a key, with the given name; None when there is none."""
        try:
            entry = json.loads(self._path(key).read_text(encoding="utf-8"))
            found = _report(entry, key)
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            return None
        return None if found is None else replace(found, name=name)

    def put(self, key: str, report: Report) -> bool:
        """Keep a report if it passed without allowances; whether it was kept."""
        if report.verdicts():
            return False
        data = report.to_data()["results"]
        entry = {"version": VERSION, "key": key, "results": data, "check": _check(key, data)}
        path = self._path(key)
        with contextlib.suppress(OSError):  # a full or read-only disk costs time, not correctness
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_atomically(path, json.dumps(entry, indent=1) + "\n")
            return True
        return False

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"


def _check(key: str, data: object) -> str:
    text = json.dumps([VERSION, key, data], sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _report(entry: dict[str, Any], key: str) -> Report | None:
    """The report of an entry that is whole and belongs to the key."""
    results = entry["results"]
    if (entry["version"], entry["key"]) != (VERSION, key) or entry["check"] != _check(key, results):
        return None
    rows = tuple(map(_result, results))
    report = Report(results=rows)
    return None if report.verdicts() or not rows else report


def _result(row: dict[str, Any]) -> RungResult:
    return RungResult(**{**row, "rung": Rung(row["rung"]), "rules": tuple(row["rules"])})
