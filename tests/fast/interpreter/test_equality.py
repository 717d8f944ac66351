"""Equality of evaluations: identity first, then planted differences, then what stays open."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from tang.errors import TangBugError
from tang.interpreter import Balls, Decision, Measured, ball_interpret, compare, decide, interpret
from tang.interpreter.ball_numbers import EITHER, MAYBE, TRUE, UNDECIDED
from tang.ir.derived import exp, sub
from tang.ir.expr import BOOL, INDEX, REAL, apply, arg, real

INF, NAN = math.inf, math.nan
EQUAL, DIFFERENT, OPEN = Decision.EQUAL, Decision.DIFFERENT, Decision.UNDECIDED


def exact(*values):
    return Measured(np.array(values), np.zeros(len(values)))


def boxed(*values, sort=REAL):
    array = np.empty(len(values), object)
    array[:] = values
    return Balls(array if sort is REAL else np.array(values), sort)


def decided(left, right):
    return decide(lambda _: left, lambda _: right, np.ones(left.value.shape, bool)).tolist()


def test_everything_equals_itself():
    x = exact(0.0, 1.5, INF, -INF, NAN)
    assert compare(x, x).all()


def test_zeros_of_both_signs_are_equal():
    assert compare(exact(0.0), exact(-0.0)).all()


@pytest.mark.parametrize(
    ("a", "b"),
    [(1.0, 1.0 + 2**-52), (INF, -INF), (INF, 1e308), (NAN, 1.0), (1.0, NAN), (0.0, 1e-300)],
)
def test_a_difference_between_exact_values_is_not_accepted(a, b):
    assert not compare(exact(a), exact(b)).any()


def test_values_within_four_times_their_errors_are_accepted():
    a = Measured(np.array([1.0, 1.0]), np.full(2, 1e-15))
    b = Measured(np.array([1.0 + 7e-15, 1.0 + 9e-15]), np.full(2, 1e-15))
    assert compare(a, b).tolist() == [True, False]


def test_a_large_error_accepts_nothing():
    a = Measured(np.array([1.0]), np.array([1e-3]))
    assert not compare(a, a).any()


def test_indices_and_bools_are_compared_exactly():
    assert compare(exact(1, 2), exact(1, 3)).tolist() == [True, False]
    assert compare(exact(True), exact(True)).all()


def test_shapes_must_agree():
    with pytest.raises(TangBugError, match="shapes differ"):
        compare(exact(1.0), exact(1.0, 2.0))


def test_balls_decide_classes_and_disjointness():
    third = arb(1) / 3
    left = boxed(arb(1), third, INF, NAN, EITHER, EITHER, EITHER, UNDECIDED, arb(0), INF)
    right = boxed(arb(2), third, INF, NAN, INF, arb(1), NAN, NAN, arb(0, 1e-200), arb(1))
    expected = [DIFFERENT, OPEN, EQUAL, EQUAL, OPEN, DIFFERENT, DIFFERENT, OPEN, OPEN, DIFFERENT]
    assert third.rel_accuracy_bits() < 60
    assert decided(left, right) == expected


def test_balls_of_indices_and_truths_are_three_valued():
    unknown = -(2**63)
    assert decided(boxed(1, 2, unknown, sort=INDEX), boxed(1, 3, 4, sort=INDEX)) == [
        EQUAL, DIFFERENT, OPEN,
    ]  # fmt: skip
    assert decided(boxed(TRUE, MAYBE, sort=BOOL), boxed(TRUE, TRUE, sort=BOOL)) == [EQUAL, OPEN]


def test_precision_is_raised_until_the_sides_part():
    asked = []

    def around_zero(prec):
        asked.append(prec)
        return boxed(arb(0, arb(2) ** -prec))

    tiny = boxed(arb(2) ** -300)
    assert decide(around_zero, lambda _: tiny, np.ones(1, bool)).tolist() == [DIFFERENT]
    assert asked == [128, 256, 512]


def test_elements_not_pending_are_not_evaluated():
    def never(_):
        raise AssertionError

    assert decide(never, never, np.zeros(2, bool)).tolist() == [EQUAL, EQUAL]


def sides(formula, left, right, data):
    """The screen, then the decision, on two expressions over one input."""
    a, b = formula(left, data), formula(right, data)
    screen = compare(*(interpret(*g, err=True)["value"] for g in (a, b)))
    found = decide(
        lambda p: ball_interpret(*a, p)["value"],
        lambda p: ball_interpret(*b, p)["value"],
        ~screen,
    )
    return screen.tolist(), found.tolist()


def test_a_cancellation_that_the_screen_cannot_judge_is_decided_by_balls(formula):
    """(x + 2⁶⁰) − 2⁶⁰ is x over the reals, although f64 loses x altogether."""
    big = real(2.0**60)
    left = sub(apply("add", arg(0), big), big)
    screen, found = sides(formula, left, arg(0), np.array([0.3, 1.0]))
    assert screen == [False, False]
    assert found == [EQUAL, EQUAL]


def test_a_missing_term_of_any_size_is_found(formula):
    missing = apply("add", exp(arg(0)), real(Fraction(1, 2**70)))
    screen, _ = sides(formula, exp(arg(0)), missing, np.array([0.3]))
    assert screen == [True], "the screen accepts what f64 cannot see"
    larger = apply("add", exp(arg(0)), real(Fraction(1, 2**45)))
    assert sides(formula, exp(arg(0)), larger, np.array([0.3])) == ([False], [DIFFERENT])


def test_an_overflow_in_f64_is_no_difference_over_the_reals(formula):
    scaled = apply("mul", apply("exp2", sub(arg(0), real(1024))), real(2))
    plain = apply("exp2", sub(arg(0), real(1023)))
    huge = apply("mul", apply("mul", arg(0), real(2.0**1000)), real(2.0**-1000))
    assert sides(formula, scaled, plain, np.array([2000.5]))[1] == [EQUAL]
    assert sides(formula, huge, arg(0), np.array([2.0**100]))[1] == [EQUAL]


def test_equality_by_an_identity_at_zero_stays_open(formula):
    """exp(x) − exp(x) computed twice never gets a relative accuracy."""
    zero = sub(exp(arg(0)), exp(apply("add", arg(0), real(0))))
    _, found = sides(formula, zero, sub(arg(0), arg(0)), np.array([0.3]))
    assert found == [OPEN]


def test_overlapping_zeros_are_equal_only_against_the_scale_of_what_cancelled():
    def zeros(prec):
        return Balls(np.array([arb(0, 2.0**-prec)], object), REAL)

    pending = np.array([True])
    assert decide(zeros, zeros, pending)[0] == Decision.UNDECIDED
    assert decide(zeros, zeros, pending, np.array([1.0]))[0] == Decision.EQUAL
    assert decide(zeros, zeros, pending, np.array([2.0**-800]))[0] == Decision.UNDECIDED


def test_a_tiny_difference_is_seen_whatever_the_scale():
    def left(prec):
        return Balls(np.array([arb(0)], object), REAL)

    def right(prec):
        return Balls(np.array([arb(2.0**-600)], object), REAL)

    assert decide(left, right, np.array([True]), np.array([1.0]))[0] == Decision.DIFFERENT
