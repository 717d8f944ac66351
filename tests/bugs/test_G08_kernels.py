"""G08, kernels: a scan keeps its operands' order, both ways, in chunks, at every length.

triton#2359, triton#4362.
"""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg
from tang.kernel.ir import F64

LENGTHS = (1, 2, 63, 64, 65, 127, 128, 129, 1025)
REPORTED = {"a": np.array([2.0, 3, 0.5]), "b": np.array([1.0, 1, 4])}


def program(n):
    """h[t] = a[t]·h[t∓1] + b[t] from 0, forward and in reverse."""
    t, s = tg.dims(t=n), tg.dims(s=n)
    a, b = tg.input("a", (n,)), tg.input("b", (n,))
    last = tg.size(n) - 1
    back = tg.affine_scan(a[last - s], b[last - s], over=s, where=[s <= last - t])
    return tg.Graph(
        forward=tg.compute("forward", t, tg.affine_scan(a[s], b[s], over=s, where=[s <= t])),
        reverse=tg.compute("reverse", t, back),
    )


def serial(a, b):
    h, out = 0.0, []
    for x, y in zip(a, b, strict=True):
        h = x * h + y
        out.append(h)
    return np.array(out)


@pytest.mark.parametrize("split", [1, 2, 3, 5])
def test_the_reported_case_has_its_right_values(split, compiled):
    found = compiled(program(3), split=split)(REPORTED)
    assert found["forward"].tolist() == [1, 4, 6]
    assert found["reverse"].tolist() == [27, 13, 4]


@pytest.mark.parametrize("split", [1, 2, 8])
def test_every_length_equals_a_serial_loop(split, compiled):
    run = compiled(program("n"), split=split, storage=F64, accumulate=F64)
    for n in LENGTHS:
        generator = np.random.default_rng(n)
        a, b = generator.uniform(-1, 1, n), generator.normal(size=n)
        found = run({"a": a, "b": b})
        for got, want in (
            (found["forward"], serial(a, b)),
            (found["reverse"], serial(a[::-1], b[::-1])[::-1]),
        ):
            np.testing.assert_allclose(got, want, 1e-12, 1e-12)
            assert split > 1 or got.tobytes() == want.tobytes()


def test_every_rung_agrees(verified):
    verified([(program(3), REPORTED)], splits=(1, 2, 3))
