"""Bounds hold against f64 results, which are off where functions are printed in steps."""

from __future__ import annotations

import flint
import numpy as np
import pytest

import tang as tg
from tang.budget.data_bounds import element_bounds
from tang.budget.emulation import folded
from tang.budget.report_samples import setting_of, stored_inputs
from tang.kernel.ir import F64
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.testing import assert_within

FAR = np.array([1.5067319e10, 3e9, 1e12, 1e6, 2.0], np.float32)
NEAR = np.array([1e-18, 1e-12, 1e-9, 1e-8, 0.0, 0.5, -1.0, 3.0], np.float32)


def program(op, size):
    i = tg.dim("i")
    return tg.Graph(y=tg.compute("y", i, getattr(tg, op)(tg.input("x", (size,))[i])))


def bound_and_exact(op, x, *, free=True, math="portable", schedule=None, printed=True):
    graph = program(op, x.size)
    schedule = Schedule() if schedule is None else schedule
    setting = setting_of(graph, stored_inputs(graph, schedule, {"x": x}))
    found = element_bounds(setting, folded(schedule), free=free, math=math, printed=printed)
    (output,) = graph.outputs
    return np.asarray(found[output.ref]), np.asarray(setting.exact[output.ref])


def true_values(op, x):
    """As f64 to the last digit, from balls."""
    with flint.ctx.workprec(300):
        return np.array([float(getattr(flint.arb(float(v)), op)()) for v in x])


@pytest.mark.parametrize("free", [True, False], ids=["any-order", "schedule"])
@pytest.mark.parametrize("math", ["portable", "c"])
@pytest.mark.parametrize(("op", "x"), [("cos", FAR), ("tanh", NEAR)], ids=["cos", "tanh"])
def test_a_right_kernel_is_within_the_bounds_however_far_f64_is_off(op, x, math, free):
    right = true_values(op, x).astype(np.float32).astype(np.float64)
    bound, exact = bound_and_exact(op, x, free=free, math=math)
    assert (np.abs(right - exact) <= bound).all()
    alone, _ = bound_and_exact(op, x, free=free, math=math, printed=False)
    assert (np.abs(right - exact) > alone).any()


@pytest.mark.parametrize("math", ["portable", "c", "any"])
@pytest.mark.parametrize("op", ["cos", "tanh", "sigmoid", "exp"])
def test_ordinary_arguments_lose_nothing(op, math):
    x = np.random.default_rng(1).uniform(-4, 4, 2000).astype(np.float32)
    bound, exact = bound_and_exact(op, x, math=math)
    alone, _ = bound_and_exact(op, x, math=math, printed=False)
    assert (bound <= alone * (1 + 1e-6) + 2e-15).all()
    assert np.median(bound / alone) < 1 + 1e-6
    assert np.isfinite(exact).all()


@pytest.mark.parametrize("op", ["cos", "tanh", "sigmoid", "exp"])
def test_in_f64_the_errors_of_the_printed_forms_are_covered(op):
    rng = np.random.default_rng(2)
    x = np.concatenate([rng.uniform(-s, s, 300) for s in (1e-9, 1.0, 30.0, 600.0)])
    wide = Schedule(default=NodeSchedule(storage=F64, accumulate=F64))
    bound, exact = bound_and_exact(op, x, math="c", schedule=wide)
    if op == "sigmoid":
        with flint.ctx.workprec(300):
            right = np.array([float(1 / (1 + (-flint.arb(float(v))).exp())) for v in x])
    else:
        right = true_values(op, x)
    assert (np.abs(right - exact) <= bound).all()


def test_a_quotient_whose_reciprocal_f64_cannot_hold_has_no_bound():
    wide = Schedule(default=NodeSchedule(storage=F64, accumulate=F64))
    i = tg.dim("i")
    graph = tg.Graph(y=tg.compute("y", i, tg.input("a", (3,))[i] / tg.input("b", (3,))[i]))
    data = {"a": np.array([1e-310, 1.0, 1e308]), "b": np.array([1e-310, 3.0, 1.5e308])}
    setting = setting_of(graph, stored_inputs(graph, wide, data))
    found = element_bounds(setting, folded(wide), free=True)[graph.outputs[0].ref]
    assert np.isfinite(found).tolist() == [False, True, False]


@pytest.mark.parametrize("precision", ["f32", Schedule()], ids=["preset", "schedule"])
@pytest.mark.parametrize(("op", "x"), [("cos", FAR), ("tanh", NEAR)], ids=["cos", "tanh"])
def test_right_kernels_pass(op, x, precision):
    """Bounds by shape are of exact results, and do not undercut what f64 is off by."""
    right = true_values(op, x).astype(np.float32)
    graph = program(op, x.size)
    assert_within(right, graph=graph, precision=precision, inputs={"x": x}, math="c")
    wrong = right.copy()
    wrong[-1] *= np.float32(1 + 2.0**-20)
    with pytest.raises(AssertionError, match="1 of"):
        assert_within(wrong, graph=graph, precision=precision, inputs={"x": x}, math="c")
