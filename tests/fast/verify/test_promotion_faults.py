"""Runs on the ladder without a device: right programs pass, each fault of runs has a rung."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tang as tg
from tang.ir.monoids import COUNT, WELFORD
from tang.kernel.ir import F16, F32, I32, I64
from tang.kernel.lower import lower, runs, state
from tang.kernel.narrow import E4M3FN, E5M2, TF32
from tang.kernel.schedule import NodeSchedule, Precision, Schedule
from tang.verify import Rung, Task, verify_batch
from tang.verify.promoted import unrolled

RNG = np.random.default_rng(9)
DATA = RNG.standard_normal((3, 11))
NARROW = {"promote": 4, "partial": E4M3FN}


def graph(kind="sum"):
    """A fold of rows."""
    i, r = tg.dims("i r")
    x = tg.input("x", DATA.shape)
    return tg.Graph(total=tg.compute("total", (i,), getattr(tg, kind)(x[i, r], over=r)))


def report(program=None, **fields):
    """What the rungs below devices say."""
    schedule = Schedule(nodes=(("total", NodeSchedule(**fields)),))
    task = Task(graph=program or graph(), inputs={"x": DATA}, schedule=schedule)
    return verify_batch([task], ())[0]


def rungs(*args, **fields):
    """The rungs that have findings."""
    return [f.rung for f in report(*args, **fields).findings]


@pytest.mark.parametrize("kind", ["sum", "max", "prod", "logsumexp", "welford"])
def test_every_rung_holds_for_runs(kind):
    ways = (
        NARROW, {"promote": 1, "partial": F16}, {"promote": 11}, {"promote": 64, "partial": E5M2},
        {**NARROW, "split": 2}, {**NARROW, "lanes": 4}, {**NARROW, "rounding": "rz"},
        {"promote": 3, "partial": E5M2, "accumulate": TF32, "storage": E4M3FN},
    )  # fmt: skip
    for fields in ways:
        found = report(graph(kind), **fields)
        assert found.ok, found.to_text()


def counts():
    """A sum of indices, each of 32 bits: how wide the sum is depends on the number of terms."""
    i, r = tg.dims("i r")
    x = tg.input("x", (3, 1))
    total = tg.reduce(COUNT, tg.index(x[i, r]), over=r)
    return tg.Graph(total=tg.compute("total", (i,), total))


def test_indices_are_compared_as_numbers_however_wide_their_buffers_are():
    schedule = Schedule(nodes=(("total", NodeSchedule(promote=2, partial=F16)),))
    data = {"x": 8 * DATA[:, :1]}
    wide = [lower(*made).buffer("total_value").type for made in (
        unrolled(counts(), schedule), (counts(), schedule)
    )]  # fmt: skip
    assert wide == [I64, I32]
    task = Task(graph=counts(), inputs=data, schedule=schedule)
    assert verify_batch([task], ())[0].ok


def test_runs_as_nodes_of_their_own_need_no_runs():
    schedule = Schedule(nodes=(("total", NodeSchedule(split=2, **NARROW)),))
    made, plain = unrolled(graph(), schedule)
    assert [n.name for n in made.nodes] == ["total_runs", "total_chunks", "total"]
    assert [plain.of(n.name).promote for n in made.nodes] == [0, 0, 0]
    assert plain.of("total_runs").accumulate is E4M3FN
    assert plain.of("total_chunks") == NodeSchedule()
    same, _ = unrolled(graph(), Schedule())
    assert same == graph()
    assert WELFORD.identity is not None


def test_a_run_that_goes_on_from_the_last_one_is_seen_on_lower(monkeypatch):
    assert rungs(**NARROW) == []
    monkeypatch.setattr(state, "restart", lambda ctx, slots: None)
    assert set(rungs(**NARROW)) == {Rung.LOWER}


def test_a_last_short_run_that_is_lost_is_seen_on_lower(monkeypatch):
    never = runs.Value(runs.k.Const(runs.k.BOOL, False), 0)
    monkeypatch.setattr(runs, "is_begun", lambda ctx, terms: [never])
    assert set(rungs(**NARROW)) == {Rung.LOWER}


@pytest.mark.parametrize("by", [-1, 1])
def test_a_run_that_is_one_term_off_is_seen_on_round(monkeypatch, by):
    right = runs.is_full
    monkeypatch.setattr(runs, "is_full", lambda ctx, terms, every: right(ctx, terms, every + by))
    found = report(**NARROW).findings
    assert [f.rung for f in found] == [Rung.ROUND]
    assert "is not what its runs, folded one by one, add up to" in found[0].message


@pytest.mark.parametrize("fields", [NARROW, {"promote": 4, "partial": F16}], ids=["e4m3fn", "f16"])
def test_runs_in_the_format_that_accumulates_are_seen_on_round(monkeypatch, fields):
    monkeypatch.setattr(runs, "within_run", lambda ctx, _: replace(ctx, promotion=None))
    assert set(rungs(**fields)) == {Rung.ROUND}


def test_runs_in_another_partial_format_are_seen_on_round(monkeypatch):
    right = runs.within_run
    half = Precision(F16)
    monkeypatch.setattr(runs, "within_run", lambda ctx, _: right(ctx, half))
    assert set(rungs(**NARROW)) == {Rung.ROUND}


def test_a_rounding_dropped_within_runs_is_seen_on_round(monkeypatch):
    right = runs.within_run
    monkeypatch.setattr(runs, "within_run", lambda ctx, _: right(ctx, Precision(F32)))
    assert set(rungs(**NARROW)) == {Rung.ROUND}


def test_a_state_that_is_rounded_on_its_way_up_is_seen_on_round(monkeypatch):
    right = runs.promoted

    def narrowed(ctx, run, depth):
        reader = right(ctx, run, depth)
        return lambda i, coords: ctx.converted(reader(i, coords), E5M2_ROUNDING)

    monkeypatch.setattr(runs, "promoted", narrowed)
    assert set(rungs(**NARROW)) == {Rung.ROUND}


E5M2_ROUNDING = NodeSchedule(storage=E5M2).stored.conversion
