"""G10: reductions of nothing have the values of their identities (pytorch#197108, helion#1398)."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tang.frontend as tg
from tang.errors import GraphError
from tang.interpreter import fast_interpret, interpret

NAN = math.nan
EMPTY = {
    tg.sum: 0.0,
    tg.prod: 1.0,
    tg.max: -math.inf,
    tg.min: math.inf,
    tg.logsumexp: -math.inf,
    tg.mean: NAN,
    tg.var: NAN,
}


@pytest.mark.parametrize("evaluate", [interpret, fast_interpret])
@pytest.mark.parametrize("reduce", EMPTY, ids=lambda f: getattr(f, "__name__", ""))
def test_an_empty_row_reduces_to_the_identity(reduce, evaluate):
    for shape, points in (((0,), ()), ((3, 0), (3,)), ((0, 3), (0,))):
        graph = tg.Graph(reduce(tg.input("x", shape), axis=-1))
        (found,) = evaluate(graph, {"x": np.zeros(shape)}).values()
        expected = np.full(points, EMPTY[reduce]) if 0 in shape[-1:] else np.zeros(points)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("evaluate", [interpret, fast_interpret])
def test_an_online_softmax_of_nothing_is_nan(evaluate):
    k = tg.dims("k")
    s, v = tg.input("s", ("n",)), tg.input("v", ("n",))
    graph = tg.Graph(tg.compute("out", (), tg.online_softmax(s[k], v[k], over=k)))
    assert np.isnan(evaluate(graph, {"s": np.zeros(0), "v": np.zeros(0)})["out"])


@pytest.mark.parametrize("build", [lambda x: tg.argmax(x, axis=1), lambda x: tg.top_k(x, 2)[0]])
def test_a_winner_among_nothing_is_an_error_when_the_extents_tell(build):
    with pytest.raises(GraphError):
        interpret(tg.Graph(build(tg.input("x", (3, 0)))), {"x": np.zeros((3, 0))})
