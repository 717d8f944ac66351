"""Scales: equal to independent quantisers, invisible to views, and errors name their place."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import tang as tg
from tang.budget import applied, certify_data, check_data, emulate, precision_from
from tang.budget.scale_nodes import scale_body
from tang.emulator.blocks import quantize_blocks
from tang.errors import ScheduleError
from tang.interpreter import interpret
from tang.ir.expr import arg
from tang.ir.extent import poly
from tang.ir.format import BLOCK_FORMATS
from tang.ir.graph import Comprehension, Dim, Graph, Input, Output
from tang.ir.view import Read, Ref, View, variable
from tang.kernel.narrow import E4M3FN
from tang.verify import verify

RNG = np.random.default_rng(31)
WIDE = (RNG.standard_normal((6, 64)) * np.exp2(RNG.integers(-20, 20, (6, 1)))).astype(np.float32)
WIDE[2], WIDE[1, 3], WIDE[4, :32] = 0.0, 1e30, 0.0
MX = sorted(n for n, f in BLOCK_FORMATS.items() if not f.tensor_scale)


def identity(shape=(6, 64)):
    """The input once more."""
    i, j = tg.dims("i j")
    return tg.Graph(y=tg.compute("y", (i, j), tg.input("x", shape)[i, j] * 1.0))


def of_input(storage, **scale):
    """A precision that stores the input x narrow."""
    return {"version": 1, "inputs": {"x": {"storage": storage, "scale": scale}}}


def quantised(x, per):
    """e4m3fn with f32 scales by NumPy and ml_dtypes: what x becomes."""
    lines = {"tensor": x.reshape(1, -1), "row": x, "block": x.reshape(-1, 16)}[per]
    amax = np.abs(lines).max(1, keepdims=True)
    scale = np.maximum(amax / np.float32(448), np.float32(2.0**-126))
    scale = np.where(amax == 0, np.float32(1), scale)
    ratio = np.clip(lines / scale, -448, 448)
    q = ratio.astype(ml_dtypes.float8_e4m3fn).astype(np.float32)
    return (q * scale).reshape(x.shape)


@pytest.mark.parametrize("name", MX)
def test_powers_of_two_per_block_are_the_mx_formats(name):
    precision = of_input(BLOCK_FORMATS[name].element, per="block", block=32, format="e8m0")
    got = emulate(identity(), {"x": WIDE}, precision)["y"]
    assert np.array_equal(got, quantize_blocks(WIDE, name).values())


@pytest.mark.parametrize("per", ["tensor", "row", "block"])
def test_f32_scales_are_those_of_a_quantiser_in_numpy(per):
    more = {"block": 16} if per == "block" else {}
    got = emulate(identity(), {"x": WIDE}, of_input("e4m3fn", per=per, **more))["y"]
    assert np.array_equal(got, quantised(WIDE, per))
    assert not np.array_equal(got, quantised(WIDE, "row" if per != "row" else "tensor"))


def scales_of(values, power):
    """The scales of largest magnitudes, by the interpreter and by replay in f32."""
    n = len(values)
    read = Read(Ref("x"), View((variable("i"),)))
    body = scale_body(arg(0), E4M3FN, power=power)
    node = Comprehension("s", (Dim("i", poly(n)),), (read,), (body,), outputs=("value",))
    graph = Graph((Input("x", (poly(n),)),), (node,), (Output("s", Ref("s", "value")),))
    data = {"x": values}
    return interpret(graph, data)["s"], emulate(graph, data, rules=())["s"]


def test_the_power_below_is_exact_at_every_power_of_two_and_its_neighbours():
    powers = np.exp2(np.arange(-126.0, 128.0)).astype(np.float32)
    values = np.concatenate([powers, np.nextafter(powers, np.float32(0)), powers * 1.5])
    want = np.exp2(np.maximum(np.frexp(values.astype(np.float64))[1] - 1 - 8, -127))
    for got in scales_of(values, power=True):
        assert np.array_equal(got, want)


@pytest.mark.parametrize("power", [True, False], ids=["e8m0", "f32"])
def test_nothing_gets_the_scale_1_and_what_is_not_finite_gets_nan(power):
    for got in scales_of(np.array([0.0, np.inf, np.nan, 448.0, 2.0**-149]), power=power):
        assert got[0] == 1
        assert np.isnan(got[1:3]).all()
        assert got[3] == 1
        assert got[4] == (2.0**-127 if power else 2.0**-126)


def test_guards_fill_with_what_they_always_did():
    i, k = tg.dims(i=32, k=3)
    x = tg.input("x", (32,))
    graph = tg.Graph(y=tg.compute("y", (i, k), x.at(i + k - 1, fill=5.0) * 1.0))
    data = {"x": RNG.standard_normal(32).astype(np.float32) * 1e4}
    got = emulate(graph, data, of_input("e4m3fn", per="block", block=8))["y"]
    assert got[0, 0] == got[31, 2] == 5.0
    kept = quantised(data["x"].reshape(4, 8), "row").reshape(32)
    assert np.array_equal(got[:, 1], kept)


def test_rows_with_scales_survive_outliers_that_a_format_alone_does_not():
    x, w = RNG.standard_normal((16, 64)), RNG.standard_normal((64, 8))
    x[3], x[7] = x[3] * 1e4, x[7] * 1e-4
    graph = tg.Graph(y=tg.matmul(tg.input("x", (16, 64)), tg.input("w", (64, 8)), name="y"))
    exact = x @ w
    error = {}
    for name, precision in (
        ("plain", {"version": 1, "inputs": {"x": {"storage": "e4m3fn"}}}),
        ("row", of_input("e4m3fn", per="row")),
    ):
        got = emulate(graph, {"x": x, "w": w}, precision)["y"]
        error[name] = np.abs(got - exact).max(1) / np.abs(exact).max(1)
    assert error["row"].max() < 0.2
    assert error["plain"][3] > 0.9
    assert error["plain"][7] > 0.9


def test_a_given_scale_is_used_as_it_is():
    got = emulate(identity(), {"x": WIDE}, of_input("e4m3fn", amax=False, value=0.5))["y"]
    ratio = np.clip(WIDE / 0.5, -448, 448)
    assert np.array_equal(got, ratio.astype(ml_dtypes.float8_e4m3fn).astype(np.float32) * 0.5)


def layer():
    """Two products with a softmax between, whose scores and weights are stored narrow."""
    x, w, v = tg.input("x", (8, 32)), tg.input("w", (32, 32)), tg.input("v", (32, 16))
    h = tg.matmul(x, w, name="h")
    return tg.Graph(
        y=tg.matmul(
            tg.relu(
                h,
            ),
            v,
            name="y",
        ),
        h=h,
    )


DATA = {
    "x": RNG.standard_normal((8, 32)).astype(np.float32) * 50,
    "w": RNG.standard_normal((32, 32)).astype(np.float32),
    "v": RNG.standard_normal((32, 16)).astype(np.float32),
}
LAYER = {
    "version": 1,
    "nodes": {"h": {"storage": "e4m3fn", "scale": {"per": "row"}}},
    "inputs": {
        "x": {"storage": "e5m2", "scale": {"per": "tensor", "format": "e8m0"}},
        "w": {"storage": "e2m1", "scale": {"per": "block", "block": 16, "format": "e8m0"}},
        "v": {"storage": "bf16"},
    },
}


def test_nodes_and_inputs_with_scales_pass_every_rung():
    made, schedule = applied(LAYER, layer())
    found = verify(made, DATA, (), schedule=schedule, rules=())
    assert found.ok, found.to_text()
    formats = {b.name: b.format for b in _plan(made, schedule).buffers}
    assert formats["h_q_value"] == "e4m3fn"
    assert formats["w_q_value"] == "e2m1"
    assert "h_scaled_value" in formats  # an output of the program


def _plan(graph, schedule):
    from tang.kernel.lower import lower

    return lower(graph, schedule)


def test_certificates_hold_through_scales():
    found = certify_data(layer(), LAYER, DATA, rules=())
    assert check_data(found.to_json(), layer(), DATA).undecided == 0
    assert found.row("h").finite > 0


def test_default_formats_of_other_inputs_and_nodes_stay():
    precision = {**LAYER, "default": {"storage": "f16"}, "inputs": {}}
    made, schedule = applied(precision, layer())
    got = emulate(layer(), DATA, precision, rules=())["y"]
    assert got.dtype == np.float16
    assert {n.name for n in made.nodes} >= {"x_stored", "w_stored", "v_stored"}
    same = emulate(layer(), {n: a.astype(np.float16) for n, a in DATA.items()}, precision, rules=())
    assert np.array_equal(got, same["y"])
    assert schedule.of("x_stored").place == "inline"


SHAPED = {
    "f32": ({"nodes": {"y": {"scale": {}}}}, r"nodes\['y'\].scale: y is stored in f32"),
    "bf16": ({"inputs": {"x": {"storage": "bf16", "scale": {}}}}, "x is stored in bf16"),
    "node": ({"nodes": {"q": {"scale": {}}}}, "schedule names 'q'"),
    "input": ({"inputs": {"q": {"storage": "e5m2"}}}, r"inputs\['q'\]: no such input"),
    "block": (of_input("e5m2", per="block", block=24), r"inputs\['x'\].scale.block: 24 does not"),
    "size": (of_input("e5m2", per="block", block=0), "scale.block: expected a positive"),
    "per": (of_input("e5m2", per="column"), "scale.per: expected one of tensor, row, block"),
    "format": (of_input("e5m2", format="f16"), "scale.format: expected one of f32, e8m0"),
    "amax": (of_input("e5m2", amax=1), "scale.amax: expected true or false"),
    "both": (of_input("e5m2", value=2.0), "scale.value: amax takes the scale from the data"),
    "none": (of_input("e5m2", amax=False), "without amax a scale is one value"),
    "power": (of_input("e5m2", amax=False, value=3.0, format="e8m0"), "no power of two"),
    "field": (of_input("e5m2", axis=1), "unknown field 'axis'"),
    "default": ({"default": {"scale": {}}}, "default.scale: a scale belongs to a node"),
    "storage": ({"inputs": {"x": {"storage": "f9"}}}, r"inputs\['x'\].storage: expected one of"),
    "list": ({"inputs": [1]}, "inputs: expected an object, not list"),
}


@pytest.mark.parametrize("name", SHAPED)
def test_what_is_no_scale_is_named_with_its_place(name):
    precision, said = SHAPED[name]
    with pytest.raises(ScheduleError, match=said):
        applied({"version": 1, **precision}, identity())


def test_a_scalar_has_no_rows():
    i = tg.dims("i")
    point = i if isinstance(i, tuple) else (i,)
    x = tg.input("x", (5,))
    total = tg.compute("total", (), tg.sum(x[point[0]], over=point[0]))
    precision = {"nodes": {"total": {"storage": "e5m2", "scale": {"per": "row"}}}}
    with pytest.raises(ScheduleError, match="total has no axis: take a scale per tensor"):
        applied({"version": 1, **precision}, tg.Graph(total=total))


def test_a_plain_schedule_cannot_stand_for_scales():
    with pytest.raises(ScheduleError, match=r"take tang.budget.applied"):
        precision_from(of_input("e5m2"), identity())
    assert applied("fp8-e5m2", identity())[0] == identity()
