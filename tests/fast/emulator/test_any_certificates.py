"""Certificates with `math="any"`: quotients and functions as inexact as any library's, or steps."""

from __future__ import annotations

from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest

import tang as tg
from tang.emulator import certify, check_certificate
from tang.kernel.ir import BF16, F16, F32, F64
from tang.kernel.schedule import NodeSchedule, Schedule

MATHS = ("portable", "any")
NARROW = {"f16": (F16, np.float16, 11, -14), "bf16": (BF16, ml_dtypes.bfloat16, 8, -126)}
CONSTANTS = {"log2e": 1.4426950408889634, "ln2": 0.6931471805599453}


def within(type_):
    return Schedule(default=NodeSchedule(storage=type_, accumulate=type_))


def unary(f):
    i = tg.dim("i")
    return tg.Graph(y=tg.compute("y", i, f(tg.input("x", (1,))[i])))


def welford():
    i, k = tg.dims("i k")
    return tg.Graph(z=tg.compute("z", (i,), tg.welford(tg.input("x", (1, 2))[i, k], over=k)))


def weighted():
    """Σ w·v / Σ w of an online softmax of one term, which is v."""
    t, s, d = tg.dims("t s d")
    x, v = tg.input("x", (2, 1)), tg.input("v", (1, 3))
    return tg.Graph(y=tg.compute("y", (t, d), tg.online_softmax(x[t, s], v[s, d], over=s)))


def off(value, ulps):
    """An f32 number some ulps from a true value, as a library's result."""
    value = np.longdouble(value)
    step = np.exp2(np.floor(np.log2(np.abs(value))) - 23)
    return np.float32(value + ulps * step)


# --- quotients within reductions ------------------------------------------------------------------


@pytest.mark.parametrize("math", MATHS)
def test_an_average_by_welford_counts_how_far_off_its_quotient_may_be(math):
    """Of −½ and ½: a difference of 1, a shift of ½, and an average of 0."""
    graph = welford()
    made = certify(graph, Schedule(), {}, {"x": (-0.5, 0.5)}, math=math)
    assert check_certificate(made, graph, Schedule())
    average = np.float32(-0.5) + off(0.5, {"portable": 0.0, "any": 5.5}[math])
    assert abs(average) <= made.bound("z", "average").error


@pytest.mark.parametrize("math", MATHS)
def test_a_sum_of_squares_by_welford_counts_it_too(math):
    """m2 of 0 and 1: a difference of 1, and ½ by a quotient."""
    made = certify(welford(), Schedule(), {}, {"x": (0.0, 1.0)}, math=math)
    bound = made.bound("z", "m2")
    quotient = off(0.5, {"portable": 0.0, "any": 6.0}[math])
    assert abs(quotient - 0.5) <= bound.relative * 0.5 + bound.absolute
    step = next(s for s in made.steps if s.rule == "welford_m2")
    given = dict(step.params)
    assert given.get("quotient") == {"portable": None, "any": 6.0}[math]
    alone = 2**-24 * (given["adds"] + 8)
    assert step.claim.relative > alone + 2**-24 * {"portable": 0, "any": 12}[math]


@pytest.mark.parametrize("math", MATHS)
def test_a_mean_by_weights_counts_its_quotient(math):
    made = certify(weighted(), Schedule(), {}, {"x": (0, 0), "v": (1, 1.999)}, math=math)
    total, mean = (next(s for s in made.steps if s.rule == r)
                   for r in ("rescaled_sum", "weighted_mean"))  # fmt: skip
    own = {"portable": 2, "any": 13}[math] * 2.0**-24
    assert mean.claim.relative >= 2 * total.claim.relative * 0.9 + own or math == "portable"
    assert dict(mean.params).get("quotient") == {"portable": None, "any": 6.0}[math]
    names = [k.name for k in made.constants if k.name.endswith(".div")]
    assert names == {"portable": [], "any": ["any.f32.div"]}[math]


