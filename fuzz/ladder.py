"""The ladder as a check of cases.

Defines `Ladder`, which hands batches to `tang.verify`, and the rung that an exception accuses.
Relies on `verify_batch`, which compiles the kernels of a whole batch together. It compares nothing
itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Final

from tang.fuzz.case import Case
from tang.verify import Report, Rung, Task, verify_batch

_PLACES: Final = (
    ("kernel/expand", Rung.EXPAND),
    ("tang/rewrite", Rung.REWRITE),
    ("tang/autodiff", Rung.REWRITE),
    ("tang/kernel", Rung.LOWER),
    ("tang/schedule", Rung.LOWER),
    ("tang/emit", Rung.EMIT),
    ("tang/device", Rung.EMIT),
    ("emulator", Rung.ROUND),
)


class Ladder:
    """Every rung, on some of tang's own backends (on none: the rungs up to replay)."""

    def __init__(self, backends: Sequence[str] = ("c",)) -> None:
        self._backends = tuple(backends)

    def check(self, cases: Sequence[Case]) -> list[Report]:
        """One report per case; kernels of all cases are compiled together."""
        return verify_batch([task_of(c) for c in cases], self._backends)

    def close(self) -> None:
        """Nothing: open backends live as long as their process."""


def task_of(case: Case) -> Task:
    """What the verifier is asked about a case."""
    recipe = case.recipe
    return Task(
        graph=case.graph,
        inputs=case.inputs,
        schedule=case.schedule if recipe is None else recipe.scheduler(case.formats),
        derivation=None if recipe is None else recipe.derivation,
        name=case.name,
    )


def accused(traceback: str) -> tuple[Rung, str]:
    """The rung that the last of tang's own frames in a traceback belongs to, and that frame."""
    frames = [line.strip() for line in traceback.splitlines() if line.strip().startswith("File ")]
    for frame in reversed(frames):
        path = PurePath(frame.split('"')[1]).as_posix()
        for place, rung in _PLACES:
            if f"/{place}/" in path:
                return rung, frame
    return Rung.LOWER, frames[-1] if frames else "no traceback"
