"""Infinities that are exact values: what overflow makes of them, and what is said of it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from forging import last, made, refused, with_step

import tang as tg
from tang.emulator import certify, check_certificate
from tang.interpreter import interpret
from tang.kernel.ir import BF16, F16, F32
from tang.kernel.narrow import E2M1, E3M2, E5M2
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


def holds(bound, exact, computed):
    """Whether a bound and its verdict about NaN are true of values."""
    if bound.nan == "cannot be NaN" and np.isnan(computed).any():
        return False
    if math.isinf(bound.error):
        return True
    same = (exact == computed) | (np.isnan(exact) & np.isnan(computed))
    with np.errstate(invalid="ignore"):
        return bool((same | (np.abs(computed - exact) <= bound.error)).all())


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
