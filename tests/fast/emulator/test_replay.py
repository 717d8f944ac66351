"""Replay computes what the kernel says: operations, masks, loops, arrays, functions."""

import numpy as np
import pytest
from emulator_kernels import GID, N, f, guarded, i, kernel, load, op, plan_of, store

from tang.emulator.replay import replay, replay_launch
from tang.errors import GraphError
from tang.kernel.ir import (
    BF16,
    BOOL,
    F16,
    F32,
    F64,
    I32,
    I64,
    U32,
    Array,
    Assign,
    Barrier,
    Bitcast,
    Call,
    Convert,
    Declare,
    For,
    Function,
    If,
    Let,
    Load,
    Op,
    Scope,
    Store,
    Var,
)

RNG = np.random.default_rng(3)


def run(k, x, *, domain="formats", **more):
    plan = plan_of(k, {"x": "n"})
    got = replay(plan, {"x": x}, domain=domain, **more)
    assert not got.findings
    return got.outputs["y"]


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 200])
def test_a_copy_kernel_returns_its_input(n):
    x = RNG.standard_normal(n).astype(np.float32)
    assert (run(kernel(*guarded(store(load("x")))), x) == x).all()


@pytest.mark.parametrize("domain", ["formats", "real", "measured", "shadow"])
def test_every_domain_copies(domain):
    x = RNG.standard_normal(70).astype(np.float32)
    assert (run(kernel(*guarded(store(load("x")))), x, domain=domain) == x).all()


@pytest.mark.parametrize("name", ["add", "mul", "div", "sub"])
def test_f32_operations_round_as_ieee(name):
    x = RNG.standard_normal(100).astype(np.float32)
    got = run(kernel(*guarded(store(op(name, load("x"), f(0.7))))), x)
    c = np.float32(0.7)
    expected = {"add": x + c, "mul": x * c, "div": x / c, "sub": x - c}[name]
    assert (got.view(np.uint32) == expected.view(np.uint32)).all()


def test_branches_write_the_lanes_they_are_taken_by():
    condition = op("lt", load("x"), f(0.0))
    v = Var(F32, "v")
    body = guarded(
        Declare(v, f(5.0)),
        If(condition, (Assign(v, f(-1.0)),), (Assign(v, op("add", v, f(1.0))),)),
        store(v),
    )
    x = RNG.standard_normal(100).astype(np.float32)
    assert (run(kernel(*body), x) == np.where(x < 0, -1, 6)).all()


def test_a_loop_with_bounds_that_differ_between_lanes_runs_each_lane_its_own_way():
    t, j, k = Var(F32, "t"), Var(I64, "j"), Var(I64, "k")
    inner = For(k, j, op("add", j, i(2)), (Assign(t, op("add", t, load("x", k))),))
    hi = op("sub", N, i(2))
    clipped = op("min", op("add", op("mod", GID, i(7)), i(3)), hi)
    body = guarded(
        Declare(t, f(0.0)),
        For(j, op("mod", GID, i(3)), clipped, (inner,)),
        store(t),
    )
    x = RNG.integers(-8, 8, 90).astype(np.float32)
    expected = [sum(x[a] + x[a + 1] for a in range(g % 3, min(g % 7 + 3, 88))) for g in range(90)]
    assert (run(kernel(*body), x) == np.array(expected, np.float32)).all()


def test_a_thread_array_is_private_to_its_thread():
    a, k = "a", Var(I64, "k")
    body = guarded(
        Array(a, F32, 4),
        For(k, i(0), i(4), (Store(a, k, op("mul", load("x"), Convert(F32, k))),)),
        store(op("add", load(a, i(3)), load(a, op("mod", GID, i(4))))),
    )
    x = RNG.integers(-8, 8, 90).astype(np.float32)
    assert (run(kernel(*body), x) == 3 * x + x * (np.arange(90) % 4)).all()


