"""Callables against a specification: right ones pass, each planted fault has its verdict."""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg
from tang.emulator.budget import ErrorBudget
from tang.errors import DeviceError
from tang.verify import Verdict, verify_callable
from tang.verify.foreign import LaunchError

i = tg.dims("i")
x, y = tg.input("x", ("N",)), tg.input("y", ("N",))
SPEC = tg.Graph(z=tg.compute("z", (i,), x[i] * y[i] + 1))
TWO = tg.Graph(p=tg.compute("p", (i,), x[i] + y[i]), q=tg.compute("q", (i,), x[i] - y[i]))


def into_out(x, y, out):
    np.multiply(x, y, out=out)
    out += 1


def returned(x, y, out):
    return x * y + 1


def from_a_dict(tensors):
    tensors["z"][:] = tensors["x"] * tensors["y"] + 1


@pytest.mark.parametrize("fn", [into_out, returned, from_a_dict])
def test_a_right_callable_passes_in_every_calling_style(fn):
    report = verify_callable(fn, SPEC)
    assert report.ok, report.to_text()
    assert report.results[0].elements > 100


def test_specials_and_other_tensor_libraries_pass():
    assert verify_callable(into_out, SPEC, specials=True).ok
    assert verify_callable(into_out, SPEC, tensors=np.from_dlpack).ok


def test_several_outputs_come_as_a_dict_or_a_tuple():
    def filled(x, y, out):
        out["p"][:], out["q"][:] = x + y, x - y

    def swapped(x, y, out):
        return x - y, x + y

    assert verify_callable(filled, TWO).ok
    assert verify_callable(lambda x, y, out: (x + y, x - y), TWO).ok
    report = verify_callable(swapped, TWO)
    assert "a copy of q" in report.findings[0].message


@pytest.mark.parametrize(
    ("spec", "value", "words"),
    [
        (SPEC, {"w": 0, "x": 1}, "output z: the whole buffer: still poison, never written; "
         "it returned 'w', but the outputs are z"),
        (TWO, (1, 2, 3), "; it returned 3, but the outputs are p, q"),
        (TWO, np.zeros(3), "; it returned one ndarray, but the outputs are p, q"),
        (TWO, None, "never written"),
    ],
    ids=["an-unknown-name", "a-longer-tuple", "one-array", "nothing"],
)  # fmt: skip
def test_what_was_returned_for_no_output_is_named_beside_the_unwritten_one(spec, value, words):
    report = verify_callable(lambda x, y, out: value, spec)
    assert report.findings[0].verdict is Verdict.UNWRITTEN
    assert words in report.findings[0].message
    assert ("returned" in report.findings[0].message) == (value is not None)


def test_more_than_the_outputs_may_be_returned():
    def everything(tensors):
        from_a_dict(tensors)
        return {**tensors, "time": 3}

    assert verify_callable(everything, SPEC).ok


def partly(x, y, out):
    out[:-3] = (x * y + 1)[:-3]


def changes_its_input(x, y, out):
    x *= y
    out[:] = x + 1


def past_the_end(x, y, out):
    np.lib.stride_tricks.as_strided(out, (len(out) + 2,))[:] = 1
    out[:] = x * y + 1


def in_half_precision(x, y, out):
    out[:] = x.astype(np.float16) * y.astype(np.float16) + np.float16(1)


def raises(x, y, out):
    raise ValueError("no such kernel")


def zeros(x, y, out):
    out[:] = 0


def of_another_shape(x, y, out):
    return np.zeros(3)


def reads_the_output(x, y, out):
    out[:] = np.where(np.isnan(out), x, y)


def shifted(x, y, out):
    out[:] = np.roll(x * y + 1, 1)


FAULTS = {
    partly: (Verdict.UNWRITTEN, "the last 3 elements"),
    changes_its_input: (Verdict.STRAY_WRITE, "changed its input x"),
    past_the_end: (Verdict.STRAY_WRITE, "past the end (by 2 elements"),
    in_half_precision: (Verdict.OVER_BUDGET, "an evaluation in f16"),
    raises: (Verdict.CRASH, "no such kernel"),
    zeros: (Verdict.WRONG, "zero instead of the result"),
    of_another_shape: (Verdict.WRONG, "has shape (3,)"),
    reads_the_output: (Verdict.NONDETERMINISTIC, "what memory held before"),
    shifted: (Verdict.WRONG, "the right answer shifted by +1"),
}


