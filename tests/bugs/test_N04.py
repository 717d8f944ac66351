"""N04: what is equal over the reals alone is not rewritten (xla#42732, jax#37919, xla#14478)."""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg
from tang.interpreter import fast_interpret, interpret
from tang.kernel.ir import F32, F64
from tang.verify.rung_expand import call_errors

SPECIAL = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 2.25])


def overflowing():
    """log(exp x), √(x·x), exp(a)·exp(b), (x + x)/2, 1/(1/x), (x·b)/b."""
    x, a, b = (tg.input(n, ()) for n in ("x", "a", "b"))
    v = x[()]
    return tg.Graph(
        log=tg.compute("log", (), tg.log(tg.exp(a[()]))),
        root=tg.compute("root", (), tg.sqrt(v * v)),
        product=tg.compute("product", (), tg.exp(a[()]) * tg.exp(b[()])),
        half=tg.compute("half", (), (v + v) * 0.5),
        twice=tg.compute("twice", (), 1 / (1 / (v * v))),
        difference=tg.compute("difference", (), (v + v) - v),
    )


def neutral():
    """x + 0, 0 − x, x − x, x / x, x · 0, √x of what is special."""
    i = tg.dims("i")
    x = tg.input("x", (6,))
    v = x[i]
    parts = {
        "add": v + 0,
        "neg": 0 - v,
        "sub": v - v,
        "div": v / v,
        "mul": v * 0,
        "sqrt": tg.sqrt(v),
    }
    return tg.Graph({n: tg.compute(n, i, e) for n, e in parts.items()})


def check_overflow(found):
    infinite = ("log", "root", "product", "half", "twice", "difference")
    assert {n: float(found[n]) for n in infinite} == dict.fromkeys(infinite, np.inf)


def check_neutral(found):
    with np.errstate(all="ignore"):
        x = SPECIAL
        want = {
            "add": x + 0,
            "neg": 0 - x,
            "sub": x - x,
            "div": x / x,
            "mul": x * 0,
            "sqrt": np.sqrt(x),
        }
    for name, value in want.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)


@pytest.mark.parametrize("evaluate", [interpret, fast_interpret])
def test_both_evaluators_overflow_in_f64(evaluate):
    check_overflow(evaluate(overflowing(), {"x": 1.7e308, "a": 710.0, "b": -100.0}))
    check_neutral(evaluate(neutral(), {"x": SPECIAL}))


def test_compiled_programs_overflow_in_f32(compiled):
    data = {"x": np.float32(3.4e38), "a": 100.0, "b": -100.0}
    check_overflow(compiled(overflowing())(data))


@pytest.mark.parametrize("real", [F32, F64])
def test_compiled_programs_keep_what_is_special(real, compiled):
    run = compiled(neutral(), storage=real, accumulate=real)
    check_neutral(run({"x": SPECIAL}))
    assert np.signbit(run({"x": SPECIAL})["sqrt"][1])


def test_every_rung_agrees(verified):
    small = {"x": np.float32(3.0), "a": np.float32(80), "b": np.float32(-80)}
    large = {"x": np.float32(1.8e19), "a": np.float32(100), "b": np.float32(-100)}
    cases = [(overflowing(), small), (overflowing(), large), (neutral(), {"x": SPECIAL})]
    verified(cases, splits=(1,))


def test_an_overflow_is_right_only_where_the_truth_is_out_of_range():
    """What the rung `expand` allows: the truth rounds to infinity, or it does not."""
    args, got = [np.array([89.0, 1000.0, 88.0, 89.0])], np.array([np.inf, np.inf, np.inf, 3.4e38])
    errors = call_errors("exp", args, got)
    assert errors[:2].tolist() == [0, 0]
    assert (errors[2:] > 1e6).all()
