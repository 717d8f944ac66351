"""Coverage: a closed list of cells, every one of them reached by a campaign."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tang.fuzz.case import draw_batch
from tang.fuzz.coverage import Coverage, coverage_of, coverage_of_draws
from tang.fuzz.features import CELLS, cells_of
from tang.fuzz.formats import ALL, formats_of
from tang.fuzz.ladder import Ladder
from tang.ir.expr import OPS
from tang.ir.monoids import BUILTIN


def test_every_cell_has_twenty_of_two_thousand_draws_and_half_are_composed():
    coverage = coverage_of(draw_batch(seed=1, count=2000))
    assert coverage.thin(20) == []
    assert coverage.composed >= 1000
    assert set(coverage.cells) <= set(cells_of(ALL))


def test_every_operation_and_every_monoid_is_a_cell():
    assert {f"op:{op}" for op in OPS} <= set(CELLS)
    assert {f"monoid:{name}" for name in BUILTIN} <= set(CELLS)


def test_the_coverage_of_draws_is_that_of_the_campaign_and_names_what_is_thin():
    coverage = coverage_of_draws(seed=2, examples=20)
    assert coverage == coverage_of(draw_batch(seed=2, count=20))
    assert coverage.counts().keys() == set(cells_of(ALL))
    assert coverage.thin_text(0) == "every cell has at least 0 draws"
    assert all(f"{cell} {coverage.cells[cell]}" in coverage.thin_text() for cell in coverage.thin())


def test_five_hundred_draws_for_six_languages_fill_every_cell():
    assert coverage_of_draws(3, 500, formats_of(("c", "wgsl"))).thin() == []


def test_counts_of_workers_add_up():
    cases = draw_batch(seed=2, count=20)
    left, right = coverage_of(cases[:7]), coverage_of(cases[7:])
    left.merge(right)
    assert left == coverage_of(cases)


def test_what_the_ladder_derived_is_counted_without_deriving_it_again(monkeypatch):
    cases = [c for c in draw_batch(seed=6, count=16) if c.recipe is not None]
    alone = coverage_of(cases)
    reports = Ladder(()).check(cases)
    assert all(r.derived is not None for r in reports)
    monkeypatch.setattr("tang.fuzz.coverage.derived_program", None)
    shared = Coverage()
    for case, report in zip(cases, reports, strict=True):
        shared.add(case, report)
    assert shared == alone


@pytest.mark.parametrize("reports", [False, True])
def test_a_program_that_the_ladder_could_not_derive_is_counted_all_the_same(reports):
    case = next(c for c in draw_batch(seed=6, count=40) if c.recipe is not None)
    (report,) = Ladder(()).check([case])
    coverage = Coverage()
    coverage.add(case, replace(report, derived=None) if reports else None)
    assert coverage == coverage_of([case])


def test_the_text_names_every_cell():
    text = Coverage().text()
    assert all(f" {cell.split(':', 1)[1]} 0" in text for cell in CELLS)


def test_cells_that_the_backends_cannot_reach_are_dropped_and_said_so():
    narrow = formats_of(("c", "wgsl"))
    coverage = coverage_of(draw_batch(seed=1, count=300, formats=narrow), narrow)
    assert set(CELLS) - set(cells_of(narrow)) == {
        "schedule:store-f32-add-f64",
        "schedule:store-f64-add-f64",
        "schedule:store-f64-add-f32",
        "schedule:inputs-f64",
    }
    dropped_cells = set(cells_of(ALL)) - set(cells_of(narrow))
    assert not any(coverage.cells[c] for c in dropped_cells)
    dropped = "store-f32-add-f64, store-f64-add-f64, store-f64-add-f32, inputs-f64"
    assert f"cells dropped: {dropped}" in coverage.text()
    assert cells_of(formats_of(("c", "opencl", "cuda"))) == cells_of(ALL)
