"""Schedules of findings: read back as written, with the checks of every JSON of a schedule."""

from __future__ import annotations

import json

import pytest

from tang.errors import ScheduleError
from tang.fuzz.case import draw_case
from tang.fuzz.schedule_json import schedule_from_json, schedule_to_json
from tang.kernel.schedule import Schedule


def test_schedules_of_draws_are_read_back():
    seen = 0
    for index in range(40):
        schedule = draw_case(19, index).schedule
        if isinstance(schedule, Schedule):
            assert schedule_from_json(schedule_to_json(schedule)) == schedule
            seen += bool(schedule.nodes)
    assert seen > 10


ROW = {"node": "y", "split": 1}
WRONG = {
    "text": ("{", "not a schedule"),
    "no-nodes": ({"default": {}}, "not a schedule: KeyError"),
    "no-name": ({"default": {}, "nodes": [{"split": 1}]}, "not a schedule: KeyError"),
    "rows": ({"default": {}, "nodes": [3]}, "not a schedule"),
    "twice": ({"default": {}, "nodes": [ROW, ROW]}, "a node has two rows"),
    "field": ({"default": {}, "nodes": [{**ROW, "colour": 1}]}, "unknown field 'colour'"),
    "format": ({"default": {"storage": "f17"}, "nodes": []}, "default.storage: expected one"),
    "kind": ({"default": {}, "nodes": [{**ROW, "split": "2"}]}, r"nodes\['y'\].split: expected"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_no_schedule_is_refused_with_the_place(case):
    data, words = WRONG[case]
    with pytest.raises(ScheduleError, match=words):
        schedule_from_json(data if isinstance(data, str) else json.dumps(data))
