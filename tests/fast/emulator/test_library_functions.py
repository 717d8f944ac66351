"""`math="any"`: claims that hold of any decent library, however a kernel writes a function."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tang as tg
from tang.budget.data_bounds import element_bounds
from tang.budget.emulation import folded
from tang.budget.report_samples import setting_of, stored_inputs
from tang.emulator.any_order import any_order
from tang.emulator.certify_functions import Functions
from tang.ir.view import Ref
from tang.kernel.accuracy import DOCUMENTED, LIBRARY
from tang.kernel.ir import BF16, F16, F32, F64
from tang.kernel.schedule import NodeSchedule, Schedule

TYPES = {"f32": np.float32, "f64": np.float64}
CONSTANTS = {"log2e": 1.4426950408889634, "ln2": 0.6931471805599453}


class Library:
    """Functions and quotients that err by all that is claimed, either way, in f32 or in f64.

    True values are of f64, or of x86's extended format for f64.
    """

    def __init__(self, name, way):
        self.type, self.way = TYPES[name], way
        self.wide = np.longdouble if name == "f64" else np.float64

    def off(self, value, ulps):
        """A true value moved by ulps, then rounded to nearest."""
        with np.errstate(all="ignore"):
            step = np.abs(np.spacing(value.astype(self.type))).astype(self.wide)
            moved = value + self.way * ulps * np.where(np.isfinite(step), step, 0)
            return moved.astype(self.type)

    def call(self, op, *args):
        return self.off(getattr(np, op)(*(a.astype(self.wide) for a in args)), 4.0)

    def div(self, a, b):
        return self.off(np.asarray(a).astype(self.wide) / np.asarray(b).astype(self.wide), 2.0)

    def const(self, name):
        return self.type(CONSTANTS[name])


def by_power(lib, x):
    """exp as the IR prints it."""
    return lib.call("exp2", x * lib.const("log2e"))


def tanh_as_printed(lib, x):
    one, two = lib.type(1), lib.type(2)
    return one - lib.div(two, by_power(lib, x * two) + one)


def tanh_as_share(lib, x):
    one, two = lib.type(1), lib.type(2)
    power = by_power(lib, x * two)
    return lib.div(power - one, power + one)


def sigmoid_as_printed(lib, x):
    one = lib.type(1)
    return lib.div(one, one + by_power(lib, -x))


def sigmoid_as_share(lib, x):
    one, power = lib.type(1), by_power(lib, x)
    return lib.div(power, one + power)


WAYS = {
    "exp": ("exp", lambda lib, x: lib.call("exp", x)),
    "exp-as-power": ("exp", by_power),
    "exp2": ("exp2", lambda lib, x: lib.call("exp2", x)),
    "exp2-as-exp": ("exp2", lambda lib, x: lib.call("exp", x * lib.const("ln2"))),
    "log": ("log", lambda lib, x: lib.call("log", x)),
    "log-by-log2": ("log", lambda lib, x: lib.call("log2", x) * lib.const("ln2")),
    "log2-by-log": ("log2", lambda lib, x: lib.call("log", x) * lib.const("log2e")),
    "sin": ("sin", lambda lib, x: lib.call("sin", x)),
    "cos": ("cos", lambda lib, x: lib.call("cos", x)),
    "tanh": ("tanh", lambda lib, x: lib.call("tanh", x)),
    "tanh-as-printed": ("tanh", tanh_as_printed),
    "tanh-as-share": ("tanh", tanh_as_share),
    "sigmoid-as-printed": ("sigmoid", sigmoid_as_printed),
    "sigmoid-as-share": ("sigmoid", sigmoid_as_share),
}
CASES = [(way, name) for way in WAYS for name in TYPES]


def arguments(op, type_):
    """Small and large ones of both signs, around 0, where exp nearly overflows, and near 1."""
    rng = np.random.default_rng(len(op))
    reach = 80.0 if type_ is np.float32 else 700.0
    parts = [rng.uniform(-s, s, 800) for s in (1e-6, 0.01, 1.0, 4.0, 20.0, reach)]
    x = np.concatenate([*parts, [0.0, reach, -reach]]).astype(type_)
    if op.startswith("log"):
        near = 1 + rng.uniform(-1e-5, 1e-5, 400)
        return np.concatenate([np.exp(x.astype(np.float64) / 2), near]).astype(type_)
    return x


def bounds_of(op, x, math, name="f32"):
    """The bound of every element of a function, and its exact values."""
    i = tg.dim("i")
    graph = tg.Graph(y=tg.compute("y", i, getattr(tg, op)(tg.input("x", (x.size,))[i])))
    chosen = NodeSchedule(storage=F64, accumulate=F64) if name == "f64" else NodeSchedule()
    schedule = Schedule(default=chosen)
    setting = setting_of(graph, stored_inputs(graph, schedule, {"x": x}))
    bounds = element_bounds(setting, folded(schedule), free=True, math=math)
    ref = Ref("y", "y") if Ref("y", "y") in bounds else graph.outputs[0].ref
    return np.asarray(bounds[ref]), np.asarray(setting.exact[ref])


@pytest.mark.parametrize(("way", "name"), CASES)
def test_every_way_to_write_a_function_keeps_the_claims(way, name):
    op, written = WAYS[way]
    x = arguments(op, TYPES[name])
    x = x[np.abs(x) < 40] if way == "tanh-as-share" else x  # else ∞/∞
    bound, exact = bounds_of(op, x, "any", name)
    assert np.isfinite(bound).all()
    for side in (1.0, -1.0):
        got = written(Library(name, side), x).astype(np.float64)
        worst = np.max(np.abs(got - exact) - bound)
        assert worst <= 0, (side, worst)


@pytest.mark.parametrize("way", ["exp-as-power", "log-by-log2", "tanh-as-printed",
                                 "sigmoid-as-printed"])  # fmt: skip
def test_the_claims_of_tangs_own_functions_do_not_hold_of_them(way):
    op, written = WAYS[way]
    x = arguments(op, np.float32)
    bound, exact = bounds_of(op, x, "portable")
    assert (np.abs(written(Library("f32", 1.0), x).astype(np.float64) - exact) > bound).any()


def test_a_share_that_underflows_where_its_exponential_overflows_is_0():
    x = np.array([-88.5, -89.0, -100.0, -200.0], np.float32)
    bound, exact = bounds_of("sigmoid", x, "any")
    with np.errstate(over="ignore"):
        got = np.float32(1) / (np.float32(1) + np.exp2(-x * np.float32(CONSTANTS["log2e"])))
    assert (got[1:] == 0).all()
    assert (exact[1:3] > 0).all()
    assert (np.abs(got - exact) <= bound).all()


def test_shares_whose_exponential_overflows_are_not_covered_and_the_page_says_so():
    """The bound is finite, and such a kernel gives NaN: a test of it fails, which is right."""
    page = (Path(__file__).parents[3] / "docs/budget.md").read_text()
    listed = page.partition("Not covered:")[2].partition("\n  A precision file")[0]
    shares = {"sigmoid": (sigmoid_as_share, 88.8, "E/(1 + E)"),
              "tanh": (tanh_as_share, 44.4, "(E − 1)/(E + 1)")}  # fmt: skip
    for op, (written, first, form) in shares.items():
        x = np.array([first - 0.2, first], np.float32)
        bound, _ = bounds_of(op, x, "any")
        assert np.isfinite(bound).all()
        with np.errstate(over="ignore", invalid="ignore"):
            assert np.isnan(written(Library("f32", 1.0), x)).tolist() == [False, True]
        assert f"{op}(x) as {form} where" in listed
        assert f"NaN from {first} on" in listed


def test_arguments_far_below_0_cost_the_others_nothing():
    x = np.array([0.0, 1.0, -1e9, -80.0], np.float32)
    bound, exact = bounds_of("exp", x, "any")
    alone, _ = bounds_of("exp", x[:2], "any")
    assert (bound[:2] == alone).all()
    assert bound[2] < 1e-38
    assert bound[3] <= 2**-24 * 2 * (4.5 + 160) * exact[3] * 1.001


def test_claims_of_any_library_are_as_wide_as_every_document():
    """WGSL and GLSL promise less: their functions are none of a decent library."""
    for language in ("c", "opencl", "cuda", "msl"):
        for op, rows in DOCUMENTED[language].rows.items():
            assert all(c.ulp <= LIBRARY.rows[op][0].ulp for c in rows), (language, op)
    assert Functions("any").division("f64")[0].value == 6.0
    assert Functions("any").root("f32")[0].value == 5.0
    assert Functions("c").division("f32") is None


def test_several_claims_of_one_function_hold_together():
    kinds = [kind for _, kind in Functions("any").claims("tanh", "f32", ((-1.0, 1.0),))]
    assert kinds == ["ulp", "absolute"]
    ((near, _),) = Functions("any").claims("sigmoid", "f32", ((-1.0, 1.0),))
    far = Functions("any").claims("sigmoid", "f32", ((-99.0, 1.0),))
    assert near.value == 15 + 0.5 + 2
    assert [kind for _, kind in far] == ["ulp", "absolute"]
    assert any_order("any").name == "any order, any functions"


def quotient_and_root(a, name):
    """The bounds and exact values of 0.7/a and √a."""
    i = tg.dim("i")
    x = tg.input("x", (a.size,))
    graph = tg.Graph(
        q=tg.compute("q", i, 0.7 / x[i]), r=tg.compute("r", i, tg.sqrt(x[i])),
    )  # fmt: skip
    chosen = NodeSchedule(storage=F64, accumulate=F64) if name == "f64" else NodeSchedule()
    schedule = Schedule(default=chosen)
    setting = setting_of(graph, stored_inputs(graph, schedule, {"x": a}))
    bounds = element_bounds(setting, folded(schedule), free=True, math="any")
    return [(bounds[o.ref], setting.exact[o.ref]) for o in graph.outputs]


@pytest.mark.parametrize("name", ["f32", "f64"])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_quotients_by_reciprocals_and_roots_by_reciprocal_roots_keep_the_claims(name, side):
    lib = Library(name, side)
    a = np.random.default_rng(5).uniform(0.25, 4, 4000).astype(lib.type)
    wide = a.astype(lib.wide)
    (quotient, by_division), (root, exact) = quotient_and_root(a, name)
    double = 2 if name == "f64" else 1
    divided = lib.type(0.7) * lib.div(lib.type(1), a)
    rooted = a * lib.off(1 / np.sqrt(wide), 1.5)
    for got, bound, value in ((divided, quotient, by_division), (rooted, root, exact)):
        assert (np.abs(got.astype(float) - value) <= double * bound).all()
    alone = np.abs(divided.astype(float) - by_division)
    assert (alone > 2.5 * np.spacing(np.abs(by_division).astype(lib.type))).any()


@pytest.mark.parametrize(("type_", "unit"), [(F16, 2.0**-11), (BF16, 2.0**-8)], ids=["f16", "bf16"])
def test_a_node_that_computes_in_a_narrow_format_may_take_its_functions_in_steps_of_it(type_, unit):
    """tanh is off by 16u of the format that computes, where it is near 0."""
    x = np.array([2.0**-10, 2.0**-9])
    i = tg.dim("i")
    graph = tg.Graph(y=tg.compute("y", i, tg.tanh(tg.input("x", (2,))[i])))
    for accumulate, u in ((type_, unit), (F32, 2.0**-24)):
        schedule = Schedule(default=NodeSchedule(storage=type_, accumulate=accumulate))
        setting = setting_of(graph, stored_inputs(graph, schedule, {"x": x}))
        found = element_bounds(setting, folded(schedule), free=True, math="any")
        bound = np.asarray(found[graph.outputs[0].ref])
        assert (bound >= 16 * u).all()
        assert (bound <= 17 * u + unit * 2.0**-8).all()
