"""Schedules as JSON with one node per line, as findings keep them.

Defines `schedule_to_json` and `schedule_from_json`. Relies on the JSON of `tang.schedule` for every
field, written and read. It does not know the graph: see `check_schedule`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tang.errors import ScheduleError
from tang.kernel.schedule import Schedule
from tang.schedule import serial
from tang.schedule.serial import VERSION, node_to_json


def schedule_to_json(schedule: Schedule) -> str:
    """The schedule as JSON text, one node per line."""
    rows = [json.dumps({"node": n, **node_to_json(s)}) for n, s in schedule.nodes]
    nodes = ",\n".join(f"    {row}" for row in rows)
    default = json.dumps(node_to_json(schedule.default))
    listing = f"[\n{nodes}\n  ]" if rows else "[]"
    return f'{{\n  "default": {default},\n  "nodes": {listing}\n}}\n'


def schedule_from_json(text: str) -> Schedule:
    """The schedule written by `schedule_to_json`; raises ScheduleError for anything else."""
    try:
        data = json.loads(text)
        rows = {str(row["node"]): _fields(row) for row in data["nodes"]}
        whole = {"version": VERSION, "default": data["default"], "nodes": rows}
        once = len(rows) == len(data["nodes"])
    except (ValueError, KeyError, TypeError, AttributeError) as e:
        raise ScheduleError(f"not a schedule: {type(e).__name__}: {e}") from e
    if not once:
        raise ScheduleError("not a schedule: a node has two rows")
    return serial.schedule_from_json(json.dumps(whole))


def _fields(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "node"}
