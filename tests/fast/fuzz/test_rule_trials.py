"""Trials of mutants of rules: only draws that are derived differently are checked."""

from __future__ import annotations

import pytest

from tang.fuzz.case import draw_batch
from tang.fuzz.mutants import mutant_named
from tang.fuzz.mutants.catalogue import DERIVING
from tang.fuzz.mutants.power import NOWHERE, PowerOptions, PowerReport, run_power
from tang.fuzz.mutants.rule_trials import Clean, Steps, replaced_code, search, steps_of
from tang.fuzz.mutants.trials import Trial, forget
from tang.verify.derive import derive

CASES = draw_batch(seed=1, count=12)


def test_what_a_recipe_does_is_a_function_of_the_case():
    found = [steps_of(c) for c in CASES]
    assert found == [steps_of(c) for c in CASES]
    assert [s is None for s in found] == [c.recipe is None for c in CASES]
    assert any(s is not None and s.applications for s in found)


@pytest.fixture
def clean():
    found = Clean(frozenset(map(replaced_code, DERIVING)), forget)
    found.grow(CASES)
    return found


def test_nothing_is_checked_where_every_step_is_the_clean_one(clean, monkeypatch):
    monkeypatch.setattr("tang.fuzz.mutants.rule_trials.derive", None)
    assert clean.steps == [steps_of(c) for c in CASES]
    assert search(CASES, clean, None, 0, len(CASES)) is None


def test_a_draw_that_is_derived_differently_is_checked_as_in_a_campaign(clean, monkeypatch):
    checked = []

    def kept(*arguments):
        checked.append(derive(*arguments))
        return checked[-1]

    monkeypatch.setattr("tang.fuzz.mutants.rule_trials.derive", kept)
    clean.steps = [None if s is None else Steps() for s in clean.steps]
    assert search(CASES, clean, None, 0, len(CASES)) is None
    assert len(checked) == sum(c.recipe is not None for c in CASES)


def test_a_draw_that_does_not_call_the_replaced_function_is_not_derived_again(clean):
    common, rare = (replaced_code(mutant_named(n)) for n in ("dead-output-first-bodies",
                                                             "carry-on-the-right"))  # fmt: skip
    assert any(common in calls for calls in clean.calls)
    assert not any(rare in calls for calls in clean.calls)
    clean.steps = [Steps()] * len(CASES)
    assert search([None] * len(CASES), clean, rare, 0, len(CASES)) is None


def test_rows_that_are_no_functions_are_tried_on_every_draw():
    assert replaced_code(mutant_named("gate-of-any-value")) is None


@pytest.mark.parametrize(
    ("name", "origin"),
    [("siblings-of-another-where", "rule merge-siblings"), ("summed-dim-forgotten", "rule grad")],
)
def test_a_mutant_is_found_on_the_rung_rewrite_with_its_rule_named(name, origin):
    options = PowerOptions(seeds=(1,), mutants=(mutant_named(name),), backends=(), examples=100)
    report = run_power(options)
    (trial,) = report.trials
    assert report.ok
    assert (trial.backend, trial.blamed, trial.origin) == (NOWHERE, "rewrite", origin)
    assert f"{NOWHERE} {trial.draw} WRONG {origin}" in report.to_text()


def test_another_rule_is_not_the_one_that_is_broken():
    mutant = mutant_named("siblings-of-another-where")
    trial = Trial(mutant, 1, NOWHERE, 3, "rewrite", "WRONG", origin="rule dead-node")
    assert trial.caught
    assert not trial.exact
    assert not PowerReport((trial,)).ok
