"""Random places: which nodes of a drawn program are inlined, and which maps are epilogues.

Defines `draw_places` and the coverage cells of a place. Relies on lowering for what an epilogue may
be, and inlines no more than `DEEPEST` levels, since code multiplies with each, nor beyond `LONGEST`
and `LARGEST` steps, since time does. It draws nothing else of a schedule. Shrinks to kernels for
all nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from math import prod
from typing import Final

from tang.errors import ScheduleError
from tang.fuzz.source import Source, chance
from tang.ir.graph import Comprehension, Dim, Graph, reads_of
from tang.kernel.lower.inline_places import Draft
from tang.kernel.schedule import NodeSchedule

DEEPEST: Final = 3
LONGEST: Final = 1000
LARGEST: Final = 10_000
"""Steps of loops that a reader may spend on an inlined node: one of its points, and all of them.

Replay takes the points of a step together, and balls take them one by one."""

_SYMBOL: Final = 4
"""What a symbol counts as in these steps."""

PLACES: Final = ("place-inline", "place-inline-reduction", "place-epilogue")
"""Cells of coverage."""

Rows = tuple[tuple[str, NodeSchedule], ...]


def draw_places(source: Source, graph: Graph, rows: Rows) -> Rows:
    """The schedules with places: mostly what can be inlined or follow another node does so."""
    wanted = {o.ref.node for o in graph.outputs}
    read = {r.source.node for n in graph.nodes for r in reads_of(n)}
    chosen, draft, costs = dict(rows), Draft(), _costs(graph)
    for node in graph.nodes:
        free = node.name in read - wanted and costs.allow(node)
        if free and chance(source, 40 if node.monoid is None else 60):
            costs.inline(node)
            draft.add(node, "inline")
            drawn = replace(chosen[node.name], place="inline", split=1, lanes=1)
        elif chance(source, 90) and _follows(draft, node):
            drawn = replace(chosen[node.name], place="epilogue")
        else:
            draft.add(node, "materialise")
            drawn = chosen[node.name]
        chosen[node.name] = drawn
    return tuple(chosen.items())


@dataclass(slots=True)
class _Costs:
    """What the nodes inlined so far cost wherever they are read.

    longest  by node the steps of one point of a reader at most
    largest  by node the steps of all points of a reader at most
    level    by inlined node the inlined nodes below one another, itself included
    steps    by inlined node the steps of loops that compute one of its points
    """

    longest: dict[str, int] = field(default_factory=dict)
    largest: dict[str, int] = field(default_factory=dict)
    level: dict[str, int] = field(default_factory=dict)
    steps: dict[str, int] = field(default_factory=dict)

    def allow(self, node: Comprehension) -> bool:
        """Whether a node that is inlined as well stays within both limits."""
        steps = self._steps(node)
        long, large = self.longest.get(node.name, 1), self.largest.get(node.name, 1)
        fits = steps * long <= LONGEST and steps * large <= LARGEST
        return fits and self._level(node) <= DEEPEST

    def inline(self, node: Comprehension) -> None:
        """Count one more inlined node."""
        self.level[node.name] = self._level(node)
        self.steps[node.name] = self._steps(node)

    def _level(self, node: Comprehension) -> int:
        return 1 + max((self.level.get(r.source.node, 0) for r in reads_of(node)), default=0)

    def _steps(self, node: Comprehension) -> int:
        inner = sum(self.steps.get(r.source.node, 0) for r in reads_of(node))
        return points_of(node.reduce, _SYMBOL) * (1 + inner)


def points_of(dims: Iterable[Dim], symbol: int) -> int:
    """How many points dims have together, every symbol taken as one number."""
    return prod(max(0, d.extent.evaluate(dict.fromkeys(d.extent.symbols, symbol))) for d in dims)


def _costs(graph: Graph) -> _Costs:
    """Nothing inlined yet."""
    costs = _Costs()
    for node in graph.nodes:
        long = points_of(node.reduce, _SYMBOL)
        large = points_of(node.point, _SYMBOL) * long
        for name in {r.source.node for r in reads_of(node)}:
            costs.longest[name] = max(long, costs.longest.get(name, 1))
            costs.largest[name] = max(large, costs.largest.get(name, 1))
    return costs


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
