"""The catalogue of mutants."""

from typing import Final

from tang.fuzz.mutants.apply import Mutant

MUTANTS: Final[tuple[Mutant, ...]] = ()
