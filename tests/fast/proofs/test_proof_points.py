"""Laws of polynomials at one point: those that hold pass, and each fault is seen."""

from __future__ import annotations

import dataclasses

import pytest

from tang.ir.expr import REAL, apply, arg, fold, iota, real, state
from tang.ir.monoid import Component, Monoid
from tang.models.delta import matrix_scan
from tang.proofs.factor import factors_of
from tang.proofs.points import holds_at_a_point
from tang.proofs.terms import TooLargeError

LEFT, RIGHT = state(0, 0), state(1, 0)
BOTH = apply("mul", LEFT, RIGHT)


def add(*terms):
    total, *rest = terms
    for t in rest:
        total = apply("add", total, t)
    return total


def factor(combine, *, commutative=True, identity=0):
    """A monoid of one real component, as a factor."""
    m = Monoid(
        "polynomial", (REAL,), (Component("acc", REAL),), (arg(0),), (real(identity),), (combine,),
        (Component("value", REAL),), (state(0, 0),), commutative,
    )  # fmt: skip
    return only(m)


def only(m):
    (found,) = factors_of(m, {c.name: c.name for c in m.components})
    return found


@pytest.mark.parametrize("k", [1, -3, 5])
def test_laws_that_hold_are_seen_to_hold(k):
    assert holds_at_a_point(factor(add(LEFT, RIGHT, apply("mul", real(k), BOTH))))


@pytest.mark.parametrize("size", [1, 2, 8])
def test_affine_maps_of_rows_hold(size):
    assert holds_at_a_point(only(matrix_scan(size)))


FAULTS = {
    "associative": factor(add(LEFT, RIGHT, apply("mul", LEFT, LEFT))),
    "commutative": factor(add(LEFT, RIGHT, apply("mul", real(0), LEFT), apply("neg", LEFT))),
    "identity": factor(add(LEFT, RIGHT, BOTH), identity=1),
    "coefficient": factor(add(LEFT, RIGHT, apply("mul", real(2), LEFT))),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_law_that_fails_is_seen_to_fail(name):
    assert not holds_at_a_point(FAULTS[name])


@pytest.mark.parametrize("component", [0, 1])
def test_a_wrong_identity_of_a_matrix_is_seen(component):
    m = matrix_scan(3)
    identity = [*m.identity]
    identity[component] = add(identity[component], real(1))
    assert not holds_at_a_point(only(dataclasses.replace(m, identity=tuple(identity))))


def test_a_matrix_that_is_read_by_column_is_seen():
    """A point of powers of one number is a matrix of rank 1, for which this would hold."""
    m = matrix_scan(2)
    mid, col = iota("mid"), iota("col")
    moved = apply("mul", state(0, 1, REAL, (mid,)), state(1, 0, REAL, (col, mid)))
    row = add(fold("mid", 2, moved), m.combine[1].args[1])
    assert not holds_at_a_point(only(dataclasses.replace(m, combine=(m.combine[0], row))))


def doubled(times):
    """A sum that is nothing, of more and more terms."""
    many = RIGHT
    for _ in range(times):
        many = add(many, many)
    return factor(add(LEFT, many, apply("neg", many)), commutative=False)


def test_what_has_many_products_is_left_to_the_canonical_forms():
    assert not holds_at_a_point(doubled(6))
    with pytest.raises(TooLargeError, match="more than 1000000 operations"):
        holds_at_a_point(doubled(12))


def test_an_identity_that_is_one_modulo_the_prime_alone_is_not_taken_for_it():
    """2⁶¹ instead of 1, in constants that a monoid can have."""
    large = apply("mul", real(2**30), real(2**31))
    product = factor(BOTH, identity=1)
    assert holds_at_a_point(product)
    assert not holds_at_a_point(only(dataclasses.replace(product.monoid, identity=(large,))))
