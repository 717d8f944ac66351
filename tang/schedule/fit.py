"""Fitting a schedule to a graph whose nodes were rewritten.

Defines `fit_schedule`. Relies on the checks of `tang.kernel.schedule`. It chooses nothing: what
does not apply is dropped, what applies stays.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tang.errors import ScheduleError
from tang.ir.graph import Comprehension, Graph
from tang.kernel.lower.inline_places import Draft
from tang.kernel.schedule import NodeSchedule, Schedule, check_schedule


def fit_schedule(schedule: Schedule, graph: Graph) -> Schedule:
    """The schedule with an entry for every node of the graph, legal for each.

    Nodes that are gone lose their entry. Where an entry is illegal for what a node has become (a
    split of a map, say), lanes are dropped first, then the split, then promotion, then everything.
    A node that can no longer be where it was is materialised.
    """
    known, draft = dict(reversed(schedule.nodes)), Draft()
    wanted = {o.ref.node for o in graph.outputs}
    nodes: list[tuple[str, NodeSchedule]] = []
    for node in graph.nodes:
        s = _fitted(known.get(node.name, schedule.default), node, graph)
        if s.place == "inline" and (node.name in wanted or s.split > 1 or s.lanes > 1):
            s = replace(s, place="materialise")
        nodes.append((node.name, _placed(draft, node, s)))
    return Schedule(nodes=tuple(nodes), default=NodeSchedule())


def _placed(draft: Draft, node: Comprehension, s: NodeSchedule) -> NodeSchedule:
    try:
        draft.add(node, s.place)
    except ScheduleError:
        s = replace(s, place="materialise")
        draft.add(node, s.place)
    return s


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
    yield replace(s, lanes=1, split=1, promote=0, partial=None)
