"""N05, kernels: every extremum propagates NaN from either operand.

pytorch#93784, pytorch#76795, burn#5609, mlx#4044.
"""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg

NAN = np.nan
DATA = {"a": np.array([NAN, 1, NAN, 0.0, -0.0]), "b": np.array([1, NAN, NAN, -0.0, 0.0]),
        "x": np.array([1.0, 3, NAN, 5])}  # fmt: skip


def program():
    i, t, s = tg.dims("i"), tg.dims(t=4), tg.dims(s=4)
    a, b, x = tg.input("a", (5,)), tg.input("b", (5,)), tg.input("x", (4,))
    return tg.Graph(
        maximum=tg.maximum(a, b),
        minimum=tg.minimum(a, b),
        relu=tg.relu(a),
        clip=tg.compute("clip", i, tg.clip(a[i], b[i], 2.0)),
        running=tg.compute("running", t, tg.max(x[s], over=s, where=[s <= t])),
        max=tg.max(x),
        min=tg.min(x),
    )


@pytest.mark.parametrize("split", [1, 2, 3, 9])
def test_nan_wins_and_zeros_stay_zeros(split, compiled):
    found = compiled(program(), split=split)(DATA)
    for name in ("maximum", "minimum", "clip"):
        np.testing.assert_array_equal(found[name], [NAN, NAN, NAN, 0, 0], err_msg=name)
    np.testing.assert_array_equal(found["relu"], [NAN, 1, NAN, 0, 0])
    np.testing.assert_array_equal(found["running"], [1, 3, NAN, NAN])
    assert np.isnan(found["max"])
    assert np.isnan(found["min"])


@pytest.mark.parametrize("at", range(4))
def test_a_nan_in_any_chunk_wins(at, compiled):
    x = np.arange(4.0)
    x[at] = NAN
    run = compiled(
        tg.Graph(max=tg.max(tg.input("x", (4,))), min=tg.min(tg.input("x", (4,)))), split=4
    )
    assert all(np.isnan(v) for v in run({"x": x}).values())


def test_every_rung_agrees(verified):
    verified([(program(), DATA)], splits=(1, 2))
