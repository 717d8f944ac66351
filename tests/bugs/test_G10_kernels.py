"""G10, kernels: reductions of nothing compile and have the values of their identities.

pytorch#197108, helion#1398, helion#2963.
"""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg
from tang.errors import GraphError

EMPTY = {
    "sum": 0.0, "prod": 1.0, "max": -np.inf, "min": np.inf, "logsumexp": -np.inf,
    "mean": np.nan, "var": np.nan, "online": np.nan, "count": 0,
}  # fmt: skip


def program(m, n):
    """Each reduction over the last axis."""
    i, k = tg.dims(i=m), tg.dims(k=n)
    x = tg.input("x", (m, n))
    named = {f: getattr(tg, f)(x, axis=1) for f in EMPTY if f not in ("online", "count")}
    online = tg.compute("online", i, tg.online_softmax(x[i, k], x[i, k], k))
    return tg.Graph(
        {**named, "online": online, "count": tg.compute("c", i, tg.count(x[i, k] > 0, k))}
    )


@pytest.mark.parametrize("split", [1, 3])
@pytest.mark.parametrize("shape", [("m", "n"), (3, 0)])
def test_an_empty_row_reduces_to_the_identity(shape, split, compiled):
    run = compiled(program(*shape), split=split)
    for m, n in ((3, 0), (0, 3), (0, 0)) if shape == ("m", "n") else (shape,):
        found = run({"x": np.zeros((m, n))})
        for name, value in EMPTY.items():
            np.testing.assert_array_equal(found[name], np.full(m, value), err_msg=name)


@pytest.mark.parametrize("split", [1, 2])
def test_a_whole_empty_tensor_reduces_to_the_identity(split, compiled):
    x = tg.input("x", (0,))
    graph = tg.Graph({f: getattr(tg, f)(x) for f in ("sum", "max", "mean")})
    found = compiled(graph, split=split)({"x": np.zeros(0)})
    np.testing.assert_array_equal([found[f] for f in found], [EMPTY[f] for f in found])


def test_no_rows_means_no_launch(compiled):
    static = compiled(tg.Graph(y=tg.sum(tg.input("x", (0, 3)), axis=1)))
    assert static.plan.launches == ()
    assert static({"x": np.zeros((0, 3))})["y"].shape == (0,)


@pytest.mark.parametrize("build", [tg.argmax, lambda x: tg.top_k(x, 2)[0]])
def test_a_winner_among_too_few_is_an_error_when_the_extents_tell(build, compiled):
    with pytest.raises(GraphError, match=r"argmax of nothing|top_k_2 of 0 elements"):
        tg.Graph(build(tg.input("x", (0,))))
    with pytest.raises(GraphError, match=r"argmax of nothing|top_k_2 of 0 elements"):
        compiled(tg.Graph(build(tg.input("x", ("n",)))))({"x": np.zeros(0)})


def test_every_rung_agrees(verified):
    verified([(program("m", "n"), {"x": np.zeros((2, 0), np.float32)})], splits=(1, 3))
