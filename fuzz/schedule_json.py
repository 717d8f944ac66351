"""Schedules as JSON.

Defines `schedule_to_json` and `schedule_from_json`. Relies on the fields as `tang.schedule` writes
them; what it reads is checked field by field. It does not know the graph: see `check_schedule`.
"""

from __future__ import annotations

import json
from typing import Any

from tang.errors import ScheduleError
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.schedule.serial import format_from_json, node_to_json

_FIELDS = (
    "split", "storage", "accumulate", "workgroup", "lanes", "place", "rounding", "overflow",
    "promote", "partial",
)  # fmt: skip
_PLAIN = NodeSchedule()


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
        nodes = tuple((str(row["node"]), _node(row)) for row in data["nodes"])
        return Schedule(nodes=nodes, default=_node(data["default"]))
    except (ValueError, KeyError, TypeError, AttributeError) as e:
        raise ScheduleError(f"not a schedule: {type(e).__name__}: {e}") from e


def _node(row: dict[str, Any]) -> NodeSchedule:
    unknown = sorted(row.keys() - {*_FIELDS, "node"})
    if unknown:
        raise ScheduleError(f"unknown entry {unknown[0]!r}: one of {', '.join(_FIELDS)}")
    return NodeSchedule(
        split=int(row["split"]),
        storage=format_from_json(row["storage"], "storage"),
        accumulate=format_from_json(row["accumulate"], "accumulate"),
        workgroup=int(row["workgroup"]),
        lanes=int(row.get("lanes", 1)),
        place=str(row.get("place", "materialise")),
        rounding=str(row.get("rounding", _PLAIN.rounding)),
        overflow=str(row.get("overflow", _PLAIN.overflow)),
        promote=int(row.get("promote", _PLAIN.promote)),
        partial=format_from_json(row["partial"], "partial") if row.get("partial") else None,
    )
