"""The catalogue of mutants.

Gathers those of rules, autodiff, lowering, expand-math, emission, devices and precision in
`MUTANTS`, and finds one by name. Relies on the lists of the other modules. It applies nothing.
"""

from __future__ import annotations

from typing import Final

from tang.errors import TangBugError
from tang.fuzz.mutants import (
    differentiating,
    differentiating_blind,
    rewriting,
    rewriting_blind,
)
from tang.fuzz.mutants.apply import Mutant
from tang.fuzz.mutants.cooperation import COOPERATION
from tang.fuzz.mutants.device_jobs import DEVICE_JOBS
from tang.fuzz.mutants.emission import EMISSION
from tang.fuzz.mutants.expanding import EXPANDING
from tang.fuzz.mutants.inlining import INLINING
from tang.fuzz.mutants.lowering import LOWERING
from tang.fuzz.mutants.precision import PRECISION
from tang.fuzz.mutants.precision_lowering import PRECISION_LOWERING
from tang.fuzz.mutants.precision_text import PRECISION_TEXT
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

DERIVING: Final[tuple[Mutant, ...]] = (
    *rewriting.REWRITING,
    *rewriting_blind.REWRITING_BLIND,
    *differentiating.DIFFERENTIATING,
    *differentiating_blind.DIFFERENTIATING_BLIND,
)
"""Those in rules and in autodiff, to be found on the rung `rewrite`."""

PRECISIONS: Final[tuple[Mutant, ...]] = (*PRECISION, *PRECISION_LOWERING, *PRECISION_TEXT)
"""Those in formats narrower than f32 and in runs; each names one of four rungs."""

MUTANTS: Final[tuple[Mutant, ...]] = (
    *DERIVING,
    *LOWERING,
    *COOPERATION,
    *INLINING,
    *EXPANDING,
    *EMISSION,
    *EVERYWHERE,
    *PRECISIONS,
)


def mutant_named(name: str) -> Mutant:
    """The mutant of that name; raises TangBugError naming the known ones."""
    for mutant in MUTANTS:
        if mutant.name == name:
            return mutant
    raise TangBugError(f"no mutant {name!r}: one of {', '.join(m.name for m in MUTANTS)}")


def rules_of(mutant: Mutant) -> frozenset[str]:
    """The rules of which one must be named when a mutant is found; autodiff is judged as "grad"."""
    modules = (rewriting, rewriting_blind, differentiating, differentiating_blind)
    tables = (*(m.RULE_OF for m in modules), rewriting.SHARED)
    texts = [t[mutant.name] for t in tables if mutant.name in t]
    names = (name.strip() for text in texts for name in text.split(","))
    return frozenset("grad" if n.startswith("grad:") else n for n in names)
