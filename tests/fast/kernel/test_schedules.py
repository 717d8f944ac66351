"""Rules of thumb with their reasons, and schedules as JSON."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest

from tang.errors import ScheduleError
from tang.ir.expr import arg
from tang.ir.extent import PolyLike, poly
from tang.ir.graph import Comprehension, Dim, Fact, Graph, Input, Output
from tang.ir.monoids import SUM
from tang.ir.view import Read, Ref, View, variable
from tang.kernel import ir as k
from tang.kernel.lower import lower
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.schedule import Options, explain, schedule_auto, schedule_from_json, schedule_to_json
from tang.schedule.serial import unique_fields


def summed(points: PolyLike, elements: PolyLike, *facts: Fact) -> Graph:
    reads = (Read(Ref("x"), View((variable("i"), variable("r")))),)
    point, reduce = (Dim("i", poly(points)),), (Dim("r", poly(elements)),)
    node = Comprehension("f", point, reads, (arg(0),), reduce, monoid=SUM)
    last = Comprehension(
        "g", point, (Read(Ref("f", "value"), View((variable("i"),))),), (arg(0),), outputs=("y",)
    )
    inputs = (Input("x", (poly(points), poly(elements))),)
    return Graph(inputs, (node, last), (Output("y", Ref("g", "y")),), facts)


@pytest.mark.parametrize(
    ("points", "elements", "split", "reason"),
    [
        (1, 1 << 20, 64, "few points, and 16384 elements for each chunk"),
        (1000, 1 << 20, 5, "few points"),
        (1, 1024, 4, "few points, and 256 elements"),
        (1, 1023, 1, "fewer than 1024 elements per point"),
        (4096, 1 << 20, 1, "at least 4096 points"),
        ("n", 1 << 20, 1, "a size has no declared maximum"),
        (0, 4096, 16, "few points"),
    ],
)
def test_long_reductions_with_few_points_are_split(
    points: PolyLike, elements: PolyLike, split: int, reason: str
) -> None:
    found = explain(summed(points, elements))
    assert found.choices[0].split == split
    assert reason in str(found)
    assert found.schedule.of("f").split == split
    assert found.schedule.of("g").split == 1


def test_a_declared_maximum_counts_as_the_size() -> None:
    graph = summed(2, "n", Fact("n", maximum=8192))
    assert schedule_auto(graph).of("f").split == 32
    kernels = [(s.kernel.name, s.kernel.role) for s in lower(graph, schedule_auto(graph)).launches]
    assert kernels == [("f_partial", "partial"), ("f_combine", "combine")]


def test_an_explanation_has_two_lines_per_node() -> None:
    assert str(explain(summed("n", 4096))) == (
        "f: ? points × 4096 elements, split 1: a size has no declared maximum\n"
        "  materialise: what reads it can be its epilogue (inlining repeats 0 operations and saves "
        "8192 bytes, limit 24 a byte)\n"
        "g: ? points × 1 elements, split 1: nothing to reduce\n"
        "  epilogue: its result is wanted, and 'f' has what it reads (inlining repeats 0 "
        "operations and saves 0 bytes, limit 24 a byte)"
    )


def test_options_set_the_formats_of_every_node() -> None:
    options = Options(storage=k.F16, accumulate=k.F64, workgroup=8, long=4, chunk=2)
    found = schedule_auto(summed(1, 8), options)
    assert found.of("f") == NodeSchedule(split=4, storage=k.F16, accumulate=k.F64, workgroup=8)
    last = NodeSchedule(storage=k.F16, accumulate=k.F64, workgroup=8, place="epilogue")
    assert found.of("g") == last


def test_a_schedule_survives_json() -> None:
    nodes = (("a b", NodeSchedule(split=3, storage=k.BF16)), ("\u00e9", NodeSchedule(workgroup=7)))
    schedule = Schedule(nodes=nodes, default=NodeSchedule(accumulate=k.F64))
    assert schedule_from_json(schedule_to_json(schedule)) == schedule
    assert schedule_from_json('{"version": 1}') == Schedule()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("[]", "the schedule: expected an object, not list"),
        ("{}", 'version: it is missing: write "version": 1'),
        ('{"version": null}', "version: expected 1, not None"),
        ('{"version": true}', "version: expected 1, not True"),
        ('{"version": 1, "node": {}}', "the schedule: unknown field 'node'"),
        (
            '{"version": 1, "imputs": {}}',
            "one of version, default, nodes; a precision may have inputs as well",
        ),
        (
            '{"version": 1, "nodes": {"f": {"scales": 3}}}',
            "promote, partial; a precision may have scale as well",
        ),
        ('{"version": 1, "default": {"scales": 3}}', "promote, partial$"),
        ('{"version": 1, "nodes": 3}', "nodes: expected an object, not int"),
        ('{"version": 1, "nodes": {"f": 3}}', r"nodes\['f'\]: expected an object"),
        ('{"version": 1, "nodes": {"f": {"splits": 3}}}', r"nodes\['f'\]: unknown field 'splits'"),
        (
            '{"version": 1, "nodes": {"f": {"split": 0}}}',
            r"nodes\['f'\].split: expected an integer",
        ),
        ('{"version": 1, "nodes": {"f": {"split": NaN}}}', r"nodes\['f'\].split: expected"),
        ('{"version": 1, "nodes": {"f": {"split": true}}}', r"split: expected .* not True"),
        ('{"version": 1, "nodes": {"f": {"split": 1e9}}}', r"split: expected"),
        ('{"version": 1, "default": {"storage": "i32"}}', "default.storage: expected one of f16"),
        ('{"version": 1, "default": {"storage": []}}', "default.storage: expected one of f16"),
        ('{"version": 1, "nodes": {"f": {}, "f": {}}}', "'f' occurs twice"),
        ('{"version": 1, "nodes": {}}' + " " * 1_000_000, "at most 1000000 characters"),
    ],
)
def test_a_bad_schedule_names_the_place(text: str, message: str) -> None:
    with pytest.raises(ScheduleError, match=message):
        schedule_from_json(text)


class Counted(str):
    """A name that counts how often it was compared."""

    __slots__ = ()
    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return str.__eq__(self, other)


def test_a_repeated_name_is_found_in_few_comparisons() -> None:
    names = [Counted(i) for i in range(2000)] + [Counted("twice"), Counted("twice")]
    Counted.compared = 0
    with pytest.raises(ScheduleError, match="'twice' occurs twice"):
        unique_fields([(name, 0) for name in names])
    assert Counted.compared < 10 * len(names)


def test_the_json_is_flat_and_readable() -> None:
    found = json.loads(schedule_to_json(Schedule(nodes=(("f", NodeSchedule(split=2)),))))
    usual = {"split": 1, "storage": "f32", "accumulate": "f32", "workgroup": 64}
    usual |= {"lanes": 1, "place": "materialise"}
    assert found == {"version": 1, "default": usual, "nodes": {"f": {**usual, "split": 2}}}


@pytest.mark.parametrize(
    "schedule", ["fast", Schedule(default=NodeSchedule(split=cast("int", 2.5)))]
)
def test_what_is_no_schedule_is_refused(schedule: Any) -> None:
    with pytest.raises(ScheduleError, match=r"a schedule is|ints of at least 1"):
        lower(summed(2, 3), schedule)
