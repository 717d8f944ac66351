"""Campaigns on the C backend: sound kernels pass, planted faults are found and blamed."""

from __future__ import annotations

import pytest

from tang.errors import TangBugError
from tang.fuzz import Options, run_campaign
from tang.fuzz.mutants import MUTANTS, Mutant, apply_mutant, mutant_named
from tang.fuzz.mutants.power import run_power
from tang.verify import Rung, Verdict


def test_a_campaign_on_c_finds_nothing_and_compares_every_draw():
    report = run_campaign(Options(backends=("c",), examples=60, seed=1, batch=30))
    assert report.ok, report.to_text()
    assert report.coverage.draws == 60
    assert report.count(Verdict.UNSUPPORTED) + report.count(Verdict.UNDECIDED) <= 1


def test_a_campaign_without_backends_climbs_up_to_replay():
    report = run_campaign(Options(backends=(), examples=10, seed=3))
    assert report.ok, report.to_text()
    assert report.coverage.outcomes["replay", Verdict.PASS.value] == 10


@pytest.mark.parametrize("name", ["fill-is-zero", "nan-lost", "sub-is-add"])
def test_a_mutant_of_each_rung_is_found_and_blamed(name):
    report = run_power((1,), [mutant_named(name)], examples=200)
    assert report.ok, report.to_text()


def test_a_mutants_finding_is_shrunk_and_its_folder_holds_the_kernel(tmp_path):
    options = Options(
        backends=("c",), examples=40, seed=1, batch=10, stop=True, mutant="floordiv-truncates",
        out=tmp_path, shrink_seconds=20,
    )  # fmt: skip
    report = run_campaign(options)
    assert {f.finding.rung for f in report.found} == {Rung.EMIT}
    folder = next(f.folder for f in report.found if f.folder)
    assert list(folder.glob("*.c"))
    assert "floordiv" in (folder / "report.txt").read_text() + "".join(
        p.read_text() for p in folder.glob("*.c")
    )


def test_there_are_mutants_of_every_suspect_and_their_names_differ():
    assert len(MUTANTS) >= 12
    assert len({m.name for m in MUTANTS}) == len(MUTANTS)
    assert {m.rung for m in MUTANTS} == {Rung.LOWER, Rung.EXPAND, Rung.EMIT}


def test_a_mutant_whose_suspect_is_gone_is_an_error():
    ghost = Mutant("ghost", "", "tang.emit.c:no_such_thing", lambda f: f, Rung.EMIT)
    with pytest.raises(TangBugError, match="out of date"):
        apply_mutant(ghost)
    row = Mutant("row", "", "tang.emit.c:C.operations", lambda f: f, Rung.EMIT, key="no row")
    with pytest.raises(TangBugError, match="no row"):
        apply_mutant(row)
