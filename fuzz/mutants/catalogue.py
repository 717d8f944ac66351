"""The catalogue of mutants.

Gathers those of lowering, expand-math and emission in `MUTANTS`, and finds one by name. Relies on
the three lists. It applies nothing.
"""

from __future__ import annotations

from typing import Final

from tang.errors import TangBugError
from tang.fuzz.mutants.apply import Mutant
from tang.fuzz.mutants.emission import EMISSION
from tang.fuzz.mutants.expanding import EXPANDING
from tang.fuzz.mutants.lowering import LOWERING

MUTANTS: Final[tuple[Mutant, ...]] = (*LOWERING, *EXPANDING, *EMISSION)


def mutant_named(name: str) -> Mutant:
    """The mutant of that name; raises TangBugError naming the known ones."""
    for mutant in MUTANTS:
        if mutant.name == name:
            return mutant
    raise TangBugError(f"no mutant {name!r}: one of {', '.join(m.name for m in MUTANTS)}")
