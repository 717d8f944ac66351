"""Reads at the edges: guards, fills, gathers, what is read and what is not; bad inputs."""

from __future__ import annotations

import numpy as np
import pytest

from tang.errors import GraphError
from tang.interpreter import interpret
from tang.ir.expr import INDEX, apply, arg, index, real
from tang.ir.extent import poly
from tang.ir.graph import Comprehension, Dim, Graph, Input, Output
from tang.ir.monoids import SUM
from tang.ir.view import Interval, Read, Ref, View, constant, variable

POINT, K = variable("i"), variable("k")


def within(form, lo, hi):
    return Interval(form, poly(lo), poly(hi))


def mapped(program, read, n, body=None, **inputs):
    """A map over i < n of one read; its values."""
    body = body or arg(0)
    node = Comprehension("node", (Dim("i", poly(n)),), (read,), (body,), outputs=("value",))
    return interpret(program(node, inputs), inputs)["value"]


def pad(form, size, fill=2.0, name="x"):
    return Read(Ref(name), View((form,), (within(form, 0, size),), real(fill)))


def test_a_guard_reads_its_fill_outside(program):
    assert mapped(program, pad(POINT - 1, 2), 4, x=np.array([5.0, 6])).tolist() == [2, 5, 6, 2]


def test_a_guard_narrower_than_its_source_hides_the_rest(program):
    read = Read(Ref("x"), View((POINT,), (within(POINT, 1, 2),), real(0)))
    assert mapped(program, read, 3, x=np.array([7.0, 8, 9])).tolist() == [0, 8, 0]


def test_strides_offsets_and_reversal_are_affine(program):
    x = np.arange(10.0)
    assert mapped(program, Read(Ref("x"), View((POINT.scale(3) + 1,))), 3, x=x).tolist() == [
        1,
        4,
        7,
    ]
    assert mapped(program, Read(Ref("x"), View((constant(9) - POINT,))), 3, x=x).tolist() == [
        9,
        8,
        7,
    ]


def test_an_unguarded_read_out_of_range_names_node_read_and_coordinates(program):
    index_read = Read(Ref("j"), View((POINT,)))
    read = Read(Ref("x"), View((variable("@0"),), gathers=(index_read,)))
    message = r"node 'node', read 0 of x at \(i=1\): coordinates \(4\) are outside \(3,\)"
    with pytest.raises(GraphError, match=message):
        mapped(program, read, 2, x=np.zeros(3), j=np.array([2, 4]))
    with pytest.raises(GraphError, match=r"coordinates \(-1\) are outside"):
        mapped(program, read, 2, x=np.zeros(3), j=np.array([2, -1]))


def gathered(guard=(), index_guard=()):
    """x[j[i]] with guards on the outer and on the index read."""
    fill = real(-1) if guard else None
    inner = View((POINT,), index_guard, index(0) if index_guard else None)
    return Read(Ref("x"), View((variable("@0"),), guard, fill, (Read(Ref("j"), inner),)))


def test_a_guarded_gather_out_of_range_is_its_fill(program):
    read = gathered((within(variable("@0"), 0, 3),))
    x, j = np.array([5.0, 6, 7]), np.array([2, 9, -2, 0])
    assert mapped(program, read, 4, x=x, j=j).tolist() == [7, -1, -1, 5]


def test_conditions_over_dims_come_before_the_gather_is_read(program):
    """The index tensor has two elements; where i ≥ 2 neither it nor the source is read."""
    read = gathered((within(POINT, 0, 2),))
    x, j = np.array([5.0, 6]), np.array([1, 0])
    assert mapped(program, read, 4, x=x, j=j).tolist() == [6, 5, -1, -1]


def test_a_gather_has_a_guard_of_its_own(program):
    read = gathered(index_guard=(within(POINT, 0, 2),))
    x, j = np.array([5.0, 6]), np.array([1, 1])
    assert mapped(program, read, 3, x=x, j=j).tolist() == [6, 6, 5]


def test_a_later_gather_may_use_an_earlier_one(program):
    first = Read(Ref("j"), View((POINT,)))
    second = Read(Ref("j"), View((variable("@0"),)))
    read = Read(Ref("x"), View((variable("@1"),), gathers=(first, second)))
    x, j = np.array([5.0, 6, 7]), np.array([1, 2, 0])
    assert mapped(program, read, 3, x=x, j=j).tolist() == [7, 5, 6]


def test_excluded_points_read_nothing(program):
    x = np.array([1.0, 2.0])
    k = (Dim("k", poly(4)),)
    reads = (Read(Ref("x"), View((K,))),)
    node = Comprehension("node", (), reads, (arg(0),), k, (constant(1) - K,), SUM)
    assert interpret(program(node, {"x": x}), {"x": x})["value"] == 3
    node = Comprehension("node", (), reads, (arg(0),), k, (constant(2) - K,), SUM)
    with pytest.raises(GraphError, match=r"ranges over \[0, 2\]"):
        interpret(program(node, {"x": x}), {"x": x})


def test_a_read_of_an_empty_source_is_all_fill(program):
    assert mapped(program, pad(POINT, 0), 2, x=np.zeros(0)).tolist() == [2, 2]


def test_a_scalar_is_read_at_every_point(program):
    read = Read(Ref("x"), View(()))
    assert mapped(program, read, 3, x=np.array(4.0)).tolist() == [4, 4, 4]


def test_a_node_without_dims_is_a_scalar(program):
    node = Comprehension("node", (), (), (real(3),), outputs=("value",))
    found = interpret(program(node, {}), {})["value"]
    assert found.shape == ()
    assert found == 3


def test_an_output_is_a_fresh_array(program):
    x = np.arange(3.0)
    graph = Graph((Input("x", (poly(3),)),), (), (Output("y", Ref("x")),))
    found = interpret(graph, {"x": x})["y"]
    found[0] = 9
    assert x[0] == 0


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({}, "no data for input 'x'"),
        ({"x": np.zeros(3), "y": np.zeros(3)}, "unknown input 'y'"),
        ({"x": np.zeros(4)}, r"input 'x' has shape \(4,\), expected \(3,\)"),
        ({"x": np.zeros(3, complex)}, "input 'x' takes reals, not complex128"),
        ({"x": np.zeros(3, bool)}, "input 'x' takes reals, not bool"),
    ],
)
def test_unfit_data_is_refused_by_name(program, inputs, message):
    reads = (Read(Ref("x"), View((POINT,))),)
    node = Comprehension("node", (Dim("i", poly(3)),), reads, (arg(0),), outputs=("value",))
    graph = program(node, {"x": np.zeros(3)})
    with pytest.raises(GraphError, match=message):
        interpret(graph, inputs)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (np.array([1.0, 2.0]), "input 'x0' takes integers, not float64"),
        (np.array([True, False]), "input 'x0' takes integers, not bool"),
        (np.array([1, 2**31]), r"input 'x0' holds 2147483648, beyond ±2147483647"),
        (np.array([1, -(2**31)]), r"input 'x0' holds -2147483648"),
    ],
)
def test_indices_never_pass_through_floats(formula, data, message):
    graph, _ = formula(apply("add", arg(0, INDEX), index(1)), np.array([1, 2]))
    with pytest.raises(GraphError, match=message):
        interpret(graph, {"x0": data})


def test_small_integers_and_half_floats_are_real_data(formula):
    graph, _ = formula(arg(0), np.zeros(2))
    for dtype in (np.int8, np.uint8, np.float16, np.float32):
        assert interpret(graph, {"x0": np.array([1, 2], dtype)})["value"].tolist() == [1, 2]
