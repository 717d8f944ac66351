"""Mutants: planted faults that every campaign must find.

Gathers the catalogue and how a mutant is applied; `power` runs campaigns against it. Relies on
dotted paths into the suspects. A mutant is only ever planted in a worker process.
"""

from tang.fuzz.mutants.apply import Mutant, apply_mutant
from tang.fuzz.mutants.catalogue import MUTANTS, mutant_named

__all__ = ["MUTANTS", "Mutant", "apply_mutant", "mutant_named"]
