"""Calls of builtins are held against what languages document and what was measured."""

from __future__ import annotations

import numpy as np
import pytest

from tang.emulator.abstract import rounded_function
from tang.emulator.machine import Builtin
from tang.kernel import ir as k
from tang.kernel.accuracy import DOCUMENTED, FUNCTIONS, Accuracy
from tang.kernel.expand.functions import portable
from tang.verify import Verdict
from tang.verify.native import NativeCheck, promised
from tang.verify.rung_expand import CallCheck

ARGUMENTS = np.float32([0.25, 0.75, 1.5, 2.5, 3.0])


def builtin(op, t=k.F32):
    return Builtin(op, t, "kern", "node")


def calls(language, op, got, known=None, args=ARGUMENTS, t=k.F32):
    """The check after one call."""
    check = NativeCheck(DOCUMENTED[language], known or {})
    given = (args,) * k.MATH[op]
    check.observe(builtin(op, t), given, got)
    return check


def truth(op, t="f32", args=ARGUMENTS):
    return rounded_function(op, t)(*(args,) * k.MATH[op])


@pytest.mark.parametrize("language", DOCUMENTED)
@pytest.mark.parametrize("op", FUNCTIONS)
def test_what_is_correctly_rounded_passes_everywhere(language, op):
    if op not in DOCUMENTED[language].rows:
        pytest.skip(f"{language} has no {op}")
    check = calls(language, op, truth(op))
    assert not check.findings
    assert check.elements == ARGUMENTS.size


@pytest.mark.parametrize("language", DOCUMENTED)
@pytest.mark.parametrize(
    ("meant", "printed"),
    [("exp2", "exp"), ("sin", "cos"), ("log2", "log"), ("tanh", "sin")],
    ids=["exp-for-exp2", "cos-for-sin", "log-for-log2", "sin-for-tanh"],
)
def test_another_function_is_found_and_its_kernel_named(language, meant, printed):
    (finding,) = calls(language, meant, truth(printed)).findings
    assert (finding.verdict, finding.kernel, finding.node) == (Verdict.WRONG, "kern", "node")
    assert f"stands for {meant}" in finding.message
    assert DOCUMENTED[language].source in finding.detail


def test_the_note_tells_the_bound_of_the_verdict_from_the_figure_of_the_profile():
    row = Accuracy(row="f32 exp", ulp=65.1, at=(1.0,), absolute=0.0, count=1)
    near = truth("exp").astype(np.float32)
    near[-1] += 2 * np.spacing(near[-1])  # at 3, where WGSL allows 3 + 2·3 + ½
    note = calls("wgsl", "exp", near, {"f32 exp": row}).note
    largest, _, rest = note.partition(" ulp off ")
    assert largest.startswith("f32 exp at most ")
    assert 1.5 < float(largest.removeprefix("f32 exp at most ")) < 2.5
    assert rest.startswith("(allowed there: 9.5; worst in the device's profile: 65.1), 0 calls")
    assert "(allowed there: 9.5), 0 calls" in calls("wgsl", "exp", near).note


def test_the_note_of_portable_functions_has_the_claim_that_they_were_held_against():
    check = CallCheck()
    exp = portable("exp")
    check.observe(exp, (ARGUMENTS,), truth("exp"))
    assert check.note.startswith("exp_f32 at most 0.")
    assert check.note.endswith(f" ulp off (allowed: {exp.ulp:.3g})")


def test_portable_functions_are_not_held_against_their_claims_where_terms_are_flushed():
    least = np.float64([2.0**-126])
    for language, judged in (("c", True), ("glsl", False)):
        check = NativeCheck(DOCUMENTED[language], {})
        check.observe_portable(portable("erf"), (least,), least)  # 12 % of it was a subnormal
        assert bool(check.portable.findings) is judged
        assert check.unjudged == int(not judged)


def test_a_fast_variant_is_found_where_the_language_promises_more():
    with np.errstate(all="ignore"):
        args = np.float32([20.3, 55.7, 80.1])
        fast = np.exp2(args * np.float32(1.442695))
    for language in ("c", "opencl", "cuda", "msl"):
        assert calls(language, "exp", fast, args=args).findings
    assert not calls("wgsl", "exp", fast, args=args).findings  # 3 + 2·|x| ulps are allowed


def test_doubles_are_held_against_doubles():
    args = ARGUMENTS.astype(np.float64)
    right = truth("exp", "f64", args)
    assert not calls("c", "exp", right, args=args, t=k.F64).findings
    single = right.astype(np.float32).astype(np.float64)
    assert calls("c", "exp", single, args=args, t=k.F64).findings


def test_a_shader_promises_nothing_of_subnormals_and_non_finite_numbers():
    args = np.float64([1e-40, np.nan, np.inf, 1.0])
    ulps = promised(DOCUMENTED["wgsl"], builtin("log2"), (args,), {})
    assert np.isinf(ulps[:3]).all()
    assert np.isfinite(ulps[3])
    assert np.isfinite(promised(DOCUMENTED["c"], builtin("log2"), (args,), {})).all()


def test_where_no_document_says_anything_twice_what_was_measured_is_allowed():
    args = np.float64([10.0])
    assert np.isinf(promised(DOCUMENTED["glsl"], builtin("sin"), (args,), {}))
    row = Accuracy(row="f32 sin", ulp=4.0, at=(1.0,), absolute=0.0, count=1, reach=2.0**20)
    ulps = promised(DOCUMENTED["glsl"], builtin("sin"), (args,), {"f32 sin": row})
    assert 9.0 <= ulps[0] < 9.1
    beyond = promised(DOCUMENTED["glsl"], builtin("sin"), (args * 2**20,), {"f32 sin": row})
    assert np.isinf(beyond)


def test_a_portable_function_is_not_judged_where_a_shader_flushes():
    """erf of the smallest normal number, with a flushed term: what an H200 gave in GLSL."""
    erf = portable("erf")
    tiny = np.array([2.0**-126, 0.5], np.float32)
    flushed = np.array([2.0**-126, 0.5204998778130465], np.float32)
    shader = NativeCheck(DOCUMENTED["glsl"], {})
    shader.observe(erf, (tiny,), flushed)
    assert not shader.portable.findings
    assert (shader.unjudged, shader.portable.elements) == (1, 1)
    strict = NativeCheck(DOCUMENTED["c"], {})
    strict.observe(erf, (tiny,), flushed)
    assert len(strict.portable.findings) == 1
    wrong = NativeCheck(DOCUMENTED["glsl"], {})
    wrong.observe(erf, (tiny,), np.array([0.0, 0.53], np.float32))
    assert len(wrong.portable.findings) == 1
