"""L01: offsets must not wrap; here the part that computes them (triton#832, xformers#719, …)."""

from __future__ import annotations

import pytest

from tang.ir.bounds import form_range, magnitude
from tang.ir.extent import poly
from tang.ir.view import variable


def test_a_stride_times_an_index_exceeds_31_bits_exactly():
    assert form_range(variable("i", 67108864), {"i": 64}) == (0, 4227858432)


def test_a_square_of_46341_exceeds_31_bits_exactly():
    offset = variable("i", 46341) + variable("j")
    assert form_range(offset, {"i": 46341, "j": 46341}) == (0, 46341**2 - 1)
    assert 46341**2 - 1 > 2**31 - 1


@pytest.mark.parametrize("length", [32767, 32768, 32769])
def test_a_sequence_index_is_not_16_bits(length: int):
    lag = variable("t") - variable("s")
    assert form_range(lag, {"t": length, "s": length}, [lag]) == (0, length - 1)


def test_an_intermediate_term_counts_although_the_sum_is_small():
    offset = variable("i", 1 << 33) - variable("j", 1 << 33)
    where = [offset, variable("j") - variable("i")]
    assert form_range(offset, {"i": 3, "j": 3}, where) == (0, 0)
    assert magnitude(offset, {"i": 3, "j": 3}) == 1 << 35


def test_a_bound_symbolic_stride_is_exact_beyond_64_bits():
    offset = variable("i", poly("n") * poly("n")).bind({"n": 1 << 40})
    assert form_range(offset, {"i": 5}) == (0, 1 << 82)
