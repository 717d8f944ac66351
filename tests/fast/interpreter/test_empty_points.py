"""A node without points reads nothing, so no read of it can be out of range."""

from __future__ import annotations

import numpy as np

from tang.interpreter import interpret
from tang.ir.expr import INDEX, arg
from tang.ir.extent import poly
from tang.ir.graph import Comprehension, Dim, Graph, Input, Output
from tang.ir.view import Read, Ref, View, constant, variable


def test_a_gather_out_of_range_at_no_point_is_no_error():
    index = Read(Ref("idx"), View((constant(0),)))
    gather = Read(Ref("x"), View((variable("@0"),), gathers=(index,)))
    node = Comprehension("y", (Dim("i", poly(0)),), (gather,), (arg(0),), outputs=("value",))
    inputs = (Input("x", (poly(2),)), Input("idx", (poly(1),), INDEX))
    graph = Graph(inputs, (node,), (Output("y", Ref("y", "value")),))
    data = {"x": np.zeros(2), "idx": np.array([7])}
    for err in (False, True):
        value = interpret(graph, data, err=err)["y"]
        assert np.shape(value.value if err else value) == (0,)


def test_one_coordinate_out_of_range_beside_an_empty_one_is_no_error():
    row = Read(Ref("idx"), View((constant(0),)))
    gather = Read(Ref("x"), View((variable("@0"), variable("i")), gathers=(row,)))
    node = Comprehension("y", (Dim("i", poly(0)),), (gather,), (arg(0),), outputs=("value",))
    inputs = (Input("x", (poly(1), poly(3))), Input("idx", (poly(1),), INDEX))
    graph = Graph(inputs, (node,), (Output("y", Ref("y", "value")),))
    data = {"x": np.zeros((1, 3)), "idx": np.array([1])}
    assert interpret(graph, data)["y"].shape == (0,)
