"""Trials of mutants in rules and autodiff: draws that they derive differently go to the rung.

Defines `steps_of`, what happens to a case before it is lowered, and `search`, the first finding of
the rung `rewrite` among some cases. Relies on checks being functions of what they check: a case
whose gradient and every step are those of a clean process gets the clean answer, and only the
others are checked. It lowers nothing and needs no device.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tang.autodiff import grad
from tang.errors import FormatError, LimitError
from tang.fuzz.case import Case
from tang.ir.graph import Graph
from tang.rewrite import rewrite
from tang.rewrite.local import Application
from tang.verify import Finding
from tang.verify.derive import derive


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
            made = graph = grad(graph, derivation.gradient.loss, derivation.gradient.wrt)
        result = rewrite(graph, derivation.rules, derivation.strict, check=keep).graph
    except Exception as e:  # noqa: BLE001 - whatever a step raises is part of what it does
        return Steps(made, tuple(seen), None, f"{type(e).__name__}: {e}")
    return Steps(made, tuple(seen), result)


def search(
    cases: Sequence[Case], clean: Sequence[Steps | None], start: int, stop: int
) -> tuple[int, Finding] | None:
    """The first of draws start … stop − 1 with a finding where a mutant is planted."""
    for index in range(start, stop):
        case = cases[index]
        if case.recipe is not None and steps_of(case) != clean[index]:
            finding = _checked(case)
            if finding is not None:
                return index, finding
    return None


def _checked(case: Case) -> Finding | None:
    """The finding of the rung; limits are none."""
    if case.recipe is None:
        return None
    try:
        found = derive(case.graph, case.inputs, case.recipe.derivation).findings
    except (FormatError, LimitError):
        return None
    return found[0] if found else None
