"""A monoid's names, flags and sizes: what JSON, texts and proofs take them to be."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from tang.errors import GraphError
from tang.ir.monoid import Axis
from tang.ir.monoids import BUILTIN, COUNT, SUM, is_plain_sum, product
from tang.models.delta import matrix_scan

WRONG = {
    "no-name": ({"name": None}, "its name must be a str, not None"),
    "tuple-name": ({"name": ("sum",)}, "its name must be a str"),
    "no-flag": ({"commutative": None}, "commutative must be True or False, not None"),
    "text-flag": ({"commutative": "yes"}, "commutative must be True or False, not 'yes'"),
    "numpy-flag": ({"commutative": np.True_}, "commutative must be True or False"),
    "number-flag": ({"strict": 1.5}, "strict must be True or False, not 1.5"),
    "no-sort": (
        {"components": (replace(SUM.components[0], sort="real"),)},
        "the sort of acc must be a Sort",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_field_of_another_type_is_refused_by_name(case):
    fields, message = WRONG[case]
    with pytest.raises(GraphError, match=f"monoid .*: {message}"):
        replace(SUM, **fields)


@pytest.mark.parametrize("size", [2.0, Fraction(2), True, "2"], ids=str)
def test_the_size_of_a_static_axis_is_a_whole_number(size):
    scan = matrix_scan(2)
    assert replace(scan, axes=tuple(Axis(a.name, a.size) for a in scan.axes)) == scan
    with pytest.raises(GraphError, match=r"the size of axis .* must be an int"):
        replace(scan, axes=tuple(Axis(a.name, size) for a in scan.axes))


@pytest.mark.parametrize("count", [1, 2, 8, 9, 20])
def test_any_number_of_sums_side_by_side_is_a_plain_sum(count):
    assert is_plain_sum(product(*[SUM] * count))
    assert not is_plain_sum(product(*[SUM] * count, COUNT))


def test_of_the_built_in_monoids_the_sum_alone_is_plain_and_a_map_is_none():
    assert {name for name, m in BUILTIN.items() if is_plain_sum(m)} == {"sum"}
    assert not is_plain_sum(None)
