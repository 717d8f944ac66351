"""Rules of thumb: a schedule from the sizes of a graph.

Defines `schedule_auto` and `explain`, which says for every node what was chosen and from which
numbers. Relies on extents and declared facts; symbolic sizes count with the bounds that are known.
It runs nothing: what is really fast only a measurement tells.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod

from tang.ir.extent import Poly
from tang.ir.format import Format
from tang.ir.graph import Comprehension, Dim, Fact, Graph, require_graph
from tang.kernel.ir import F32, Type
from tang.kernel.schedule import NodeSchedule, Schedule, bytes_of
from tang.schedule.places import Weighed, choose_places


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the rules go by.

    busy        with this many points or more, every thread has work without a split
    long        a reduction with fewer elements per point is not split
    chunk       elements that a thread of a split folds at least
    most        chunks per reduction at most
    storage     format in which real results are stored
    accumulate  format of body, state and partial states
    workgroup   threads per workgroup
    """

    busy: int = 4096
    long: int = 1024
    chunk: int = 256
    most: int = 64
    storage: Type | Format = F32
    accumulate: Type | Format = F32
    workgroup: int = 64


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen for a node and why: points, elements per point (None: unknown), reason.

    placed  where it is computed, with the operations that inlining repeats, the bytes that it
            saves, and the ratio that they are compared with
    """

    node: str
    points: int | None
    elements: int | None
    split: int
    reason: str
    placed: Weighed

    def __str__(self) -> str:
        known = (f"{'?' if n is None else n}" for n in (self.points, self.elements))
        points, elements = known
        return (
            f"{self.node}: {points} points × {elements} elements, split {self.split}: {self.reason}"
            f"\n  {self.placed}"
        )


@dataclass(frozen=True, slots=True)
class Explanation:
    """A schedule and the choices behind it, one per node in program order, two lines each."""

    schedule: Schedule
    choices: tuple[Choice, ...]

    def __str__(self) -> str:
        return "\n".join(str(c) for c in self.choices)


def schedule_auto(graph: Graph, options: Options | None = None) -> Schedule:
    """A schedule by rules of thumb; `explain` gives the reasons."""
    return explain(graph, options).schedule


def explain(graph: Graph, options: Options | None = None) -> Explanation:
    """The schedule of `schedule_auto` with a reason for every node."""
    o = options or Options()
    facts = {f.symbol: f for f in require_graph(graph).facts}
    splits = {n.name: _split(n, facts, o) for n in graph.nodes}
    chunks = {name: split for name, (split, _) in splits.items()}
    places = choose_places(graph, bytes_of(o.storage), chunks)
    choices = tuple(_choose(n, facts, splits[n.name], places[n.name]) for n in graph.nodes)
    base = NodeSchedule(storage=o.storage, accumulate=o.accumulate, workgroup=o.workgroup)
    rows = ((c.node, replace(base, split=c.split, place=c.placed.place)) for c in choices)
    return Explanation(
        Schedule(nodes=tuple(r for r in rows if r[1] != base), default=base), choices
    )


def _split(node: Comprehension, facts: Mapping[str, Fact], o: Options) -> tuple[int, str]:
    """The number of chunks of a node and the reason."""
    points, elements = _volume(node.point, facts), _volume(node.reduce, facts)
    return _rule(node, points, elements, facts, o)


def _choose(
    node: Comprehension, facts: Mapping[str, Fact], split: tuple[int, str], placed: Weighed
) -> Choice:
    points, elements = _volume(node.point, facts), _volume(node.reduce, facts)
    return Choice(node.name, points, elements, *split, placed)


def _rule(
    node: Comprehension,
    points: int | None,
    elements: int | None,
    facts: Mapping[str, Fact],
    o: Options,
) -> tuple[int, str]:
    """Split when there are few points and long reductions."""
    if node.monoid is None or not node.reduce:
        return 1, "nothing to reduce"
    if points is None or elements is None:
        return 1, "a size has no declared maximum"
    if points >= o.busy:
        return 1, f"at least {o.busy} points keep every thread busy"
    if elements < o.long:
        return 1, f"fewer than {o.long} elements per point"
    first = _volume(node.reduce[:1], facts) or 1
    wanted = min(elements // o.chunk, -(-o.busy // max(points, 1)), o.most, first)
    if wanted < 2:
        return 1, f"the first reduce dim, {node.reduce[0].name} = {first}, is too short to split"
    return wanted, f"few points, and {elements // wanted} elements for each chunk"


def _volume(dims: tuple[Dim, ...], facts: Mapping[str, Fact]) -> int | None:
    sizes = [_largest(d.extent, facts) for d in dims]
    known = [s for s in sizes if s is not None]
    return prod(known) if len(known) == len(sizes) else None


def _largest(extent: Poly, facts: Mapping[str, Fact]) -> int | None:
    """The extent at the largest declared sizes, or None."""
    sizes = {s: facts[s].maximum for s in extent.symbols if s in facts}
    bounded = {s: n for s, n in sizes.items() if n is not None}
    return extent.evaluate(bounded) if bounded.keys() == extent.symbols else None
