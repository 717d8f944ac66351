"""Campaigns on the C backend: sound kernels pass, planted faults are found and blamed."""

from __future__ import annotations

import pytest

from tang.errors import TangBugError
from tang.fuzz import Options, run_campaign
from tang.fuzz.mutants import MUTANTS, Mutant, apply_mutant, mutant_named
from tang.fuzz.mutants.power import PowerOptions, read_table, run_power
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
    options = PowerOptions(seeds=(1,), mutants=(mutant_named(name),), examples=200)
    report = run_power(options)
    assert report.ok, report.to_text()


@pytest.mark.parametrize("name", ["where-is-strict", "sub-is-add"])
def test_a_trial_finds_a_mutant_in_the_draw_in_which_a_campaign_does(name):
    (trial,) = run_power(PowerOptions(seeds=(2,), mutants=(mutant_named(name),))).trials
    options = Options(backends=("c",), examples=60, seed=2, batch=10, stop=True, mutant=name)
    found = run_campaign(options).found
    assert trial.draw == min(f.index for f in found) + 1
    assert (trial.blamed, trial.verdict) in {
        (f.finding.rung.value, f.finding.verdict.value) for f in found
    }


def test_a_table_is_gone_on_from(tmp_path):
    table = tmp_path / "mutants.json"
    first, second = mutant_named("sub-is-add"), mutant_named("or-is-and")
    run_power(PowerOptions(seeds=(1,), mutants=(first,), examples=60, table=table))
    before = read_table(table)
    asked = PowerOptions(seeds=(1,), mutants=(first, second), examples=60, table=table)
    report = run_power(asked)
    assert [t.mutant.name for t in report.trials] == ["sub-is-add", "or-is-and"]
    assert set(before) < set(read_table(table))
    assert tuple(read_table(table).values()) == report.trials


def test_a_mutant_that_is_missed_is_in_the_report():
    report = run_power(
        PowerOptions(seeds=(1,), mutants=(mutant_named("mod-keeps-sign"),), examples=1)
    )
    assert not report.ok
    assert "c not found" in report.to_text()


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
    rungs = {m.rung for m in MUTANTS}
    assert rungs == {Rung.REWRITE, Rung.LOWER, Rung.EXPAND, Rung.EMIT, Rung.ROUND}


def test_a_mutant_whose_suspect_is_gone_is_an_error():
    ghost = Mutant("ghost", "", "tang.emit.c:no_such_thing", lambda f: f, Rung.EMIT)
    with pytest.raises(TangBugError, match="out of date"):
        apply_mutant(ghost)
    row = Mutant("row", "", "tang.emit.c:C.operations", lambda f: f, Rung.EMIT, key="no row")
    with pytest.raises(TangBugError, match="no row"):
        apply_mutant(row)
