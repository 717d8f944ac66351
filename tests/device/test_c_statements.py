"""Statements, grids, arrays and barriers of emitted C do what the kernel IR says."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tang.device import GUARD_BYTES, Job, Poison, Ran, poison_word, poisoned
from tang.kernel import ir as k

GROUP, LOCAL, ID = (k.Var(k.I64, n) for n in ("group_id", "local_id", "global_id"))
N = k.Var(k.I64, "n")
ONE = k.Const(k.I64, 1)


def add(a, b):
    return k.Op(a.type, "add", (a, b))


def times(a, n):
    return k.Op(a.type, "mul", (a, integer(n, a.type)))


def integer(n, t=k.I64):
    return k.Const(t, n)


def kernel(body, t=k.F32, workgroup=8, name="kernel", scalars=()):
    params = (k.Param("x", t, False), k.Param("y", t, True))
    return k.Kernel(name, params, scalars, tuple(body), workgroup)


def launch(host, kern, x, groups=1, scalars=(), size=None):
    (compiled,) = host.compile([kern])
    y = poisoned(kern.params[1].type, (size or x.size,), Poison.FINITE)
    (ran,) = host.run([Job(compiled, (x, y), scalars, groups, Poison.FINITE)])
    assert isinstance(ran, Ran), ran
    word = poison_word(kern.params[1].type, Poison.FINITE)
    assert all(m.intact(word) for m in ran.memories)
    assert ran.memories[0].data.tobytes() == x.tobytes()
    return ran.memories[1].data


def test_every_thread_knows_its_ids(host):
    value = add(
        k.Op(k.I64, "mul", (GROUP, integer(100))),
        add(LOCAL, k.Op(k.I64, "mul", (ID, integer(10000)))),
    )
    got = launch(host, kernel([k.Store("y", ID, value)], k.I64, 4), np.zeros(12, np.int64), 3)
    assert got.tolist() == [i * 10000 + i // 4 * 100 + i % 4 for i in range(12)]


def test_ids_of_32_bits_work_too(host):
    group, local, thread = (k.Var(k.I32, n) for n in ("group_id", "local_id", "global_id"))
    value = add(times(group, 100), local)
    got = launch(host, kernel([k.Store("y", thread, value)], k.I32, 4), np.zeros(8, np.int32), 2)
    assert got.tolist() == [0, 1, 2, 3, 100, 101, 102, 103]


def test_loops_branches_and_registers_nest(host):
    acc, i, j = k.Var(k.F32, "acc"), k.Var(k.I64, "i"), k.Var(k.I64, "j")
    odd = k.Op(k.BOOL, "eq", (k.Op(k.I64, "mod", (j, integer(2))), ONE))
    take = k.Assign(acc, add(acc, k.Load(k.F32, "x", j)))
    drop = k.Assign(acc, k.Op(k.F32, "sub", (acc, k.Load(k.F32, "x", i))))
    inner = k.For(j, i, add(i, integer(3)), (k.If(odd, (take,), (drop,)),))
    body = (
        k.Declare(acc, k.Const(k.F32, Fraction(0))),
        k.For(i, integer(0), N, (inner,)),
        k.Store("y", ID, acc),
    )
    x = np.arange(8, dtype=np.float32) ** 2
    got = launch(host, kernel(body, scalars=(N,)), x, scalars=(5,))
    want = 0.0
    for i_ in range(5):
        for j_ in range(i_, i_ + 3):
            want += x[j_] if j_ % 2 else -x[i_]
    assert got.tolist() == [want] * 8


def test_a_loop_bound_is_evaluated_once(host):
    m, i = k.Var(k.I64, "m"), k.Var(k.I64, "i")
    grow = k.Assign(m, add(m, ONE))
    body = (k.Declare(m, integer(5)), k.For(i, integer(0), m, (grow,)), k.Store("y", ID, m))
    assert launch(host, kernel(body, k.I64), np.zeros(8, np.int64)).tolist() == [10] * 8


@pytest.mark.parametrize("t", [k.F32, k.F16, k.BOOL, k.I64], ids=lambda t: t.value)
def test_arrays_of_a_thread_keep_their_elements(t, host):
    i = k.Var(k.I64, "i")
    mirrored = k.Op(k.I64, "sub", (integer(3), i))
    body = (
        k.Array("tile", t, 4),
        k.For(i, integer(0), integer(4), (k.Store("tile", mirrored, k.Load(t, "x", i)),)),
        k.If(k.Op(k.BOOL, "lt", (ID, integer(4))), (k.Store("y", ID, k.Load(t, "tile", ID)),)),
    )
    x = np.array([1, 0, 1, 1]).astype({k.F32: "f4", k.F16: "f2", k.BOOL: "u1", k.I64: "i8"}[t])
    assert launch(host, kernel(body, t), x).tolist() == x[::-1].tolist()


def reversal():
    """y = x reversed within each workgroup, through a shared array."""
    a = k.Var(k.F32, "a")
    mirrored = k.Op(k.I64, "sub", (integer(7), LOCAL))
    return [
        k.Array("tile", k.F32, 8, k.Scope.WORKGROUP),
        k.Let(a, k.Load(k.F32, "x", ID)),
        k.Store("tile", LOCAL, a),
        k.Barrier(),
        k.Store("y", ID, add(k.Load(k.F32, "tile", mirrored), k.Op(k.F32, "mul", (a, a)))),
    ]


def test_a_barrier_makes_writes_visible(host):
    x = np.arange(24, dtype=np.float32)
    got = launch(host, kernel(reversal()), x, 3)
    assert got.tolist() == (x.reshape(3, 8)[:, ::-1].ravel() + x * x).tolist()


def test_without_the_barrier_the_result_differs(host):
    x = np.arange(24, dtype=np.float32)
    body = [s for s in reversal() if not isinstance(s, k.Barrier)]
    got = launch(host, kernel(body), x, 3)
    assert got.tolist() != (x.reshape(3, 8)[:, ::-1].ravel() + x * x).tolist()


def test_barriers_inside_uniform_loops_and_branches_work(host):
    """A tree sum over a shared array: registers and a thread's array live across barriers."""
    s, step, kept = k.Var(k.I64, "s"), k.Var(k.I64, "step"), k.Var(k.F32, "kept")
    tile = lambda i: k.Load(k.F32, "tile", i)  # noqa: E731
    active, squared = k.Op(k.BOOL, "lt", (LOCAL, step)), k.Op(k.I64, "mul", (s, s))
    body = [
        k.Array("tile", k.F32, 8, k.Scope.WORKGROUP),
        k.Array("own", k.F32, 2),
        k.Declare(kept, k.Load(k.F32, "x", ID)),
        k.Store("own", ONE, kept),
        k.Store("tile", LOCAL, kept),
        k.Barrier(),
        k.For(s, integer(0), integer(3), (
            k.Let(step, k.Op(k.I64, "floordiv", (integer(4), add(squared, ONE)))),
            k.If(k.Op(k.BOOL, "lt", (s, N)), (
                k.Barrier(),
                k.If(active, (k.Store("tile", LOCAL, add(tile(LOCAL), tile(add(LOCAL, step)))),)),
                k.Barrier(),
            ), (k.Barrier(), k.Assign(kept, k.Const(k.F32, Fraction(0))))),
        )),
        k.Store("y", ID, add(add(tile(integer(0)), kept), k.Load(k.F32, "own", ONE))),
    ]  # fmt: skip
    x = np.arange(16, dtype=np.float32)
    # steps are 4, 2, 0: two halvings, then (s = 2 ≥ n) the register is cleared
    got = launch(host, kernel(body, scalars=(N,)), x, 2, scalars=(2,))
    rows = x.reshape(2, 8)
    after = rows[:, 0] + rows[:, 2] + rows[:, 4] + rows[:, 6]
    assert got.tolist() == (after[:, None] + rows).ravel().tolist()


