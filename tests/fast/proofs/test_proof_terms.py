"""Expressions are read as exact terms: special values are decided, what has no word is refused."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from tang.ir.derived import exp, log, maximum, minimum, select, sub
from tang.ir.expr import Expr, apply, arg, named, real
from tang.proofs.equal import canonical, prove
from tang.proofs.terms import Reader, Term, TooLargeError, UnsupportedError, number, text, var

X, Y, Z = (arg(i) for i in range(3))
LN2, LOG2E, LOW, HIGH = (named(n) for n in ("ln2", "log2e", "-inf", "inf"))


def leaf(e: Expr, _: tuple[int, ...]) -> Term:
    return var("xyz"[int(str(e.payload))])


read = Reader(leaf)


@pytest.mark.parametrize(
    ("expr", "wanted"),
    [(maximum(X, Y), "(max x y)"), (minimum(X, Y), "(min x y)"), (sub(X, Y), "(x + (-y))"),
     (exp(X), "(exp x)"), (log(X), "(log x)"), (apply("recip", X), "(inv x)"),
     (select(apply("eq", X, named("-inf")), Y, Z), "z"),
     (select(apply("lt", named("-inf"), X), Y, Z), "y"),
     (select(apply("lt", X, named("inf")), Y, Z), "y"), (select(apply("isnan", X), Y, Z), "z"),
     (select(apply("lt", X, real(0)), Y, Z), "(if (x < 0) then y else z)"),
     (real(Fraction(-3, 2)), "(-(((1 + 1) + 1) * (inv (1 + 1))))")],
    ids=["max", "min", "sub", "exp", "log", "recip", "eq-inf", "lt-inf", "below-inf", "nan",
         "select", "fraction"],
)  # fmt: skip
def test_an_expression_is_read_as_what_it_means_over_finite_values(expr, wanted):
    assert text(read(expr)) == wanted


@pytest.mark.parametrize(
    "expr",
    [apply("sin", X), apply("exp2", X), apply("log2", X), named("pi"), real(10**18 + 1),
     apply("mul", LN2, LN2), apply("exp2", apply("mul", LOG2E, LOG2E)),
     apply("exp2", apply("mul", X, Y)), apply("mul", LN2, X), named("nan")],
    ids=["sin", "exp2", "log2", "pi", "large", "ln2-twice", "log2e-twice", "exp2-product", "ln2",
         "nan"],
)  # fmt: skip
def test_what_has_no_word_is_refused(expr):
    with pytest.raises(UnsupportedError):
        read(expr)


def value(t):
    """What a term without variables is."""
    parts = [value(a) for a in t.args]
    return {"zero": 0, "one": 1, "add": sum(parts), "mul": math.prod(parts)}[t.op]


@pytest.mark.parametrize("n", [0, 1, 8, 9, 64, 65, 255, 1000, 10**18 - 1, 10**18])
def test_a_number_is_written_as_what_it_is_and_no_longer_than_its_digits_ask_for(n):
    t = number(Fraction(n))
    assert value(t) == n
    assert len(text(t)) <= 8 * max(8, 3 * n.bit_length())


@pytest.mark.parametrize("q", [Fraction(10**18 + 1), Fraction(1, 10**5000)], ids=["high", "fine"])
def test_a_constant_that_is_too_long_is_refused_with_the_reason(q):
    with pytest.raises(TooLargeError, match="more than 18 digits"):
        number(q)


@pytest.mark.parametrize(
    ("expr", "wanted"),
    [(exp(LOW), "0"), (apply("recip", HIGH), "0"), (maximum(LOW, X), "x"), (minimum(X, HIGH), "x"),
     (maximum(apply("add", LOW, X), Y), "y"), (select(apply("eq", LOW, LOW), X, Y), "x"),
     (select(apply("lt", apply("mul", real(-2), HIGH), X), X, Y), "x")],
    ids=["exp", "recip", "max", "min", "add", "eq", "mul"],
)  # fmt: skip
def test_infinities_are_decided_where_they_meet_finite_values(expr, wanted):
    assert text(read(expr)) == wanted


@pytest.mark.parametrize(
    "expr",
    [apply("add", HIGH, LOW), apply("mul", HIGH, X), apply("mul", real(0), LOW),
     apply("isnan", sub(HIGH, HIGH)), apply("lt", select(apply("lt", X, Y), LOW, Z), HIGH)],
    ids=["difference", "unknown-sign", "zero", "isnan", "choice"],
)  # fmt: skip
def test_what_infinities_may_make_of_nan_is_refused(expr):
    with pytest.raises(UnsupportedError):
        read(expr)


def test_an_infinity_has_no_text():
    with pytest.raises(UnsupportedError, match="infinity"):
        text(read(HIGH))


EQUAL = {
    "ring": (
        apply("mul", apply("add", X, Y), sub(X, Y)),
        sub(apply("mul", X, X), apply("mul", Y, Y)),
    ),
    "exponents": (apply("mul", exp(sub(X, Y)), exp(sub(Y, Z))), exp(sub(X, Z))),
    "maxima": (maximum(maximum(X, Y), Z), maximum(Z, maximum(Y, maximum(X, X)))),
    "tropical": (apply("add", maximum(X, Y), Z), maximum(apply("add", X, Z), apply("add", Z, Y))),
}
DIFFERENT = {
    "sign": (exp(sub(X, Y)), exp(sub(Y, X))),
    "min for max": (maximum(X, Y), minimum(X, Y)),
    "twice": (apply("add", X, X), X),
    "product of maxima": (apply("mul", maximum(X, Y), Z), maximum(apply("mul", X, Z), Y)),
}


@pytest.mark.parametrize("name", EQUAL)
def test_equal_terms_have_one_canonical_form_and_a_proof(name):
    a, b = (read(e) for e in EQUAL[name])
    assert canonical(a) == canonical(b)
    assert all("sorry" not in line for line in prove(a, b))


@pytest.mark.parametrize("name", DIFFERENT)
def test_different_terms_have_different_canonical_forms(name):
    a, b = (read(e) for e in DIFFERENT[name])
    assert canonical(a) != canonical(b)


def test_numbers_are_sums_of_ones():
    assert text(number(Fraction(3))) == "((1 + 1) + 1)"


def scaled(t: Term, doublings: int, base: int = 8) -> Term:
    """A term times a power of a number, by squaring."""
    factor = number(Fraction(base))
    for _ in range(doublings):
        factor = Term("mul", (factor, factor))
    return Term("mul", (factor, t))


def test_coefficients_of_any_length_are_told_apart():
    """8^16384 has more digits than Python writes; inside a maximum the keys hold it too."""
    x, y, one = var("x"), var("y"), Term("one")
    for inside in (lambda t: t, lambda t: Term("max", (t, y)), lambda t: Term("inv", (t,))):
        long = Term("add", (inside(scaled(x, 14)), Term("add", (y, one))))
        same = Term("add", (Term("add", (one, y)), inside(scaled(x, 14))))
        other = Term("add", (inside(Term("add", (x, scaled(x, 14)))), Term("add", (y, one))))
        assert canonical(long) == canonical(same)
        assert canonical(long) != canonical(other)


def test_an_exponent_is_not_written_out_without_end():
    x = var("x")
    assert canonical(Term("exp", (scaled(x, 1),)))
    with pytest.raises(TooLargeError, match="beside exponentials"):
        canonical(Term("exp", (scaled(x, 4),)))
    assert prove(scaled(Term("exp", (x,)), 4), scaled(Term("exp", (x,)), 4)) == ["rfl"]
