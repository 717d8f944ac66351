"""Emulation: the bits that a program will give, before any device runs it.

Defines `emulate` at two levels, and `folded`. Relies on replay, the executable meaning of plans:
"schedule" follows the schedule operation by operation; "fold" keeps the formats and folds every
reduction one element after the other, as predictions that know no schedule do. It runs nothing on a
device, and functions of a device's own are beyond it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from tang.budget.prepared import subject_of
from tang.emulator.replay import replay
from tang.errors import ScheduleError
from tang.ir.expr import BOOL
from tang.ir.given import one_of
from tang.ir.graph import Graph
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.verify.subject import Subject

Array = npt.NDArray[Any]
Level = Literal["schedule", "fold"]
Math = Literal["portable", "exact"]

_CURE: Final = "emulate with math='exact'"
"""Of functions in f64, which are rounded correctly there."""
LEVELS: Final = ("schedule", "fold")
MATHS: Final = ("portable", "exact")


def emulate(
    graph: Graph,
    inputs: Mapping[str, Any],
    precision: object = None,
    level: Level = "schedule",
    *,
    rules: Iterable[str] | None = None,
    math: Math = "portable",
) -> dict[str, Array]:
    """The outputs by name, in the types in which a compiled program returns them.

    precision  a preset's name, JSON, a file or a Schedule; None takes `schedule_auto`
    level      "schedule": bit for bit what `tang.compile` with this schedule computes on an IEEE
               device; "fold": every reduction as one sequential fold in the same formats
    rules      of `tang.compile`: None takes the pipeline, () leaves the program as it is
    math       "portable": tang's own functions; "exact": each function correctly rounded,
               in f64 too, where there are no portable ones
    Raises ScheduleError for an unknown level, math or precision.
    """
    one_of(level, LEVELS, "level", ScheduleError)
    if not isinstance(math, str) or math not in MATHS:
        raise ScheduleError(
            f"math is one of {', '.join(MATHS)}, not {math!r}: native functions belong to a "
            "device, and only a run of it tells their bits"
        )
    change = folded if level == "fold" else None
    subject = subject_of(
        graph, inputs, precision, rules=rules, change=change, cure=_CURE,
        math="native" if math == "exact" else "portable",
    )  # fmt: skip
    return outputs_of(subject, math)


def folded(schedule: Schedule) -> Schedule:
    """The schedule with every reduction as one sequential fold, formats and places kept."""

    def plain(s: NodeSchedule) -> NodeSchedule:
        return NodeSchedule(
            storage=s.storage,
            accumulate=s.accumulate,
            rounding=s.rounding,
            overflow=s.overflow,
            workgroup=s.workgroup,
            place=s.place,
        )

    nodes = tuple((name, plain(s)) for name, s in schedule.nodes)
    return replace(schedule, nodes=nodes, default=plain(schedule.default))


def outputs_of(subject: Subject, math: Math = "portable") -> dict[str, Array]:
    """The outputs of a replay in formats, bools as bools."""
    plan = subject.expanded if math == "portable" else subject.plan
    done = replay(plan, subject.stored, sizes=subject.sizes, sanitize=False)
    sorts = {o.name: subject.bound.sort(o.ref) for o in subject.bound.outputs}
    return {n: a != 0 if sorts[n] is BOOL else np.array(a) for n, a in done.outputs.items()}
