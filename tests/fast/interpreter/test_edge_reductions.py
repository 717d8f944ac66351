"""Reductions at the edges: the right values of DESIGN's "Meaning at the edges"."""

from __future__ import annotations

import numpy as np
import pytest

from tang.errors import GraphError
from tang.interpreter import definition, evaluate, interpret
from tang.interpreter.f64 import F64
from tang.ir.expr import INDEX, REAL, apply, arg, fold, index, iota, real, state
from tang.ir.extent import poly
from tang.ir.graph import Comprehension, Dim
from tang.ir.monoid import Axis, Component, Monoid
from tang.ir.monoids import (
    AFFINE_SCAN,
    ALL,
    ANY,
    ARGMAX,
    ARGMIN,
    COUNT,
    LOGSUMEXP,
    MAX,
    MIN,
    ONLINE_SOFTMAX,
    PROD,
    SUM,
    WELFORD,
    top_k,
)
from tang.ir.view import Affine, Interval, Read, Ref, View, constant, variable

INF, NAN = np.inf, np.nan


def equal(found, expected):
    np.testing.assert_array_equal(found, np.asarray(expected))


@pytest.mark.parametrize(
    ("monoid", "expected"),
    [
        (SUM, {"value": 0.0}),
        (PROD, {"value": 1.0}),
        (MAX, {"value": -INF}),
        (MIN, {"value": INF}),
        (LOGSUMEXP, {"value": -INF}),
        (WELFORD, {"average": NAN, "variance": NAN, "n": 0.0}),
    ],
    ids=lambda v: v.name if isinstance(v, Monoid) else "",
)
def test_an_empty_reduction_is_the_projected_identity(rows, monoid, expected):
    found = interpret(*rows(monoid, np.zeros((3, 0))))
    for name, value in expected.items():
        equal(found[name], [value] * 3)


@pytest.mark.parametrize(
    ("monoid", "expected"),
    [
        (ARGMAX, {"value": NAN, "index": -1}),
        (ARGMIN, {"value": NAN, "index": -1}),
        (top_k(2), {"values": [NAN, NAN], "indices": [-1, -1]}),
    ],
    ids=lambda v: v.name if isinstance(v, Monoid) else "",
)
def test_winners_of_nothing_are_absent_and_illegal_when_the_extents_tell(rows, monoid, expected):
    graph, data = rows(monoid, np.zeros((3, 0)))
    found = evaluate(graph, data, F64)
    for name, value in expected.items():
        equal(found[name], [value] * 3)
    with pytest.raises(GraphError):
        interpret(graph, data)


def test_an_empty_online_softmax_is_nan(rows):
    empty = np.zeros((2, 0))
    equal(interpret(*rows(ONLINE_SOFTMAX, empty, empty))["value"], [NAN, NAN])


def test_empty_bool_and_index_reductions_have_their_identities(rows):
    assert not interpret(*rows(ANY, np.zeros((1, 0), bool)))["value"][0]
    assert interpret(*rows(ALL, np.zeros((1, 0), bool)))["value"][0]
    assert interpret(*rows(COUNT, np.zeros((1, 0))))["value"].tolist() == [0]


def test_no_points_give_an_empty_result(rows):
    assert interpret(*rows(SUM, np.zeros((0, 3))))["value"].shape == (0,)
    assert interpret(*rows(top_k(2), np.zeros((0, 3))))["indices"].shape == (0, 2)
    assert interpret(*rows(ARGMAX, np.zeros((0, 0))))["index"].shape == (0,)


def test_argmax_takes_the_first_nan_else_the_first_largest(rows):
    data = [[1, NAN, INF, NAN], [2, 7, 7, 1], [-INF, -INF, -INF, -INF], [0.0, -0.0, 0.0, -1]]
    found = interpret(*rows(ARGMAX, data))
    assert found["index"].tolist() == [1, 1, 0, 0]
    equal(found["value"], [NAN, 7, -INF, 0])


