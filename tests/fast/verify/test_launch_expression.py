"""Expressions of the extents: exact values, and refusals that say what is wrong."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tang.verify.foreign.expression import ExpressionError, parse

SIZES = {"N": 1000, "M": 7}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("N", 1000),
        (256, 256),
        ("ceil(N/256)", 4),
        ("floor(N/256)", 3),
        ("N//256", 3),
        ("N%256", 232),
        ("N*4 + 2*(M-1)", 4012),
        ("-N + N", 0),
        ("min(N, 64, M)", 7),
        ("max(N, 64)", 1000),
        ("1/M", Fraction(1, 7)),
        (0.1, Fraction(1, 10)),
        ("sqrt(16*M - 12)", 10),
        (" N ", 1000),
    ],
)
def test_an_expression_has_its_exact_value(text, value):
    assert parse(text).evaluate(SIZES) == value


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')", "N.real", "N[0]", "lambda: 1", "N if M else 1", "N ** 9", "[1]", "'a'",
        "print(N)", "min(N)", "ceil(N, M)", "ceil(x=N)", "", "N N", "N;M", "True", "1e999",
        "f(N)", "N and M", "(N:=1)", "0x", "~N", "N << 30", "1" * 300, "None",
    ],
)  # fmt: skip
def test_what_the_grammar_lacks_is_refused(text):
    with pytest.raises(ExpressionError):
        parse(text).evaluate(SIZES)


def test_an_unknown_extent_is_named():
    with pytest.raises(ExpressionError, match="'K'; the extents are M, N"):
        parse("K + 1").evaluate(SIZES)


def test_a_division_by_zero_is_named():
    with pytest.raises(ExpressionError, match="divides by zero for M=7"):
        parse("1 // (M - 7)").evaluate(SIZES)


def test_a_fraction_is_no_integer():
    assert parse("N/8").integer(SIZES) == 125
    with pytest.raises(ExpressionError, match="use //"):
        parse("N/256").integer(SIZES)


def test_deep_nesting_is_bounded_by_the_length():
    with pytest.raises(ExpressionError, match="at most 200"):
        parse("(" * 150 + "N" + ")" * 150)
