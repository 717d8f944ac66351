"""N03, kernels: subnormals are numbers, at every call (jax#37762, jax#38632, xla#22858)."""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg

X = np.array([1e-40, -100.0, -np.inf, 1e-45, 3e-39])


def program():
    i = tg.dims("i")
    x = tg.input("x", (5,))
    v = x[i]
    tiny = x[tg.index(3)]
    return tg.Graph(
        log=tg.compute("log", i, tg.log(v)),
        rsqrt=tg.compute("rsqrt", i, tg.rsqrt(v)),
        exp=tg.compute("exp", i, tg.exp(v)),
        product=tg.compute("product", i, v * tiny),
        zero=tg.compute("zero", i, v == 0),
        sum=tg.compute("sum", (), tg.sum(tg.select(v > 0, v, 0.0), i)),
        half=tg.compute("half", i, v * 0.5),
    )


def check(found):
    assert abs(found["log"][0] + 92.1034) < 1e-3
    assert abs(found["rsqrt"][0] / 1e20 - 1) < 1e-5
    assert abs(found["exp"][1] - np.exp(-100)) <= 2.0**-150
    assert found["product"][2] == -np.inf
    assert not found["zero"].any()
    assert found["sum"] == X.astype(np.float32)[X > 0].sum(dtype=np.float64)
    assert found["half"][4] == np.float32(3e-39) / 2


@pytest.mark.parametrize("split", [1, 2])
def test_subnormals_are_numbers_at_every_call(split, compiled):
    run = compiled(program(), split=split)
    other = compiled(tg.Graph(y=tg.exp(tg.input("z", (2,)))))
    for _ in range(3):
        check(run({"x": X}))
        other({"z": np.array([-104.0, 1e-42])})


def test_every_rung_agrees(verified):
    verified([(program(), {"x": X})], splits=(1, 2))
