"""Balls: enclosure, exact special values, three-valued decisions."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import flint
import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from tang.interpreter import BallArithmetic, ball_interpret
from tang.interpreter import ball_numbers as n
from tang.interpreter.ball_numbers import EITHER, FALSE, MAYBE, TRUE, UNDECIDED
from tang.ir.derived import maximum
from tang.ir.expr import apply, arg, named, real
from tang.ir.monoids import ARGMAX, MAX, ONLINE_SOFTMAX, WELFORD

INF, NAN = math.inf, math.nan
FLOATS = (NAN, -INF, -2.5, -1.0, 0.0, 0.5, 1.0, 3.0, INF)
UNARY = {
    "neg": np.negative, "recip": np.reciprocal, "sqrt": np.sqrt, "floor": np.floor,
    "exp2": np.exp2, "exp": np.exp, "log2": np.log2, "log": np.log, "sin": np.sin,
    "cos": np.cos, "tanh": np.tanh, "erf": np.vectorize(math.erf),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
}  # fmt: skip
BINARY = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide,
          "atan2": np.arctan2}  # fmt: skip


def agrees(ball, expected):
    """Whether a ball contains a float's value up to its own rounding, or has its class."""
    if ball in (EITHER, UNDECIDED):
        return True
    if not isinstance(ball, arb):
        return ball == expected or (math.isnan(ball) and math.isnan(expected))
    return math.isfinite(expected) and abs(float(ball.mid()) - expected) <= 1e-15 * max(
        1, abs(expected)
    )


@pytest.mark.parametrize("name", UNARY)
def test_a_function_agrees_with_ieee_on_every_class(name):
    with np.errstate(all="ignore"):
        for x in FLOATS:
            found = getattr(n, name)(n.from_float(x))
            assert agrees(found, float(UNARY[name](np.float64(x)))), (x, found)


@pytest.mark.parametrize("name", BINARY)
def test_a_binary_function_agrees_with_ieee_on_every_pair_of_classes(name):
    with np.errstate(all="ignore"):
        for x, y in itertools.product(FLOATS, FLOATS):
            found = getattr(n, name)(n.from_float(x), n.from_float(y))
            assert agrees(found, float(BINARY[name](np.float64(x), np.float64(y)))), (x, y, found)


def test_only_the_sign_of_zero_is_left_open_for_exact_operands():
    open_ = {
        (name, x, y)
        for name in BINARY
        for x, y in itertools.product(FLOATS, FLOATS)
        if getattr(n, name)(n.from_float(x), n.from_float(y)) in (EITHER, UNDECIDED)
    }
    assert {name for name, _, _ in open_} == {"div", "atan2"}
    assert all(y == 0 for name, _, y in open_ if name == "div")
    assert all(x == 0 for name, x, _ in open_ if name == "atan2")
    assert n.recip(arb(0)) is EITHER
    assert math.isnan(n.mul(arb(0), n.recip(arb(0))))
    assert math.isnan(n.div(arb(0), arb(0)))
    assert n.recip(EITHER).is_zero()


def test_exact_results_have_no_radius():
    exact = [n.exp2(arb(-3)), n.log2(arb(8)), n.sqrt(arb(0.25)), n.recip(arb(4)), n.sin(arb(0))]
    assert [float(x.mid()) for x in exact] == [0.125, 3, 0.5, 0.25, 0]
    assert all(x.is_exact() for x in exact)


def test_comparisons_are_three_valued():
    third = n.recip(arb(3))
    also = n.div(arb(2), arb(6))
    assert n.lt(third, also) == MAYBE
    assert n.eq(third, also) == MAYBE
    assert n.eq(third, third) == TRUE
    assert n.lt(arb(1), arb(2)) == TRUE
    assert n.lt(arb(2), arb(1)) == FALSE
    assert n.lt(NAN, UNDECIDED) == FALSE
    assert n.lt(arb(1), INF) == TRUE
    assert n.eq(UNDECIDED, arb(0)) == MAYBE
    assert (n.isnan(UNDECIDED), n.isnan(NAN), n.isnan(EITHER)) == (MAYBE, TRUE, FALSE)


