"""The time of schedules, for a search that may keep what is quicker.

Defines `timer_on`. Relies on `tang.compile` and on a device. It judges no errors, and what it says
is of this machine, now: a search that asks it depends on more than its arguments.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any

from tang.api import compile as compiled
from tang.ir.graph import Graph
from tang.kernel.schedule import Schedule


def timer_on(
    graph: Graph, inputs: Mapping[str, Any], target: str = "c", *, runs: int = 7
) -> Callable[[Schedule], float]:
    """A timer of schedules of a rewritten program: the median of so many runs on a device.

    The first run, which may compile, is not counted. Raises DeviceError for an unknown target.
    """
    known: dict[Schedule, float] = {}

    def seconds(schedule: Schedule) -> float:
        if schedule not in known:
            program = compiled(graph, target, schedule, rules=())
            program(inputs)
            known[schedule] = statistics.median(_once(program, inputs) for _ in range(runs))
        return known[schedule]

    return seconds


def _once(program: Callable[[Mapping[str, Any]], object], inputs: Mapping[str, Any]) -> float:
    start = time.perf_counter()
    program(inputs)
    return time.perf_counter() - start


__all__ = ["timer_on"]
