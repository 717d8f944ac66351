"""Roundings and codings are held at their edges, wherever the data of a program lie."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tang as tg
from tang.kernel.narrow import E2M1, E4M3FN, E5M2, TF32, Conversion
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.verify.edges import edges_of
from tang.verify.rung_expand import check_expand
from tang.verify.subject import Task, prepare

OTHERS = ["round:e4m3fn:rne:nan", "round:e4m3fn:rna:saturate", "round:e4m3fn:rz:saturate"]
"""What agrees with the rounding of e4m3fn wherever numbers are exact and small."""


def _subject(how="round:e4m3fn:rne:saturate"):
    """Ones plus ones, kept in e4m3fn; its rounding claims to be `how`."""
    i = tg.dims("i")
    x = tg.input("x", (4,))
    graph = tg.Graph(y=tg.compute("y", (i,), x[i] + 1.0))
    schedule = Schedule(default=NodeSchedule(storage=E4M3FN))
    task = Task(graph=graph, inputs={"x": np.ones(4)}, schedule=lambda _: schedule)
    subject = prepare(task)
    return replace(subject, expanded=_claiming(subject.expanded, how))


def _claiming(plan, how):
    def claim(function):
        rounds = function.implements.startswith("round:")
        return replace(function, implements=how) if rounds else function

    def relabelled(launch):
        functions = tuple(claim(f) for f in launch.kernel.functions)
        return replace(launch, kernel=replace(launch.kernel, functions=functions))

    return replace(plan, launches=tuple(relabelled(launch) for launch in plan.launches))


@pytest.mark.parametrize("format_", [E4M3FN, E5M2, TF32, E2M1], ids=lambda f: f.name)
def test_edges_hold_what_lies_on_both_sides_of_every_end(format_):
    edges = edges_of(Conversion(format_).op)
    top, unit = float(format_.largest), float(format_.largest) * 2.0**-format_.p
    assert edges.dtype == np.float32
    for wanted in (top, -top, 0.0, float(format_.quantum), float(format_.quantum) / 2, np.inf):
        assert wanted in edges
    assert np.isnan(edges).any()
    assert ((edges > top) & (edges < top + unit)).any()
    assert (np.abs(edges[edges != 0]) < float(format_.quantum) / 2).any()


def test_the_edges_of_a_coding_are_all_numbers_and_all_codes():
    assert edges_of("decode:e4m3fn").tolist() == list(range(256))
    assert len(edges_of("encode:e4m3fn")) == 256
    assert np.isnan(edges_of("encode:e4m3fn")).any()
    assert not np.isnan(edges_of("encode:e2m1")).any()


def test_what_is_no_rounding_has_no_edges():
    assert edges_of("exp2").size == 0


@pytest.mark.parametrize("how", OTHERS)
def test_a_fault_that_the_data_do_not_meet_is_found(how):
    assert not check_expand(_subject())[1]
    findings = check_expand(_subject(how))[1]
    assert [f.origin for f in findings] == [f"function {how}"]
