"""V06: a cache keyed by name serves another kernel's code. Here each swap of a part misses."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tang.device import CompilerOptions, HostC, Job, Ran
from tang.kernel import ir as k

ID = k.Var(k.I64, "global_id")


def kernel(factor=2, helper=1):
    a = k.Var(k.F32, "a")
    add = k.Function("helper", (a,), (), k.Op(k.F32, "add", (a, k.Const(k.F32, Fraction(helper)))))
    value = k.Op(k.F32, "mul", (k.Call(k.F32, "helper", (k.Load(k.F32, "x", ID),)),
                                k.Const(k.F32, Fraction(factor))))  # fmt: skip
    params = (k.Param("x", k.F32, False), k.Param("y", k.F32, True))
    return k.Kernel("same", params, (), (k.Store("y", ID, value),), 1, (add,))


def run(device, compiled):
    x = np.array([10], np.float32)
    outcomes = device.run([Job(c, (x, x * 0), (), 1) for c in compiled])
    assert all(isinstance(o, Ran) for o in outcomes)
    return [o.memories[1].data[0] for o in outcomes]


def test_same_name_with_another_constant_or_helper_is_another_kernel(tmp_path):
    device = HostC(CompilerOptions(cache=tmp_path))
    variants = [kernel(), kernel(factor=3), kernel(helper=5)]
    apart = [c for v in variants for c in device.compile([v])]
    assert len({c.library for c in apart}) == 3
    assert run(device, apart) == [22, 33, 30]
    assert run(device, device.compile(variants)) == [22, 33, 30]
    again = device.compile([kernel()])
    assert again[0].library == apart[0].library
    for c, want in zip(apart, (22, 33, 30), strict=True):  # in this process, before any sync
        y = device.allocate(k.F32, 1)
        device.launch(c, [device.upload(k.F32, np.array([10], np.float32)), y], (), 1)
        assert device.download(y).tolist() == [want]
    device.close()


def test_same_text_under_other_flags_is_another_library(tmp_path):
    first = HostC(CompilerOptions(cache=tmp_path))
    second = HostC(CompilerOptions(cache=tmp_path, optimize="-O0"))
    third = HostC(CompilerOptions(cache=tmp_path, extra=("-DANY",)))
    libraries = {d.compile([kernel()])[0].library for d in (first, second, third)}
    assert len(libraries) == 3
