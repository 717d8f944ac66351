"""Blocks are used only if what Lean reads off them is what was exported, entry by entry."""

from __future__ import annotations

import dataclasses

import pytest

from tang.ir.derived import select
from tang.ir.expr import apply, index, iota
from tang.models.delta import matrix_scan
from tang.proofs import polynomials
from tang.proofs.blocks import Block, Shape
from tang.proofs.factor import factors_of
from tang.proofs.points import holds_at_a_point
from tang.proofs.spread import spread_out
from tang.proofs.terms import Term, add, mul, neg, var


def only(m):
    (found,) = factors_of(m, {c.name: c.name for c in m.components})
    return found


def spoilt(size, row, col, change=lambda e: apply("neg", e)):
    """Affine maps of which one entry is another."""
    m = matrix_scan(size)
    at = m.component("A")
    corner = apply(
        "and", apply("eq", iota("row"), index(row)), apply("eq", iota("col"), index(col))
    )
    combine = [*m.combine]
    combine[at] = select(corner, change(combine[at]), combine[at])
    return dataclasses.replace(m, combine=tuple(combine))


def terms_of(f):
    return {e.key: e.combine for e in f.entries}


def test_rows_move_the_left_state_and_columns_the_right_one():
    """As Tang/Blocks has it: entry (p, q) is g of s (p · 3 + i) and t (q + i)."""
    first = neg(add(mul(var("sa"), var("ta")), Term("one")))
    terms = dict.fromkeys("abcdef", first)
    assert [*spread_out(terms, [Block(0, 2, 3)])] == [
        neg(add(mul(var(f"s{s}"), var(f"t{t}")), Term("one"))) for s in "ad" for t in "abc"
    ]


def test_what_is_read_outside_of_a_state_is_no_entry():
    terms = {"a": var("sb"), "b": var("sb")}
    assert [*spread_out(terms, [Block(0, 1, 1), Block(1, 1, 1)])] == [*terms.values()]
    assert [*spread_out(terms, [Block(0, 2, 1)])] != [*terms.values()]


@pytest.mark.parametrize("size", [2, 3, 8])
def test_blocks_of_a_matrix_are_what_was_exported(size):
    f = only(matrix_scan(size))
    found = polynomials._blocks(f)
    assert found == [Block(0, size, size), Block(size * size, 1, size)]
    assert [*spread_out(terms_of(f), found)] == [*terms_of(f).values()]


OTHERS = {
    "a row less": [Block(0, 2, 3), Block(9, 1, 3)],
    "a row more": [Block(0, 4, 3), Block(9, 1, 3)],
    "rows as columns": [Block(0, 1, 9), Block(9, 1, 3)],
    "columns as rows": [Block(0, 9, 1), Block(9, 1, 3)],
    "a column less": [Block(0, 3, 2), Block(9, 1, 3)],
    "a rest as entries of A": [Block(0, 4, 3)],
    "another first entry": [Block(1, 3, 3), Block(9, 1, 3)],
    "the other order": [Block(9, 1, 3), Block(0, 3, 3)],
    "one missing": [Block(0, 3, 3)],
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_blocks_are_not_used(name, monkeypatch):
    f = only(matrix_scan(3))
    assert polynomials._blocks(f)
    monkeypatch.setattr(polynomials, "blocks", lambda _: OTHERS[name])
    assert polynomials._blocks(f) == []


def unsigned(self, other, a, b):
    """`Shape.is_shifted` with a bug: signs are not compared."""
    one, two = ([x for x in e.operations if x != "neg"] for e in (self, other))
    moved = [x + a for x in self.lefts], [x + b for x in self.rights]
    return one == two and moved == ([*other.lefts], [*other.rights])


@pytest.mark.parametrize(("row", "col"), [(1, 1), (0, 1), (2, 2)])
def test_a_sign_that_the_search_for_blocks_misses_is_seen(row, col, monkeypatch):
    clean, wrong = only(matrix_scan(3)), only(spoilt(3, row, col))
    blocks = polynomials._blocks(clean)
    monkeypatch.setattr(Shape, "is_shifted", unsigned)
    assert polynomials._blocks(clean) == blocks
    assert polynomials.blocks(polynomials._shapes(wrong)) == blocks
    assert polynomials._blocks(wrong) == []


@pytest.mark.parametrize("bits", [0, 3, 64, 65, 20_000])
def test_numbers_in_claims_are_what_they_stand_for_at_any_length(bits):
    n = (1 << bits) - 1
    assert int(polynomials._natural(n), 0) == n


@pytest.mark.parametrize("at", [(0, 0), (1, 1), (2, 0)])
def test_the_point_is_asked_of_every_entry_not_of_the_first_ones(at):
    assert holds_at_a_point(only(matrix_scan(3)))
    assert not holds_at_a_point(only(spoilt(3, *at)))
