"""G02, kernels: select hides a NaN, a zero weight does not (pytorch#101967)."""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg

DATA = {"x": [1.0, np.nan], "p": [1.0, 0.0], "m": np.array([True, False])}


def program():
    """Σ select(m, x, 0), Σ p·x, and the same through a node of its own each."""
    k = tg.dims("k")
    x, p, m = tg.input("x", (2,)), tg.input("p", (2,)), tg.input("m", (2,), "bool")
    chosen = tg.compute("chosen", k, tg.select(m[k], x[k], 0.0))
    scaled = tg.compute("scaled", k, p[k] * x[k])
    return tg.Graph(
        hidden=tg.compute("hidden", (), tg.sum(tg.select(m[k], x[k], 0.0), k)),
        poisoned=tg.compute("poisoned", (), tg.sum(p[k] * x[k], k)),
        hidden_twice=tg.sum(chosen),
        poisoned_twice=tg.sum(scaled),
        zero=tg.compute("zero", k, 0 * x[k]),
    )


@pytest.mark.parametrize("split", [1, 2, 3])
def test_select_hides_and_zero_does_not(split, compiled):
    found = compiled(program(), split=split)(DATA)
    assert found["hidden"] == found["hidden_twice"] == 1
    assert np.isnan(found["poisoned"])
    assert np.isnan(found["poisoned_twice"])
    np.testing.assert_array_equal(found["zero"], [0, np.nan])


def test_every_rung_agrees(verified):
    verified([(program(), {n: np.asarray(a) for n, a in DATA.items()})])
