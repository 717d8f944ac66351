"""Gradients as a step of a derivation: made once, in the mode asked for, and judged as made."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import tang as tg
from tang.autodiff import derivative, reverse
from tang.autodiff.derivative import Derivative
from tang.fuzz.case import draw_batch
from tang.fuzz.mutants.rule_trials import steps_of
from tang.interpreter.equality import Decision
from tang.verify import Rung, Verdict
from tang.verify.derive import Derivation, Gradient, derive, differentiated

i = tg.dims("i")
X = tg.input("x", (6,))
DATA = {"x": np.array([0.0, 4.0, 1.0, 0.0, 16.0, 0.25])}


def of_loss(*, strict: bool, rules: tuple[str, ...] | None = ()) -> Derivation:
    return Derivation(rules=rules, strict=strict, gradient=Gradient("L", ("x",)))


def root_behind_a_branch() -> tg.Graph:
    """Its strict gradient is 0·∞ at 0, where the branch was not taken."""
    root = tg.compute("root", i, tg.sqrt(X[i]))
    chosen = tg.select(X[i] > 0.0, root[i], 0.0)
    return tg.Graph(L=tg.compute("L", (), tg.sum(chosen, over=i)))


@pytest.mark.parametrize("strict", [False, True])
def test_a_derivation_differentiates_in_the_mode_that_it_asks_for(strict):
    graph = root_behind_a_branch()
    made = derive(graph, DATA, of_loss(strict=strict))
    assert made.findings == ()
    assert made.graph == tg.grad(graph, "L", ["x"], strict=strict)
    assert made.graph == differentiated(graph, of_loss(strict=strict))
    assert made.graph != tg.grad(graph, "L", ["x"], strict=not strict)


@pytest.mark.parametrize(("strict", "skipped"), [(False, 0), (True, 2)])
def test_elements_that_strict_products_make_undefined_are_skipped_and_the_others_compared(
    strict, skipped
):
    (result,) = derive(root_behind_a_branch(), DATA, of_loss(strict=strict)).results
    assert (result.elements, result.skipped) == (6 - skipped, skipped)


@pytest.mark.parametrize("strict", [False, True])
def test_a_fault_of_strict_products_alone_is_found_where_they_are_asked_for(monkeypatch, strict):
    plain = Derivative.times

    def doubled(self, tangent, factor):
        found = plain(self, tangent, factor)
        return derivative.add(found, found) if self.strict else found

    monkeypatch.setattr(Derivative, "times", doubled)
    made = derive(root_behind_a_branch(), DATA, of_loss(strict=strict))
    found = [(f.rung, f.verdict) for f in made.findings]
    assert found == ([(Rung.REWRITE, Verdict.WRONG)] if strict else [])
    assert (made.graph is None) == strict


@pytest.mark.parametrize("strict", [False, True])
def test_strict_gradients_of_drawn_programs_pass_as_others_do(strict):
    cases = [c for c in draw_batch(seed=11, count=120) if c.recipe and c.recipe.derivation.gradient]
    assert len(cases) > 5
    for case in cases:
        of = case.recipe.derivation.gradient
        made = derive(case.graph, case.inputs, Derivation(rules=(), strict=strict, gradient=of))
        assert made.findings == (), case.name


def test_a_derivation_differentiates_once(monkeypatch):
    calls = Counter()
    gradient = reverse.gradient

    def counted(*arguments, **options):
        calls["gradient"] += 1
        return gradient(*arguments, **options)

    monkeypatch.setattr(reverse, "gradient", counted)
    made = derive(root_behind_a_branch(), DATA, of_loss(strict=False, rules=None))
    assert made.findings == ()
    assert calls["gradient"] == 1


def test_a_gradient_at_infinite_data_counts_as_skipped_and_not_as_checked():
    data = {"x": np.array([np.inf, 1.0, 1.0, 1.0, 1.0, 1.0])}
    made = derive(root_behind_a_branch(), data, of_loss(strict=False))
    assert [(r.elements, r.skipped) for r in made.results] == [(0, 6)]
    assert made.graph is not None


def test_a_gradient_that_balls_do_not_decide_is_undecided(monkeypatch):
    monkeypatch.setattr("tang.verify.gradient.compare", lambda a, b: np.zeros((), np.bool_))
    monkeypatch.setattr("tang.verify.gradient._is_close", lambda *_: False)
    undecided = np.array(Decision.UNDECIDED)
    monkeypatch.setattr("tang.verify.gradient.decide", lambda *_: undecided)
    made = derive(root_behind_a_branch(), DATA, of_loss(strict=False))
    assert [(r.elements, r.undecided) for r in made.results] == [(6, 6)]


def test_trials_of_mutants_take_the_steps_of_the_ladder():
    strict = [
        c
        for c in draw_batch(seed=11, count=400)
        if c.recipe and c.recipe.derivation.strict and c.recipe.derivation.gradient
    ]
    assert strict
    for case in strict:
        of = case.recipe.derivation.gradient
        assert steps_of(case).gradient == tg.grad(case.graph, of.loss, of.wrt, strict=True)
