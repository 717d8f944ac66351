"""A cotangent that is one number over symbolic extents belongs to the dims it was made over.

1/(batch·length) mentions extents of dims, not coordinates; taken for a constant, it was carried
into nodes that have no such dims, and `grad` raised KeyError.
"""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg
from tang.interpreter import interpret


def mean_of(tensor):
    """Σ tensor / (number of its elements), of symbolic extents."""
    dims = [tg.dim(f"m{n}") for n in range(tensor.rank)]
    count = tg.extent(dims[0])
    for d in dims[1:]:
        count = count * tg.extent(d)
    return tg.compute("mean", (), tg.sum(tensor[tuple(dims)] / tg.real(count), dims))


def doubled():
    b, t = tg.dims("b t")
    x = tg.input("x", ("B", "T"))
    return tg.compute("c", (b, t), 2 * x[b, t])


def gathered():
    b, t, v = tg.dims("b t v")
    x, y = tg.input("x", (9, 4)), tg.input("y", ("B", "T"), "index")
    return tg.compute("c", (b, t, v), x[y[b, t], v])


@pytest.mark.parametrize("tensor", [doubled, gathered], ids=["map", "gather"])
def test_the_mean_of_a_map_with_symbolic_extents_has_a_gradient(tensor):
    made = tg.grad(tg.Graph(loss=mean_of(tensor())), "loss", ["x"])
    rng = np.random.default_rng(1)
    if tensor is doubled:
        found = interpret(made, {"x": rng.standard_normal((3, 5))})["d_x"]
        np.testing.assert_allclose(found, np.full((3, 5), 2 / 15))
        return
    y = rng.integers(0, 9, (2, 3))
    found = interpret(made, {"x": rng.standard_normal((9, 4)), "y": y})["d_x"]
    expected = np.bincount(y.ravel(), minlength=9)[:, None] / 24 * np.ones(4)
    np.testing.assert_allclose(found, expected)
