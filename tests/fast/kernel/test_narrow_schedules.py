"""Narrow formats in schedules: what is accepted, what lowering makes of them, what JSON says."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

import tang as tg
from tang.errors import FormatError, ScheduleError
from tang.fuzz import schedule_json
from tang.ir.format import ALL_FORMATS, custom_format
from tang.kernel.expand import expand_math, pack_codes
from tang.kernel.ir import BF16, F16, F32, F64, U8, Call, Op, Store
from tang.kernel.lower import lower
from tang.kernel.narrow import (
    E2M1,
    E3M2,
    E4M3FN,
    E5M2,
    NARROW,
    TF32,
    Conversion,
    conversion_named,
    holds,
    scheduled_format,
)
from tang.kernel.schedule import NodeSchedule, Schedule, check_schedule
from tang.kernel.text import kernel_text, plan_text
from tang.kernel.walk import statements, subexpressions
from tang.schedule import schedule_auto, schedule_from_json, schedule_to_json
from tang.schedule.heuristics import Options
from tang.schedule.serial import format_from_json

OWN = custom_format("own", p=3, emin=-3, largest=20, specials="fn")
EVERY = {**NARROW, "own": OWN}


def graph():
    """Sums of rows, and half of each."""
    i, r = tg.dims("i r")
    x = tg.input("x", (4, 6))
    total = tg.compute("total", (i,), tg.sum(x[i, r], over=r))
    return tg.Graph(tg.compute("half", (i,), total[i] * 0.3))


def everywhere(**fields):
    """One schedule for all nodes."""
    return Schedule(default=NodeSchedule(**fields))


def roundings(plan):
    """The roundings of every kernel, each as often as it is written."""
    exprs = [e for launch in plan.launches for e in subexpressions(launch.kernel.body)]
    return [e.op for e in exprs if isinstance(e, Op) and conversion_named(e.op)]


def test_every_result_and_every_stored_number_is_rounded():
    plan = lower(graph(), everywhere(storage=E4M3FN, accumulate=E5M2, rounding="rz"))
    found = roundings(plan)
    assert set(found) == {"round:e5m2:rz:inf", "round:e4m3fn:rz:saturate"}
    # a load, a sum and a store; a load, 0.3, a product and a store
    assert len(found) == 7
    text = kernel_text(plan.launches[0].kernel)
    assert "acc = round:e5m2:rz:inf((acc + x_1))" in text
    assert "total_value[global_id] = round:e4m3fn:rz:saturate(acc)" in text


def test_a_format_that_is_stored_and_computed_with_is_not_rounded_twice():
    plan = lower(graph(), everywhere(storage=E4M3FN, accumulate=E4M3FN))
    assert len(roundings(plan)) == 3  # a sum; 0.3 and a product


def test_plain_schedules_make_the_kernels_that_they_made():
    for accumulate in (F16, BF16, F32, F64):
        plan = lower(graph(), everywhere(storage=BF16, accumulate=accumulate))
        assert not roundings(plan)
        assert pack_codes(plan) is plan


@pytest.mark.parametrize("name", sorted(EVERY))
def test_codes_lie_in_bytes_and_wider_formats_in_words(name):
    format_ = EVERY[name]
    plan = lower(graph(), everywhere(storage=format_))
    packed = pack_codes(expand_math(plan))
    kinds = {b.type for b in packed.buffers}
    assert kinds == ({U8} if format_.bits <= 8 else {F32})
    assert {b.format for b in packed.buffers} == {name}
    assert packed.buffers[0].bytes == (24 if format_.bits <= 8 else 96)
    assert f"x: {name} in {'u8' if format_.bits <= 8 else 'f32'}[4, 6] input x" in plan_text(packed)


def test_a_load_decodes_and_a_store_encodes_what_was_rounded():
    packed = pack_codes(expand_math(lower(graph(), everywhere(storage=E2M1))))
    kernel = packed.launches[0].kernel
    assert [f.name for f in kernel.functions] == [
        "decode_e2m1",
        "encode_e2m1",
        "round_e2m1_rne_saturate_f32",
    ]
    (store,) = (s for s in statements(kernel.body) if isinstance(s, Store))
    assert isinstance(store.value, Call)
    assert store.value.function == "encode_e2m1"
    assert store.value.args[0].function == "round_e2m1_rne_saturate_f32"


def test_formats_of_one_name_are_told_apart_by_their_numbers():
    other = custom_format("own", p=4, emin=-3, largest=20, specials="fn")
    plan = lower(graph(), everywhere(storage=OWN, accumulate=other))
    assert len(set(roundings(plan))) == 2
    packed = pack_codes(expand_math(plan))
    assert len({f.name for f in packed.launches[0].kernel.functions}) == 4


def test_f16_that_rounds_in_another_way_is_computed_in_f32():
    plan = lower(graph(), everywhere(storage=F16, accumulate=F16, overflow="saturate"))
    assert set(roundings(plan)) == {"round:f16:rne:saturate"}
    assert {b.type for b in plan.buffers} == {F16}
    assert {b.format for b in plan.buffers} == {"f16"}


def test_partial_states_are_stored_in_the_format_that_accumulates():
    nodes = (("total", NodeSchedule(accumulate=E5M2, split=2)),)
    packed = pack_codes(expand_math(lower(graph(), Schedule(nodes=nodes))))
    (partial,) = (b for b in packed.buffers if b.name.endswith("_partial"))
    assert (partial.type, partial.format) == (U8, "e5m2")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"storage": "e4m3fn"}, "storage is a float format, not 'e4m3fn': take one of"),
        ({"accumulate": ALL_FORMATS["f16"]}, "f16 is a type: take tang.kernel.ir.F16"),
        ({"storage": ALL_FORMATS["e8m0"]}, "e8m0 cannot be held in f32: it has no sign"),
        ({"storage": custom_format("wide", p=23, emin=-9, largest=2)}, "at most 22 bits"),
        ({"storage": custom_format("low", p=2, emin=-126, largest=2.0**-99)}, "are subnormal"),
        ({"storage": E4M3FN, "rounding": "up"}, "rounding is one of rne, rz, rna, not 'up'"),
        ({"storage": E4M3FN, "overflow": "wrap"}, "overflow is one of usual, inf, nan, saturate"),
        ({"storage": E4M3FN, "overflow": "inf"}, "e4m3fn has no overflow 'inf': one of usual"),
        ({"accumulate": E3M2, "overflow": "nan"}, "e3m2 has no overflow 'nan'"),
        ({"rounding": "rz"}, "needs a storage, accumulate or partial format narrower than f32"),
        ({"storage": F64, "overflow": "saturate"}, "narrower than f32"),
    ],
    ids=lambda v: "-".join(v) if isinstance(v, dict) else "",
)
def test_what_no_machine_can_hold_is_refused_by_name(fields, message):
    with pytest.raises(ScheduleError, match=r"^(half|default): ") as e:
        check_schedule(Schedule(nodes=(("half", NodeSchedule(**fields)),)), graph())
    assert message in str(e.value)


def test_unknown_names_come_with_the_known_ones():
    assert scheduled_format("e2m3") is NARROW["e2m3"]
    with pytest.raises(FormatError, match=r"unknown format 'fp9': one of f64, .*e2m1"):
        scheduled_format("fp9")
    with pytest.raises(FormatError, match="unknown rounding 'down': one of rne, rz, rna"):
        Conversion(TF32, "down")


def test_literals_of_a_format_are_known_exactly():
    assert holds(E2M1, Fraction(3, 2))
    assert not holds(E2M1, Fraction(1, 4))
    assert not holds(E2M1, 8)
    assert [holds(f, "inf") for f in (E5M2, E4M3FN)] == [True, False]
    assert [holds(f, "nan") for f in (E4M3FN, E2M1)] == [True, False]
    assert holds(TF32, Fraction(1, 2**136))
    assert not holds(TF32, Fraction(1, 2**137))


@pytest.mark.parametrize("name", sorted(EVERY))
def test_json_gives_back_the_schedule(name):
    own = NodeSchedule(storage=EVERY[name], accumulate=EVERY[name], rounding="rna", split=2)
    schedule = Schedule(nodes=(("total", own),), default=NodeSchedule(storage=EVERY[name]))
    assert schedule_from_json(schedule_to_json(schedule)) == schedule
    text = schedule_json.schedule_to_json(schedule)
    assert schedule_json.schedule_from_json(text) == schedule


def test_json_of_plain_schedules_is_what_it_was():
    assert "rounding" not in schedule_to_json(Schedule())
    assert "overflow" not in schedule_json.schedule_to_json(Schedule())


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ('{"storage": "e9m9"}', r"nodes\['t'\].storage: expected one of f16, .*e2m1, not 'e9m9'"),
        ('{"rounding": "up"}', r"nodes\['t'\].rounding: expected one of rne, rz, rna, not 'up'"),
        ('{"overflow": 3}', r"nodes\['t'\].overflow: expected one of usual, inf"),
        ('{"storage": {"name": "own"}}', r"nodes\['t'\].storage: a user's format has no 'p'"),
        (
            '{"storage": {"name": "own", "p": 3, "emin": 0, "largest": "x"}}',
            r"nodes\['t'\].storage.largest: expected a number",
        ),
        (
            '{"storage": {"name": "own", "p": 30, "emin": 0, "largest": 4}}',
            r"nodes\['t'\].storage: own cannot be held in f32",
        ),
    ],
)
def test_json_that_is_wrong_names_the_place(node, message):
    with pytest.raises(ScheduleError, match=message):
        schedule_from_json(f'{{"version": 1, "nodes": {{"t": {node}}}}}')


@pytest.mark.parametrize(("part", "given", "message"), [
    ("p", 5.7, "expected an integer, as 4, not 5.7"), ("p", 4.0, "expected an integer"),
    ("p", True, "expected an integer, as 4, not True"), ("p", "4", "expected an integer"),
    ("p", None, "expected an integer"), ("emin", -3.5, "expected an integer, as -6, not -3.5"),
    ("emin", False, "expected an integer"), ("largest", True, "expected a number"),
    ("largest", [1], "expected a number"), ("name", 5, "expected a text"),
    ("specials", 3, "expected one of ieee"),
])  # fmt: skip
def test_no_part_of_a_format_in_json_is_made_fit(part, given, message):
    own = {"name": "own", "p": 4, "emin": -6, "largest": "240", "specials": "ieee"}
    assert format_from_json(own, "x") == custom_format("own", p=4, emin=-6, largest=240)
    with pytest.raises(ScheduleError, match=rf"^x\.{part}: {message}"):
        format_from_json(own | {part: given}, "x")
    nodes = {"t": {"accumulate": own | {part: given}}}
    with pytest.raises(ScheduleError, match=rf"^nodes\['t'\]\.accumulate\.{part}: {message}"):
        schedule_from_json(json.dumps({"version": 1, "nodes": nodes}))


def test_the_automatic_schedule_takes_narrow_formats():
    chosen = schedule_auto(graph(), Options(storage=E4M3FN, accumulate=TF32))
    check_schedule(chosen, graph())
    assert chosen.default.storage is E4M3FN


def test_a_program_takes_and_gives_numbers():
    x = np.linspace(-3, 3, 24).reshape(4, 6)
    program = tg.compile(graph(), schedule=everywhere(storage=E4M3FN, accumulate=F32), rules=())
    assert [b.format for b in program.plan.buffers] == ["e4m3fn"] * 3
    result = program({"x": x})["half"]
    assert result.dtype == np.float32
    near = 0.3 * x.sum(axis=1)
    assert np.abs(result - near).max() < 0.3
    assert holds(E4M3FN, Fraction(float(result[0])))
