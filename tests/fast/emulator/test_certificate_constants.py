"""Constants of certificates without their program: names of this math, values of its table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tang as tg
from tang.emulator import certificate_from_json, certificate_to_json, certify, check_certificate
from tang.emulator.certificate import Constant
from tang.emulator.certify_functions import Functions
from tang.kernel.ir import BF16, F16, F32, F64
from tang.kernel.schedule import NodeSchedule, Schedule

MATHS = ("portable", "any", "c", "opencl", "cuda", "msl", "wgsl", "glsl")
OPS = ("exp", "exp2", "log", "log2", "sin", "cos", "tanh", "erf", "sigmoid", "sqrt")


def every_function():
    """Of x in [½, 1], and 1/x and softmax."""
    i = tg.dim("i")
    x = tg.input("x", (4,))
    outputs = {op: tg.compute(op, i, getattr(tg, op)(x[i])) for op in OPS}
    outputs["angle"] = tg.compute("angle", i, tg.atan2(x[i], x[i]))
    return tg.Graph(q=tg.compute("q", i, 1 / x[i]), s=tg.softmax(x, axis=0), **outputs)


def made(math, type_=F32, freedom="ieee"):
    schedule = Schedule(default=NodeSchedule(storage=type_, accumulate=type_))
    ranges = {"x": (0.5, 1.0)}
    return certify(every_function(), schedule, {}, ranges, math=math, freedom=freedom)


def of_functions(certificate):
    """The constants that are no format's."""
    formats = {f.name for f in certificate.formats}
    return [k for k in certificate.constants if k.name.rpartition(".")[0] not in formats]


def with_constant(certificate, constant, other):
    """Another constant instead, in every step that names it or has its value."""

    def put(value):
        return {constant.name: other.name, constant.value: other.value}.get(value, value)

    steps = tuple(replace(s, params=tuple((n, put(v)) for n, v in s.params))
                  for s in certificate.steps)  # fmt: skip
    constants = tuple(other if k == constant else k for k in certificate.constants)
    return replace(certificate, constants=constants, steps=steps)


@pytest.mark.parametrize("type_", [F64, F32, F16, BF16], ids=lambda t: t.value)
@pytest.mark.parametrize("math", MATHS)
def test_constants_as_they_are_made_are_known(math, type_):
    for certificate in (made(math, type_), made(math, type_, freedom="wgsl")):
        checked = check_certificate(certificate)
        assert checked, checked.message


@pytest.mark.parametrize("math", MATHS)
def test_a_constant_that_is_smaller_than_in_its_table_is_refused(math):
    certificate = made(math)
    named = [k for k in of_functions(certificate) if np.isfinite(k.value)]
    assert named
    for k in named:
        for value in (0.001, k.value * 0.99, k.value * 1.01):
            bad = with_constant(certificate, k, replace(k, value=value))
            assert f"constant {k.name}: it is {k.value!r}, not" in check_certificate(bad).message
            read = certificate_from_json(certificate_to_json(bad))
            assert not check_certificate(read)


@pytest.mark.parametrize("math", MATHS)
def test_a_constant_that_rests_on_something_else_than_its_table_says_is_refused(math):
    certificate = made(math)
    for k in certificate.constants:
        ways = {"spec", "exhaustive", "tested", "assumed"} - {k.provenance}
        for other in (*(replace(k, provenance=w) for w in ways), replace(k, source="me")):
            constants = tuple(other if c == k else c for c in certificate.constants)
            message = check_certificate(replace(certificate, constants=constants)).message
            assert f"constant {k.name}: it is {k.provenance}: {k.source}, not" in message


@pytest.mark.parametrize("other", [m for m in MATHS if m != "any"])
def test_claims_of_any_library_do_not_pass_for_those_of_another_math(other):
    certificate = replace(made("any"), math=other)
    assert f'functions of math="{other}" have none of that name' in (
        check_certificate(certificate).message
    )
    back = replace(made(other), math="any")
    assert not check_certificate(back)


def test_unknown_math_is_refused():
    message = check_certificate(replace(made("any"), math="fortran")).message
    assert "math 'fortran' is none of portable, any, c," in message


@pytest.mark.parametrize("name", [
    "any.f32.exp", "any.f32.exp.0", "any.f32.exp.9@1.0", "any.f32.exp.0@-5.0",
    "any.f32.exp.0@1e9", "any.f32.exp.0@nan", "any.f32.exp.0@x", "any.f32.sin.0@1.0",
    "any.f8.exp.0@1.0", "any.f32.gamma.0", "any.f32", "any", "any.f32.div.0", "x",
    "portable.f32.exp",
    "c.f64.exp", "any.f32.exp.0.1@1.0",
])  # fmt: skip
def test_names_that_are_no_constants_are_refused(name):
    certificate = made("any")
    more = (*certificate.constants, Constant(name, 2.0, "spec", "somebody"))
    assert f"constant {name}: " in check_certificate(replace(certificate, constants=more)).message


def step_of(certificate, rule, constant):
    return next(n for n, s in enumerate(certificate.steps)
                if s.rule == rule and dict(s.params).get("constant") == constant)  # fmt: skip


@pytest.mark.parametrize(("rule", "own", "other"), [
    ("ulps", "any.f32.log.0", "any.f32.sin.0"), ("ulps", "any.f32.log.0", "f32.u"),
    ("ulps", "any.f32.tanh.0", "any.f32.tanh.1"), ("off", "any.f32.tanh.1", "f32.u"),
    ("ulps", "any.f32.div", "any.f32.sqrt"),
])  # fmt: skip
def test_a_step_takes_no_constant_of_another_function_or_kind(rule, own, other):
    certificate = made("any")
    n = step_of(certificate, rule, own)
    value = next(k.value for k in certificate.constants if k.name == other)
    put = {"constant": other, "ulp": value, "by": value}
    step = certificate.steps[n]
    step = replace(step, params=tuple((k, put.get(k, v)) for k, v in step.params))
    steps = (*certificate.steps[:n], step, *certificate.steps[n + 1 :])
    message = check_certificate(replace(certificate, steps=steps)).message
    assert f"step {n} ({rule}): " in message
    assert "is no constant of the certificate" in message


def test_ulps_of_one_format_are_none_of_another():
    certificate = made("any", F16)
    n = step_of(certificate, "ulps", "any.f16.sin.0")
    step = certificate.steps[n]
    params = tuple((k, "f32" if k == "format" else v) for k, v in step.params)
    wide = made("any").formats
    steps = (*certificate.steps[:n], replace(step, params=params), *certificate.steps[n + 1 :])
    bad = replace(certificate, steps=steps, formats=(*certificate.formats, *wide))
    assert "is no constant of the certificate" in check_certificate(bad).message


# --- claims of any library ------------------------------------------------------------------------


def test_a_power_in_rounded_steps_is_within_the_claim_at_its_true_value():
    """8 ulp where the true value is just below a power of two, and what is computed just above."""
    x = np.float32(-0.6931471825)
    true = np.exp(np.float64(x))
    power = np.exp2(np.float64(x * np.float32(1.4426950408889634)))
    got = np.float32(power + 4 * np.spacing(np.float32(power)))
    ulps = (np.float64(got) - true) / 2.0 ** (np.floor(np.log2(true)) - 23)
    assert 7.9 < ulps < 9
    for op in ("exp", "exp2"):
        ((claim, kind),) = Functions("any").claims(op, "f32", ((float(x), float(x)),))
        assert kind == "ulp"
        assert claim.value == 9.5 + 2 * abs(float(x))
        assert ulps <= claim.value
