"""Coverage: how often a campaign was where.

Defines `Coverage`, counts per cell and per outcome of a backend, which add up across workers, and
`coverage_of_draws`, the counts of a campaign that is not run. Relies on `features` for the cells.
It stores no cases.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from tang.fuzz.case import Case, draw_case
from tang.fuzz.derivations import Recipe, derived_program, drawn_cells
from tang.fuzz.features import CELLS, cells_of, features
from tang.fuzz.formats import ALL, Formats
from tang.ir.graph import Graph
from tang.kernel.schedule import Schedule
from tang.verify import Report

_KNOWN: Final = frozenset(cells_of(ALL))
"""What is counted: people and rules also use monoids that no draw has."""


@dataclass(slots=True)
class Coverage:
    """Counts of draws.

    cells     draws per cell of `cells_of(formats)`
    outcomes  (backend, outcome) → draws; outcomes are verdict names and "rejected"
    """

    draws: int = 0
    cells: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    composed: int = 0
    """Draws with two or more nodes and a reduction."""
    formats: Formats = ALL

    def add(self, case: Case, report: Report | None = None) -> None:
        """Count one draw; its report, where it has one, spares deriving it again."""
        found = (features(case) | _derived(case, report)) & _KNOWN
        self.draws += 1
        self.cells.update(found)
        self.composed += {"graph:several-nodes", "graph:reduction"} <= found

    def merge(self, other: Coverage) -> None:
        """Add the counts of another worker."""
        self.draws += other.draws
        self.composed += other.composed
        self.cells.update(other.cells)
        self.outcomes.update(other.outcomes)

    def thin(self, least: int = 20) -> list[str]:
        """The cells with fewer than `least` draws, in the order of reports.

        A rule applies where a program has its pattern, which random programs seldom have: it
        counts as thin below `least` in forty thousand draws.
        """
        rare = least * self.draws // 40_000
        known = ((c, rare if c.startswith("applied:") else least) for c in cells_of(self.formats))
        return [c for c, wanted in known if self.cells[c] < wanted]

    def counts(self) -> dict[str, int]:
        """Draws of every cell, in the order of reports; cells without any are there too."""
        return {c: self.cells[c] for c in cells_of(self.formats)}

    def thin_text(self, least: int = 20) -> str:
        """Which cells have fewer than `least` draws, with their counts."""
        thin = [f"{c} {self.cells[c]}" for c in self.thin(least)]
        if not thin:
            return f"every cell has at least {least} draws"
        return f"cells with fewer than {least} draws: {', '.join(thin)}"

    def text(self) -> str:
        """Two columns per group of cells, then the outcomes per backend."""
        lines = [f"coverage of {self.draws} draws ({self.composed} with two nodes and a reduction)"]
        if self.formats != ALL:
            lines.append(f"  {_formats_text(self.formats)}")
        groups: dict[str, list[str]] = {}
        for cell in cells_of(self.formats):
            group, name = cell.split(":", 1)
            groups.setdefault(group, []).append(f"{name} {self.cells[cell]}")
        for group, entries in groups.items():
            lines += _wrapped(f"  {group:<9}", entries)
        for (backend, outcome), count in sorted(self.outcomes.items()):
            lines.append(f"  {backend}: {outcome} {count}")
        return "\n".join(lines)


def _derived(case: Case, report: Report | None) -> frozenset[str]:
    """The cells of a case's recipe, and of the program that it makes."""
    if case.recipe is None:
        return frozenset()
    found = frozenset(drawn_cells(case.recipe))
    try:
        graph, schedule, applied = _program(case, case.recipe, report)
    except Exception:  # noqa: BLE001 - whatever a suspect raises is the ladder's to report
        return found
    made = replace(case, graph=graph, schedule=schedule, recipe=None)
    return found | features(made) | {f"applied:{name}" for name in applied}


def _program(
    case: Case, recipe: Recipe, report: Report | None
) -> tuple[Graph, Schedule, frozenset[str]]:
    """As `derived_program`, from the ladder's report where that came so far."""
    if report is None or report.derived is None:
        return derived_program(case.graph, recipe, case.formats)
    graph = report.derived
    return graph, recipe.scheduler(case.formats)(graph), report.rules()


def coverage_of(cases: Iterable[Case], formats: Formats = ALL) -> Coverage:
    """The coverage of some cases."""
    total = Coverage(formats=formats)
    for case in cases:
        total.add(case)
    return total


def coverage_of_draws(seed: int, examples: int, formats: Formats = ALL) -> Coverage:
    """What a campaign would cover, from its draws alone: nothing is compiled or run."""
    return coverage_of((draw_case(seed, i, formats) for i in range(examples)), formats)


def _formats_text(formats: Formats) -> str:
    gone = [c.split(":", 1)[1] for c in CELLS if c not in cells_of(formats)]
    dropped = f"; cells dropped: {', '.join(gone)}" if gone else ""
    return f"drawn {formats.text()}, which not every backend has{dropped}"


def _wrapped(head: str, entries: list[str], width: int = 96) -> list[str]:
    lines, line = [], head
    for entry in entries:
        if len(line) + len(entry) + 2 > width:
            lines.append(line)
            line = " " * len(head)
        line += f" {entry},"
    return [*lines, line.rstrip(",")]