def test_a_workgroup_array_exchanges_values_across_a_barrier():
    local = Var(I64, "local_id")
    body = (
        Array("a", F32, 8, Scope.WORKGROUP),
        Store("a", local, load("x")),
        Barrier(),
        store(load("a", op("sub", i(7), local))),
    )
    x = np.arange(32, dtype=np.float32)
    assert (run(kernel(*body, workgroup=8), x) == x.reshape(4, 8)[:, ::-1].reshape(-1)).all()


def _square_plus_one():
    x, s = Var(F32, "x"), Var(F32, "s")
    return Function("g", (x,), (Let(s, op("mul", x, x)),), op("add", s, f(1.0)))


def test_a_call_evaluates_the_body_of_the_function():
    k = kernel(*guarded(store(Call(F32, "g", (load("x"),)))), functions=(_square_plus_one(),))
    x = RNG.standard_normal(10).astype(np.float32)
    assert (run(k, x) == x * x + np.float32(1)).all()


def test_the_observer_sees_every_call_with_its_arguments():
    seen = []
    k = kernel(*guarded(store(Call(F32, "g", (load("x"),)))), functions=(_square_plus_one(),))
    x = RNG.standard_normal(64).astype(np.float32)
    got = run(k, x, observer=lambda g, a, r: seen.append((g.name, a[0], r)))
    assert len(seen) == 1
    assert seen[0][0] == "g"
    assert (seen[0][1] == x).all()
    assert (seen[0][2] == got).all()


def test_an_abstracted_call_is_the_function_it_implements_and_not_its_body():
    x = Var(F32, "x")
    wrong = Function("e", (x,), (), op("mul", x, f(3.0)), implements="exp2", ulp=1.0)
    k = kernel(*guarded(store(Call(F32, "e", (load("x"),)))), functions=(wrong,))
    data = np.arange(5, dtype=np.float32)
    assert (run(k, data) == 3 * data).all()
    assert (run(k, data, abstracted=True) == 2**data).all()


def test_bits_can_be_taken_apart_and_put_together():
    bits = Bitcast(U32, load("x"))
    flipped = Op(U32, "bxor", (bits, i(2**31, U32)))
    shifted = Op(U32, "shr", (Op(U32, "shl", (flipped, i(1, U32))), i(1, U32)))
    x = RNG.standard_normal(20).astype(np.float32)
    assert (run(kernel(*guarded(store(Bitcast(F32, flipped)))), x) == -x).all()
    assert (run(kernel(*guarded(store(Bitcast(F32, shifted)))), x) == abs(x)).all()
    through_int = Bitcast(F32, Op(I32, "add", (Bitcast(I32, load("x")), i(1, I32))))
    above = run(kernel(*guarded(store(through_int))), abs(x))
    assert (above == np.nextafter(abs(x), np.float32(np.inf))).all()


def test_unsigned_integers_wrap():
    product = Op(U32, "mul", (Convert(U32, GID), i(2**31 + 1, U32)))
    k = kernel(*guarded(store(product)), inputs={"x": F32}, out=U32)
    got = run(k, np.zeros(5, np.float32))
    assert (got == (np.arange(5) * (2**31 + 1)) % 2**32).all()


