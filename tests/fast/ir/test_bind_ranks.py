"""Binding keeps the rank of every result, also where a coefficient vanishes with its size."""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg
from tang.interpreter import interpret
from tang.ir.bind import bind
from tang.ir.expr import REAL, arg
from tang.ir.extent import poly
from tang.ir.graph import Comprehension, Dim, Graph, Input, Output
from tang.ir.monoids import SUM
from tang.ir.view import Read, Ref, View, variable
from tang.verify import verify

N, K = poly("n"), poly("k")
ROW, COL, RED = Dim("i", poly(3)), Dim("j", K), Dim("r", poly(4))


def _summed(*, by_where: bool) -> Graph:
    """Σ_r x[r + (n − 2)·j], the sum's state an output and read by a map.

    j is in a condition, or in the view, with a coefficient that is 0 for n = 2.
    """
    moved = variable("r") + variable("j", N - 2)
    place = variable("r") if by_where else moved
    where = (moved - 1,) if by_where else ()
    node = Comprehension(
        "s", (ROW, COL), (Read(Ref("x"), View((place,))),), (arg(0, REAL),), (RED,), where, SUM
    )
    again = Comprehension(
        "y", (COL,), (Read(Ref("s", SUM.components[0].name), View((variable("j"),))),),
        (arg(0, REAL),), outputs=("value",),
    )  # fmt: skip
    state = Ref("s", SUM.components[0].name)
    return Graph(
        (Input("x", (4 + K * (N - 2),), REAL), Input("w", (N, K), REAL)),
        (node, again),
        (Output("state", state), Output("y", Ref("y", "value"))),
    )


@pytest.mark.parametrize("by_where", [True, False])
@pytest.mark.parametrize("n", [2, 3])
def test_a_state_keeps_its_rank_where_a_coefficient_is_zero(by_where: bool, n: int) -> None:
    graph = _summed(by_where=by_where)
    k = 5
    x = np.arange(4.0 + k * (n - 2)) + 1
    bound = bind(graph, {"n": n, "k": k})
    assert bound.shape(graph.outputs[0].ref) == (poly(k),)
    found = interpret(graph, {"x": x, "w": np.zeros((n, k))})
    step = n - 2
    rows = [
        [x[r + (0 if by_where else step * j)] for r in range(4) if not by_where or r + step * j > 0]
        for j in range(k)
    ]
    wanted = np.array([sum(row) for row in rows])
    assert np.array_equal(found["y"], wanted)
    assert np.array_equal(found["state"], wanted)
    assert verify(graph, {"x": x, "w": np.zeros((n, k))}, backends=()).ok


def test_a_node_that_loses_nothing_is_bound_without_conditions() -> None:
    graph = _summed(by_where=True)
    assert len(bind(graph, {"n": 3, "k": 5}).nodes[0].where) == 1
    assert len(bind(graph, {"n": 2, "k": 5}).nodes[0].where) == 2


def test_gradients_of_products_over_two_empty_dims_are_programs() -> None:
    i, r, s = tg.dims("i r s")
    x, c = tg.input("x", (poly("m"),)), tg.input("c", (N,))
    y = tg.compute("y", (i,), tg.prod(x[i] * c[r] + 0 * c[s], over=(r, s)))
    loss = tg.compute("loss", (), tg.sum(y[i], over=i))
    graph = tg.grad(tg.Graph(loss=loss), "loss", wrt=("x",))
    found = interpret(graph, {"x": np.ones(2), "c": np.zeros(0)})
    assert np.array_equal(found[graph.outputs[-1].name], np.zeros(2))
