"""Places against bits: what is compared, what is found, and what is beyond a limit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tang as tg
from tang.budget import emulate
from tang.emulator.replay import replay
from tang.errors import LimitError
from tang.kernel.ir import BF16
from tang.kernel.lower import kernels, lower
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.verify import Report, Rung, Verdict, verify
from tang.verify.places import everywhere_stored

DATA = {"x": np.arange(1.0, 7.0)}


def squares_of_parts(of: int = 3) -> tg.Graph:
    i = tg.dims("i")
    x = tg.input("x", (6,))
    part = tg.compute("part", i, x[i] / of)
    return tg.Graph(y=tg.compute("y", i, part[i] * part[i]))


def placed(place: str) -> Report:
    schedule = Schedule(nodes=(("part", NodeSchedule(place=place)),))
    return verify(squares_of_parts(), DATA, (), schedule=schedule, rules=())


@pytest.mark.parametrize("place", ["inline", "materialise"])
def test_a_program_of_any_place_passes(place):
    assert placed(place).ok


def test_an_inlined_node_that_computes_something_else_is_found(monkeypatch):
    wrong = squares_of_parts(of=7)
    monkeypatch.setattr("tang.verify.places.lower", lambda _, schedule: lower(wrong, schedule))
    (finding,) = placed("inline").findings
    assert (finding.rung, finding.verdict, finding.origin) == (Rung.LOWER, Verdict.WRONG, "places")


def test_a_kernel_in_another_format_than_its_node_is_no_fault_of_places(monkeypatch):
    """Its inlined node is as it should be, so that places differ; the kernel is what is wrong."""

    def widened(task, world, builder):
        return replace(_context(task, world, builder), precision=NodeSchedule().computed)

    _context = kernels._context
    monkeypatch.setattr(kernels, "_context", widened)
    narrow = NodeSchedule(storage=BF16, accumulate=BF16)
    schedule = Schedule(nodes=(("part", replace(narrow, place="inline")),), default=narrow)
    report = verify(squares_of_parts(), DATA, (), schedule=schedule, rules=())
    assert {(f.rung, f.origin) for f in report.findings} == {(Rung.ROUND, "conversion")}
    assert "computes in f32, its node in bf16" in report.to_text()


@pytest.mark.parametrize("place", ["inline", "epilogue"])
def test_an_infinity_written_in_a_saturating_node_stays_one_wherever_it_is_read(place):
    """It is a number of the node's format, which nothing rounds on its way to memory."""
    i = tg.dims("i")
    x = tg.input("x", (6,))
    whole = tg.compute("whole", i, x[i] + x[i])
    part = tg.compute("part", i, tg.select(whole[i] < 5, whole[i], np.inf))
    graph = tg.Graph(y=tg.compute("y", i, part[i] * 0.5))
    narrow = NodeSchedule(storage=BF16, accumulate=BF16, rounding="rna", overflow="saturate")
    read = "y" if place == "epilogue" else "part"
    schedule = Schedule(nodes=(("part", narrow), ("y", NodeSchedule())))
    nodes = tuple((n, replace(s, place=place) if n == read else s) for n, s in schedule.nodes)
    report = verify(graph, DATA, (), schedule=replace(schedule, nodes=nodes), rules=())
    assert report.ok, report.to_text()
    found = emulate(graph, DATA, replace(schedule, nodes=nodes), rules=())["y"]
    assert found.tolist() == [1.0, 2.0, np.inf, np.inf, np.inf, np.inf]


@pytest.mark.parametrize(("value", "found"), [(np.nan, False), (1.0, True)])
def test_the_sign_of_a_nan_in_words_of_bf16_is_no_difference(monkeypatch, value, found):
    """The plain plan's replay gives every value with the other sign."""

    def negated(*arguments, **options):
        done = replay(*arguments, **options)
        if arguments[0] is not plain:
            return done
        flipped = {n: a ^ 0x8000 if a.dtype == np.uint16 else a for n, a in done.buffers.items()}
        return replace(done, buffers=flipped)

    graph = squares_of_parts()
    parts = (("part", NodeSchedule(place="inline")),)
    schedule = Schedule(nodes=parts, default=NodeSchedule(storage=BF16))
    plain = lower(graph, everywhere_stored(schedule))
    monkeypatch.setattr("tang.verify.places.lower", lambda *_: plain)
    monkeypatch.setattr("tang.verify.places.replay", negated)
    data = {"x": np.full(6, value)}
    findings = verify(graph, data, (), schedule=schedule, rules=()).findings
    assert [f.origin for f in findings] == ["places"] * found


@pytest.mark.parametrize("error", [LimitError("node part: 2**70"), MemoryError("8 EiB")])
@pytest.mark.parametrize("suspect", ["lower", "replay"])
def test_a_limit_of_the_plan_without_places_is_unsupported_and_not_a_pass(
    monkeypatch, error, suspect
):
    def beyond(*_, **__):
        raise error

    monkeypatch.setattr(f"tang.verify.places.{suspect}", beyond)
    report = placed("inline")
    assert not report.ok
    assert report.verdicts() == (Verdict.UNSUPPORTED,)
    assert f"not compared with kernels of their own: {error}" in report.to_text()
    assert Rung.ROUND in {r.rung for r in report.results}
    assert report.allow([Verdict.UNSUPPORTED]).ok
    assert placed("materialise").ok
