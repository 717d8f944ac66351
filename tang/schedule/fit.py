"""Fitting a schedule to a graph whose nodes were rewritten.

Defines `fit_schedule`. Relies on the checks of `tang.kernel.schedule`. It chooses nothing: what
does not apply is dropped, what applies stays.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tang.errors import ScheduleError
from tang.ir.graph import Comprehension, Graph
from tang.kernel.schedule import NodeSchedule, Schedule, check_schedule


def fit_schedule(schedule: Schedule, graph: Graph) -> Schedule:
    """The schedule with an entry for every node of the graph, legal for each.

    Nodes that are gone lose their entry. Where an entry is illegal for what a node has become (a
    split of a map, say), lanes are dropped first, then the split, then everything.
    """
    nodes = tuple((n.name, _fitted(schedule.of(n.name), n, graph)) for n in graph.nodes)
    return Schedule(nodes=nodes, default=NodeSchedule())


def _fitted(wanted: NodeSchedule, node: Comprehension, graph: Graph) -> NodeSchedule:
    alone = replace(graph, nodes=(node,))
    for s in _candidates(wanted, node):
        try:
            check_schedule(Schedule(nodes=((node.name, s),)), alone)
        except ScheduleError:
            continue
        return s
    return NodeSchedule()


def _candidates(s: NodeSchedule, node: Comprehension) -> Iterator[NodeSchedule]:
    if node.monoid is not None and node.reduce:
        yield s
        yield replace(s, lanes=1)
    yield replace(s, lanes=1, split=1)
