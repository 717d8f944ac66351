"""Schedules as JSON.

Defines `schedule_to_json` and `schedule_from_json`: a version, a default, and per node the fields
of a NodeSchedule; what is left out takes its default. Relies on the schedule data. It does not
know a graph: unknown nodes are found by `check_schedule`.
"""

from __future__ import annotations

import json
from typing import Any, Final

from tang.errors import ScheduleError
from tang.kernel.ir import Type
from tang.kernel.schedule import PLACES, NodeSchedule, Schedule

VERSION: Final = 1
LARGEST: Final = 1_000_000
"""No text longer than this many characters, and no number larger, is a schedule."""


def schedule_to_json(schedule: Schedule) -> str:
    """The schedule as text that `schedule_from_json` reads back to an equal one."""
    nodes = {name: _fields(s) for name, s in schedule.nodes}
    whole = {"version": VERSION, "default": _fields(schedule.default), "nodes": nodes}
    return json.dumps(whole, indent=2) + "\n"


def _fields(s: NodeSchedule) -> dict[str, int | str]:
    return {
        "split": s.split,
        "storage": s.storage.value,
        "accumulate": s.accumulate.value,
        "workgroup": s.workgroup,
        "lanes": s.lanes,
        "place": s.place,
    }


def schedule_from_json(text: str) -> Schedule:
    """The schedule in a JSON text; raises ScheduleError naming the place."""
    whole = _object(_parsed(text), "the schedule", ("version", "default", "nodes"))
    if whole.get("version") != VERSION or isinstance(whole["version"], bool):
        raise ScheduleError(f"version: expected {VERSION}, not {whole.get('version')!r}")
    default = _node(whole.get("default", {}), "default")
    nodes = _object(whole.get("nodes", {}), "nodes", None)
    named = tuple((name, _node(value, f"nodes[{name!r}]")) for name, value in nodes.items())
    return Schedule(nodes=named, default=default)


def _parsed(text: str) -> object:
    if len(text) > LARGEST:
        raise ScheduleError(f"a schedule has at most {LARGEST} characters, not {len(text)}")
    try:
        found: object = json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise ScheduleError(f"the schedule is no JSON: {error}") from error
    return found


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(n for n in names if names.count(n) > 1)
        raise ScheduleError(f"{twice!r} occurs twice in one object: keep one")
    return found


def _object(value: object, where: str, known: tuple[str, ...] | None) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ScheduleError(f"{where}: expected an object, not {type(value).__name__}")
    for name in value:
        if known is not None and name not in known:
            raise ScheduleError(f"{where}: unknown field {name!r}: one of {', '.join(known)}")
    return value


def _node(value: object, where: str) -> NodeSchedule:
    fields = _object(value, where, tuple(_fields(NodeSchedule())))
    whole = _fields(NodeSchedule()) | fields
    return NodeSchedule(
        split=_number(whole["split"], f"{where}.split"),
        storage=_format(whole["storage"], f"{where}.storage"),
        accumulate=_format(whole["accumulate"], f"{where}.accumulate"),
        workgroup=_number(whole["workgroup"], f"{where}.workgroup"),
        lanes=_number(whole["lanes"], f"{where}.lanes"),
        place=_place(whole["place"], f"{where}.place"),
    )


def _number(value: object, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= LARGEST:
        raise ScheduleError(f"{where}: expected an integer from 1 to {LARGEST}, not {value!r}")
    return value


def _place(value: object, where: str) -> str:
    if not isinstance(value, str) or value not in PLACES:
        raise ScheduleError(f"{where}: expected one of {', '.join(PLACES)}, not {value!r}")
    return value


def _format(value: object, where: str) -> Type:
    floats = {t.value: t for t in Type if t.is_float}
    if not isinstance(value, str) or value not in floats:
        raise ScheduleError(f"{where}: expected one of {', '.join(floats)}, not {value!r}")
    return floats[value]