def test_argmin_takes_the_first_nan_else_the_first_smallest(rows):
    found = interpret(*rows(ARGMIN, [[3.0, 1, 1], [1, NAN, -INF]]))
    assert found["index"].tolist() == [1, 1]


def test_top_k_is_descending_with_nan_first_and_ties_by_index(rows):
    data = [[1.0, NAN, 3, NAN, 3], [-INF, -INF, -INF, -INF, -INF]]
    found = interpret(*rows(top_k(4), data))
    assert found["indices"].tolist() == [[1, 3, 2, 4], [0, 1, 2, 3]]
    equal(found["values"], [[NAN, NAN, 3, 3], [-INF] * 4])


def test_top_k_beyond_the_length_is_absent(rows):
    found = evaluate(*rows(top_k(3), [[5.0, 6.0]]), F64)
    equal(found["values"], [[6, 5, NAN]])
    assert found["indices"].tolist() == [[1, 0, -1]]


def test_logsumexp_of_infinities_is_the_limit(rows):
    data = [[-INF, -INF], [INF, 0], [NAN, 0], [-INF, 0]]
    equal(interpret(*rows(LOGSUMEXP, data))["value"], [-INF, INF, NAN, 0])


def test_an_affine_scan_applies_its_steps_in_order(rows):
    found = interpret(*rows(AFFINE_SCAN, [[2, 3, 0.5]], [[1.0, 1, 4]]))
    equal(found["value"], [6])


def test_components_have_only_the_dims_on_which_they_depend(program):
    scores, values = np.array([[0.0, 1.0]]), np.ones((2, 5))
    dims = [Dim("i", poly(1)), Dim("d", poly(5)), Dim("k", poly(2))]
    reads = (
        Read(Ref("s"), View((variable("i"), variable("k")))),
        Read(Ref("v"), View((variable("k"), variable("d")))),
    )
    node = Comprehension("node", tuple(dims[:2]), reads, (arg(0), arg(1)),
                         reduce=(dims[2],), monoid=ONLINE_SOFTMAX)  # fmt: skip
    found = interpret(program(node, {"s": scores, "v": values}), {"s": scores, "v": values})
    assert {n: a.shape for n, a in found.items()} == {
        "value": (1, 5), "m": (1,), "l": (1,), "acc": (1, 5),
    }  # fmt: skip
    np.testing.assert_allclose(found["value"], 1.0, rtol=1e-15)


def prefix(monoid, n, source="x"):
    """Fold x[s] over s ≤ t for every t."""
    t, s = Dim("t", poly(n)), Dim("s", poly(n))
    body = tuple(iota("s") if x is INDEX else arg(0, x) for x in monoid.inputs)
    where = (variable("t") - variable("s"),)
    reads = (Read(Ref(source), View((variable("s"),))),)
    return Comprehension("node", (t,), reads, body, reduce=(s,), where=where, monoid=monoid)


def test_where_makes_a_scan(program):
    x = np.array([1.0, 3.0, NAN, 5.0])
    graph = program(prefix(MAX, 4), {"x": x})
    equal(interpret(graph, {"x": x})["value"], [1, 3, NAN, NAN])


def test_a_semigroup_starts_at_its_first_included_element(program):
    x = np.array([1.0, 3.0, 2.0])
    node = prefix(ARGMAX, 3)
    later = (variable("t") - variable("s") - 1,)  # strictly before t: nothing for t = 0
    node = Comprehension("node", node.point, node.reads, node.body, node.reduce, later, ARGMAX)
    found = interpret(program(node, {"x": x}), {"x": x})
    assert found["index"].tolist() == [-1, 0, 1]
    equal(found["value"], [NAN, 1, 3])
    equal(found["best"], [NAN, 1, 3])


