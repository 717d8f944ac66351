"""Narrow formats: f16 and bf16 store and accumulate in every campaign, and every rung holds."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tang.emulator.abstract import rounded_function
from tang.emulator.replay import replay
from tang.emulator.rounding import round_to
from tang.fuzz.case import draw_batch
from tang.fuzz.formats import ALL, formats_of
from tang.fuzz.schedules import draw_schedule, needs_functions
from tang.fuzz.source import SeededSource
from tang.ir import derived
from tang.ir.expr import REAL, Expr, apply, arg, real
from tang.ir.extent import poly
from tang.ir.format import Format
from tang.ir.graph import Comprehension, Dim, Graph, Input, Output
from tang.ir.monoids import SUM
from tang.ir.view import Interval, Read, Ref, View, variable
from tang.kernel.expand import expand_math
from tang.kernel.ir import BF16, F16, F32, F64, Type
from tang.kernel.lower import lower
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.verify import verify

NARROW = (F16, BF16)
FUNCTIONS = {
    "exp2": apply("exp2", arg(0)),
    "log2": apply("log2", arg(0)),
    "sin": apply("sin", arg(0)),
    "cos": derived.cos(arg(0)),
    "erf": apply("erf", arg(0)),
    "exp": derived.exp(arg(0)),
    "log": derived.log(arg(0)),
    "tanh": derived.tanh(arg(0)),
    "sigmoid": derived.sigmoid(arg(0)),
}


def maps(bodies: dict[str, Expr], size: int) -> Graph:
    """Every body of an input x, as an output of one node."""
    read = Read(Ref("x"), View((variable("i"),)))
    node = Comprehension(
        "f", (Dim("i", poly(size)),), (read,), tuple(bodies.values()), outputs=tuple(bodies)
    )
    outputs = tuple(Output(n, Ref("f", n)) for n in bodies)
    return Graph((Input("x", (poly(size),)),), (node,), outputs)


def everywhere(format_: Type) -> Schedule:
    return Schedule(default=NodeSchedule(storage=format_, accumulate=format_))


def every_number(format_: Type) -> np.ndarray:
    """All numbers of a format of 16 bits and NaN, as f64."""
    words = np.arange(2**16, dtype=np.uint32)
    with np.errstate(invalid="ignore"):
        if format_ is F16:
            found = words.astype(np.uint16).view(np.float16).astype(np.float64)
        else:
            found = (words << 16).view(np.float32).astype(np.float64)
    return np.where(np.isnan(found), np.nan, found)


@pytest.mark.parametrize("backends", [(), ("c", "opencl", "cuda", "msl", "wgsl", "glsl")])
def test_every_pair_of_narrow_formats_is_drawn_for_all_backends(backends):
    drawn = {pair for _, pair in formats_of(backends).pairs}
    assert set(product((F16, BF16, F32), repeat=2)) <= drawn
    assert set(NARROW) <= {t for _, t in formats_of(backends).inputs}


def test_functions_are_drawn_in_narrow_formats_but_never_in_f64():
    found = {
        c.schedule.of(n.name).accumulate
        for c in draw_batch(seed=2, count=300)
        for n in c.graph.nodes
        if needs_functions(n)
    }
    assert {t for t in found if isinstance(t, Type)} == {F16, BF16, F32}
    assert len({t for t in found if isinstance(t, Format)}) >= 3


@pytest.mark.parametrize("where", ["body", "fill"])
def test_a_constant_beyond_f16_keeps_its_node_out_of_f16(where):
    graph = _with_constant(where, 65505)
    drawn = {_accumulate(graph, seed) for seed in range(200)}
    assert F16 not in drawn
    assert BF16 in drawn
    assert F16 in {_accumulate(_with_constant(where, 65504), seed) for seed in range(200)}


def _accumulate(graph: Graph, seed: int) -> Type:
    return draw_schedule(SeededSource(seed, 0), graph, formats=ALL).of("f").accumulate


def _with_constant(where: str, number: int) -> Graph:
    guard = (Interval(variable("i"), poly(0), poly(2)),)
    view = (
        View((variable("i"),), guard, real(number)) if where == "fill" else View((variable("i"),))
    )
    body = apply("add", arg(0), real(number)) if where == "body" else arg(0)
    node = Comprehension(
        "f", (Dim("i", poly(3)),), (Read(Ref("x"), view),), (body,), outputs=("y",)
    )
    return Graph((Input("x", (poly(3),)),), (node,), (Output("y", Ref("f", "y")),))


@pytest.mark.parametrize("op", [*FUNCTIONS])
@pytest.mark.parametrize("format_", NARROW, ids=["f16", "bf16"])
def test_a_function_in_a_narrow_format_is_that_of_f32_rounded_once_more(op, format_):
    x = every_number(format_)
    plan = expand_math(lower(maps({op: FUNCTIONS[op]}, x.size), everywhere(format_)))
    got = replay(plan, {"x": x}).outputs[op].astype(np.float64)
    wide = expand_math(lower(maps({op: FUNCTIONS[op]}, x.size), everywhere(F32)))
    value = replay(wide, {"x": x}).outputs[op].astype(np.float64)
    np.testing.assert_array_equal(got, round_to(value, format_.value))
    with np.errstate(all="ignore"):
        right = rounded_function(op, format_.value)(x).astype(np.float64)
    away = ~((got == right) | (np.isnan(got) & np.isnan(right)))
    assert away.mean() < 2e-3, "only values beside a midpoint may round to the other side"


@pytest.mark.parametrize("format_", NARROW, ids=["f16", "bf16"])
def test_a_narrow_format_climbs_the_ladder_through_every_function(format_):
    x = every_number(format_)[5::23]
    report = verify(maps(FUNCTIONS, x.size), {"x": x}, (), rules=(), schedule=everywhere(format_))
    assert report.ok, report.to_text()


@pytest.mark.parametrize("format_", NARROW, ids=["f16", "bf16"])
def test_a_cast_to_index_saturates_in_a_narrow_format_too(format_):
    x = np.array([2.75, -2.25, 1e4, -1e4, np.inf, -np.inf, np.nan, 0.0, -1e38, 1e38])
    graph = maps({"y": apply("to_index", arg(0))}, x.size)
    report = verify(graph, {"x": x}, (), rules=(), schedule=everywhere(format_))
    assert report.ok, report.to_text()
    found = replay(lower(graph, everywhere(format_)), {"x": x}).outputs["y"]
    most, least = 2**31 - 1, -(2**31)
    assert found[[0, 1]].tolist() == [2, -3]
    assert found[[4, 5, 6, 7, 8, 9]].tolist() == [most, least, -1, 0, least, most]


@pytest.mark.parametrize("split", [1, 3], ids=["whole", "split"])
@pytest.mark.parametrize(
    "pair",
    [*product((F16, BF16), (F16, BF16, F32))],
    ids=["f16-f16", "f16-bf16", "f16-f32", "bf16-f16", "bf16-bf16", "bf16-f32"],
)
def test_a_sum_that_overflows_its_format_stays_within_what_round_knows(pair, split):
    graph, schedule = (
        _sum(8),
        Schedule(nodes=(("s", NodeSchedule(storage=pair[0], accumulate=pair[1], split=split)),)),
    )
    for top in (1.0, 2e4, 7e4, 3e38, 2.0**-24, 2.0**-130):
        x = np.array([1, 0.75, -0.3, 1, 1, 0.123, 1, -2]) * np.float32(top)
        report = verify(graph, {"x": x}, (), rules=(), schedule=schedule)
        assert report.ok, report.to_text()


def _sum(size: int) -> Graph:
    read = Read(Ref("x"), View((variable("r"),)))
    node = Comprehension("s", (), (read,), (arg(0, REAL),), (Dim("r", poly(size)),), monoid=SUM)
    return Graph((Input("x", (poly(size),)),), (node,), (Output("y", Ref("s", "acc")),))


def test_f64_is_drawn_where_every_backend_has_it():
    assert F64 in {t for _, pair in ALL.pairs for t in pair}
    assert F64 not in {t for _, pair in formats_of(("wgsl",)).pairs for t in pair}
