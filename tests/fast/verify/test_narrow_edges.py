"""The ends of narrow formats: floors that leave them, and partial states that nobody wrote."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tang as tg
from tang.budget import emulate
from tang.emulator import certify, check_certificate
from tang.ir.format import custom_format
from tang.kernel.ir import BF16
from tang.kernel.lower import scalar
from tang.kernel.lower.context import Context
from tang.kernel.narrow import E2M3, E4M3FN
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.verify import Rung, verify

BELOW_ONE = custom_format("below_one", p=3, emin=-6, largest=0.875, specials="none")
DATA = {"x": np.array([-7.5, -7.25, -0.5, 0.0, 0.25, 6.5, 7.5, 100.0, -100.0])}
FLOORS = {
    E2M3: [-7.5, -7.0, -1.0, 0.0, 0.0, 6.0, 7.0, 7.0, -7.5],
    BELOW_ONE: [-0.875, -0.875, -0.875, 0.0, 0.0, 0.0, 0.0, 0.0, -0.875],
}


def floors() -> tg.Graph:
    i = tg.dims("i")
    x = tg.input("x", (9,))
    return tg.Graph(y=tg.compute("y", i, tg.floor(x[i])))


@pytest.mark.parametrize("format_", FLOORS, ids=lambda f: f.name)
def test_a_floor_beyond_the_largest_number_saturates(format_):
    schedule = Schedule(default=NodeSchedule(storage=format_, accumulate=format_))
    report = verify(floors(), DATA, (), schedule=schedule, rules=())
    assert report.ok, report.to_text()
    assert emulate(floors(), DATA, schedule, rules=())["y"].tolist() == FLOORS[format_]


def test_a_floor_that_is_taken_as_exact_is_found(monkeypatch):
    monkeypatch.setattr(scalar, "is_exact", lambda name, _: name in ("neg", "floor"))
    schedule = Schedule(default=NodeSchedule(storage=E2M3, accumulate=E2M3))
    report = verify(floors(), DATA, (), schedule=schedule, rules=())
    assert {f.rung for f in report.findings} == {Rung.ROUND}, report.to_text()


@pytest.mark.parametrize("format_", FLOORS, ids=lambda f: f.name)
def test_the_bound_of_such_a_floor_covers_its_saturation(format_):
    schedule = Schedule(default=NodeSchedule(storage=format_, accumulate=format_))
    end = float(format_.largest)
    certificate = certify(floors(), schedule, {}, {"x": (-end, end)})
    assert check_certificate(certificate)
    (row,) = certificate.nodes
    moved = emulate(floors(), {"x": np.full(9, -end)}, schedule, rules=())["y"]
    assert row.error >= abs(moved[0] - np.floor(-end)) > 0


def test_partial_states_of_a_node_without_points_hold_nothing():
    i, r = tg.dims("i r")
    x, w = tg.input("x", (7,)), tg.input("w", ("n",))
    y = tg.compute("y", (tg.dim("i", "n"),), tg.sum(x[r], over=r))
    graph = tg.Graph(y=y, z=tg.compute("z", i, w[i] + y[i]))
    schedule = Schedule(default=NodeSchedule(split=3, accumulate=E4M3FN))
    for n in (0, 2):
        data = {"x": np.arange(7.0), "w": np.zeros(n)}
        report = verify(graph, data, (), schedule=schedule, rules=())
        assert report.ok, report.to_text()


def a_copy_of_a_rounded_number() -> tuple[tg.Graph, Schedule]:
    """part is inlined and stored by rna; y computes in the same format, by rne, and copies it."""
    i = tg.dims("i")
    x = tg.input("x", (9,))
    part = tg.compute("part", i, x[i] * (1 + 2.0**-7))
    schedule = Schedule(
        nodes=(
            ("part", NodeSchedule(storage=BF16, rounding="rna", place="inline")),
            ("y", NodeSchedule(storage=BF16, accumulate=BF16, rounding="rne", overflow="nan")),
        )
    )
    return tg.Graph(y=tg.compute("y", i, part[i])), schedule


def test_a_number_that_an_inlined_node_rounded_may_be_stored_as_it_is(monkeypatch):
    graph, schedule = a_copy_of_a_rounded_number()
    report = verify(graph, DATA, (), schedule=schedule, rules=())
    assert report.ok, report.to_text()
    right = Context.converted
    wrong = {"rna": "rz"}

    def converted(self, value, c):
        return right(self, value, replace(c, rounding=wrong.get(c.rounding, c.rounding)))

    monkeypatch.setattr(Context, "converted", converted)
    report = verify(graph, DATA, (), schedule=schedule, rules=())
    assert Rung.ROUND in {f.rung for f in report.findings}


def test_a_number_that_an_inlined_node_converted_may_be_stored_as_it_is():
    """coarse is a number of e2m3, part one of bf16 by a plain conversion, and y copies it."""
    i = tg.dims("i")
    x = tg.input("x", (9,))
    coarse = tg.compute("coarse", i, x[i] + 0.25)
    part = tg.compute("part", i, coarse[i])
    schedule = Schedule(
        nodes=(
            ("coarse", NodeSchedule(storage=E2M3, rounding="rz", place="inline")),
            ("part", NodeSchedule(storage=BF16, place="inline")),
            ("y", NodeSchedule(storage=BF16, accumulate=BF16, overflow="nan")),
        )
    )
    graph = tg.Graph(y=tg.compute("y", i, part[i]))
    report = verify(graph, DATA, (), schedule=schedule, rules=())
    assert report.ok, report.to_text()
