"""N01, kernels: functions saturate, they do not become NaN (gpuweb#4458, executorch#22323).

Also tvm#16438, burn#520, tract#2846.
"""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg
from tang.interpreter import fast_interpret, interpret
from tang.kernel.ir import F16, F32

LARGE = [9.1, 43.7, 45, 88, 89, 1e4, np.inf]
X = np.array([*LARGE, *(-x for x in LARGE), 20, -13.24])
FINITE = np.isfinite(X)


def program():
    i = tg.dims("i")
    x = tg.input("x", ("n",))
    makers = (tg.tanh, tg.sigmoid, tg.silu, tg.gelu)
    named = {f.__name__: tg.compute(f.__name__, i, f(x[i])) for f in makers}
    return tg.Graph({**named, "gelu_tanh": tg.compute("gt", i, tg.gelu(x[i], approximate="tanh"))})


def check(found):
    """The limits of each function, exactly where they are reached in its format."""
    low, at = X < 0, dict(zip(X.tolist(), range(len(X)), strict=True))
    np.testing.assert_allclose(found["tanh"], np.sign(X), 1e-7)
    assert ((found["sigmoid"] >= 0) & (found["sigmoid"] <= 1)).all()
    assert (found["sigmoid"][~low] > 0.999).all()
    for name in ("gelu", "gelu_tanh", "silu"):
        y = found[name]
        np.testing.assert_allclose(y[FINITE & ~low], X[FINITE & ~low], 2e-3)
        assert (np.abs(y[FINITE & low]) < 2e-3).all(), name
        assert np.isposinf(y[at[np.inf]])
    assert found["gelu_tanh"][at[20.0]] == 20
    assert abs(found["gelu_tanh"][at[-13.24]]) == 0 or found["gelu_tanh"].dtype == np.float64


def test_both_evaluators_saturate():
    for evaluate in (interpret, fast_interpret):
        check(evaluate(program(), {"x": X}))


@pytest.mark.parametrize("real", [F32, F16])
def test_compiled_functions_saturate(real, compiled):
    found = compiled(program(), storage=real, accumulate=F32)({"x": X})
    check(found)
    assert found["tanh"].tolist() == np.sign(X).tolist()
    left = found["gelu_tanh"][-1]
    assert left == 0
    assert np.signbit(left)


def test_tanh_is_one_from_eleven_on_in_f16(compiled):
    x = np.arange(0x4980, 0x7C01, dtype=np.uint16).view(np.float16)
    i = tg.dims("i")
    graph = tg.Graph(y=tg.compute("y", i, tg.tanh(tg.input("x", ("n",))[i])))
    assert (compiled(graph, storage=F16)({"x": x})["y"] == 1).all()


def test_every_rung_agrees(verified):
    verified([(program(), {"x": X[X > -40]})], splits=(1,))
