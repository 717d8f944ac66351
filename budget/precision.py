"""Precisions in words: presets, JSON and schedules, all turned into a schedule.

Defines `PRESETS`, `precision_from` and `applied`. Relies on the JSON form of schedules and of
scales. It chooses nothing: what a precision does not name stays as `schedule_auto` has it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from tang.budget.scale_data import Precise, precise_from_json
from tang.budget.scales import scaled
from tang.errors import ScheduleError
from tang.ir.format import Format
from tang.ir.graph import Graph
from tang.kernel.ir import BF16, F16, F32, F64, Type
from tang.kernel.narrow import E2M1, E2M3, E3M2, E4M3FN, E5M2, TF32
from tang.kernel.schedule import NodeSchedule, Schedule, check_schedule
from tang.schedule import schedule_auto

Pair = tuple[Type | Format, Type | Format]

PRESETS: Final[Mapping[str, Pair]] = {
    "f64": (F64, F64),
    "f32": (F32, F32),
    "tf32": (TF32, F32),
    "f16": (F16, F32),
    "bf16": (BF16, F32),
    "f16-acc": (F16, F16),
    "bf16-acc": (BF16, BF16),
    "fp8-e4m3": (E4M3FN, F32),
    "fp8-e5m2": (E5M2, F32),
    "fp6-e3m2": (E3M2, F32),
    "fp6-e2m3": (E2M3, F32),
    "fp4-e2m1": (E2M1, F32),
}
"""Preset → format of storage and format of accumulation, of every node and input."""


def precision_from(value: object, graph: Graph) -> Schedule:
    """The schedule that a precision stands for, where it is no more than a schedule.

    value  a preset's name, a path of a JSON file, a mapping or JSON text of the form of
           `tang.schedule.serial`, or a Schedule
    Places, splits and lanes of a preset are those of `schedule_auto(graph)`. Raises ScheduleError
    for an unknown preset, bad JSON, a node that the graph does not have, and scales or formats of
    single inputs, which change the program: those are for `applied`.
    """
    found = precise_from(value, graph)
    if not found.is_plain:
        place = next(iter([*found.nodes, *found.inputs]))
        raise ScheduleError(
            f"{place!r} has a scale or a format of its own, which changes the program: take "
            "tang.budget.applied(precision, graph), which gives both program and schedule"
        )
    check_schedule(found.schedule, graph)
    return found.schedule


def applied(value: object, graph: Graph) -> tuple[Graph, Schedule]:
    """The program that a precision makes of a rewritten program, and its schedule.

    The program is another one where there are scales, or formats of single inputs: it then has
    nodes that scale and round (`tang.budget.scales`). None stands for `schedule_auto`.
    """
    if value is None:
        return graph, schedule_auto(graph)
    return scaled(graph, precise_from(value, graph))


def precise_from(value: object, graph: Graph) -> Precise:
    """A precision of any kind as data; nodes and inputs that it names are not looked up."""
    if isinstance(value, Schedule):
        return Precise(schedule=value)
    if isinstance(value, Mapping):
        return precise_from_json(json.dumps(dict(value)))
    if isinstance(value, Path):
        return _of_file(value)
    if not isinstance(value, str):
        raise ScheduleError(f"a precision is a preset, JSON or a Schedule, not {value!r}")
    if value in PRESETS:
        return Precise(schedule=_preset(PRESETS[value], graph))
    if value.lstrip().startswith("{"):
        return precise_from_json(value)
    if Path(value).suffix == ".json":
        return _of_file(Path(value))
    raise ScheduleError(
        f"unknown precision {value!r}: one of {', '.join(PRESETS)}, or a JSON file or text"
    )


def _of_file(path: Path) -> Precise:
    """The precision in a file; errors name the file."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as e:
        raise ScheduleError(f"the precision {str(path)!r} cannot be read: {e}") from e
    try:
        return precise_from_json(text)
    except ScheduleError as e:
        raise ScheduleError(f"{path}: {e}") from e


def _preset(pair: Pair, graph: Graph) -> Schedule:
    storage, accumulate = pair
    usual = schedule_auto(graph)

    def spelt(s: NodeSchedule) -> NodeSchedule:
        changed: dict[str, Any] = {"storage": storage, "accumulate": accumulate}
        return replace(s, **changed)

    return Schedule(
        nodes=tuple((name, spelt(s)) for name, s in usual.nodes), default=spelt(usual.default)
    )
