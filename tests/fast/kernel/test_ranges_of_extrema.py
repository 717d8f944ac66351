"""Extrema have the range of extrema, so that what is clipped fits into 32 bits.

A select over the two operands that it compares never leaves the bounds of either. Any other
select has the range of both branches.
"""

from __future__ import annotations

import pytest

import tang as tg
from tang.ir import derived
from tang.ir.expr import INDEX, arg, index
from tang.kernel.ir import I32, I64
from tang.kernel.lower import lower
from tang.kernel.lower.ranges import Range, point
from tang.kernel.lower.values import range_of
from tang.kernel.schedule import Schedule

A, B = arg(0, INDEX), arg(1, INDEX)
RANGES = {A: Range(-10, 4), B: Range(-3, 7)}


def ranged(e):
    return range_of(e, lambda leaf: RANGES[leaf])


def test_the_larger_of_two_is_at_least_both_and_the_smaller_at_most():
    assert ranged(derived.index_maximum(A, B)) == Range(-3, 7)
    assert ranged(derived.index_maximum(B, A)) == Range(-3, 7)
    assert ranged(derived.index_minimum(A, B)) == Range(-10, 4)
    assert ranged(derived.index_minimum(A, index(0))) == Range(-10, 0)
    assert ranged(derived.index_maximum(A, index(9))) == point(9)


@pytest.mark.parametrize(
    "e",
    [
        derived.select(derived.lt(A, index(0)), A, B),
        derived.select(derived.lt(A, B), B, derived.index_minimum(A, A)),
        derived.select(derived.lt(A, B), A, A),
    ],
    ids=["another test", "another branch", "one branch twice"],
)
def test_any_other_select_has_the_range_of_both_branches(e):
    first, second = (ranged(branch) for branch in e.args[1:])
    assert ranged(e) == first | second


def difference(*, clipped):
    """i − start, where start is data, clipped at 0 or not."""
    start, i = tg.input("start", (), "index"), tg.dims(i=5)
    first = tg.maximum(start[()], 0) if clipped else start[()]
    return tg.Graph(d=tg.compute("d", i, i - first))


def test_a_difference_from_clipped_data_fits_into_32_bits():
    types = {
        clipped: lower(difference(clipped=clipped), Schedule()).buffer("d_value").type
        for clipped in (True, False)
    }
    assert types == {True: I32, False: I64}
