"""Schedules as data: how each node is computed, never what.

Defines `Schedule` and `NodeSchedule`. Relies on the kernel types; choosing a schedule is the work
of `tang.schedule`, obeying it the work of lowering, checking names that of `check_schedule`.
"""

from __future__ import annotations

from dataclasses import dataclass

from tang.errors import ScheduleError
from tang.ir.graph import Graph
from tang.kernel.ir import F32, Type


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSchedule:
    """How one node is computed.

    split       number of contiguous chunks of the first reduce dim that are folded by different
                threads; a second kernel combines the partial states in order (1: no split)
    storage     format in which real results are stored
    accumulate  format of body, state and partial states
    workgroup   threads per workgroup
    """

    split: int = 1
    storage: Type = F32
    accumulate: Type = F32
    workgroup: int = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """Per node name a NodeSchedule; nodes not named take `default`."""

    nodes: tuple[tuple[str, NodeSchedule], ...] = ()
    default: NodeSchedule = NodeSchedule()

    def of(self, node: str) -> NodeSchedule:
        return next((s for n, s in self.nodes if n == node), self.default)


def check_schedule(schedule: Schedule, graph: Graph) -> None:
    """Raise ScheduleError for unknown nodes, bad numbers and types that are no floats."""
    if not isinstance(schedule, Schedule):
        raise ScheduleError(f"a schedule is a tang.kernel.schedule.Schedule, not {schedule!r}")
    known = {n.name for n in graph.nodes}
    for name, s in schedule.nodes:
        if name not in known:
            raise ScheduleError(
                f"schedule names {name!r}; the graph has {', '.join(sorted(known))}"
            )
        _check_node(name, s)
    _check_node("default", schedule.default)


def _check_node(name: str, s: NodeSchedule) -> None:
    if not all(type(n) is int and n >= 1 for n in (s.split, s.workgroup)):
        raise ScheduleError(
            f"{name}: split and workgroup are ints of at least 1, not {s.split}, {s.workgroup}"
        )
    for label, t in (("storage", s.storage), ("accumulate", s.accumulate)):
        if not t.is_float:
            raise ScheduleError(f"{name}: {label} is a float format, not {t.value}")
