"""Sums side by side are sums, however many: bounds of data speak of any order of them."""

from __future__ import annotations

import pytest

from tang.budget.known_data import FOLDS, FREELY, Known
from tang.ir.expr import arg
from tang.ir.extent import poly
from tang.ir.graph import Comprehension, Dim, Graph, Input, Output
from tang.ir.monoids import PROD, SUM, product
from tang.ir.validate import validate
from tang.ir.view import Read, Ref, View, variable
from tang.kernel.schedule import Schedule


def order_of(monoid, output):
    """Of which orders the bounds of a fold speak."""
    read = Read(Ref("x"), View((variable("i"), variable("k"))))
    bodies = (arg(0),) * len(monoid.inputs)
    node = Comprehension(
        "y", (Dim("i", poly(2)),), (read,), bodies, (Dim("k", poly(3)),), monoid=monoid
    )
    graph = Graph((Input("x", (poly(2), poly(3))),), (node,), (Output("y", Ref("y", output)),))
    validate(graph)
    return Known(graph, Schedule(), (), free=True, math="any").order


@pytest.mark.parametrize("count", [2, 8, 9])
def test_bounds_of_sums_side_by_side_speak_of_any_order(count):
    assert order_of(product(*[SUM] * count), "p0_value") == FREELY


def test_bounds_of_sums_beside_another_fold_do_not():
    assert order_of(product(*[SUM] * 2, PROD), "p0_value") == FOLDS
