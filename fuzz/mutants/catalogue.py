"""The catalogue of mutants.

Gathers those of lowering, expand-math, emission and devices in `MUTANTS`, and finds one by name.
Relies on the lists of the other modules. It applies nothing.
"""

from __future__ import annotations

from typing import Final

from tang.errors import TangBugError
from tang.fuzz.mutants.apply import Mutant
from tang.fuzz.mutants.cooperation import COOPERATION
from tang.fuzz.mutants.device_jobs import DEVICE_JOBS
from tang.fuzz.mutants.emission import EMISSION
from tang.fuzz.mutants.expanding import EXPANDING
from tang.fuzz.mutants.inlining import INLINING
from tang.fuzz.mutants.lowering import LOWERING
from tang.fuzz.mutants.text_barriers import TEXT_BARRIERS
from tang.fuzz.mutants.text_frames import TEXT_FRAMES
from tang.fuzz.mutants.text_helpers import TEXT_HELPERS
from tang.fuzz.mutants.text_tables import TEXT_TABLES

EVERYWHERE: Final[tuple[Mutant, ...]] = (
    *TEXT_TABLES,
    *TEXT_HELPERS,
    *TEXT_FRAMES,
    *TEXT_BARRIERS,
    *DEVICE_JOBS,
)
"""Those over all emitters and devices."""

MUTANTS: Final[tuple[Mutant, ...]] = (
    *LOWERING,
    *COOPERATION,
    *INLINING,
    *EXPANDING,
    *EMISSION,
    *EVERYWHERE,
)


def mutant_named(name: str) -> Mutant:
    """The mutant of that name; raises TangBugError naming the known ones."""
    for mutant in MUTANTS:
        if mutant.name == name:
            return mutant
    raise TangBugError(f"no mutant {name!r}: one of {', '.join(m.name for m in MUTANTS)}")
