"""Every f32 through the rounding that kernels call, as C, against the emulator's rounder."""

from __future__ import annotations

import numpy as np
import pytest

from tang.device.host_c import HostC
from tang.emulator.narrow import narrowed
from tang.kernel import ir as k
from tang.kernel.expand.rounding import rounder
from tang.kernel.narrow import NARROW, Conversion

CHUNK = 2**22
WORKGROUP = 64


def kernel(conversion: Conversion) -> k.Kernel:
    """out = the rounding of x."""
    i, function = k.Var(k.I32, "global_id"), rounder(conversion)
    value = k.Call(k.F32, function.name, (k.Load(k.F32, "x", i),))
    params = (k.Param("x", k.F32, False), k.Param("out", k.F32, True))
    return k.Kernel("narrow", params, (), (k.Store("out", i, value),), WORKGROUP, (function,))


@pytest.mark.parametrize("name", sorted(NARROW))
def test_every_f32_is_rounded_as_the_emulator_rounds_it(name):
    conversion = Conversion(NARROW[name])
    device = HostC()
    try:
        (compiled,) = device.compile([kernel(conversion)])
        out = device.allocate(k.F32, CHUNK)
        for first in range(0, 2**32, CHUNK):
            bits = np.arange(first, first + CHUNK, dtype=np.uint64).astype(np.uint32)
            x = device.upload(k.F32, bits.view(np.float32))
            device.launch(compiled, [x, out], (), CHUNK // WORKGROUP)
            got = device.download(out)
            want = np.asarray(narrowed(conversion, bits.view(np.float32)))
            same = got.view(np.uint32) == want.view(np.uint32)
            same |= np.isnan(got) & np.isnan(want)
            assert same.all(), bits[~same][:3]
    finally:
        device.close()
