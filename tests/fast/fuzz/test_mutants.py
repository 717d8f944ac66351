"""Mutants: each has a place of its own, exists where it says, and replaces something."""

from __future__ import annotations

import inspect

import pytest

from tang.fuzz.mutants import MUTANTS
from tang.fuzz.mutants.apply import SIX, replacements
from tang.fuzz.mutants.catalogue import DERIVING, EVERYWHERE, rules_of
from tang.rewrite import RULES
from tang.verify import Rung, Verdict


def test_there_are_sixty_mutants_of_emitters_and_devices_and_a_third_of_them_blind():
    assert len(EVERYWHERE) >= 60
    assert 3 * sum(m.blind for m in EVERYWHERE) >= len(EVERYWHERE)
    assert len({m.name for m in MUTANTS}) == len(MUTANTS)
    assert {m.rung for m in EVERYWHERE} == {Rung.EMIT}


def test_there_are_forty_mutants_of_rules_and_autodiff_and_a_third_of_them_blind():
    assert len(DERIVING) >= 40
    assert 3 * sum(m.blind for m in DERIVING) >= len(DERIVING)
    assert {m.rung for m in DERIVING} == {Rung.REWRITE}


@pytest.mark.parametrize("mutant", DERIVING, ids=[m.name for m in DERIVING])
def test_a_mutant_of_a_rule_says_which_rule_must_be_named(mutant):
    assert rules_of(mutant)
    assert rules_of(mutant) <= {*RULES, "grad"}


def test_no_other_mutant_names_a_rule():
    assert not any(rules_of(m) for m in MUTANTS if m not in DERIVING)


@pytest.mark.parametrize("language", SIX)
def test_every_language_has_fifty_mutants(language):
    assert sum(language in m.languages for m in EVERYWHERE) >= 50


@pytest.mark.parametrize("mutant", MUTANTS, ids=[m.name for m in MUTANTS])
def test_a_mutant_replaces_something_in_every_language_that_it_lists(mutant):
    found = replacements(mutant)
    assert found
    assert set(mutant.languages) <= set(SIX)
    for original, replacement in found:
        assert replacement != original


@pytest.mark.parametrize("mutant", MUTANTS, ids=[m.name for m in MUTANTS])
def test_no_mutant_may_pass_or_be_left_undecided(mutant):
    assert mutant.verdicts
    assert not mutant.verdicts & {Verdict.PASS, Verdict.UNSUPPORTED, Verdict.UNDECIDED}


def _fits(original: object, replacement: object) -> bool:
    """Whether calls with every positional argument of the original fit the replacement."""
    if not (inspect.isfunction(original) and inspect.isfunction(replacement)):
        return True
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    asked = [p for p in inspect.signature(original).parameters.values() if p.kind in kinds]
    needed = [p for p in asked if p.default is inspect.Parameter.empty]
    try:
        for given in (asked, needed):
            inspect.signature(replacement).bind(*given)
    except TypeError:
        return False
    return True


@pytest.mark.parametrize("mutant", MUTANTS, ids=[m.name for m in MUTANTS])
def test_a_mutant_takes_what_the_function_in_its_place_takes(mutant):
    """One that cannot be called is found by its crash, whatever it stands for."""
    for original, replacement in replacements(mutant):
        assert _fits(original, replacement)


def test_a_replacement_with_a_parameter_less_does_not_fit():
    assert _fits(lambda a, b: a, lambda a, b: b)
    assert not _fits(lambda a, b: a, lambda a: a)
