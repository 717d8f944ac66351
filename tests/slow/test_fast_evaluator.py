"""The property tests of the fast evaluator with two thousand examples each."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from hypothesis import given, settings

from tang.interpreter import fast

SOURCE = Path(__file__).parents[1] / "fast" / "interpreter" / "test_fast.py"


def properties():
    """The module of the fast tests."""
    spec = importlib.util.spec_from_file_location("fast_evaluator_properties", SOURCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("test_on_dyadic_data_exact_reductions_are_equal", "DYADIC"),
        ("test_on_any_finite_data_values_agree_up_to_rounding", "NORMAL"),
        ("test_on_special_values_the_classes_agree", "SPECIAL"),
    ],
)
def test_a_property_holds_on_many_more_examples(name, values, monkeypatch):
    monkeypatch.setattr(fast, "_SMALL", 0)
    monkeypatch.setattr(fast, "_CACHED_LANES", 24)
    module = properties()
    body = getattr(module, name).hypothesis.inner_test
    drawn = given(module.nodes(getattr(module, values)))(body)
    settings(module.CALM, max_examples=2000)(drawn)()
