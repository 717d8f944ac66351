"""V04: a comparison written as `diff > tol` lets NaN pass; the comparison itself is tested here."""

import numpy as np
import pytest

from tang.emulator.budget import ErrorBudget, accepts
from tang.errors import BudgetError

LOOSE = ErrorBudget(abs=1e30, rel=1.0, ulp=1e6)
NAN, INF, MAX = float("nan"), float("inf"), 3.4028234663852886e38


def _accepts(actual: object, reference: object, budget: ErrorBudget = LOOSE) -> bool:
    return accepts(np.asarray(actual, np.float32), np.asarray(reference, np.float64), budget)


def test_an_array_is_within_a_zero_budget_of_itself():
    x = np.array([0.0, -1.5, INF, -INF, NAN])
    assert _accepts(x, x, ErrorBudget())


@pytest.mark.parametrize(
    ("actual", "reference", "expected"),
    [
        ([NAN], [1.0], False),
        ([1.0], [NAN], False),
        ([NAN], [NAN], True),
        ([INF], [INF], True),
        ([INF], [-INF], False),
        ([INF], [MAX], False),
        ([MAX], [INF], False),
        ([1.0, NAN, 2.0], [1.0, 1.0, 2.0], False),
    ],
)
def test_no_budget_hides_a_special_value(actual, reference, expected):
    assert _accepts(actual, reference) is expected


@pytest.mark.parametrize("shapes", [((2,), (1, 2)), ((0,), (1,)), ((1,), (0,)), ((0, 3), (0,))])
def test_a_different_shape_is_never_accepted(shapes):
    assert not _accepts(np.zeros(shapes[0]), np.zeros(shapes[1]))


def test_empty_is_accepted_for_empty():
    assert _accepts(np.zeros((0, 3)), np.zeros((0, 3)))


def test_a_different_kind_of_dtype_is_never_accepted():
    assert not accepts(np.zeros(2, np.int32), np.zeros(2), LOOSE)
    assert not accepts(np.zeros(2), np.zeros(2, np.bool_), LOOSE)


def test_integers_are_compared_exactly_under_any_budget():
    assert accepts(np.array([1, 2]), np.array([1, 2]), LOOSE)
    assert not accepts(np.array([1, 2]), np.array([1, 3]), LOOSE)


def test_a_budget_without_the_terms_it_needs_is_an_error():
    with pytest.raises(BudgetError, match="needs T"):
        _accepts([1.0], [1.0], ErrorBudget(c=2.0))