def test_a_choice_that_is_not_decided_encloses_both():
    joined = n.choose(MAYBE, arb(1), arb(2))
    assert joined.contains(arb(1))
    assert joined.contains(arb(2))
    assert n.choose(MAYBE, INF, -INF) is EITHER
    assert n.choose(MAYBE, INF, arb(1)) is UNDECIDED


def test_a_ball_around_zero_has_no_reciprocal():
    around = arb(0, 1e-30)
    assert n.recip(around) is UNDECIDED
    assert n.mul(around, INF) is UNDECIDED
    assert n.log2(around) is UNDECIDED


def test_an_index_is_taken_from_a_ball_only_when_it_is_certain():
    arithmetic = BallArithmetic(64)
    third = arithmetic.from_fraction(Fraction(1, 3))
    one = arithmetic.add(third, arithmetic.add(third, third))
    assert arithmetic.to_index(one) == -(2**63)
    found = arithmetic.to_index(arithmetic.from_f64([2.5, -0.5, INF, -INF, NAN, 1e300]))
    assert found.tolist() == [2, -1, 2**31 - 1, -(2**31), -1, 2**31 - 1]


def test_precision_is_local_to_a_call():
    before = flint.ctx.prec
    wide = BallArithmetic(512).recip(BallArithmetic(512).from_f64(3.0))[()]
    assert wide.rel_accuracy_bits() > 500
    assert flint.ctx.prec == before
    tight = BallArithmetic(512).constant("pi")[()] - BallArithmetic(64).constant("pi")[()]
    assert tight.contains(arb(0))


@settings(max_examples=60, deadline=None)
@given(st.fractions(min_value=-5, max_value=5), st.fractions(min_value=-5, max_value=5))
def test_rational_arithmetic_is_enclosed(x, y):
    a = BallArithmetic(40)
    p, q = a.from_fraction(x), a.from_fraction(y)
    for found, exact in ((a.add(p, q), x + y), (a.mul(p, q), x * y), (a.fma(p, q, p), x * y + x)):
        assert found[()].contains(flint.fmpq(exact.numerator, exact.denominator))


def test_a_maximum_of_equal_inexact_values_is_still_accurate(formula):
    third = apply("mul", arg(0), apply("recip", real(3)))
    other = apply("recip", apply("mul", real(3), apply("recip", arg(0))))
    found = ball_interpret(*formula(maximum(third, other), np.array([1.0, 5.0])))["value"]
    assert all(x.rel_accuracy_bits() > 100 for x in found.value)


def test_what_hangs_on_an_undecidable_comparison_is_flagged(formula):
    third = apply("mul", arg(0), apply("recip", real(3)))
    gate = apply("lt", third, real(Fraction(1, 3)))
    found = ball_interpret(*formula(gate, np.array([1.0, 2.0])))["value"]
    assert found.value.tolist() == [MAYBE, FALSE]
    assert found.undecided().tolist() == [True, False]
    chosen = apply("select", gate, real(1), named("nan"))
    found = ball_interpret(*formula(chosen, np.array([1.0, 2.0])))["value"]
    assert found.undecided().tolist() == [True, False]
    place = apply("to_index", apply("mul", third, real(3)))
    found = ball_interpret(*formula(place, np.array([1.0, 2.5])))["value"]
    assert found.undecided().tolist() == [True, False]


def test_argmax_of_dyadic_ties_is_decided(rows):
    found = ball_interpret(*rows(ARGMAX, [[1.0, 3, 3], [NAN, 1, NAN]]))
    assert found["index"].value.tolist() == [1, 0]
    assert not found["index"].undecided().any()


def test_a_masked_row_is_certainly_nan(rows):
    masked = np.full((1, 3), -INF)
    found = ball_interpret(*rows(ONLINE_SOFTMAX, masked, np.ones((1, 3))))["value"].value
    assert math.isnan(found[0])


def test_special_values_pass_through_reductions(rows):
    found = ball_interpret(*rows(MAX, [[1.0, INF], [NAN, 1], [-INF, -INF]]))["value"].value
    assert found[0] == INF
    assert math.isnan(found[1])
    assert found[2] == -INF


def test_the_variance_of_equal_numbers_is_exactly_zero(rows):
    found = ball_interpret(*rows(WELFORD, np.full((1, 7), 10000.1)))["variance"].value
    assert found[0].is_zero()
