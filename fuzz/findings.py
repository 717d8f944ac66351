"""Findings on disk: a folder per distinct fault, made whole or not at all.

Defines `write_finding` and the text of its repro program. Relies on the JSON of graphs and
schedules; arrays are written as text in the program and as .npz beside it. It runs no check.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Collection
from itertools import chain, count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tang.fuzz.case import Case
from tang.fuzz.check import is_foreign
from tang.fuzz.derivations import recipe_data
from tang.fuzz.schedule_json import schedule_to_json
from tang.fuzz.worker import Shrunk
from tang.ir import to_json, to_text
from tang.verify import Finding

Array = NDArray[Any]


def write_finding(
    out: Path,
    shrunk: Shrunk,
    backends: tuple[str, ...],
    origin: str,
    taken: Collection[Path] = (),
) -> Path:
    """Write one finding under `out` and return its folder, which replaces one of that name.

    taken  folders of other findings of the campaign, which are not replaced
    """
    out.mkdir(parents=True, exist_ok=True)
    name = folder_name(shrunk.finding)
    names = chain((name,), (f"{name}-{n}" for n in count(2)))
    folder = next(out / n for n in names if out / n not in taken)
    made = Path(tempfile.mkdtemp(prefix=".writing-", dir=out))
    made.chmod(0o755)
    for name, text in _files(shrunk, backends, origin, folder).items():
        (made / name).write_text(text, encoding="utf-8")
    np.savez(made / "inputs.npz", allow_pickle=False, **shrunk.case.inputs)
    if folder.exists():
        shutil.rmtree(folder)
    made.rename(folder)
    return folder


def folder_name(finding: Finding) -> str:
    """rung-verdict-backend-origin, in letters that every file system takes."""
    parts = [p for p in finding.bucket if p]
    return re.sub(r"[^A-Za-z0-9]+", "-", "-".join(parts)).strip("-").lower()[:100]


def _files(shrunk: Shrunk, backends: tuple[str, ...], origin: str, folder: Path) -> dict[str, str]:
    case = shrunk.case
    return {
        "graph.json": to_json(case.graph),
        "schedule.json": schedule_to_json(case.schedule),
        "repro.py": repro_text(case, shrunk.finding, backends, origin),
        "report.txt": _report_text(shrunk, origin, folder),
        **shrunk.kernels,
    }


def _report_text(shrunk: Shrunk, origin: str, folder: Path) -> str:
    command = f"python {os.fspath(folder.absolute() / 'repro.py')}"
    inputs = "\n".join(
        f"{name} = {np.array2string(a, threshold=200)}" for name, a in shrunk.case.inputs.items()
    )
    return "\n".join(
        (
            shrunk.finding.to_text(),
            "",
            f"found by: {origin}",
            f"run again: {command}",
            "",
            "inputs",
            inputs,
            "",
            "program",
            to_text(shrunk.case.graph),
            "",
            "the whole report",
            shrunk.text,
            "",
        )
    )


def repro_text(case: Case, finding: Finding, backends: tuple[str, ...], origin: str) -> str:
    """A program that exits 1 while the fault is there and 0 once it is gone."""
    kept = tuple(map(_absolute, (finding.backend,) if finding.backend in backends else backends))
    arrays = "".join(
        f"    {name!r}: {_array_text(array)},\n" for name, array in case.inputs.items()
    )
    return f'''"""{finding.verdict.value} at rung {finding.rung.value}.

{origin}. Exits 1 with the fault, 0 without.
"""

import sys
{_found_from(kept)}
from numpy import array, inf, nan, zeros  # noqa: F401

from tang.fuzz import reproduce

GRAPH = r"""
{to_json(case.graph)}"""

SCHEDULE = r"""
{schedule_to_json(case.schedule)}"""

INPUTS = {{
{arrays}}}

sys.exit(reproduce(GRAPH, SCHEDULE, INPUTS, backends={kept!r}{_recipe_text(case)}))
'''


def _recipe_text(case: Case) -> str:
    return f", recipe={recipe_data(case.recipe, case.formats)!r}" if case.recipe else ""


def _absolute(backend: str) -> str:
    """The backend as it is named from any folder."""
    place, _, attribute = backend.rpartition(":")
    if not place.endswith(".py"):
        return backend
    return f"{os.fspath(Path(place).absolute())}:{attribute}"


def _found_from(backends: tuple[str, ...]) -> str:
    """The line that finds modules of this folder from any other."""
    if not any(is_foreign(b) and ".py:" not in b for b in backends):
        return ""
    return f"\nsys.path.insert(0, {os.fspath(Path.cwd())!r})\n"


def _array_text(a: Array) -> str:
    """An expression with exactly the array's values."""
    if a.size == 0:
        return f"zeros({a.shape}, {a.dtype.name!r})"
    return f"array({a.tolist()!r}, {a.dtype.name!r})"