def test_a_workgroup_partly_outside_writes_nothing_there(host):
    inside = k.If(k.Op(k.BOOL, "lt", (ID, N)), (k.Store("y", ID, k.Load(k.F32, "x", ID)),))
    x = np.arange(11, dtype=np.float32)
    got = launch(host, kernel([inside], scalars=(N,)), x, 2, scalars=(11,))
    assert got.tolist() == x.tolist()


def test_functions_call_functions(host):
    a = k.Var(k.F32, "a")
    square = k.Function("square", (a,), (), k.Op(k.F32, "mul", (a, a)))
    twice = k.Var(k.F32, "twice")
    outer = k.Function(
        "outer",
        (a,),
        (k.Let(twice, add(a, a)),),
        k.Call(k.F32, "square", (twice,)),
    )
    body = (k.Store("y", ID, k.Call(k.F32, "outer", (k.Load(k.F32, "x", ID),))),)
    params = (k.Param("x", k.F32, False), k.Param("y", k.F32, True))
    kern = k.Kernel("calls", params, (), body, 8, functions=(outer, square))
    assert launch(host, kern, np.arange(8, dtype=np.float32)).tolist() == [
        4.0 * i * i for i in range(8)
    ]


def test_guard_zones_surround_every_buffer(host):
    (compiled,) = host.compile([kernel([k.Store("y", ID, k.Load(k.F32, "x", ID))])])
    x = np.arange(8, dtype=np.float32)
    for guard in Poison:
        (ran,) = host.run([Job(compiled, (x, x * 0), (), 1, guard)])
        word = poison_word(k.F32, guard)
        assert len(ran.memories[0].before) == GUARD_BYTES
        assert all(m.intact(word) for m in ran.memories)


@pytest.mark.parametrize("offset", [-1, 8, 40])
def test_a_stray_write_shows_in_the_guard_zone(offset, host):
    stray = k.Store("y", integer(offset), k.Const(k.F32, Fraction(1)))
    (compiled,) = host.compile([kernel([stray])])
    x = np.zeros(8, np.float32)
    (ran,) = host.run([Job(compiled, (x, x), (), 1)])
    word = poison_word(k.F32, Poison.NAN)
    assert ran.memories[0].intact(word)
    assert not ran.memories[1].intact(word)
