"""N08: fast maths deletes tests for NaN and infinity. Here (C) they are tests of bits.

The texts refuse to compile under fast maths; with that guard cut out, the bit tests still hold.
"""

from __future__ import annotations

import numpy as np
import pytest

from tang.device import CompilerOptions, HostC, Job, Ran
from tang.emit import emit
from tang.errors import DeviceError
from tang.kernel import ir as k

ID = k.Var(k.I64, "global_id")
X = np.array([0, -0.0, 1, np.inf, -np.inf, np.nan, -np.nan, 1e-45], np.float32)


def kernel():
    """y = x is NaN, on loaded data."""
    nan = k.Op(k.BOOL, "isnan", (k.Load(k.F32, "x", ID),))
    params = (k.Param("x", k.F32, False), k.Param("y", k.BOOL, True))
    return k.Kernel("nans", params, (), (k.Store("y", ID, nan),), 8)


def without_guard(text):
    head, rest = text.split("#if defined __FAST_MATH__", 1)
    return head + rest.split("#endif\n", 1)[1]


@pytest.mark.parametrize("extra", [(), ("-ffast-math",), ("-ffinite-math-only", "-O3")])
def test_nan_tests_survive_fast_maths(extra, tmp_path):
    device = HostC(CompilerOptions(cache=tmp_path, extra=extra))
    compiled = device.compile_text(kernel(), without_guard(emit(kernel())), "nans_k")
    (ran,) = device.run([Job(compiled, (X, np.full(8, 7, np.uint8)), (), 1)])
    assert isinstance(ran, Ran)
    assert ran.memories[1].data.tolist() == np.isnan(X).astype(int).tolist()
    device.close()


def test_a_text_refuses_fast_maths(tmp_path):
    device = HostC(CompilerOptions(cache=tmp_path, extra=("-ffast-math",)))
    with pytest.raises(DeviceError, match="without fast maths"):
        device.compile([kernel()])


def test_infinities_are_recognised_on_loaded_data(tmp_path):
    device = HostC(CompilerOptions(cache=tmp_path))
    x = k.Load(k.F32, "x", ID)
    low = k.Op(k.BOOL, "eq", (x, k.Const(k.F32, "-inf")))
    high = k.Op(k.BOOL, "eq", (x, k.Const(k.F32, "inf")))
    params = (k.Param("x", k.F32, False), k.Param("y", k.BOOL, True))
    body = (k.Store("y", ID, k.Op(k.BOOL, "or", (low, high))),)
    (compiled,) = device.compile([k.Kernel("infs", params, (), body, 8)])
    (ran,) = device.run([Job(compiled, (X, np.full(8, 7, np.uint8)), (), 1)])
    assert isinstance(ran, Ran)
    assert ran.memories[1].data.tolist() == np.isinf(X).astype(int).tolist()
    device.close()
