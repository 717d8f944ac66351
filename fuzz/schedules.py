"""Random schedules for a graph.

Defines `draw_schedule`. Relies on the schedule types alone. It never splits a node whose laws hold
for finite values only, nor gives it lanes, when its values may not be finite. A node that needs
functions computes in f32, the only format that has portable ones. Shrinks to the default schedule.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from typing import Final

from tang.fuzz.formats import ALL, Formats
from tang.fuzz.source import Source, chance, choose, weighted
from tang.ir.expr import walk
from tang.ir.graph import Comprehension, Graph
from tang.ir.monoid import Monoid
from tang.kernel.ir import F32
from tang.kernel.schedule import WORKGROUP_BYTES, NodeSchedule, Schedule, shared_bytes

SPLITS: Final = (1, 2, 3, 4, 5)
LANES: Final = (1, 2, 3, 8, 32)
_WEIGHTS: Final = ((50, 1), (10, 2), (12, 3), (13, 8), (15, 32))
WORKGROUPS: Final = (64, 1, 8, 32, 256)
FUNCTIONS: Final = ("exp2", "log2", "sin", "atan2", "erf")


def draw_schedule(
    source: Source, graph: Graph, in_order: Set[str] = frozenset(), formats: Formats = ALL
) -> Schedule:
    """A schedule per node, or the default for all; nodes `in_order` stay in one chunk."""
    if not chance(source, 75):
        return Schedule()
    nodes = tuple((n.name, _draw_node(source, n, n.name in in_order, formats)) for n in graph.nodes)
    return Schedule(nodes=nodes)


def _needs_functions(node: Comprehension) -> bool:
    """Whether the node needs a portable function, which exist for f32 alone."""
    parts = node.body
    if node.monoid is not None:
        parts += node.monoid.lift + node.monoid.combine + node.monoid.project
    return any(e.op in FUNCTIONS for e in walk(*parts))


def _draw_node(
    source: Source, node: Comprehension, in_order: bool, allowed: Formats
) -> NodeSchedule:
    """One node's schedule; shrinks to the default."""
    splittable = node.monoid is not None and not in_order
    split = choose(source, SPLITS) if splittable else 1
    lanes = weighted(source, _WEIGHTS) if splittable else 1
    formats = (F32, F32)
    if not _needs_functions(node):
        formats = weighted(source, allowed.pairs)
    workgroup = choose(source, WORKGROUPS)
    drawn = NodeSchedule(
        split=split, storage=formats[0], accumulate=formats[1], workgroup=workgroup, lanes=lanes
    )
    return drawn if node.monoid is None or lanes == 1 else _fitted(node.monoid, drawn)


def _fitted(monoid: Monoid, s: NodeSchedule) -> NodeSchedule:
    """The schedule with a workgroup of whole points whose states fit; without lanes if none does.

    Workgroups become the next multiple of the lanes.
    """
    most = WORKGROUP_BYTES // shared_bytes(monoid, replace(s, workgroup=s.lanes))
    if not most:
        return replace(s, lanes=1)
    return replace(s, workgroup=s.lanes * min(-(-s.workgroup // s.lanes), most))
