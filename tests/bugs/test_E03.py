"""E03: user names meet keywords, builtins or each other. Here each compiles and is its own."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tang.device import CompilerOptions, HostC, Job, Ran
from tang.kernel import ir as k

NASTY = (
    "packed", "thread", "new", "half", "sampler", "type", "a__b", "a_b", "gl_x", "assert", "main",
    "out", "e1", "_", "__", "变量", "é", "int", "restrict", "_Bool", "exp2f", "sqrtf", "f32", "i64",
    "group", "first_group", "last_group", "y0", "isnan", "NAN", "INFINITY", "errno", "linux",
    "unix", "tang_min_i32", "tang_u32_of_f32", "x", "x_", "x_b", "x_f", "x_k", "i_end",
    "a b", "*/", "1",
)  # fmt: skip
ID = k.Var(k.I64, "global_id")


def kernel(names):
    """y[i] = Σ 2^j · names[j][i], with kernel, buffers, registers, scalars, functions so named."""
    total, loop = k.Var(k.F32, names[0]), k.Var(k.I64, names[1])
    body: list[k.Stmt] = [k.Declare(total, k.Const(k.F32, 0))]
    param = k.Var(k.F32, names[0])
    functions = []
    for j, name in enumerate(names):
        doubled = k.Op(k.F32, "mul", (param, k.Const(k.F32, 2**j)))
        functions.append(k.Function(name, (param,), (), doubled))
        call = k.Call(k.F32, name, (k.Load(k.F32, name, ID),))
        body.append(k.Assign(total, k.Op(k.F32, "add", (total, call))))
    scalar = k.Var(k.I64, names[2])
    last = k.Store("y", ID, total)
    body.append(k.For(loop, k.Const(k.I64, 0), k.Op(k.I64, "add", (scalar, scalar)), (last,)))
    params = (*(k.Param(n, k.F32, False) for n in names), k.Param("y", k.F32, True))
    return k.Kernel(names[0], params, (scalar,), tuple(body), 2, tuple(functions), names[1])


def check(device, names):
    (compiled,) = device.compile([kernel(names)])
    buffers = [np.array([j + 1, 1], np.float32) for j in range(len(names))]
    (ran,) = device.run([Job(compiled, (*buffers, np.zeros(2, np.float32)), (1,), 1)])
    assert isinstance(ran, Ran)
    want = [sum((j + 1) * 2**j for j in range(len(names))), 2 ** len(names) - 1]
    assert ran.memories[-1].data.tolist() == want


def test_hostile_names_compile_and_stay_apart(tmp_path):
    device = HostC(CompilerOptions(cache=tmp_path))
    for start in range(0, len(NASTY), 15):
        check(device, NASTY[start : start + 15])
    device.close()


def test_random_names_compile_and_stay_apart(tmp_path_factory):
    device = HostC(CompilerOptions(cache=tmp_path_factory.mktemp("libraries")))
    names = st.lists(st.text(max_size=5), min_size=3, max_size=8, unique=True)

    @settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(names.filter(lambda found: "y" not in found))
    def run(found):
        check(device, found)

    run()
    device.close()
