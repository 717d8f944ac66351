"""Random schedules for a graph.

Defines `draw_schedule`. Relies on the schedule types alone. It never splits a node whose laws hold
for finite values only, nor gives it lanes, when its values may not be finite. A node that needs
functions does not compute in f64, which has no portable ones, nor one with a constant beyond f16
in f16, which no emitter would print. Shrinks to the default schedule.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import replace
from fractions import Fraction
from typing import Final

from tang.fuzz.formats import ALL, Formats
from tang.fuzz.places import draw_places
from tang.fuzz.source import Source, chance, choose, weighted
from tang.ir.expr import Expr, walk
from tang.ir.format import format_named
from tang.ir.graph import Comprehension, Graph, reads_of
from tang.ir.monoid import Monoid
from tang.kernel.ir import F16, F32, F64, Type
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
    default = NodeSchedule(storage=weighted(source, formats.inputs))
    nodes = tuple((n.name, _draw_node(source, n, n.name in in_order, formats)) for n in graph.nodes)
    placed = source.part(lambda s: draw_places(s, graph, nodes))
    return Schedule(nodes=placed, default=default)


def needs_functions(node: Comprehension) -> bool:
    """Whether the node needs a portable function."""
    return any(e.op in FUNCTIONS for e in _expressions(node))


def _expressions(node: Comprehension) -> Iterator[Expr]:
    """Everything that a kernel of the node may compute."""
    parts = node.body
    if node.monoid is not None:
        identity = node.monoid.identity or ()
        parts += node.monoid.lift + node.monoid.combine + node.monoid.project + identity
    fills = tuple(r.view.fill for r in reads_of(node) if r.view.fill is not None)
    return walk(*parts, *fills)


def in_range(node: Comprehension, format_: Type) -> bool:
    """Whether the format holds every constant of the node."""
    largest = format_named(format_.value).largest
    constants = (e.payload for e in _expressions(node) if e.op == "real")
    return all(abs(c) <= largest for c in constants if isinstance(c, Fraction))


def _draw_node(
    source: Source, node: Comprehension, in_order: bool, allowed: Formats
) -> NodeSchedule:
    """One node's schedule; shrinks to the default."""
    splittable = node.monoid is not None and not in_order
    split = choose(source, SPLITS) if splittable else 1
    lanes = weighted(source, _WEIGHTS) if splittable else 1
    storage, accumulate = weighted(source, allowed.pairs)
    workgroup = choose(source, WORKGROUPS)
    if not _computable(node, accumulate):
        accumulate = F32
    drawn = NodeSchedule(
        split=split, storage=storage, accumulate=accumulate, workgroup=workgroup, lanes=lanes
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


def _computable(node: Comprehension, accumulate: Type) -> bool:
    """Whether the node can be computed in the format at all."""
    if accumulate is F64:
        return not needs_functions(node)
    return accumulate is not F16 or in_range(node, F16)
