"""Presets with scales: what is stored is scaled, what cannot be is bf16, tolerances follow."""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg
from tang.budget import applied, certify_data, check_data, emulate, precision_from
from tang.budget.presets import NAMES, PRESETS, SCALED
from tang.budget.report_tolerance import tolerances_of
from tang.emulator.blocks import quantize_blocks
from tang.errors import ScheduleError
from tang.kernel.ir import BF16, F32
from tang.kernel.lower import lower
from tang.rewrite import rewrite
from tang.testing import assert_within

RNG = np.random.default_rng(3)
DATA = {
    "x": RNG.standard_normal((8, 64)) * 2.0 ** RNG.integers(-12, 12, (8, 1)),
    "w": RNG.standard_normal((64, 24)),
}


def product():
    """x·w: blocks of 32 divide the rows of x, and neither those of w nor those of the result."""
    x, w = tg.input("x", (8, 64)), tg.input("w", (64, 24))
    return tg.Graph(y=tg.matmul(x, w, name="y"))


def formats_of(precision, graph):
    made, schedule = applied(precision, rewrite(graph).graph)
    return {b.name: b.format for b in lower(made, schedule).buffers}


def test_every_name_is_a_precision_and_plain_ones_change_no_program():
    for name in NAMES:
        made, _ = applied(name, product())
        assert (made == product()) == (name in PRESETS)
    assert set(SCALED).isdisjoint(PRESETS)


def test_blocks_are_where_they_divide_an_axis_and_all_else_is_bf16():
    found = formats_of("mxfp8-e4m3", product())
    assert found["x_q_value"] == "e4m3fn"
    assert "w_q_value" not in found
    assert found["y_value"] == "bf16"
    whole = formats_of("fp8-e4m3-scaled", product())
    assert {"x_q_value", "w_q_value", "y_q_value"} <= set(whole)


@pytest.mark.parametrize("name", ["mxfp8-e4m3", "mxfp8-e5m2", "mxfp6-e3m2", "mxfp6-e2m3", "mxfp4"])
def test_blocks_are_those_of_open_compute(name):
    i, j = tg.dims("i j")
    x = tg.input("x", (8, 64))
    graph = tg.Graph(y=tg.compute("y", (i, j), x[i, j] + 0.0))
    precision, made = applied(name, graph)[1], applied(name, graph)[0]
    assert precision.default.storage is F32
    data = DATA["x"].astype(np.float32)
    kept = quantize_blocks(data, name).values()
    got = emulate(made, {"x": data}, precision, rules=())["y"]
    again = quantize_blocks(kept, name).values()
    assert np.array_equal(got, again)


def test_scales_help_where_rows_differ_in_size():
    exact = DATA["x"] @ DATA["w"]
    size = np.abs(exact).max(1, keepdims=True)
    errors = {
        n: (np.abs(emulate(product(), DATA, n)["y"] - exact) / size).max()
        for n in ("fp8-e4m3", "mxfp8-e4m3")
    }
    assert errors["mxfp8-e4m3"] < 0.1 < errors["fp8-e4m3"]


def test_certificates_of_presets_with_scales_are_checked():
    made = certify_data(product(), "mxfp8-e4m3", DATA)
    assert check_data(made.to_json(), product(), DATA, "mxfp8-e4m3").confirmed > 0


def test_what_has_no_numbers_for_extents_or_is_no_preset_is_refused_with_its_cure():
    x = tg.input("x", (4, "n"))
    i, k = tg.dims("i k")
    graph = tg.Graph(y=tg.compute("y", (i,), tg.sum(x[i, k], over=k)))
    with pytest.raises(ScheduleError, match="needs numbers for extents, and n is none: bind"):
        applied("mxfp4", graph)
    with pytest.raises(ScheduleError, match="take mxfp4, or round data with"):
        applied("nvfp4", product())
    with pytest.raises(ScheduleError, match=r"take tang\.budget\.applied"):
        precision_from("mxfp8-e4m3", product())


def test_tolerances_know_scales_by_the_data():
    (found,) = tolerances_of(product(), "mxfp8-e4m3", inputs=[DATA])
    (plain,) = tolerances_of(product(), "fp8-e4m3", inputs=[DATA])
    assert (found.kind, found.format) == ("data", "bf16")
    assert plain.derivation[0].endswith("on these inputs y may leave e4m3fn")
    small = {n: a / np.abs(a).max() for n, a in DATA.items()}
    (plain,) = tolerances_of(product(), "fp8-e4m3", inputs=[small])
    assert plain.kind == "shape"
    assert any("may divide by zero" in line for line in found.derivation)
    got = np.asarray(emulate(product(), DATA, "mxfp8-e4m3")["y"], np.float64)
    assert (np.abs(got - DATA["x"] @ DATA["w"]) <= found.atol).all()


def test_assert_within_takes_precisions_with_scales():
    got = emulate(product(), DATA, "mxfp8-e4m3")
    assert_within(got, graph=product(), precision="mxfp8-e4m3", inputs=DATA)
    wrong = np.array(got["y"], np.float64)
    wrong[0, 0] += 1e7
    with pytest.raises(AssertionError, match=r"y\[0, 0\]"):
        assert_within(wrong, graph=product(), precision="mxfp8-e4m3", inputs=DATA)


def test_bf16_is_what_the_rest_is_stored_in():
    _, schedule = applied("mxfp8-e4m3", product())
    assert schedule.of("y").storage is BF16
