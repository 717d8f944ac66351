"""Emitted C computes the portable functions bit for bit as replay does, at every optimisation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tang.device.compiler import CompilerOptions
from tang.device.host_c import HostC
from tang.emulator.functions import call_function
from tang.kernel.expand import expand_kernel, portable
from tang.kernel.ir import F32, I32, MATH, Kernel, Load, Op, Param, Store, Var

COUNT = 1 << 17


def kernel(op: str) -> Kernel:
    """out[i] = op(a[i]) or op(a[i], b[i])."""
    names = ("a", "b")[: MATH[op]]
    i = Var(I32, "global_id")
    value = Op(F32, op, tuple(Load(F32, name, i) for name in names))
    params = (*(Param(name, F32, False) for name in names), Param("out", F32, True))
    return expand_kernel(Kernel(f"map_{op}", params, (), (Store("out", i, value),)))


def arguments(op: str) -> list[Any]:
    """Half any bits, half uniform numbers; every special value among them."""
    rng = np.random.default_rng(3)
    found = []
    for _ in range(MATH[op]):
        bits = rng.integers(0, 2**32, COUNT, dtype=np.uint32)
        bits[:6] = rng.permutation([0, 1 << 31, 0x7F800000, 0xFF800000, 0x7FC00000, 1])
        x = bits.view(np.float32)
        x[COUNT // 2 :] = rng.uniform(-100, 100, COUNT // 2).astype(np.float32)
        found.append(x)
    return found


def differences(got: Any, want: Any) -> int:
    """How many elements differ in bits, all NaNs being equal."""
    equal = (got.view(np.uint32) == want.view(np.uint32)) | (np.isnan(got) & np.isnan(want))
    return int((~equal).sum())


def run(device: HostC, k: Kernel, args: list[Any]) -> Any:
    """The kernel's output on the host."""
    (compiled,) = device.compile((k,))
    buffers = [device.upload(F32, a) for a in args]
    out = device.allocate(F32, COUNT)
    device.launch(compiled, [*buffers, out], (), COUNT // k.workgroup)
    return np.array(device.download(out))


@pytest.mark.parametrize("optimize", ["-O0", "-O1", "-O3"])
def test_c_equals_replay_bit_for_bit(optimize: str, tmp_path: Path):
    device = HostC(CompilerOptions(optimize=optimize, cache=tmp_path))
    for op in sorted(MATH):
        args = arguments(op)
        want = call_function(portable(op), tuple(args)).astype(np.float32)
        assert differences(run(device, kernel(op), args), want) == 0, op


def test_a_text_that_contracts_products_and_sums_differs(tmp_path: Path):
    flags = ("-march=native", "-ffp-contract=fast")
    device = HostC(CompilerOptions(optimize="-O2", extra=flags, cache=tmp_path))
    cpu = Path("/proc/cpuinfo")
    if not cpu.exists() or " fma" not in cpu.read_text(encoding="utf-8"):
        pytest.skip("this processor has no fused multiply-add to contract to")
    args = arguments("exp")
    want = call_function(portable("exp"), tuple(args)).astype(np.float32)
    assert differences(run(device, kernel("exp"), args), want) > 0
