"""Entries that are one polynomial with shifted variables are found, and no others."""

from __future__ import annotations

import pytest

from tang.proofs.blocks import Block, Digits, blocks, digits, shape
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
    assert found(matrix(size)) == [Block(0, size, size)]


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


def test_rows_that_read_shorter_ones_are_blocks_of_their_own():
    """Entries 2 to 5 are shifted as in 2 rows and columns; what they read has rows of one entry."""
    terms = [entry((0, 0)), entry((1, 0))]
    terms += [entry((2 * p, 4 + q)) for p in range(2) for q in range(2)]
    assert found(terms) == [Block(0, 2, 1), Block(2, 1, 2), Block(4, 1, 2)]


def test_variables_that_are_moved_in_another_way_are_no_shift():
    terms = [entry((0, 0), (1, 2)), entry((0, 1), (1, 2))]
    places = {str(i): i for i in range(4)}
    first, second = (shape(t, places) for t in terms)
    assert first.is_shifted(first, 0, 0)
    assert not any(first.is_shifted(second, a, b) for a in range(3) for b in range(3))
    assert not any(second.is_shifted(first, a, b) for a in range(3) for b in range(3))


def test_numbers_have_room_for_every_product_of_variables():
    """64 products of A's first entry: fewer than the base; the lowest variables are those read."""
    terms = dict(zip(map(str, range(64)), matrix(8), strict=True))
    shapes = [shape(t, {str(i): i for i in range(64)}) for t in terms.values()]
    assert digits(terms, shapes, blocks(shapes)) == Digits(65, 65, 9, (0,))


def test_numbers_that_would_be_too_long_are_not_asked_for():
    terms = {str(i): entry((i, 3000)) for i in range(3001)}
    shapes = [shape(t, {str(i): i for i in range(3001)}) for t in terms.values()]
    assert digits(terms, shapes, [Block(0, 1, 1)]) == Digits(0, 0, 0, (0,))
