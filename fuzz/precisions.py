"""Random precision for a drawn schedule: narrow formats, roundings, overflows and runs.

Defines `draw_precisions` and the coverage cells of what it draws. Relies on what formats hold and
on what an overflow is in each. It changes no program, no data and no split: it is drawn last, and a
node keeps its formats in most draws. Shrinks to the schedule as it was given.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import replace
from typing import Final

from tang.fuzz.formats import OWN
from tang.fuzz.places import points_of
from tang.fuzz.schedules import in_range
from tang.fuzz.source import Source, chance, choose, weighted
from tang.ir.format import Format
from tang.ir.graph import Comprehension, Graph
from tang.ir.monoid import Monoid
from tang.kernel.ir import BF16, F16, F32, F64, Type
from tang.kernel.narrow import (
    E2M1,
    E2M3,
    E3M2,
    E4M3FN,
    E5M2,
    OVERFLOWS,
    ROUNDINGS,
    TF32,
    USUAL,
    overflows,
)
from tang.kernel.schedule import NodeSchedule, Schedule, format_of, includes

NARROW: Final = (E4M3FN, E5M2, TF32, E3M2, E2M3, E2M1, OWN)
RUNS: Final = (2, 1, 3, 4, 8)
_LONG: Final = 100
_PARTIAL: Final = (F16, BF16, F32, *NARROW)

PRECISIONS: Final = (
    *(f"format-{f.name}" for f in NARROW),
    *("store-narrow", "add-narrow", "inputs-narrow"),
    *(f"rounding-{r}" for r in ROUNDINGS[1:]),
    *(f"overflow-{o}" for o in OVERFLOWS[1:]),
    *("runs", "runs-narrower", "runs-split", "runs-lanes", "runs-inline"),
)
"""Cells of coverage: narrow formats wherever they are, runs in the format of the fold or less."""


def draw_precisions(
    source: Source, graph: Graph, schedule: Schedule, in_order: Set[str] = frozenset()
) -> Schedule:
    """The schedule with narrow formats and runs here and there; none for the default schedule.

    Nodes `in_order` have no runs, as these regroup their terms.
    """
    if not schedule.nodes:
        return schedule
    nodes = tuple(
        (name, _draw_node(source, graph.node(name), s, name in in_order))
        for name, s in schedule.nodes
    )
    default = schedule.default
    if chance(source, 10):
        default = replace(default, storage=choose(source, NARROW))
        default = _draw_rounding(source, default)
    return Schedule(nodes=nodes, default=default)


def _draw_node(
    source: Source, node: Comprehension, s: NodeSchedule, in_order: bool
) -> NodeSchedule:
    """One node's precision; shrinks to what it has."""
    narrow = weighted(source, ((76, ""), (9, "storage"), (9, "accumulate"), (6, "both")))
    if narrow in ("storage", "both"):
        s = replace(s, storage=choose(source, NARROW))
    if narrow in ("accumulate", "both"):
        s = replace(s, accumulate=choose(source, NARROW))
    often = 40 if s.lanes == 1 else 20  # what lanes do in runs is held to fewer checks
    if not in_order and has_identity(node.monoid) and chance(source, often):
        s = _draw_runs(source, node, s)
    return _draw_rounding(source, s)


def has_identity(monoid: Monoid | None) -> bool:
    """Whether a fold can be done in runs."""
    return monoid is not None and monoid.identity is not None


def _draw_runs(source: Source, node: Comprehension, s: NodeSchedule) -> NodeSchedule:
    wide = format_of(s.accumulate)
    fitting = [f for f in _PARTIAL if includes(wide, format_of(f)) and f != s.accumulate]
    fitting = [f for f in fitting if f is not F16 or in_range(node, F16)]
    every, partial = choose(source, _shorter_than(_chunk(node, s)) or RUNS), None
    if fitting and chance(source, 70):
        partial = choose(source, fitting)
    return replace(s, promote=every, partial=partial)


def _chunk(node: Comprehension, s: NodeSchedule) -> int:
    """The terms that one chunk of the fold has; symbols count as if their extent were long."""
    return -(-points_of(node.reduce, _LONG) // s.split)


def _shorter_than(terms: int) -> tuple[int, ...]:
    """Runs of which so many terms fill more than one."""
    return tuple(r for r in RUNS if r < terms)


def _draw_rounding(source: Source, s: NodeSchedule) -> NodeSchedule:
    """Now and then a rounding and an overflow of the formats that are rounded to."""
    rounded = [f for f in formats_in(s) if f not in (F32, F64)]
    if not rounded or not chance(source, 40):
        return s
    possible = [o for o in OVERFLOWS if all(_can(format_of(f), o) for f in rounded)]
    return replace(s, rounding=choose(source, ROUNDINGS), overflow=choose(source, possible))


def formats_in(s: NodeSchedule) -> Iterator[Type | Format]:
    """The formats of a node."""
    yield from (s.storage, s.accumulate)
    if s.partial is not None:
        yield s.partial


def _can(format_: Format, overflow: str) -> bool:
    return overflow == USUAL or overflow in overflows(format_)


def is_narrow(s: NodeSchedule) -> bool:
    """Whether storage or accumulation are of a format without a type."""
    return any(isinstance(f, Format) for f in (s.storage, s.accumulate))


def precision_cells(chosen: NodeSchedule) -> Iterator[str]:
    """The cells that a node's precision falls into."""
    narrow = [f for f in formats_in(chosen) if isinstance(f, Format)]
    yield from (f"format-{f.name}" for f in narrow)
    if isinstance(chosen.storage, Format):
        yield "store-narrow"
    if isinstance(chosen.accumulate, Format):
        yield "add-narrow"
    if chosen.rounding != "rne":
        yield f"rounding-{chosen.rounding}"
    if chosen.overflow != USUAL:
        yield f"overflow-{chosen.overflow}"
    if chosen.promote:
        yield "runs" if chosen.partial is None else "runs-narrower"
        places = {
            "split": chosen.split > 1, "lanes": chosen.lanes > 1, "inline": chosen.place == "inline"
        }  # fmt: skip
        yield from (f"runs-{name}" for name, holds in places.items() if holds)
