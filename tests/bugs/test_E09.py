"""E09: scalars reach the kernel shifted by a layout rule. Here (C) an echo kernel returns them."""

from __future__ import annotations

import numpy as np

from tang.device import CompilerOptions, HostC, Job, Ran
from tang.kernel import ir as k


def test_mixed_scalars_are_echoed(tmp_path):
    types = [k.I64, k.I32, k.I32, k.I64, k.U32, k.I32, k.I64, k.I32, k.I32, k.I32, k.I64, k.U32]
    values = [2**40 + 1, -1, 7, -(2**62), 2**32 - 1, 3, 5, -(2**31), 2**31 - 1, 0, 2**63 - 1, 9]
    scalars = tuple(k.Var(t, f"s{i}") for i, t in enumerate(types))
    body = tuple(
        k.Store("y", k.Const(k.I64, i), s if s.type is k.I64 else k.Convert(k.I64, s))
        for i, s in enumerate(scalars)
    )
    echo = k.Kernel("echo", (k.Param("y", k.I64, True),), scalars, body, 1)
    device = HostC(CompilerOptions(cache=tmp_path))
    (compiled,) = device.compile([echo])
    y = np.zeros(len(values), np.int64)
    (ran,) = device.run([Job(compiled, (y,), tuple(values), 1)])
    assert isinstance(ran, Ran)
    assert ran.memories[0].data.tolist() == values
    memory = device.upload(k.I64, y)
    device.launch(compiled, [memory], values, 1)
    assert device.download(memory).tolist() == values
    device.close()
