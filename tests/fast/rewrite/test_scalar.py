"""Scalar identities say what they say, and stop where NaN, infinities or accuracy begin."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tang.ir.derived import div, exp, maximum, sigmoid, tanh
from tang.ir.expr import BOOL, INDEX, apply, arg, boolean, extent, index, iota, named, real
from tang.ir.extent import poly
from tang.ir.graph import Dim
from tang.rewrite.proofs import Domain
from tang.rewrite.scalar import Simplifier, constant_of

X, Y, K = arg(0), arg(1), arg(2, INDEX)
C, D = arg(3, BOOL), arg(4, BOOL)
I0, J = iota("i"), iota("j")
DIMS = (Dim("i", poly("n")), Dim("j", poly(4)))
WHOLE = apply("to_real", K)


def simple(e):
    domain = Domain({d.name: d.extent for d in DIMS}, {"n": 1})
    return Simplifier(domain, DIMS)(e)


def op(name, *args):
    return apply(name, *args)


CHANGES = {
    "x + 0": (op("add", X, real(0)), X),
    "-0.0 + x": (op("add", named("-0.0"), X), X),
    "x · 1": (op("mul", real(1), X), X),
    "x · −1": (op("mul", X, real(-1)), op("neg", X)),
    "−(−x)": (op("neg", op("neg", X)), X),
    "0 · whole": (op("mul", real(0), WHOLE), real(0)),
    "whole − whole": (op("add", WHOLE, op("neg", WHOLE)), real(0)),
    "1/3 + 1/6": (op("add", real(Fraction(1, 3)), real(Fraction(1, 6))), real(0.5)),
    "inf − inf": (op("add", named("inf"), named("-inf")), named("nan")),
    "0 · inf": (op("mul", real(0), named("inf")), named("nan")),
    "1 / 4": (op("recip", real(4)), real(0.25)),
    "√(9/4)": (op("sqrt", real(2.25)), real(1.5)),
    "2^−3": (op("exp2", real(-3)), real(0.125)),
    "⌊−1/2⌋ as index": (op("to_index", real(-0.5)), index(-1)),
    "index of nan": (op("to_index", named("nan")), index(-1)),
    "select true": (op("select", boolean(True), X, Y), X),
    "equal branches": (op("select", C, X, X), X),
    "negated condition": (op("select", op("not", C), X, Y), op("select", C, Y, X)),
    "same condition": (op("select", C, op("select", C, X, Y), Y), op("select", C, X, Y)),
    "condition itself": (op("select", C, boolean(True), boolean(False)), C),
    "c and not c": (op("and", C, op("not", C)), boolean(False)),
    "c or c": (op("or", C, C), C),
    "not not c": (op("not", op("not", C)), C),
    "c = true": (op("eq", C, boolean(True)), C),
    "x < x": (op("lt", X, X), boolean(False)),
    "x = nan": (op("eq", X, named("nan")), boolean(False)),
    "isnan of a literal": (op("isnan", named("inf")), boolean(False)),
    "isnan(−x)": (op("isnan", op("neg", X)), op("isnan", X)),
    "floor of a whole": (op("floor", WHOLE), WHOLE),
    "i < n": (op("lt", I0, extent("i")), boolean(True)),
    "n = i": (op("eq", extent("i"), I0), boolean(False)),
    "−1 < 3·i + j": (
        op("lt", index(-1), op("add", op("mul", I0, index(3)), J)), boolean(True)),
    "(4·i + j) div 4": (
        op("floordiv", op("add", op("mul", I0, index(4)), J), index(4)), I0),
    "(4·i + j) mod 4": (op("mod", op("add", op("mul", I0, index(4)), J), index(4)), J),
    "(j·n + i) div n": (
        op("floordiv", op("add", op("mul", J, extent("i")), I0), extent("i")), J),
    "k + i − k": (op("add", op("add", K, I0), op("neg", K)), I0),
}  # fmt: skip

KEPT = {
    "0 · x": op("mul", real(0), X),
    "x − x": op("add", X, op("neg", X)),
    "x = x": op("eq", X, X),
    "isnan x": op("isnan", X),
    "1 / 3": op("recip", real(3)),
    "1 / 0": op("recip", real(0)),
    "1 / −0": op("recip", named("-0.0")),
    "2^ln 2": op("exp2", named("ln2")),
    "√2": op("sqrt", real(2)),
    "1e300 · 1e300": op("mul", real(1e300), real(1e300)),
    "√x · √x": op("mul", op("sqrt", X), op("sqrt", X)),
    "1 / (1 / x)": op("recip", op("recip", X)),
    "k mod 4": op("mod", K, index(4)),
    "i < 4": op("lt", I0, index(4)),
    "(4·i + k) div 4": op("floordiv", op("add", op("mul", I0, index(4)), K), index(4)),
    "index of a whole": op("to_index", WHOLE),
    "tanh": tanh(X),
    "sigmoid": sigmoid(X),
    "exp": exp(X),
    "x / y": div(X, Y),
    "max": maximum(X, Y),
}


@pytest.mark.parametrize("name", CHANGES)
def test_an_identity_is_applied(name):
    before, after = CHANGES[name]
    assert simple(before) is after


@pytest.mark.parametrize("name", KEPT)
def test_what_is_no_identity_or_a_known_form_stays(name):
    assert simple(KEPT[name]) is KEPT[name]


def test_constants_are_followed_through_a_body():
    assert constant_of(maximum(real(-1), real(0))) is real(0)
    assert constant_of(op("add", X, real(1))) is None
