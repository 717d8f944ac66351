"""Schedules: how a graph is computed, chosen by rules of thumb or written down.

The package holds `heuristics` (a schedule for a graph, with its reasons) and `serial` (schedules
as JSON), and gathers the data that users write, which is `tang.kernel.schedule`'s. It relies on
the IR and on that module. It measures nothing.
"""

from tang.kernel.schedule import NodeSchedule, Schedule
from tang.schedule.heuristics import Explanation, Options, explain, schedule_auto
from tang.schedule.serial import schedule_from_json, schedule_to_json

__all__ = [
    "Explanation",
    "NodeSchedule",
    "Options",
    "Schedule",
    "explain",
    "schedule_auto",
    "schedule_from_json",
    "schedule_to_json",
]
