"""Entries that are one polynomial with shifted variables are found, and no others."""

from __future__ import annotations

import pytest

from tang.proofs.blocks import Block, blocks, shape
from tang.proofs.terms import Term, add, mul, neg, var


def matrix(size):
    """The entries of a product of matrices, row by row."""
    return [
        entry(*((i * size + k, k * size + j) for k in range(size)))
        for i in range(size) for j in range(size)
    ]  # fmt: skip


def entry(*pairs):
    """A sum of products of the left state's variables and the right state's."""
    total = Term("zero")
    for a, b in pairs:
        total = add(total, mul(var(f"s{a}"), var(f"t{b}")))
    return total


def found(terms):
    places = {str(i): i for i in range(len(terms))}
    return blocks([shape(t, places) for t in terms])


@pytest.mark.parametrize("size", [1, 2, 3, 8])
def test_the_entries_of_a_product_of_matrices_are_one_block(size):
    assert found(matrix(size)) == [Block(0, tuple(range(0, size * size, size)), tuple(range(size)))]


@pytest.mark.parametrize("at", range(9))
def test_an_unlike_entry_is_in_no_block_of_more(at):
    terms = matrix(3)
    terms[at] = neg(terms[at])
    cut = found(terms)
    assert sum(b.size for b in cut) == 9
    assert next(b for b in cut if b.start <= at < b.start + b.size).size == 1


def test_an_entry_that_reads_what_is_not_shifted_likewise_begins_a_block():
    """Entry 1 is entry 0 shifted on the right; entry 3, which it reads, is not entry 2 shifted."""
    terms = [entry((0, 2)), entry((0, 3)), entry((2, 2)), neg(entry((2, 3)))]
    assert [b.start for b in found(terms)] == [0, 1, 2, 3]


def test_variables_that_are_moved_in_another_way_are_no_shift():
    terms = [entry((0, 0), (1, 2)), entry((0, 1), (1, 2))]
    places = {str(i): i for i in range(4)}
    first, second = (shape(t, places) for t in terms)
    assert first.shifts(first) == (0, 0)
    assert first.shifts(second) is None
    assert second.shifts(first) is None
