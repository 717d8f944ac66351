"""Scalar operations at the edges: IEEE specials, casts, exact indices, branches."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from tang.errors import GraphError, LimitError
from tang.interpreter import interpret
from tang.ir.derived import maximum, minimum
from tang.ir.expr import INDEX, apply, arg, boolean, index, iota, named, real
from tang.ir.extent import poly
from tang.ir.graph import Comprehension, Dim
from tang.ir.monoids import COUNT, SUM, simple
from tang.ir.view import Read, Ref, View, variable

INF, NAN = math.inf, math.nan
SPECIALS = np.array([NAN, -INF, -2.0, -1.0, -0.0, 0.0, 0.25, 1.0, INF])


def value(formula, body, *vectors):
    return interpret(*formula(body, *vectors))["value"]


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        ("recip", [NAN, -0.0, -0.5, -1, -INF, INF, 4, 1, 0]),
        ("sqrt", [NAN, NAN, NAN, NAN, -0.0, 0, 0.5, 1, INF]),
        ("exp2", [NAN, 0, 0.25, 0.5, 1, 1, 2**0.25, 2, INF]),
        ("log2", [NAN, NAN, NAN, NAN, -INF, -INF, -2, 0, INF]),
        ("floor", [NAN, -INF, -2, -1, 0, 0, 0, 1, INF]),
        ("erf", [NAN, -1, math.erf(-2), math.erf(-1), 0, 0, math.erf(0.25), math.erf(1), 1]),
        ("neg", [NAN, INF, 2, 1, 0, 0, -0.25, -1, -INF]),
        ("sin", [NAN, NAN, *(math.sin(x) for x in (-2, -1, 0, 0, 0.25, 1)), NAN]),
    ],
)
def test_a_function_of_special_values_is_as_in_ieee(formula, op, expected):
    found = value(formula, apply(op, arg(0)), SPECIALS)
    np.testing.assert_array_max_ulp(found[np.isfinite(found)],
                                    np.array(expected)[np.isfinite(expected)], 1)  # fmt: skip
    np.testing.assert_array_equal(np.where(np.isfinite(found), 0, found),
                                  np.where(np.isfinite(expected), 0, expected))  # fmt: skip


def test_no_warning_leaves_the_interpreter(formula):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        value(formula, apply("log2", apply("mul", arg(0), real(0))), SPECIALS)


def test_zero_times_nan_and_infinity_is_nan(formula):
    found = value(formula, apply("mul", real(0), arg(0)), SPECIALS)
    assert np.isnan(found).tolist() == [True, True] + [False] * 6 + [True]


def test_comparisons_with_nan_are_false(formula):
    for op in ("lt", "eq"):
        assert not value(formula, apply(op, arg(0), real(1)), np.array([NAN]))[0]
        assert not value(formula, apply(op, real(1), arg(0)), np.array([NAN]))[0]


def test_the_branch_not_taken_cannot_poison(formula):
    live = apply("lt", real(0), arg(0))
    body = apply("select", live, apply("log2", arg(0)), real(7))
    assert value(formula, body, np.array([4.0, -1, NAN])).tolist() == [2, 7, 7]
    times = apply("mul", apply("select", live, real(1), real(0)), apply("log2", arg(0)))
    assert np.isnan(value(formula, times, np.array([-1.0])))[0]


def test_max_and_min_propagate_nan_and_keep_infinities(formula):
    a = np.array([NAN, 1.0, 1.0, -INF])
    b = np.array([1.0, NAN, 2.0, INF])
    np.testing.assert_array_equal(value(formula, maximum(arg(0), arg(1)), a, b), [NAN, NAN, 2, INF])
    np.testing.assert_array_equal(
        value(formula, minimum(arg(0), arg(1)), a, b), [NAN, NAN, 1, -INF]
    )


def test_a_cast_to_index_floors_saturates_and_maps_nan_to_minus_one(formula):
    data = np.array([-0.5, 2.9, -INF, INF, NAN, 3e9, -3e9])
    high, low = 2**31 - 1, -(2**31)
    found = value(formula, apply("to_index", arg(0)), data)
    assert found.dtype == np.int64
    assert found.tolist() == [-1, 2, low, high, -1, high, low]


def test_index_division_rounds_towards_minus_infinity(formula):
    data = np.array([-7, -1, 0, 7])
    assert value(formula, apply("floordiv", arg(0, INDEX), index(3)), data).tolist() == [
        -3, -1, 0, 2,
    ]  # fmt: skip
    assert value(formula, apply("mod", arg(0, INDEX), index(3)), data).tolist() == [2, 2, 0, 1]


def test_constants_keep_their_bits(formula):
    for constant in (real(-0.0), named("inf"), named("pi"), real(0.1)):
        found = value(formula, constant, np.zeros(1))[0]
        expected = {"inf": INF, "pi": math.pi, "-0.0": -0.0}.get(str(constant.payload), 0.1)
        assert np.float64(expected).tobytes() == found.tobytes()
    assert value(formula, boolean(True), np.zeros(2)).tolist() == [True, True]


CUBE = apply("mul", arg(0, INDEX), apply("mul", arg(0, INDEX), arg(0, INDEX)))


def test_an_index_beyond_64_bits_is_an_error_naming_the_node(formula):
    with pytest.raises(LimitError, match=r"node 'node'.* mul leaves 64 bits"):
        value(formula, CUBE, np.array([2**31 - 1]))


def test_an_index_of_exactly_64_bits_is_exact(formula):
    big = apply("add", apply("mul", arg(0, INDEX), index(2**32)), index(2**32 - 1))
    assert value(formula, big, np.array([2**31 - 1])).tolist() == [2**63 - 1]
    over = apply("add", big, index(1))
    with pytest.raises(LimitError, match="add leaves 64 bits"):
        value(formula, over, np.array([2**31 - 1]))


def test_an_overflow_on_the_branch_not_taken_is_no_error(formula):
    small = apply("lt", arg(0, INDEX), index(1000))
    body = apply("select", small, CUBE, index(-5))
    assert value(formula, body, np.array([2**31 - 1, 10])).tolist() == [-5, 1000]


def test_an_overflow_at_an_excluded_point_is_no_error(program):
    reads = (Read(Ref("x"), View((variable("k"),))),)
    k = (Dim("k", poly(2)),)
    node = Comprehension("node", (), reads, (CUBE,), k, (variable("k") - 1,), COUNT)
    x = np.array([2**31 - 1, 10])
    assert interpret(program(node, {"x": x}), {"x": x})["value"] == 1000


def test_a_sum_of_indices_beyond_64_bits_is_an_error(program):
    square = apply("mul", apply("mul", arg(0, INDEX), arg(0, INDEX)), index(2))
    reads = (Read(Ref("x"), View((variable("k"),))),)
    node = Comprehension("node", (), reads, (square,), (Dim("k", poly(2)),), (), COUNT)
    x = np.full(2, 2**31 - 1)
    with pytest.raises(LimitError, match="add leaves 64 bits"):
        interpret(program(node, {"x": x}), {"x": x})


def test_the_coordinate_and_the_size_of_a_dim_are_indices(formula, program):
    assert value(formula, iota("i"), np.zeros(3)).tolist() == [0, 1, 2]
    node = Comprehension("node", (), (), (apply("to_real", iota("k")),), (Dim("k", poly(5)),),
                         (), SUM)  # fmt: skip
    assert interpret(program(node, {}), {})["value"] == 10.0


def test_a_product_of_one_lane_beyond_64_bits_is_an_error(program):
    fold = simple("prod", lambda a, b: apply("mul", a, b), index(1))
    reads = (Read(Ref("x"), View((variable("k"),))),)
    node = Comprehension("node", (), reads, (arg(0, INDEX),), (Dim("k", poly(3)),), (), fold)
    x = np.full(3, 2**31 - 1)
    with pytest.raises(LimitError, match="mul leaves 64 bits"):
        interpret(program(node, {"x": x}), {"x": x})


def test_a_dim_beyond_memory_is_an_error_naming_the_node(program):
    dims = (Dim("i", poly(2**45)),)
    node = Comprehension("node", dims, (), (apply("to_real", iota("i")),), outputs=("y",))
    with pytest.raises(LimitError, match="node 'node': Unable to allocate"):
        interpret(program(node, {}), {})


def test_ragged_data_is_an_error_naming_the_input(program):
    node = Comprehension("node", (), (), (real(0),), outputs=("y",))
    with pytest.raises(GraphError, match="input 'x' is no array"):
        interpret(program(node, {"x": np.zeros(2)}), {"x": [[1], [1, 2]]})
