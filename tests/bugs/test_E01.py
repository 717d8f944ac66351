"""E01: literals lose their meaning when printed. Here each constant comes back bit for bit."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tang.device import CompilerOptions, HostC, Job, Ran
from tang.emit import emit
from tang.errors import FormatError
from tang.kernel import ir as k

F32_BITS = (
    0x7F7FFFFF, 0x00800000, 0x00000001, 0x3DCCCCCD, 0x3EAAAAAB, 0x006CE3EE, 0x80000000,
    0xFF7FFFFF, 0x80000001, 0x3DF5C28F, 0x3F800001, 0x7F800000, 0xFF800000,
)  # fmt: skip


def constant(t, x):
    x = float(x)
    named = {"inf": "inf", "-inf": "-inf", "-0.0": "-0.0"}.get(str(x))
    return k.Const(t, named or Fraction(x))


def kernel(t, values):
    stores = (k.Store("y", k.Const(k.I64, i), constant(t, v)) for i, v in enumerate(values))
    return k.Kernel(f"constants_{t.value}", (k.Param("y", t, True),), (), tuple(stores), 1)


def run(tmp_path, kernels, buffers):
    device = HostC(CompilerOptions(cache=tmp_path))
    jobs = [Job(c, (b,), (), 1) for c, b in zip(device.compile(kernels), buffers, strict=True)]
    outcomes = device.run(jobs)
    device.close()
    assert all(isinstance(o, Ran) for o in outcomes)
    return [o.memories[0].data for o in outcomes]


def test_constants_round_trip_in_f32_and_f64(tmp_path):
    singles = np.array(F32_BITS, np.uint32).view(np.float32)
    doubles = np.array([2e50, 0.12, 0.1, 1 / 3, 1e-38, -0.0, 5e-324, 1.7976931348623157e308])
    kernels = [kernel(k.F32, singles), kernel(k.F64, doubles)]
    got = run(tmp_path, kernels, [np.zeros_like(singles), np.zeros_like(doubles)])
    assert got[0].tobytes() == singles.tobytes()
    assert got[1].tobytes() == doubles.tobytes()


def test_index_maths_in_f64_stays_in_f64(tmp_path):
    product = k.Op(k.F64, "mul", (constant(k.F64, 0.12), constant(k.F64, 200.0)))
    floor = k.Convert(k.I32, k.Op(k.F64, "floor", (product,)))
    body = (k.Store("y", k.Const(k.I64, 0), floor),)
    echo = k.Kernel("index", (k.Param("y", k.I32, True),), (), body, 1)
    assert run(tmp_path, [echo], [np.zeros(1, np.int32)])[0].tolist() == [24]


def test_an_f32_literal_that_overflows_is_refused():
    with pytest.raises(FormatError, match=r"2\.000e\+50 overflows f32"):
        emit(kernel(k.F32, [2e50]))


def test_nan_is_printed_as_bits(tmp_path):
    body = (k.Store("y", k.Const(k.I64, 0), k.Const(k.F32, "nan")),)
    nan = k.Kernel("nan", (k.Param("y", k.F32, True),), (), body, 1)
    (got,) = run(tmp_path, [nan], [np.zeros(1, np.float32)])
    assert got.view(np.uint32).tolist() == [0x7FC00000]
