"""Schedules as data: how each node is computed, never what.

Defines `Schedule` and `NodeSchedule`. Relies on the kernel types; choosing a schedule is the work
of `tang.schedule`, obeying it the work of lowering, checking names that of `check_schedule`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Final

from tang.errors import ScheduleError
from tang.ir.expr import Sort
from tang.ir.graph import Comprehension, Graph
from tang.ir.monoid import Monoid
from tang.kernel.ir import F32, Type

WORKGROUP_BYTES: Final = 16384
"""Memory of a workgroup that every device has: WebGPU's maxComputeWorkgroupStorageSize."""

_WORD: Final = 4
"""Bytes that a small element may take: WGSL keeps f16 and bools of workgroups in words."""

PLACES: Final = ("materialise", "inline", "epilogue")
"""Where a node is computed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSchedule:
    """How one node is computed.

    split       number of contiguous chunks of the first reduce dim that are folded by different
                threads; a second kernel combines the partial states in order (1: no split)
    lanes       number of threads of one workgroup that fold one point together: each a contiguous
                chunk of the first reduce dim (of a split's chunk), then a tree over workgroup
                arrays combines neighbours in order (1: one thread a point). A workgroup is a
                multiple of it and holds several points
    storage     format in which real results are stored
    accumulate  format of body, state and partial states
    workgroup   threads per workgroup
    place       "materialise": a kernel and buffers of its own; "inline": neither, the value is
                computed wherever it is read, and rounded to `storage` there as if it had been
                stored; "epilogue" (of maps): computed in the kernel of the last node that it
                reads, by the thread that has that node's results (workgroup has no effect)
    """

    split: int = 1
    storage: Type = F32
    accumulate: Type = F32
    workgroup: int = 64
    lanes: int = 1
    place: str = "materialise"


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """Per node name a NodeSchedule; nodes not named take `default`."""

    nodes: tuple[tuple[str, NodeSchedule], ...] = ()
    default: NodeSchedule = NodeSchedule()

    def of(self, node: str) -> NodeSchedule:
        return next((s for n, s in self.nodes if n == node), self.default)

    def by_name(self, graph: Graph) -> dict[str, NodeSchedule]:
        """The schedule of every node of a graph."""
        named = dict(reversed(self.nodes))
        return {n.name: named.get(n.name, self.default) for n in graph.nodes}


def check_schedule(schedule: Schedule, graph: Graph) -> None:
    """Raise ScheduleError for unknown nodes, bad numbers, types that are no floats, and lanes
    whose states do not fit in the memory of a workgroup."""
    if not isinstance(schedule, Schedule):
        raise ScheduleError(f"a schedule is a tang.kernel.schedule.Schedule, not {schedule!r}")
    known = {n.name for n in graph.nodes}
    for name, s in schedule.nodes:
        if name not in known:
            raise ScheduleError(
                f"schedule names {name!r}; the graph has {', '.join(sorted(known))}: schedules "
                f"name nodes after rewriting (rules=() keeps a program as it is written)"
            )
        _check_node(name, s)
    _check_node("default", schedule.default)
    if schedule.default.place != "materialise":
        raise ScheduleError(
            f"default: place {schedule.default.place!r} is for nodes by name: whether it is "
            "possible depends on who reads them"
        )
    chosen = schedule.by_name(graph)
    for node in graph.nodes:
        _check_shared(node, chosen[node.name])


def _check_node(name: str, s: NodeSchedule) -> None:
    if not all(type(n) is int and n >= 1 for n in (s.split, s.workgroup, s.lanes)):
        raise ScheduleError(
            f"{name}: split, workgroup and lanes are ints of at least 1, "
            f"not {s.split}, {s.workgroup}, {s.lanes}"
        )
    if s.workgroup % s.lanes:
        raise ScheduleError(
            f"{name}: a workgroup holds whole points, and {s.workgroup} threads are no multiple "
            f"of {s.lanes} lanes"
        )
    if s.place not in PLACES:
        raise ScheduleError(f"{name}: place is one of {', '.join(PLACES)}, not {s.place!r}")
    for label, t in (("storage", s.storage), ("accumulate", s.accumulate)):
        if not (isinstance(t, Type) and t.is_float):
            shown = t.value if isinstance(t, Type) else f"{t!r}: take one of tang.kernel.ir"
            raise ScheduleError(f"{name}: {label} is a float format, not {shown}")


def shared_bytes(monoid: Monoid, s: NodeSchedule) -> int:
    """At most so many bytes of workgroup memory hold the states of a workgroup with lanes."""
    sizes = {Sort.REAL: max(s.accumulate.bytes, _WORD), Sort.INDEX: 8, Sort.BOOL: _WORD}
    parts = (sizes[c.sort] * prod(monoid.axis_size(a) for a in c.axes) for c in monoid.components)
    return s.workgroup * (sum(parts) + (_WORD if monoid.identity is None else 0))


def _check_shared(node: Comprehension, s: NodeSchedule) -> None:
    if s.lanes == 1 or node.monoid is None:
        return
    needed = shared_bytes(node.monoid, s)
    if needed > WORKGROUP_BYTES:
        raise ScheduleError(
            f"{node.name}: with lanes, the states of {s.workgroup} threads take up to {needed} "
            f"bytes of workgroup memory, and {WORKGROUP_BYTES} are there: make workgroup smaller"
        )
