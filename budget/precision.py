"""Precisions in words: presets, JSON and schedules, all turned into a schedule.

Defines `precision_from`, `precise_from` and `applied`. Relies on the JSON form of schedules and of
scales. It chooses nothing: what a precision does not name stays as `schedule_auto` has it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tang.budget.presets import preset
from tang.budget.scale_data import Precise, precise_from_json
from tang.budget.scales import scaled
from tang.errors import ScheduleError
from tang.ir.given import shown
from tang.ir.graph import Graph
from tang.kernel.schedule import Schedule, check_schedule
from tang.schedule import schedule_auto


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
    with _told_of(value):
        check_schedule(found.schedule, graph)
    return found.schedule


def applied(value: object, graph: Graph) -> tuple[Graph, Schedule]:
    """The program that a precision makes of a rewritten program, and its schedule.

    The program is another one where there are scales, or formats of single inputs: it then has
    nodes that scale and round (`tang.budget.scales`). None stands for `schedule_auto`.
    """
    if value is None:
        return graph, schedule_auto(graph)
    precise = precise_from(value, graph)
    with _told_of(value):
        return scaled(graph, precise)


def precise_from(value: object, graph: Graph) -> Precise:
    """A precision of any kind as data; nodes and inputs that it names are not looked up."""
    if isinstance(value, Schedule):
        return Precise(schedule=value)
    if isinstance(value, Mapping):
        return precise_from_json(_json(value))
    if isinstance(value, Path):
        return _of_file(value)
    if not isinstance(value, str):
        raise ScheduleError(
            f"a precision is a preset, JSON or a Schedule, not {shown(value)}: take a preset, "
            'as in "bf16"'
        )
    if value.lstrip().startswith("{"):
        return precise_from_json(value)
    path = _file_of(value)
    return preset(value, graph) if path is None else _of_file(path)


def _file_of(value: object) -> Path | None:
    """The file that a precision is in, where it is in one."""
    if isinstance(value, str) and not value.lstrip().startswith("{"):
        value = Path(value) if Path(value).suffix == ".json" else None
    return value if isinstance(value, Path) else None


@contextmanager
def _told_of(value: object) -> Iterator[None]:
    """What is wrong with a precision that is in a file is said of the file."""
    try:
        yield
    except ScheduleError as e:
        path = _file_of(value)
        if path is None:
            raise
        raise ScheduleError(f"{path}: {e}") from e


def _json(value: Mapping[object, object]) -> str:
    """A mapping as JSON; ScheduleError where there is something in it that JSON has not."""
    try:
        return json.dumps(dict(value))
    except (TypeError, ValueError, RecursionError) as e:
        raise ScheduleError(
            f"a precision as a mapping holds what JSON holds, formats by their names ({e}): write "
            '{"version": 1, "default": {"storage": "bf16"}}, or give a Schedule'
        ) from e


def _of_file(path: Path) -> Precise:
    """The precision in a file; errors name the file."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as e:
        raise ScheduleError(f"the precision {str(path)!r} cannot be read: {e}") from e
    with _told_of(path):
        return precise_from_json(text)
