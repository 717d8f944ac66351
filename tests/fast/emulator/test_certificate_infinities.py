"""Infinities that are exact values: what overflow makes of them, and what is said of it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from forging import holds, judged, last, made, refused, with_step

import tang as tg
from tang.emulator import certify, check_certificate
from tang.interpreter import interpret
from tang.kernel.ir import BF16, F16, F32
from tang.kernel.narrow import E2M1, E3M2, E4M3FN, E5M2, TF32
from tang.kernel.schedule import NodeSchedule, Schedule

OVERFLOWS = ("usual", "inf", "nan", "saturate")
KEPT = ("usual", "inf")
FORMATS = {"f16": F16, "bf16": BF16, "e5m2": E5M2}

i, k = tg.dim("i", 2), tg.dim("k", 2)
a = tg.input("a", (2,))

PROGRAMS = {
    "sum": lambda: a[i] + math.inf,
    "choice": lambda: tg.select(a[i] < 1.5, math.inf, a[i]),
    "maximum of none": lambda: tg.max(a[k], over=k, where=[k < i]),
    "minimum of none": lambda: tg.min(a[k], over=k, where=[k < i]),
    "logarithm": lambda: tg.logsumexp(a[k], over=k, where=[k < i]),
}


def graph_of(name):
    return tg.Graph(y=tg.compute("y", (i,), PROGRAMS[name]()))


@pytest.mark.parametrize("computed", [F32, None], ids=["f32", "throughout"])
@pytest.mark.parametrize("ranges", [{"a": (1.0, 2.0)}, None], ids=["range", "shape"])
@pytest.mark.parametrize("overflow", OVERFLOWS)
@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_said_of_an_infinity_holds(name, format_, overflow, ranges, computed):
    storage = FORMATS[format_]
    node = NodeSchedule(storage=storage, accumulate=computed or storage, overflow=overflow)
    graph, schedule = graph_of(name), Schedule(nodes=(("y", node),))
    certificate = certify(graph, schedule, {}, ranges)
    checked = check_certificate(certificate, graph, schedule)
    assert checked, checked.message
    data = {"a": np.array([1.0, 2.0])}
    exact = np.asarray(interpret(graph, data)["y"], np.float64)
    found = np.asarray(tg.emulate(graph, data, schedule, rules=())["y"], np.float64)
    bound = certificate.bound("y")
    assert holds(bound, exact, found), (bound, exact, found)
    if overflow in KEPT and computed is not None:
        assert (found == exact).any()
        assert bound.nan == ("unknown" if name == "logarithm" else "cannot be NaN")


@pytest.mark.parametrize("overflow", ["nan", "saturate"])
def test_a_rounding_that_keeps_an_infinity_it_cannot_keep_is_refused(overflow):
    node = NodeSchedule(storage=F16, accumulate=F32)
    y = tg.compute("y", (i,), PROGRAMS["sum"]())
    honest = made(y, {"a": (1.0, 2.0)}, Schedule(nodes=(("y", node),)))
    n = last(honest, "round")
    assert honest.steps[n].claim.special == ("inf",)
    assert check_certificate(with_step(honest, n))
    refused(with_step(honest, n, overflow=overflow), f"step {n} (round): its ")


def test_the_reason_says_what_becomes_of_an_infinity():
    for overflow, words in (("nan", "NaN"), ("saturate", "a number")):
        node = NodeSchedule(storage=F16, accumulate=F32, overflow=overflow)
        y = tg.compute("y", (i,), PROGRAMS["sum"]())
        bound = made(y, {"a": (1.0, 2.0)}, Schedule(nodes=(("y", node),))).bound("y")
        assert (bound.nan, bound.overflow) == ("unknown", "unknown")
        assert bound.reason == f"an infinity becomes {words} in f16"


@pytest.mark.parametrize("format_", [E2M1, E3M2], ids=lambda f: f.name)
def test_what_none_give_is_no_nan_in_a_format_without_one(format_):
    first = tg.monoid(
        "first", {"v": "real"}, lift=lambda x: {"v": x}, combine=lambda x, y: x, identity=None
    )
    graph = tg.Graph(y=tg.compute("y", (i,), tg.reduce(first, a[k], over=k, where=[k < i])))
    schedule = Schedule(nodes=(("y", NodeSchedule(storage=format_, accumulate=format_)),))
    bound = certify(graph, schedule, {}, {"a": (1.0, 2.0)}).bound("y")
    data = {"a": np.array([1.0, 2.0])}
    assert np.isnan(interpret(graph, data)["y"][0])
    assert not np.isnan(tg.emulate(graph, data, schedule, rules=())["y"]).any()
    assert (bound.error, bound.nan) == (math.inf, "unknown")


# --- where infinities go --------------------------------------------------------------------------

OPS = {
    "max": lambda v: tg.maximum(v, 1.0), "neg": lambda v: -v, "one": lambda v: v * 1.0,
    "zero": lambda v: v + 0.0, "root": tg.sqrt, "fold": lambda v: tg.max(v * 1.0, over=k),
    "sum": lambda v: tg.sum(v, over=k), "exp": tg.exp,
}  # fmt: skip
COMPUTED = {"f16": F16, "bf16": BF16, "tf32": TF32, "e5m2": E5M2, "e4m3fn": E4M3FN, "f32": F32}
ROUNDED = [(f, o) for f in COMPUTED for o in ("usual", "nan", "saturate")
           if f != "f32" or o == "usual"]  # fmt: skip


@pytest.mark.parametrize(("format_", "overflow"), ROUNDED)
@pytest.mark.parametrize("op", OPS)
def test_an_infinity_that_a_node_reads_is_what_its_format_makes_of_it(op, format_, overflow):
    x = tg.compute("x", (i,), a[i] + math.inf)
    graph = tg.Graph(y=tg.compute("y", (i,), OPS[op](x[i])))
    node = NodeSchedule(storage=F32, accumulate=COMPUTED[format_], overflow=overflow)
    stored = NodeSchedule(storage=E5M2, accumulate=F32)
    schedule = Schedule(nodes=(("x", stored), ("y", node)))
    bound, exact, found = judged(graph, schedule, {"a": (1.0, 2.0)}, {"a": np.array([1.0, 2.0])})
    if format_ == "f32":
        assert math.isfinite(bound.error)
        assert np.array_equal(exact, found, equal_nan=True)


@pytest.mark.parametrize(("format_", "overflow"), ROUNDED)
@pytest.mark.parametrize("fold", ["max", "argmax"])
def test_a_copy_of_stored_numbers_is_a_rounded_one_where_there_are_none(fold, format_, overflow):
    """A maximum of numbers that are stored, in the format they are stored in; −∞ of none."""
    x = tg.compute("x", (i,), a[i] * 3.0)
    y = tg.compute("y", (i,), getattr(tg, fold)(x[k], over=k, where=[k < i]))
    graph = tg.Graph(y=y.output("value") if fold == "argmax" else y)
    default = NodeSchedule(storage=COMPUTED[format_], accumulate=F32, overflow=overflow)
    judged(graph, Schedule(default=default), {"a": (1.0, 2.0)}, {"a": np.array([1.0, 2.0])})


OF_MEAN = {
    "itself": lambda m: m, "inverse": lambda m: 1.0 / m, "decision": lambda m: tg.select(
        m < 0.5, 9.0, 0.0), "root": lambda m: tg.sqrt(m - 0.5),
}  # fmt: skip


@pytest.mark.parametrize("format_", ["f32", "f16", "e4m3fn"])
@pytest.mark.parametrize("name", OF_MEAN)
def test_the_state_of_a_mean_of_nothing_is_zero(name, format_):
    m = tg.compute("w", (i,), tg.welford(a[k], over=k, where=[k < i])).output("mean")
    graph = tg.Graph(y=tg.compute("y", (i,), OF_MEAN[name](m[i])))
    schedule = Schedule(default=NodeSchedule(storage=COMPUTED[format_]))
    bound, exact, _ = judged(graph, schedule, {"a": (1.0, 2.0)}, {"a": np.array([1.0, 2.0])})
    if name == "itself":
        assert (bound.lo, exact[0]) == (0, 0)


def test_the_state_of_a_semigroup_of_nothing_is_nan():
    last_one = tg.monoid(
        "last", {"v": "real"}, lift=lambda x: {"v": x}, combine=lambda x, y: y, identity=None
    )
    node = tg.compute("w", (i,), tg.reduce(last_one, a[k], over=k, where=[k < i]))
    graph = tg.Graph(y=node.output("v"))
    data = {"a": np.array([1.0, 2.0])}
    bound, exact, _ = judged(graph, Schedule(), {"a": (1.0, 2.0)}, data)
    assert np.isnan(exact[0])
    assert bound.nan == "NaN only where the exact value is"


# --- reciprocals of 0 -----------------------------------------------------------------------------

OF_INVERSE = {
    "exp": lambda x, b: tg.exp(x), "tanh": lambda x, b: tg.tanh(x),
    "sigmoid": lambda x, b: tg.sigmoid(x), "max": tg.maximum, "inverse": lambda x, b: 1.0 / x,
    "min": tg.minimum,
}  # fmt: skip


@pytest.mark.parametrize("ends", [(0.0, 1.0), (-1.0, 0.0), (0.0, 0.0)])
@pytest.mark.parametrize("name", OF_INVERSE)
def test_ends_hold_of_what_is_made_of_the_inverse_of_either_zero(name, ends):
    b = tg.input("b", (2,))
    graph = tg.Graph(y=tg.compute("y", (i,), OF_INVERSE[name](1.0 / a[i], b[i])))
    ranges = {"a": ends, "b": (-6.0, -5.0)}
    ranges = {m.name: ranges[m.name] for m in graph.inputs}
    certificate = certify(graph, Schedule(), {}, ranges)
    assert check_certificate(certificate, graph, Schedule())
    data = {"a": np.array([0.0, -0.0]), "b": np.array([-5.5, -5.5])}
    data = {m.name: data[m.name] for m in graph.inputs}
    exact = np.asarray(interpret(graph, data)["y"])
    bound = certificate.bound("y")
    inside = (exact >= bound.lo) & (exact <= bound.hi)
    assert (inside | ~np.isfinite(exact)).all(), (bound, exact)


def test_a_reciprocal_whose_operand_may_be_minus_zero_has_no_least_value():
    honest = made(tg.compute("y", (i,), tg.exp(1.0 / a[i])), {"a": (0.0, 1.0)})
    n = last(honest, "recip")
    claim = honest.steps[n].claim
    refused(with_step(honest, n, replace(claim, lo=1.0)), f"step {n} (recip): its lo is too small")


# --- verdicts of underflow ------------------------------------------------------------------------


def test_what_has_no_bound_may_underflow_though_its_exact_value_is_zero():
    """√z for a z that rounding made positive: 0 by its ends, and 5.7e-42 was computed."""
    b = tg.input("b", (2,))
    z = ((a[i] + 2.0**-24) - b[i]) - 2.0**-24
    top = 1 + 2.0**-23
    y = tg.compute("y", (i,), tg.sqrt(z) * 2.0**-125)
    honest = made(y, {"a": (0.0, top), "b": (top, top)})
    bound = honest.bound("y")
    assert bound.underflow == f"may underflow below {2.0**-126:.4g}"
    forged = replace(honest, nodes=(replace(bound, underflow="cannot underflow"),))
    refused(forged, "y.value: underflow is not excluded")


def test_a_zero_that_is_not_exact_may_be_a_subnormal_number():
    lost = made(tg.compute("y", (i,), a[i] * 0.25), {"a": (0.0, 0.0)}).bound("y")
    assert (lost.lo, lost.hi) == (0, 0)
    assert (lost.error > 0, lost.underflow) == (True, "may underflow below 1.175e-38")
    zero = made(tg.compute("y", (i,), a[i] - a[i]), {"a": (0.0, 0.0)})
    bound = zero.bound("y")
    assert (bound.lo, bound.hi, bound.error, bound.underflow) == (0, 0, 0, "cannot underflow")
    n = bound.step
    steps = list(zero.steps)
    steps[n] = replace(steps[n], claim=replace(steps[n].claim, absolute=1e-44))
    row = replace(bound, absolute=1e-44, error=1e-44, vacuous=True)
    refused(replace(zero, steps=tuple(steps), nodes=(row,)), "underflow is not excluded")
