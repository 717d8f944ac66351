"""E09, programs: every extent reaches its kernel (wgpu#5262, slang#4985, SPIRV-Cross#2494)."""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg


def program():
    """All extents of three inputs, each on its own, and a sum that needs their strides."""
    a, b = tg.input("a", ("m", "n", "k")), tg.input("b", ("p", "q"))
    i, j, l = tg.dims(i="m", j="n", l="k")  # noqa: E741
    r, s = tg.dims(r="p", s="q")
    total = tg.sum(a[i, j, l] * tg.real(i + 10 * j + 100 * l), (i, j, l))
    other = tg.sum(b[r, s] * tg.real(r - s), (r, s))
    first = dict(zip("mnk", (i, j, l), strict=True))
    sizes = {n: tg.compute(n, (i, j, l), tg.extent(d)) for n, d in first.items()}
    sizes |= {n: tg.compute(n, (r, s), tg.extent(d)) for n, d in (("p", r), ("q", s))}
    return tg.Graph({**sizes, "a": tg.compute("ta", (), total), "b": tg.compute("tb", (), other)})


@pytest.mark.parametrize("split", [1, 2])
def test_extents_are_echoed_and_strides_are_right(split, compiled):
    run = compiled(program(), split=split)
    for m, n, k, p, q in ((2, 3, 5, 7, 11), (5, 1, 2, 1, 3), (1, 7, 1, 4, 2)):
        a, b = np.arange(m * n * k).reshape(m, n, k) % 4, np.arange(p * q).reshape(p, q) % 3
        found = run({"a": a, "b": b})
        for name, size in zip("mnkpq", (m, n, k, p, q), strict=True):
            assert np.unique(found[name]).tolist() == [size]
        i, j, l = np.indices(a.shape)  # noqa: E741
        assert found["a"] == (a * (i + 10 * j + 100 * l)).sum()
        r, s = np.indices(b.shape)
        assert found["b"] == (b * (r - s)).sum()
