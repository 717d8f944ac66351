"""Random places: which nodes of a drawn program are inlined, and which maps are epilogues.

Defines `draw_places` and the coverage cells of a place. Relies on lowering for what an epilogue may
be, and inlines no more than `DEEPEST` levels, since code multiplies with each. It draws nothing
else of a schedule. Shrinks to kernels for all nodes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from tang.errors import ScheduleError
from tang.fuzz.source import Source, chance
from tang.ir.graph import Comprehension, Graph, reads_of
from tang.kernel.lower.inline_places import Draft
from tang.kernel.schedule import NodeSchedule

DEEPEST: Final = 3
PLACES: Final = ("place-inline", "place-inline-reduction", "place-epilogue")
"""Cells of coverage."""

Rows = tuple[tuple[str, NodeSchedule], ...]


def draw_places(source: Source, graph: Graph, rows: Rows) -> Rows:
    """The schedules with places: mostly what can be inlined or follow another node does so."""
    wanted = {o.ref.node for o in graph.outputs}
    read = {r.source.node for n in graph.nodes for r in reads_of(n)}
    chosen, draft, level = dict(rows), Draft(), dict[str, int]()
    for node in graph.nodes:
        deep = 1 + max((level.get(r.source.node, 0) for r in reads_of(node)), default=0)
        free = node.name in read - wanted and deep <= DEEPEST
        if free and chance(source, 40 if node.monoid is None else 60):
            level[node.name] = deep
            draft.add(node, "inline")
            drawn = replace(chosen[node.name], place="inline", split=1, lanes=1)
        elif chance(source, 90) and _follows(draft, node):
            drawn = replace(chosen[node.name], place="epilogue")
        else:
            draft.add(node, "materialise")
            drawn = chosen[node.name]
        chosen[node.name] = drawn
    return tuple(chosen.items())


def _follows(draft: Draft, node: Comprehension) -> bool:
    """Whether a map can be an epilogue; it then is one in the draft."""
    if node.monoid is not None:
        return False
    try:
        draft.add(node, "epilogue")
    except ScheduleError:
        return False
    return True


def place_cells(node: Comprehension, chosen: NodeSchedule) -> Iterator[str]:
    """The cells that a node's place falls into."""
    if chosen.place == "inline":
        yield "place-inline"
        if node.monoid is not None:
            yield "place-inline-reduction"
    elif chosen.place == "epilogue":
        yield "place-epilogue"
