"""Trials of mutants in rules and autodiff: draws that they derive differently go to the rung.

Defines `steps_of`, what happens to a case before it is lowered, and `search`, the first finding of
the rung `rewrite` among some cases. Relies on checks being functions of what they check: a case
whose gradient and every step are those of a clean process gets the clean answer, and only the
others are checked. A case in which the replaced function is not called is not even derived again.
It lowers nothing and needs no device.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import CodeType, FrameType, FunctionType
from typing import TypeVar

from tang.errors import FormatError, LimitError
from tang.fuzz.case import Case
from tang.fuzz.mutants.apply import Mutant, replacements
from tang.ir.graph import Graph
from tang.rewrite import rewrite
from tang.rewrite.local import Application
from tang.verify import Finding, Rung, Verdict
from tang.verify.derive import derive, differentiated

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Steps:
    """Every graph on the way of a case through its recipe; `error` is what one step raised."""

    gradient: Graph | None = None
    applications: tuple[Application, ...] = ()
    result: Graph | None = None
    error: str = ""


def steps_of(case: Case) -> Steps | None:
    """What the recipe does, unchecked; None without a recipe."""
    if case.recipe is None:
        return None
    derivation, graph = case.recipe.derivation, case.graph
    seen: list[Application] = []

    def keep(application: Application) -> None:
        seen.append(application)

    made = None
    try:
        if derivation.gradient is not None:
            made = graph = differentiated(graph, derivation)
        result = rewrite(graph, derivation.rules, derivation.strict, check=keep).graph
    except Exception as e:  # noqa: BLE001 - whatever a step raises is part of what it does
        return Steps(made, tuple(seen), None, f"{type(e).__name__}: {e}")
    return Steps(made, tuple(seen), result)


def replaced_code(mutant: Mutant) -> CodeType | None:
    """The code of the function that a mutant replaces; None when that is no function."""
    ((original, _),) = replacements(mutant)
    function = getattr(original, "__wrapped__", original)
    return function.__code__ if isinstance(function, FunctionType) else None


@dataclass(slots=True)
class Clean:
    """What a process without a mutant does with cases: steps, and which functions it calls.

    forget  empties caches before each case, since a cached function is not called
    """

    watched: frozenset[CodeType | None]
    forget: Callable[[], None]
    steps: list[Steps | None] = field(default_factory=list)
    calls: list[frozenset[CodeType]] = field(default_factory=list)

    def grow(self, cases: Sequence[Case]) -> None:
        """Know what is done with all these cases, of which the first are known."""
        for case in cases[len(self.steps) :]:
            self.forget()
            steps, called = _called(partial(steps_of, case), self.watched)
            self.steps.append(steps)
            self.calls.append(frozenset(called))


def _called(
    question: Callable[[], T], codes: frozenset[CodeType | None]
) -> tuple[T, set[CodeType]]:
    """An answer, and which of some functions were called for it."""
    called: set[CodeType] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code in codes:
            called.add(frame.f_code)

    sys.setprofile(note)
    try:
        return question(), called
    finally:
        sys.setprofile(None)


def search(
    cases: Sequence[Case], clean: Clean, code: CodeType | None, start: int, stop: int
) -> tuple[int, Finding] | None:
    """The first of draws start … stop − 1 with a finding where a mutant is planted.

    code  what it replaces, None when that is not known
    """
    for index in range(start, stop):
        reached = code is None or code in clean.calls[index]
        if reached and steps_of(cases[index]) != clean.steps[index]:
            finding = _checked(cases[index])
            if finding is not None:
                return index, finding
    return None


def _checked(case: Case) -> Finding | None:
    """The finding of the rung as the ladder has it; limits are none."""
    if case.recipe is None:
        return None
    try:
        found = derive(case.graph, case.inputs, case.recipe.derivation).findings
    except (FormatError, LimitError):
        return None
    except Exception as e:  # noqa: BLE001 - a suspect that raises anything at all is a finding
        kind = type(e).__name__
        return Finding(Rung.REWRITE, Verdict.WRONG, f"{kind}: {e}", origin=f"raised {kind}")
    return found[0] if found else None
