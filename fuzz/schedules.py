"""Random schedules for a graph.

Defines `draw_schedule`. Relies on the schedule types alone. It never splits a node whose laws hold
for finite values only when its values may not be finite. Shrinks to the default schedule.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Final

from tang.fuzz.source import Source, chance, choose, weighted
from tang.ir.graph import Comprehension, Graph
from tang.kernel.ir import F32, F64
from tang.kernel.schedule import NodeSchedule, Schedule

SPLITS: Final = (1, 2, 3, 4, 5)
WORKGROUPS: Final = (64, 1, 8, 32, 256)


def draw_schedule(source: Source, graph: Graph, in_order: Set[str] = frozenset()) -> Schedule:
    """A schedule per node, or the default for all; nodes `in_order` stay in one chunk."""
    if not chance(source, 75):
        return Schedule()
    nodes = tuple((n.name, _draw_node(source, n, n.name in in_order)) for n in graph.nodes)
    return Schedule(nodes=nodes)


def _draw_node(source: Source, node: Comprehension, in_order: bool) -> NodeSchedule:
    """One node's schedule; shrinks to the default."""
    splittable = node.monoid is not None and not in_order
    split = choose(source, SPLITS) if splittable else 1
    formats = weighted(source, ((80, (F32, F32)), (8, (F32, F64)), (12, (F64, F64))))
    workgroup = choose(source, WORKGROUPS)
    return NodeSchedule(split=split, storage=formats[0], accumulate=formats[1], workgroup=workgroup)
