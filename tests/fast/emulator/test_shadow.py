"""The shadow: its bound holds, and decisions that rounding flipped are seen and judged."""

import dataclasses

import numpy as np
import pytest
from emulator_kernels import GID, N, f, guarded, i, kernel, load, op, plan_of, store

from tang.emulator.replay import replay
from tang.kernel.ir import (
    BF16,
    F16,
    F32,
    I64,
    MATH,
    U32,
    Assign,
    Bitcast,
    Call,
    Const,
    Convert,
    Declare,
    For,
    Function,
    If,
    Let,
    Load,
    Op,
    Var,
)

RNG = np.random.default_rng(5)


def shadowed(k, x, **more):
    got = replay(plan_of(k, {"x": "n"}), {"x": x}, domain="shadow", **more)
    assert not got.findings
    return got


def _holds(got):
    planes = got.planes["out"]
    distance = np.abs(got.outputs["y"].astype(np.float64) - planes["shadow"])
    return bool((distance <= planes["bound"] * (1 + 2.0**-30)).all())


def test_exact_operations_have_a_shadow_equal_to_the_value():
    k = kernel(*guarded(store(op("add", load("x"), f(1.0)))))
    got = shadowed(k, np.arange(50.0))
    assert (got.planes["out"]["shadow"] == got.outputs["y"]).all()
    assert not got.decisions


@pytest.mark.parametrize("type_", [F32, F16, BF16], ids=str)
def test_the_bound_covers_a_long_sum_and_is_not_vacuous(type_):
    t, j = Var(type_, "t"), Var(I64, "j")
    term = op("mul", Load(type_, "x", j), Load(type_, "x", op("mod", op("add", j, GID), i(64))))
    body = guarded(
        Declare(t, f(0.0, type_)),
        For(j, i(0), i(64), (Assign(t, op("add", t, term)),)),
        store(t),
    )
    k = kernel(*body, inputs={"x": type_}, out=type_)
    got = shadowed(k, RNG.standard_normal(64))
    assert _holds(got)
    u = {F32: 2.0**-24, F16: 2.0**-11, BF16: 2.0**-8}[type_]
    assert (got.planes["out"]["bound"] < 64 * 64 * u * 4).all()
    assert (got.planes["out"]["bound"] > 0).all()


@pytest.mark.parametrize("name", [n for n in MATH if MATH[n] == 1] + ["sqrt", "neg"])
def test_the_bound_covers_each_function_of_an_inexact_argument(name):
    argument = op("add", op("mul", load("x"), f(0.7)), f(2.1))
    k = kernel(*guarded(store(op(name, op("div", argument, f(3.3))))))
    got = shadowed(k, RNG.random(500) * 3)
    assert _holds(got)
    assert (got.planes["out"]["bound"] < 1e-4).all()


def test_the_bound_covers_division_atan2_and_fma():
    a, b = op("mul", load("x"), f(0.3)), op("add", load("x"), f(0.1))
    e = op("fma", op("div", a, b), op("atan2", a, b), Op(F32, "sub", (a, b)))
    got = shadowed(kernel(*guarded(store(e))), RNG.random(500) + 0.5)
    assert _holds(got)
    assert (got.planes["out"]["bound"] < 1e-5).all()


def test_the_bound_of_a_function_is_the_ulps_that_it_claims():
    x = Var(F32, "x")
    rough = Function("e", (x,), (), op("mul", op("exp2", x), f(1 + 2.0**-22)), "exp2", 5.0)
    wrong = Function("e", (x,), (), op("mul", op("exp2", x), f(1.01)), "exp2", 3.0)
    less = dataclasses.replace(rough, ulp=3.0)
    data = RNG.random(100)
    assert _holds(shadowed(_calling(rough), data))
    assert not _holds(shadowed(_calling(wrong), data))
    assert not _holds(shadowed(_calling(less), data))  # near 2 it is 4 ulps off