@pytest.mark.parametrize("fn", FAULTS, ids=lambda f: f.__name__)
def test_a_planted_fault_is_named(fn):
    verdict, words = FAULTS[fn]
    report = verify_callable(fn, SPEC)
    assert report.findings[0].verdict is verdict, report.to_text()
    assert words in report.findings[0].message


def test_a_result_kept_from_other_inputs_is_called_stale():
    kept = {}

    def stale(x, y, out):
        out[:] = kept.setdefault(len(x), x * y + 1)

    (finding,) = verify_callable(stale, SPEC).findings
    assert finding.verdict is Verdict.WRONG
    assert "a copy of z of the launch before" in finding.message


def test_a_budget_of_the_caller_takes_the_place_of_the_bound():
    loose, tight = ErrorBudget(rel=1e-2, abs=1e-2), ErrorBudget(ulp=0.25)
    assert verify_callable(in_half_precision, SPEC, budget=loose).ok
    report = verify_callable(into_out, SPEC, budget=tight)
    assert report.verdicts() == (Verdict.OVER_BUDGET,)
    assert verify_callable(zeros, SPEC, budget=loose).verdicts() == (Verdict.WRONG,)


def test_the_callers_inputs_and_sizes_are_used():
    seen = []

    def noted(x, y, out):
        seen.append(len(x))
        into_out(x, y, out)

    verify_callable(noted, SPEC, sizes={"N": 9})
    assert set(seen) == {9}
    data = {"x": np.arange(4.0), "y": np.ones(4)}
    assert verify_callable(noted, SPEC, inputs=data).results[0].elements == 4


def test_half_precision_tensors_are_allowed_their_last_rounding():
    def halves(x, y, out):
        out[:] = (x.astype(np.float32) * y + 1).astype(np.float16)

    dtypes = {"x": "f16", "y": "f16", "z": "f16"}
    assert verify_callable(halves, SPEC, dtypes=dtypes).ok
    assert not verify_callable(in_half_precision, SPEC, dtypes={"x": "f16"}).ok


DOT = tg.Graph(d=tg.compute("d", (), tg.sum(x[i] * y[i], over=i)))


@pytest.mark.parametrize("seed", range(12))
def test_one_sum_of_inputs_rounded_to_half_precision_is_over_budget_with_every_seed(seed):
    def rounds(x, y, out):
        out[...] = x.astype(np.float16).astype(np.float32) @ y.astype(np.float16)

    report = verify_callable(rounds, DOT, seed=seed, sizes={"N": 43})
    assert report.verdicts() == (Verdict.OVER_BUDGET,)
    assert "(all are right for inputs rounded to f16)" in report.findings[0].message


@pytest.mark.parametrize("seed", range(3))
def test_a_lost_term_of_rounded_inputs_is_wrong(seed):
    def loses(x, y, out):
        out[...] = x.astype(np.float16).astype(np.float32)[1:] @ y.astype(np.float16)[1:]

    report = verify_callable(loses, DOT, seed=seed, sizes={"N": 43})
    assert report.verdicts() == (Verdict.WRONG,)


def test_indices_and_truth_values_are_compared_exactly():
    n = tg.input("n", ("N",), "index")
    spec = tg.Graph(m=tg.compute("m", (i,), n[i] * 2), odd=tg.compute("odd", (i,), n[i] < 3))

    def right(n, out):
        out["m"][:], out["odd"][:] = n * 2, n < 3

    def wrong(n, out):
        out["m"][:], out["odd"][:] = n * 2 + (n == n[-1]), n < 3

    assert verify_callable(right, spec).ok
    assert verify_callable(wrong, spec).verdicts() == (Verdict.WRONG,)


def test_wrong_requests_are_refused():
    with pytest.raises(LaunchError, match="no tensor 'w'"):
        verify_callable(into_out, SPEC, dtypes={"w": "f16"})
    with pytest.raises(DeviceError, match="'jax'"):
        verify_callable(into_out, SPEC, tensors="jax")