@pytest.mark.parametrize("rule", ["welford_mean", "welford_m2", "weighted_mean"])
@pytest.mark.parametrize("value", [None, 0.0, 2.5])
def test_a_checker_asks_what_quotients_are_off_by(rule, value):
    """Where the step says nothing of it, or less than the table."""
    graph = weighted() if rule == "weighted_mean" else welford()
    made = certify(graph, Schedule(), {}, math="any")
    assert check_certificate(made)
    n = next(n for n, s in enumerate(made.steps) if s.rule == rule)
    rest = tuple((k, v) for k, v in made.steps[n].params if k != "quotient")
    params = rest if value is None else (*rest, ("quotient", value))
    steps = (*made.steps[:n], replace(made.steps[n], params=params), *made.steps[n + 1 :])
    checked = check_certificate(replace(made, steps=steps))
    assert f"step {n} ({rule}): quotient" in checked.message


def test_a_checker_takes_quotients_into_the_bound_itself():
    made = certify(welford(), Schedule(), {}, {"x": (-0.5, 0.5)}, math="any")
    plain = certify(welford(), Schedule(), {}, {"x": (-0.5, 0.5)})
    for rule in ("welford_mean", "welford_m2"):
        n = next(n for n, s in enumerate(made.steps) if s.rule == rule)
        small = next(s for s in plain.steps if s.rule == rule)
        error = dict(small.params).get("error")
        params = tuple((k, error if k == "error" else v) for k, v in made.steps[n].params)
        step = replace(made.steps[n], params=params, claim=small.claim)
        bad = replace(made, steps=(*made.steps[:n], step, *made.steps[n + 1 :]), nodes=())
        assert f"step {n} ({rule}): its " in check_certificate(bad).message


# --- overflow -------------------------------------------------------------------------------------

LAST = {F32: ("f32", 88.72283172607422), F64: ("f64", 709.782712893384)}
"""The largest arguments whose powers are numbers, and those below that no library's error moves."""


@pytest.mark.parametrize("type_", LAST, ids=lambda t: t.value)
def test_a_power_that_an_error_may_drive_beyond_the_largest_number_has_no_bound(type_):
    graph, schedule = unary(tg.exp), within(type_)
    name, last = LAST[type_]
    safe = certify(graph, schedule, {}, {"x": (1.0, last - 0.01)}, math="any").bound("y")
    assert (safe.overflow, safe.finite) == ("cannot overflow", True)
    made = certify(graph, schedule, {}, {"x": (1.0, last)}, math="any")
    assert check_certificate(made, graph, schedule)
    assert made.bound("y").overflow.startswith(f"may overflow {name}: at most")
    assert not made.bound("y").finite


def test_a_rounding_cannot_overflow_where_its_operand_is_within_the_largest_number():
    largest = float(np.finfo(np.float32).max)
    made = certify(unary(lambda x: x * 0.5), Schedule(), {}, {"x": (1.0, largest)})
    double = certify(unary(lambda x: x * 1.0), Schedule(), {}, {"x": (1.0, largest)})
    assert {made.bound("y").overflow, double.bound("y").overflow} == {"cannot overflow"}
    root = certify(unary(lambda x: x + 0.0), Schedule(), {}, {"x": (-largest, largest)})
    assert root.bound("y").overflow == "cannot overflow"


def test_a_checker_refuses_a_finite_bound_of_such_a_power():
    last = LAST[F32][1]
    made = certify(unary(tg.exp), Schedule(), {}, {"x": (1.0, last)}, math="any")
    n = next(n for n, s in enumerate(made.steps) if s.rule == "ulps" and s.claim.absolute > 1)
    claim = replace(made.steps[n].claim, absolute=1e36)
    step = replace(made.steps[n], claim=claim)
    bad = replace(made, steps=(*made.steps[:n], step, *made.steps[n + 1 :]), nodes=())
    assert f"step {n} (ulps): its absolute error is too small" in check_certificate(bad).message


# --- functions in steps of a narrow format --------------------------------------------------------


