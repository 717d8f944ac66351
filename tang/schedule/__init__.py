"""Schedules: how a graph is computed, chosen by rules of thumb or written down.

The package holds `heuristics` (a schedule for a graph, with its reasons) and `serial` (schedules
as JSON). It relies on the IR and on `tang.kernel.schedule`, the data. It measures nothing.
"""

from tang.schedule.heuristics import Explanation, Options, explain, schedule_auto
from tang.schedule.serial import schedule_from_json, schedule_to_json

__all__ = [
    "Explanation",
    "Options",
    "explain",
    "schedule_auto",
    "schedule_from_json",
    "schedule_to_json",
]
