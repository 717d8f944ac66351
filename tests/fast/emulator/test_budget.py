"""The error budget: its rule at the boundary, its units and its validation."""

import numpy as np
import pytest

from tang.emulator.budget import ErrorBudget, accepts, budget_from, tolerance, ulp_of, within
from tang.errors import BudgetError


@pytest.mark.parametrize("bad", [-1.0, float("nan"), float("inf"), True, "1"])
@pytest.mark.parametrize("name", ["abs", "rel", "ulp", "c"])
def test_a_malformed_term_is_rejected_by_name(name, bad):
    with pytest.raises(BudgetError, match=name):
        ErrorBudget(**{name: bad})


def test_an_unknown_term_is_rejected():
    with pytest.raises(BudgetError, match="'rtol'"):
        budget_from({"rtol": 1e-3})


def test_the_rule_is_the_sum_of_its_four_terms():
    budget = ErrorBudget(abs=1.0, rel=0.5, ulp=2.0, c=3.0)
    allowed = tolerance(np.array([4.0]), budget, "f32", terms=np.array([10.0]))
    assert allowed[0] == 1.0 + 2.0 + 2 * 2.0**-21 + 3 * 2.0**-24 * 10.0


def test_one_ulp_is_accepted_and_two_are_not():
    reference = np.array([1.0, 1e-45, 3e38])
    step = ulp_of(reference, "f32")
    assert accepts(reference + step, reference, ErrorBudget(ulp=1))
    assert not within(reference + 2 * step, reference, ErrorBudget(ulp=1)).any()


def test_the_ulp_is_floored_at_the_smallest_subnormal():
    assert ulp_of(0.0, "f32") == 2.0**-149
    assert ulp_of(0.0, "f16") == 2.0**-24
    assert ulp_of(1.0, "bf16") == 2.0**-7