class Narrow:
    """Functions that err by 4 ulp of a narrow format, quotients by 2, either way, then rounded."""

    def __init__(self, name, way):
        _, self.type, self.p, self.emin = NARROW[name]
        self.way = way

    def off(self, value, ulps):
        size = np.maximum(np.abs(value), 2.0**self.emin)
        step = np.exp2(np.floor(np.log2(size)) - self.p + 1)
        return self.rounded(value + self.way * ulps * np.where(np.isfinite(value), step, 0.0))

    def rounded(self, value):
        return np.asarray(value).astype(self.type).astype(float)

    def const(self, name):
        return self.rounded(CONSTANTS[name])

    def exp(self, x):
        return self.off(np.exp2(self.rounded(x * self.const("log2e"))), 4)

    def exp2(self, x):
        return self.off(np.exp(self.rounded(x * self.const("ln2"))), 4)

    def log(self, x):
        return self.rounded(self.off(np.log2(x), 4) * self.const("ln2"))

    def sigmoid(self, x):
        return self.off(1 / self.rounded(1 + self.exp(-x)), 2)

    def tanh(self, x):
        power = self.rounded(self.exp(self.rounded(2 * x)) + 1)
        return self.rounded(1 - self.off(2 / power, 2))

    def sqrt(self, x):
        return self.rounded(x * self.off(1 / np.sqrt(x), 1.5))


EXACT = {"sigmoid": lambda x: 1 / (1 + np.exp(-x))}
REACHES = {
    "exp": [(-1.0, 1.0), (-8.0, 8.0), (-30.0, 0.0)], "exp2": [(-1.0, 1.0), (-12.0, 12.0)],
    "log": [(0.5, 2.0), (2.0**-10, 1000.0)], "sigmoid": [(-1.0, 1.0), (-8.0, 8.0), (-40.0, 5.0)],
    "tanh": [(-1.0, 1.0), (-2.0**-6, 2.0**-6), (-20.0, 20.0)], "sqrt": [(0.25, 4.0)],
}  # fmt: skip
"""sqrt is x·rsqrt(x): 0 and numbers whose reciprocals are none of the format are left out."""


def numbers(name, lo, hi):
    """Every number of a narrow format from lo to hi."""
    with np.errstate(invalid="ignore"):
        codes = np.arange(2**16, dtype=np.uint16).view(NARROW[name][1]).astype(float)
    return np.unique(codes[(codes >= lo) & (codes <= hi)])


@pytest.mark.parametrize("name", NARROW)
@pytest.mark.parametrize("op", REACHES)
def test_functions_in_steps_of_a_narrow_format_keep_their_certificates(op, name):
    graph, schedule = unary(getattr(tg, op)), within(NARROW[name][0])
    for lo, hi in REACHES[op]:
        made = certify(graph, schedule, {}, {"x": (lo, hi)}, math="any")
        assert check_certificate(made, graph, schedule)
        bound, x = made.bound("y"), numbers(name, lo, hi)
        exact = EXACT.get(op, getattr(np, op, None))(x)
        assert bound.finite
        assert bound.pure
        for side in (1.0, -1.0):
            with np.errstate(over="ignore"):
                got = getattr(Narrow(name, side), op)(x)
            allowed = bound.relative * np.abs(exact) + bound.absolute
            worst = np.argmax(np.abs(got - exact) - allowed)
            assert np.abs(got - exact)[worst] <= allowed[worst], (lo, hi, x[worst], got[worst])


def test_they_do_not_keep_the_certificates_of_functions_that_are_rounded_once():
    """Those of tang's own functions, which are f32's: so are those of every language's."""
    for math in ("portable", "c", "opencl"):
        made = certify(unary(tg.exp), within(F16), {}, {"x": (-1.0, 1.0)}, math=math)
        assert {dict(s.params)["format"] for s in made.steps if s.rule == "ulps"} == {"f32"}
        x = numbers("f16", -1.0, 1.0)
        got, bound = Narrow("f16", 1.0).exp(x), made.bound("y")
        assert (np.abs(got - np.exp(x)) > bound.relative * np.exp(x) + bound.absolute).any()


def test_constants_and_lines_name_the_format():
    made = certify(unary(tg.tanh), within(F16), {}, {"x": (-1.0, 1.0)}, math="any")
    known = {k.name: k.value for k in made.constants}
    assert known["any.f16.tanh.1"] == 16 * 2.0**-11
    wide = certify(unary(tg.tanh), Schedule(), {}, {"x": (-1.0, 1.0)}, math="any")
    assert {k.name: k.value for k in wide.constants}["any.f32.tanh.1"] == 16 * 2.0**-24
