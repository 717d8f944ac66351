"""Indices made of inexact numbers: what a kernel computes may lie beyond all exact values."""

import math

import numpy as np
import pytest
from certified import bound_of

import tang.frontend as tg
from tang.device.storage import unpack
from tang.emulator import certify, check_certificate
from tang.emulator.certificate_balls import Given, of
from tang.emulator.certificate_whole_rules import WHOLE_RULES as BALLS
from tang.emulator.ranges_numbers import whole
from tang.emulator.ranges_whole import WHOLE_RULES as RANGES
from tang.emulator.replay import replay
from tang.frontend import Graph, compute, dim, input
from tang.kernel.ir import F16
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.verify.subject import Task, computed, prepare

NEAR = {"a": (1.0, 1.0), "b": (-(2.0**-30), -(2.0**-30))}
F16_ACC = Schedule(default=NodeSchedule(accumulate=F16))


def _of(make):
    i = dim("i", 2)
    a, b = input("a", (2,)), input("b", (2,))
    return Graph(y=compute("y", (i,), make(a[i], b[i])))


def _both(graph, schedule, ranges):
    """The bound of y for either dialect, after the checker has agreed."""
    ranges = {i.name: ranges[i.name] for i in graph.inputs}
    found = []
    for dialect in ("portable", "any"):
        certificate = certify(graph, schedule, {}, ranges, math=dialect)
        checked = check_certificate(certificate, graph, schedule)
        assert checked, checked.message
        found.append(bound_of(certificate, graph, "y"))
    return found


def _computed(graph, schedule, ranges):
    """What a kernel makes of the lower ends."""
    data = {i.name: np.full(2, ranges[i.name][0]) for i in graph.inputs}
    subject = prepare(Task(graph=graph, inputs=data, schedule=schedule))
    (buffer,) = (b for b in computed(subject.plan) if b.ref)
    found = replay(subject.expanded, subject.stored).buffers[buffer.name]
    return unpack(found, buffer.type).astype(int).reshape(-1)


@pytest.mark.parametrize(
    ("make", "exact", "apart"),
    [
        (lambda a, b: tg.index(a + b), 0, 1),
        (lambda a, b: tg.index(a + b) * 10 + 3, 3, 10),
        (lambda a, b: tg.index(a + b + 2.0) % 3, 2, 2),
        (lambda a, b: tg.index((a + b) * 4.0) // 2, 1, 1),
        (lambda a, b: -tg.index(a + b), 0, 1),
    ],
    ids=["index", "arithmetic", "mod", "floordiv", "neg"],
)
def test_an_index_of_one_exact_value_may_still_be_computed_otherwise(make, exact, apart):
    graph = _of(make)
    computed = _computed(graph, Schedule(), NEAR)
    assert set(np.abs(computed - exact)) == {apart}
    for bound in _both(graph, Schedule(), NEAR):
        assert bound.lo <= exact <= bound.hi
        assert apart <= bound.error < np.inf


def test_an_index_of_a_product_that_underflows_is_computed_otherwise():
    graph, ranges = _of(lambda a, b: tg.index(a * 1e-30)), {"a": (-0.55, -0.55), "b": (0, 0)}
    assert set(_computed(graph, F16_ACC, ranges)) == {0}
    for bound in _both(graph, F16_ACC, ranges):
        assert (bound.lo, bound.hi) == (-1, -1)
        assert bound.error >= 1


def test_exact_indices_and_those_that_no_rounding_moves_stay_exact():
    for make in (lambda a, b: tg.index(a) * 10 + 3, lambda a, b: tg.index(a * 0.3 + 0.1) % 4):
        for bound in _both(_of(make), Schedule(), NEAR):
            assert bound.error == 0


@pytest.mark.parametrize("op", ["mod", "floordiv"])
def test_a_divisor_that_may_be_computed_as_0_has_no_bound(op):
    ten, three, near_zero = whole(10, 10), whole(3, 3, 1), whole(1, 1, 1)
    for divisor, bounded in ((three, True), (near_zero, False)):
        claim = RANGES["integer"]((ten, divisor), {"op": op}, {})
        value = BALLS["integer"]((of(ten), of(divisor)), Given({"op": op}, {}))
        assert math.isfinite(claim.absolute) is bounded
        assert value.a == claim.absolute


def test_where_both_worlds_saturate_an_index_is_exact():
    far = {"a": (2.0**34, 2.0**35), "b": (1.0, 2.0)}
    for bound in _both(_of(lambda a, b: tg.index(a + b)), Schedule(), far):
        assert (bound.lo, bound.hi, bound.error) == (2**31 - 1, 2**31 - 1, 0)


def test_a_gather_by_an_inexact_index_is_not_exact():
    i = dim("i", 2)
    a, b, w = input("a", (2,)), input("b", (2,)), input("w", (4,))
    at = compute("at", (i,), tg.index(a[i] + b[i]))
    graph = Graph(y=compute("y", (i,), w[at[i]]))
    for bound in _both(graph, Schedule(), {**NEAR, "w": (0, 5)}):
        assert bound.error >= 5


def test_a_count_of_what_is_never_so_may_still_be_computed_as_all():
    i = dim("i", 2)
    a, b = input("a", (2,)), input("b", (2,))
    graph = Graph(y=compute("y", (), tg.count(a[i] + b[i] > 1.0, i)))
    ranges = {"a": (1.0, 1.0), "b": (-(2.0**-30), -(2.0**-30))}
    for bound in _both(graph, Schedule(), ranges):
        assert (bound.lo, bound.error) == (0, 2)


def test_a_floor_is_not_still_where_f64_cannot_tell_its_ends_from_a_whole_number():
    graph = _of(lambda a, b: tg.floor(a + b * 0.0 + 2.0**-70))
    for bound in _both(graph, Schedule(), {"a": (1.0, 1.0), "b": (1.0, 1.0)}):
        assert bound.error >= 1
