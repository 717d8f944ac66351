"""The domains that ignore formats: f64, f64 with errors, and balls."""

import flint
import numpy as np
import pytest
from emulator_kernels import f, guarded, kernel, load, op, plan_of, store

from tang.emulator.ball_domain import balls
from tang.emulator.replay import replay
from tang.interpreter.ball_numbers import UNDECIDED
from tang.kernel.ir import BOOL, F16, F32, I32, MATH, Assign, Convert, Declare, If, Var

RNG = np.random.default_rng(6)
ARGUMENT = op("div", op("add", load("x"), f(0.7)), f(3.3))


def run(k, x, domain):
    got = replay(plan_of(k, {"x": "n"}), {"x": x}, domain=domain)
    assert not got.findings
    return got


def _encloses(ball, measured):
    pairs = zip(ball, measured["value"], measured["err"], strict=True)
    return all(abs(float((b - flint.arb(v)).mid())) <= e for b, v, e in pairs)


@pytest.mark.parametrize("name", [n for n in MATH if MATH[n] == 1] + ["sqrt", "neg", "floor"])
def test_measured_errors_cover_the_distance_to_the_balls(name):
    k = kernel(*guarded(store(op(name, ARGUMENT))))
    x = RNG.random(64)
    measured = run(k, x, "measured").planes["out"]
    ball = run(k, x, balls(200)).outputs["y"]
    assert (measured["value"] == run(k, x, "real").outputs["y"]).all()
    assert _encloses(ball, measured)
    assert (measured["err"] < 1e-14).all()


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "atan2"])
def test_measured_errors_cover_operations_of_two_operands(name):
    k = kernel(*guarded(store(op(name, ARGUMENT, op("mul", load("x"), f(1.9))))))
    x = RNG.random(64) + 0.1
    measured = run(k, x, "measured").planes["out"]
    assert _encloses(run(k, x, "balls").outputs["y"], measured)
    assert (measured["err"] < 1e-13).all()


def test_dyadic_data_has_no_error():
    k = kernel(*guarded(store(op("fma", load("x"), load("x"), f(0.25)))))
    measured = run(k, RNG.integers(-16, 16, 50) / 8, "measured").planes["out"]
    assert (measured["err"] == 0).all()


def test_conversions_between_floats_are_the_identity():
    k = kernel(*guarded(store(Convert(F32, Convert(F16, load("x"))))))
    x = RNG.random(10)
    assert (run(k, x, "real").outputs["y"] == x).all()


def test_balls_select_both_sides_of_an_undecidable_comparison():
    third = op("mul", op("div", load("x"), f(3.0)), f(3.0))
    k = kernel(*guarded(store(op("select", op("lt", third, load("x")), third, load("x")))))
    (y,) = run(k, np.array([0.1]), "balls").outputs["y"]
    assert y.overlaps(flint.arb(0.1))
    assert float(y.rad()) < 1e-30


def test_a_branch_that_balls_cannot_decide_taints_its_lane_alone():
    third = op("mul", op("div", load("x"), f(3.0)), f(3.0))
    v = Var(F32, "v")
    branch = If(op("lt", third, op("add", f(0.0), f(1.0))), (Assign(v, f(1.0)),))
    k = kernel(*guarded(Declare(v, f(0.0)), branch, store(v)))
    got = run(k, np.array([0.5, 1.0, 2.0]), "balls")
    assert list(got.planes["out"]["taint"]) == [False, True, False]


def test_truths_and_integers_of_balls_come_back_as_the_interpreter_holds_them():
    k = kernel(*guarded(store(op("not", op("lt", load("x"), f(1.5))))), out=BOOL)
    assert list(run(k, np.arange(4.0), "balls").outputs["y"]) == [0, 0, 2, 2]
    k = kernel(*guarded(store(Convert(I32, op("floor", load("x"))))), out=I32)
    assert list(run(k, np.arange(4) + 0.5, "balls").outputs["y"]) == [0, 1, 2, 3]


def test_what_balls_do_not_know_comes_back_as_unknown():
    third = op("mul", op("div", load("x"), f(3.0)), f(3.0))
    k = kernel(*guarded(store(op("lt", third, load("x")))), out=BOOL)
    assert list(run(k, np.array([1.0]), "balls").outputs["y"]) == [1]
    k = kernel(*guarded(store(Convert(I32, op("floor", third)))), out=I32)
    assert list(run(k, np.array([1.0, 1.5]), "balls").outputs["y"]) == [-(2**63), 1]
    v = Var(F32, "v")
    branch = If(op("lt", third, load("x")), (Assign(v, f(1.0)),))
    k = kernel(*guarded(Declare(v, f(0.0)), branch, store(v)))
    assert run(k, np.array([1.0]), "balls").outputs["y"][0] is UNDECIDED
