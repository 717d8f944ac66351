"""E06: shared scratch is not reused before its last read (xgboost#3264, arrayfire#3535).

Also hipfire#575, wgpu#2408. A kernel sums each of its rows twice through one scratch array.
"""

from __future__ import annotations

import numpy as np
import pytest

from tang.device import Job, Poison, Ran, poisoned
from tang.emulator.records import Kind
from tang.emulator.replay import replay_launch
from tang.ir.extent import poly
from tang.kernel import ir as k
from tang.kernel.plan import Launch

WIDTH, ROWS, GROUPS = 8, 4, 3
LOCAL, GROUP = k.Var(k.I64, "local_id"), k.Var(k.I64, "group_id")
X = np.arange(GROUPS * ROWS * WIDTH, dtype=np.float32) % 7
BARRIERS = 4


def integer(value):
    return k.Const(k.I64, value)


def op(name, *args):
    return k.Op(args[0].type, name, args)


def total(name):
    """A register with the sum of the whole scratch array."""
    acc, i = k.Var(k.F32, name), k.Var(k.I64, f"i_{name}")
    add = k.Assign(acc, op("add", acc, k.Load(k.F32, "scratch", i)))
    return acc, (k.Declare(acc, k.Const(k.F32, 0)), k.For(i, integer(0), integer(WIDTH), (add,)))


def kernel(without=None):
    """y = Σ (x·Σ x) over each row, in every element of it, but for one barrier."""
    row, at, x = k.Var(k.I64, "row"), k.Var(k.I64, "at"), k.Var(k.F32, "x_value")
    first, sum_first = total("first")
    second, sum_second = total("second")
    line = op("add", op("mul", GROUP, integer(ROWS)), row)
    parts = (
        (k.Let(at, op("add", op("mul", line, integer(WIDTH)), LOCAL)),
         k.Let(x, k.Load(k.F32, "x", at)), k.Store("scratch", LOCAL, x)),
        sum_first,
        (k.Store("scratch", LOCAL, op("mul", x, first)),),
        (*sum_second, k.Store("y", at, second)),
    )  # fmt: skip
    barriers = [() if n == without else (k.Barrier(),) for n in range(BARRIERS)]
    body = tuple(s for p, b in zip(parts, barriers, strict=True) for s in (*p, *b))
    loop = k.For(row, integer(0), integer(ROWS), body)
    scratch = k.Array("scratch", k.F32, WIDTH, k.Scope.WORKGROUP)
    params = (k.Param("x", k.F32, False), k.Param("y", k.F32, True))
    return k.Kernel("twice", params, (), (scratch, loop), WIDTH)


def replayed(kernel):
    launch = Launch(kernel, ("x", "y"), (), poly(GROUPS * WIDTH))
    return replay_launch(launch, {"x": X, "y": np.zeros_like(X)}, {})


def expected():
    rows = X.reshape(-1, WIDTH).sum(1)
    return (rows * rows).repeat(WIDTH)


def test_with_every_barrier_there_is_no_race_and_the_sums_are_right():
    found = replayed(kernel())
    assert found.findings == ()
    assert found.buffers["y"].tolist() == expected().tolist()


@pytest.mark.parametrize("without", range(BARRIERS))
def test_a_missing_barrier_is_a_race(without):
    assert {f.kind for f in replayed(kernel(without)).findings} == {Kind.RACE}


def test_the_text_keeps_every_barrier(host):
    (compiled,) = host.compile([kernel()])
    y = poisoned(k.F32, X.shape, Poison.NAN)
    for _ in range(20):
        (ran,) = host.run([Job(compiled, (X, y), (), GROUPS)])
        assert isinstance(ran, Ran)
        assert ran.memories[1].data.tolist() == expected().tolist()
