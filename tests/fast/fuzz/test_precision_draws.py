"""Precision in draws: narrow formats, roundings, overflows and runs, legal and in small doses."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tang.emit import supports
from tang.fuzz.case import draw_batch
from tang.fuzz.formats import formats_of
from tang.fuzz.mutants.catalogue import PRECISIONS
from tang.fuzz.precisions import NARROW, draw_precisions, is_narrow
from tang.fuzz.precisions import PRECISIONS as CELLS
from tang.fuzz.source import ReplaySource, SeededSource
from tang.ir.format import Format
from tang.kernel.expand import expand_math, pack_codes
from tang.kernel.lower import lower
from tang.kernel.schedule import NodeSchedule, Schedule, check_schedule
from tang.verify import Rung

LANGUAGES = ("c", "opencl", "cuda", "msl", "wgsl", "glsl")


def chosen(cases):
    """The schedules of all nodes."""
    return [s for c in cases for _, s in c.schedule.nodes]


def test_narrow_formats_are_some_of_many():
    drawn = chosen(draw_batch(seed=3, count=300))
    narrow = [s for s in drawn if is_narrow(s)]
    assert 0.1 * len(drawn) < len(narrow) < 0.35 * len(drawn)
    found = {f for s in narrow for f in (s.storage, s.accumulate) if isinstance(f, Format)}
    assert found == set(NARROW)
    assert {s.rounding for s in drawn} == {"rne", "rz", "rna"}
    assert {s.overflow for s in drawn} == {"usual", "inf", "nan", "saturate"}
    assert 0.05 * len(drawn) < sum(s.promote > 0 for s in drawn) < 0.25 * len(drawn)


def test_precision_is_drawn_last_and_changes_nothing_else():
    for case in draw_batch(seed=3, count=60):
        plain = NodeSchedule()
        names = ["storage", "accumulate", "rounding", "overflow", "promote", "partial"]
        fields = {n: getattr(plain, n) for n in names}
        given = tuple((n, replace(s, **fields)) for n, s in case.schedule.nodes)
        before = Schedule(nodes=given)
        after = draw_precisions(SeededSource(case.index, 1), case.graph, before)
        check_schedule(after, case.graph)
        again = tuple((n, replace(s, **fields)) for n, s in after.nodes)
        assert again == given


def test_precision_shrinks_to_the_schedule_as_it_was_given():
    case = next(c for c in draw_batch(seed=3, count=20) if c.schedule.nodes)
    assert draw_precisions(ReplaySource([]), case.graph, case.schedule) == case.schedule


def test_nodes_that_stay_in_order_have_no_runs():
    for case in draw_batch(seed=4, count=60):
        names = {n.name for n in case.graph.nodes}
        given = Schedule(nodes=tuple((n, NodeSchedule()) for n in names))
        drawn = draw_precisions(SeededSource(case.index, 1), case.graph, given, names)
        assert not any(s.promote for _, s in drawn.nodes)


@pytest.mark.parametrize("language", LANGUAGES)
def test_codes_and_runs_can_be_said_in_every_language(language):
    for case in draw_batch(8, 60, formats=formats_of(LANGUAGES)):
        plan = pack_codes(expand_math(lower(case.graph, case.schedule)))
        assert [supports(step.kernel, language) for step in plan.launches] == [
            None for _ in plan.launches
        ], case.name


def test_there_are_seventy_mutants_of_precision_on_four_rungs():
    assert len(PRECISIONS) >= 70
    assert {m.rung for m in PRECISIONS} == {Rung.LOWER, Rung.EXPAND, Rung.EMIT, Rung.ROUND}
    assert len(CELLS) == len(set(CELLS))