@pytest.mark.parametrize(("type_", "p"), [(F32, 24), (F16, 11), (BF16, 8)], ids=str)
@pytest.mark.parametrize("name", ["add", "mul"])
def test_the_bound_of_one_rounding_is_half_a_spacing_and_is_reached(type_, p, name):
    odd = (2**p - 2 ** (p // 2) + 1) / 2 ** (p + 4)
    k = kernel(
        *guarded(store(op(name, Load(type_, "x", GID), f(odd, type_)))),
        inputs={"x": type_},
        out=type_,
    )
    got = shadowed(k, RNG.integers(2 ** (p - 1), 2**p, 300) / 2.0 ** (p - 1))
    planes, value = got.planes["out"], got.outputs["y"].astype(np.float64)
    half = 2.0 ** (np.floor(np.log2(value)) - p)
    assert np.allclose(planes["bound"], half, rtol=2.0**-20, atol=0)
    error = np.abs(value - planes["shadow"])
    assert _holds(got)
    assert (error > 0.9 * planes["bound"]).any()


def _calling(function):
    return kernel(*guarded(store(Call(F32, "e", (load("x"),)))), functions=(function,))


def test_bits_inside_an_implementing_function_do_not_lose_the_shadow():
    x = Var(F32, "x")
    b = Var(U32, "b")
    body = (Let(b, Bitcast(U32, op("exp2", x))),)
    g = Function("e", (x,), body, Bitcast(F32, b), "exp2", 1.0)
    got = shadowed(_calling(g), RNG.random(100))
    assert np.isfinite(got.planes["out"]["bound"]).all()
    assert not got.planes["out"]["taint"].any()


def test_a_bit_cast_outside_such_a_function_has_no_bound():
    e = Bitcast(F32, Bitcast(U32, op("mul", load("x"), f(0.3))))
    got = shadowed(kernel(*guarded(store(e))), RNG.random(10))
    assert np.isinf(got.planes["out"]["bound"]).all()


def _compare_third():
    """x/3·3 < x: decided by rounding alone."""
    near = op("mul", op("div", load("x"), f(3.0)), f(3.0))
    return kernel(*guarded(store(op("select", op("lt", near, load("x")), f(1.0), f(2.0)))))


def test_a_flip_within_the_bounds_is_admissible_and_taints_what_depends_on_it():
    got = shadowed(_compare_third(), RNG.random(300).astype(np.float32))
    assert got.decisions
    assert all(d.admissible for d in got.decisions)
    d = got.decisions[0]
    assert (d.kernel, d.origin, d.op) == ("k", "node", "lt")
    assert abs(d.left - d.right) <= d.bound
    taint = got.planes["out"]["taint"]
    assert 0 < taint.sum() == sum(d.count for d in got.decisions)
    assert (got.planes["out"]["shadow"] == got.outputs["y"]).all()


def test_a_flip_beyond_the_bounds_is_inadmissible():
    x = Var(F32, "x")
    wrong = Function("e", (x,), (), op("add", op("exp2", x), f(1.0)), "exp2", 1.0)
    call = Call(F32, "e", (load("x"),))
    body = guarded(store(op("select", op("lt", call, f(2.5)), f(1.0), f(2.0))))
    got = shadowed(kernel(*body, functions=(wrong,)), np.full(70, 0.9))
    (d,) = got.decisions
    assert not d.admissible
    assert (d.path, d.thread, d.count) == ("body[0].then[0]", 0, 70)


def test_a_floor_that_rounding_pushes_over_an_integer_is_recorded():
    e = op("floor", op("mul", op("div", load("x"), f(49.0)), f(49.0)))
    x = np.arange(1, 200, dtype=np.float32)
    got = shadowed(kernel(*guarded(store(e))), x)
    flips = [d for d in got.decisions if d.op == "floor"]
    assert flips
    assert all(d.admissible for d in flips)


def test_taint_travels_through_a_gather():
    near = op("mul", op("div", load("x"), f(3.0)), f(3.0))
    chosen = op("select", op("lt", near, load("x")), f(1.0), f(2.0))
    e = load("x", Convert(I64, chosen))
    got = shadowed(kernel(*guarded(store(e))), RNG.random(300).astype(np.float32))
    assert got.planes["out"]["taint"].any()


def test_the_rounding_of_inputs_is_part_of_the_bound():
    got = shadowed(kernel(*guarded(store(load("x")))), np.full(5, 0.1))
    assert (got.planes["out"]["shadow"] == 0.1).all()
    distance = abs(float(np.float32(0.1)) - 0.1)
    assert (got.planes["out"]["bound"] >= distance).all()
    assert (got.planes["out"]["bound"] <= distance * (1 + 2.0**-29)).all()


def test_overflow_leaves_no_finite_bound():
    got = shadowed(kernel(*guarded(store(op("mul", load("x"), f(1e30))))), np.full(5, 1e30))
    assert np.isinf(got.outputs["y"]).all()
    assert np.isfinite(got.planes["out"]["shadow"]).all()
    assert np.isinf(got.planes["out"]["bound"]).all()


def test_equal_infinities_are_exact_and_leave_finite_bounds_behind():
    masked = op("select", op("lt", load("x"), f(0.0)), Const(F32, "-inf"), load("x"))
    e = op("exp2", Op(F32, "sub", (masked, op("div", load("x"), f(3.0)))))
    got = shadowed(kernel(*guarded(store(e))), RNG.standard_normal(100))
    assert (got.outputs["y"] == 0).any()
    assert _holds(got)
    assert (got.planes["out"]["bound"] < 1e-5).all()


def test_a_value_whose_shadow_left_the_domain_has_no_finite_bound():
    """−2⁻²⁴·x underflows to −0 in f16, whose root is −0, while that of the shadow is NaN."""
    scaled = Op(F16, "mul", (Load(F16, "x", GID), Const(F16, -(2.0**-24))))
    k = kernel(*guarded(store(Op(F16, "sqrt", (scaled,)))), inputs={"x": F16}, out=F16)
    got = shadowed(k, np.array([0.25, 0.0]))
    assert got.outputs["y"].tolist() == [0.0, 0.0]
    assert np.isnan(got.planes["out"]["shadow"]).tolist() == [True, False]
    assert np.isinf(got.planes["out"]["bound"]).tolist() == [True, False]


def _extremes():
    """max(x/3·3, x), the smaller of the two, and the larger's distance from 1."""
    t, x = Var(F32, "t"), Var(F32, "u")
    largest = Op(F32, "select", (op("lt", t, x), x, t))
    least = Op(F32, "select", (op("lt", t, x), t, x))
    d = Var(F32, "d")
    size = Op(F32, "select", (op("lt", d, f(0.0)), op("neg", d), d))
    near = op("mul", op("div", load("x"), f(3.0)), f(3.0))
    lets = (Let(t, near), Let(x, load("x")), Let(d, op("sub", largest, op("add", least, f(0.1)))))
    return kernel(If(op("lt", GID, N), (*lets, store(size))))


def test_extremes_take_no_decision_and_keep_their_bound():
    got = shadowed(_extremes(), RNG.random(400).astype(np.float32))
    assert not got.decisions
    assert _holds(got)
    assert not got.planes["out"]["taint"].any()
    assert (got.planes["out"]["bound"] < 1e-5).all()


def test_a_clearly_larger_side_gives_its_own_bound():
    t = Var(F32, "t")
    largest = Op(F32, "select", (op("lt", t, f(5.0)), f(5.0), t))
    k = kernel(*guarded(Let(t, op("div", load("x"), f(3.0))), store(largest)))
    got = shadowed(k, RNG.random(50))
    assert (got.outputs["y"] == 5).all()
    assert (got.planes["out"]["bound"] == 0).all()


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("op_", ["max", "min"])
def test_a_tie_of_zeros_keeps_the_sign_that_the_comparison_gives(op_, swapped):
    t, z = Var(F32, "t"), Var(F32, "z")
    a, b = (z, t) if swapped else (t, z)
    inner = Op(F32, "select", (op("lt", a, b), *((b, a) if op_ == "max" else (a, b))))
    number = Op(F32, "select", (op("isnan", z), z, inner))
    whole = Op(F32, "select", (op("isnan", t), t, number))
    k = kernel(*guarded(Let(t, load("x")), Let(z, op("neg", load("x"))), store(whole)))
    data = np.array([0.0, -0.0, np.nan, 1.0], np.float32)
    ours = shadowed(k, data).outputs["y"]
    plain = replay(plan_of(k, {"x": "n"}), {"x": data}, domain="formats").outputs["y"]
    assert np.array_equal(ours, plain, equal_nan=True)
    assert np.signbit(ours[:2]).tolist() == np.signbit(plain[:2]).tolist()


def _rescaled(other):
    """exp(x/3 − max(x/3, other)), as running softmaxes scale what they have."""
    t, z, m = Var(F32, "t"), Var(F32, "z"), Var(F32, "m")
    larger = Op(F32, "select", (op("lt", t, z), z, t))
    number = Op(F32, "select", (op("isnan", z), z, larger))
    largest = Op(F32, "select", (op("isnan", t), t, number))
    lets = (Let(t, op("div", load("x"), f(3.0))), Let(z, other), Let(m, largest))
    return kernel(*guarded(*lets, store(op("exp", op("sub", t, m)))))


def test_a_maximum_less_its_own_operand_is_exact():
    k = _rescaled(f(-100.0))
    got = shadowed(k, RNG.random(60))
    assert (got.outputs["y"] == 1).all()
    assert not got.decisions
    assert (got.planes["out"]["bound"] <= 2.0**-22).all()
    assert (got.planes["out"]["bound"] < shadowed_by_parts().planes["out"]["bound"]).all()


def shadowed_by_parts():
    """The same numbers where nothing tells that both are one quantity."""
    t = op("div", load("x"), f(3.0))
    k = kernel(*guarded(store(op("exp", op("sub", t, op("div", load("x"), f(3.0)))))))
    return shadowed(k, RNG.random(60) + 1)


def test_a_maximum_less_its_other_operand_keeps_both_errors():
    k, x = _rescaled(op("div", load("x"), f(2.9))), RNG.random(60).astype(np.float32)
    got = shadowed(k, x)
    assert (got.outputs["y"] < 1).all()
    assert _holds(got)
    both = _half_spacing(x / np.float32(3.0)) + _half_spacing(x / np.float32(2.9))
    least = got.outputs["y"] * both + _half_spacing(got.outputs["y"])
    assert (got.planes["out"]["bound"] > least).all()


def _half_spacing(x):
    return 2.0 ** (np.floor(np.log2(x.astype(np.float64))) - 24)