def test_an_excluded_point_contributes_nothing_even_where_a_fill_would(program):
    """max(w·x) with w < 0: a fill of −inf gives +inf at the point that where excludes."""
    w, x = np.array([-1.0, -2.0]), np.array([3.0, 4.0])
    k = (Dim("k", poly(2)),)
    reads = tuple(Read(Ref(n), View((variable("k"),))) for n in "wx")
    product = (apply("mul", arg(0), arg(1)),)
    excluded = Comprehension("node", (), reads, product, k, (constant(0) - variable("k"),), MAX)
    inputs = {"w": w, "x": x}
    assert interpret(program(excluded, inputs), inputs)["value"] == -3
    guard = (Interval(variable("k"), poly(0), poly(1)),)
    filled = (reads[0], Read(Ref("x"), View((variable("k"),), guard, real(-INF))))
    padded = Comprehension("node", (), filled, product, k, (), MAX)
    assert interpret(program(padded, inputs), inputs)["value"] == INF


def test_a_fold_over_a_static_axis_and_a_matrix_state_are_evaluated(program):
    """State = 2×2 matrix, combine = matrix product in order: Fibonacci by powers."""
    r, c, m = iota("r"), iota("c"), iota("m")
    product = fold("m", 2, apply("mul", state(0, 0, REAL, (r, m)), state(1, 0, REAL, (m, c))))
    entry = apply("to_real", apply("add", index(1), apply("neg", apply("mul", r, c))))
    unit = apply("select", apply("eq", r, c), real(1), real(0))
    monoid = Monoid(
        "matrices", (REAL,), (Component("a", REAL, ("r", "c")),),
        (apply("mul", arg(0), entry),), (unit,), (product,),
        (Component("value", REAL, ("c", "r")),), (state(0, 0, REAL, (r, c)),),
        commutative=False, axes=(Axis("r", 2), Axis("c", 2), Axis("m", 2)),
    )  # fmt: skip
    x = np.array([1.0, 1, 1, 1, 2])
    reads = (Read(Ref("x"), View((variable("k"),))),)
    node = Comprehension("node", (), reads, (arg(0),), (Dim("k", poly(5)),), (), monoid)
    found = interpret(program(node, {"x": x}), {"x": x})
    equal(found["value"], [[16, 10], [10, 6]])


def test_blocks_of_reduce_points_do_not_change_a_bit(rows, monkeypatch):
    data = np.random.default_rng(0).normal(size=(3, 50))
    for monoid in (SUM, WELFORD, LOGSUMEXP, ARGMAX, top_k(3)):
        whole = interpret(*rows(monoid, data))
        monkeypatch.setattr(definition, "BLOCK_LANES", 17)
        parts = interpret(*rows(monoid, data))
        monkeypatch.undo()
        for name, value in whole.items():
            assert value.tobytes() == parts[name].tobytes()


def test_two_reduce_dims_are_folded_in_lexicographic_order(program):
    a, b = np.full((2, 3), 2.0), np.arange(6.0).reshape(2, 3)
    dims = (Dim("j", poly(2)), Dim("k", poly(3)))
    reads = tuple(Read(Ref(n), View((variable("j"), variable("k")))) for n in "ab")
    node = Comprehension("node", (), reads, (arg(0), arg(1)), dims, (), AFFINE_SCAN)
    h = 0.0
    for step in b.ravel():
        h = 2 * h + step
    assert interpret(program(node, {"a": a, "b": b}), {"a": a, "b": b})["value"] == h


def test_forms_with_symbols_are_bound_from_the_inputs(program):
    x = np.arange(6.0)
    t = Dim("t", poly("n"))
    view = View((Affine((), poly("n") - 1) - variable("t"),))
    node = Comprehension("node", (t,), (Read(Ref("x"), view),), (arg(0),), outputs=("value",))
    graph = program(node, {"x": x})
    declared = type(graph.inputs[0])("x", (poly("n"),))
    graph = type(graph)((declared,), graph.nodes, graph.outputs)
    equal(interpret(graph, {"x": x})["value"], x[::-1])
