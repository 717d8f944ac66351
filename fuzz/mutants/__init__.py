"""Mutants: planted faults that every campaign must find.

Gathers the catalogue and how a mutant is applied. Relies on dotted paths into the suspects. Nothing
here runs in a process that is not meant to be wrong.
"""

from tang.fuzz.mutants.apply import Mutant, apply_mutant
from tang.fuzz.mutants.catalogue import MUTANTS

__all__ = ["MUTANTS", "Mutant", "apply_mutant"]