def test_integer_division_rounds_down():
    e = op("add", op("mul", op("floordiv", op("sub", GID, i(7)), i(3)), i(100)),
           op("mod", op("sub", GID, i(7)), i(3)))  # fmt: skip
    got = run(kernel(*guarded(store(e)), out=I64), np.zeros(15, np.float32))
    v = np.arange(15) - 7
    assert (got == v // 3 * 100 + v % 3).all()


@pytest.mark.parametrize("type_", [F16, BF16])
def test_narrow_conversions_round_to_nearest_even_and_overflow_to_infinity(type_):
    x = np.array([1.001, 65519.0, 65520.0, 3.4e38, -3.4e38, np.nan, 1e-8], np.float32)
    narrow = Convert(F32, Convert(type_, load("x")))
    got = run(kernel(*guarded(store(narrow))), x)
    from tang.emulator.rounding import round_to

    expected = round_to(x, type_.value).astype(np.float32)
    assert np.array_equal(got, expected, equal_nan=True)


@pytest.mark.parametrize("type_", [F16, BF16, F64])
def test_storage_in_other_formats_round_trips(type_):
    k = kernel(*guarded(store(op("add", load("x", type=type_), load("x", type=type_)))),
               inputs={"x": type_}, out=type_)  # fmt: skip
    x = RNG.integers(-100, 100, 70).astype(np.float64)
    assert (run(k, x) == 2 * x).all()


def test_booleans_are_stored_and_branch():
    k = kernel(*guarded(store(op("not", op("lt", load("x"), f(0.0))))), out=BOOL)
    x = RNG.standard_normal(9).astype(np.float32)
    assert (run(k, x) == (x >= 0)).all()


def test_a_launch_replays_on_the_given_state_and_leaves_it_alone():
    k = kernel(*guarded(store(op("add", load("x"), f(1.0)))))
    launch = plan_of(k, {"x": "n"}).launches[0]
    state = {"x": np.ones((2, 3), np.float32), "out": np.full((2, 3), 9, np.float32)}
    got = replay_launch(launch, state, {"n": 6})
    assert not got.findings
    assert (got.buffers["out"] == 2).all()
    assert got.buffers["out"].shape == (2, 3)
    assert (state["out"] == 9).all()


def test_inputs_are_checked_by_name_and_shape():
    plan = plan_of(kernel(*guarded(store(load("x")))), {"x": "n"})
    for bad in ({}, {"x": np.zeros(3), "z": np.zeros(3)}):
        with pytest.raises(GraphError):
            replay(plan, bad, sizes={"n": 3})
    with pytest.raises(GraphError, match="shape"):
        replay(plan, {"x": np.zeros(4)}, sizes={"n": 3})


def test_a_matrix_product_agrees_in_every_domain():
    t, k = Var(F32, "t"), Var(I64, "k")
    row, col = op("floordiv", GID, i(4)), op("mod", GID, i(4))
    a = Load(F32, "x", op("add", op("mul", row, i(5)), k))
    b = Load(F32, "w", op("add", op("mul", k, i(4)), col))
    body = guarded(
        Declare(t, f(0.0)),
        For(k, i(0), i(5), (Assign(t, op("fma", a, b, t)),)),
        store(t),
    )
    plan = plan_of(kernel(*body, inputs={"x": F32, "w": F32}), {"x": 15, "w": 20}, 12, 12)
    x, w = RNG.integers(-9, 9, 15), RNG.integers(-9, 9, 20)
    expected = (x.reshape(3, 5) @ w.reshape(5, 4)).reshape(-1)
    for domain in ("formats", "real", "measured", "shadow"):
        got = replay(plan, {"x": x, "w": w}, domain=domain, sizes={"n": 12})
        assert not got.findings
        assert (got.outputs["y"] == expected).all()
    ball = replay(plan, {"x": x, "w": w}, domain="balls", sizes={"n": 12})
    assert [int(v.unique_fmpz()) for v in ball.outputs["y"]] == list(expected)


def test_functions_of_one_name_in_two_kernels_keep_their_own_bodies():
    x = np.arange(5, dtype=np.float32)
    a = Var(F32, "a")
    for factor in (2.0, 3.0, 2.0):
        g = Function("g", (a,), (), op("mul", a, f(factor)))
        k = kernel(*guarded(store(Call(F32, "g", (load("x"),)))), functions=(g,))
        assert (run(k, x) == np.float32(factor) * x).all()


def test_a_function_compiled_for_one_kernel_calls_the_functions_of_another():
    x = np.arange(5, dtype=np.float32)
    a = Var(F32, "a")
    outer = Function("outer", (a,), (), op("add", Call(F32, "g", (a,)), f(1.0)))
    for factor in (2.0, 3.0):
        g = Function("g", (a,), (), op("mul", a, f(factor)))
        k = kernel(*guarded(store(Call(F32, "outer", (load("x"),)))), functions=(g, outer))
        assert (run(k, x) == np.float32(factor) * x + 1).all()
