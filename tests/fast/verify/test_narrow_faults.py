"""Narrow formats on the ladder without a device: right programs pass, each fault has a rung."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tang as tg
from tang.emulator import ErrorBudget
from tang.kernel.expand import expand, pack, rounding
from tang.kernel.ir import F16, F32, F64, U32, Convert, Op
from tang.kernel.lower import context, reads
from tang.kernel.narrow import E4M3FN, E5M2, NARROW, TF32
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.verify import Rung, Task, verify_batch
from tang.verify.subject import prepare

RNG = np.random.default_rng(3)
DATA = np.concatenate([
    RNG.standard_normal((6, 8)) * np.exp2(np.arange(-6.0, 12.0, 3))[:, None],
    [[1 + 2.0**-4 + 2.0**-40, 1e9, -1.0, 465.0, 464.0, 2.0**-10, -0.0, 61440.0]],
])  # fmt: skip


def graph():
    """Means of rows; each row less its mean; the root of its square and a bit; its exponential."""
    i, r, j = tg.dims("i r j")
    x = tg.input("x", DATA.shape)
    total = tg.compute("total", (i,), tg.sum(x[i, r], over=r))
    mean = tg.compute("mean", (i,), total[i] / 8)
    apart = tg.compute("apart", (i, j), x[i, j] - mean[i])
    size = tg.compute("size", (i, j), tg.sqrt(apart[i, j] * apart[i, j] + 0.1))
    return tg.Graph(size=size, power=tg.compute("power", (i, j), tg.exp(-size[i, j])))


def task(nodes=(), budget=None, data=DATA, **fields):
    """The program with one schedule everywhere, but for some nodes."""
    default = NodeSchedule(**fields)
    named = tuple((name, replace(default, **more)) for name, more in nodes)
    schedule = Schedule(nodes=named, default=default)
    return Task(graph=graph(), inputs={"x": data}, schedule=schedule, budget=budget)


def report(*args, **fields):
    """What the rungs below devices say."""
    return verify_batch([task(*args, **fields)], ())[0]


def rungs(*args, **fields):
    """The rungs that have findings."""
    return [f.rung for f in report(*args, **fields).findings]


@pytest.mark.parametrize("name", sorted(NARROW))
def test_every_rung_holds_for_every_format_and_rounding(name):
    for way in ("rne", "rz", "rna"):
        for accumulate in (NARROW[name], F16, F32):
            found = report(storage=NARROW[name], accumulate=accumulate, rounding=way)
            assert found.ok, found.to_text()


def test_places_lanes_and_splits_change_no_rounding():
    nodes = (("apart", {"place": "inline"}), ("power", {"place": "epilogue"}))
    for fields in ({"accumulate": E5M2}, {"accumulate": F32}, {"overflow": "nan"}):
        found = report(nodes, storage=E4M3FN, **fields)
        assert found.ok, found.to_text()
    for more in ({"split": 3}, {"lanes": 4}, {"split": 2, "lanes": 2}):
        found = report((("total", more),), storage=E4M3FN, accumulate=TF32, rounding="rz")
        assert found.ok, found.to_text()


def test_a_budget_is_held_against_the_narrow_format():
    small = np.ones_like(DATA)
    assert report(budget=ErrorBudget(ulp=2), data=small, storage=E4M3FN).ok
    found = report(budget=ErrorBudget(rel=1e-4), data=small * 1.1, storage=E4M3FN)
    assert [f.origin for f in found.findings][:1] == ["budget"]


def test_bounds_hold_where_numbers_saturate():
    subject = prepare(task(storage=E4M3FN, accumulate=E4M3FN))
    found = verify_batch([subject.task], ())[0]
    assert found.ok
    assert "round_e4m3fn_rne_saturate_f32 exact" in found.to_text()


@pytest.fixture
def rounder(monkeypatch):
    """Make kernels call a rounder of another conversion, under the name of the right one."""

    def plant(change):
        def wrong(conversion, source=F32):
            right = rounding.rounder(conversion, source)
            made = rounding.rounder(change(conversion), source)
            return replace(made, name=right.name, implements=right.implements)

        monkeypatch.setattr(expand, "rounder", wrong)

    return plant


FAULTS = {
    "rz for rne": ({"rounding": "rz"}, {"storage": E4M3FN}),
    "rna for rne": ({"rounding": "rna"}, {"storage": E5M2}),
    "inf for saturate": ({"overflow": "inf"}, {"storage": E5M2, "overflow": "saturate"}),
    "saturate for inf": ({"overflow": "saturate"}, {"storage": E5M2}),
    "nan for saturate": ({"overflow": "nan"}, {"storage": E4M3FN}),
    "fp22 for tf32": ({"format": NARROW["fp22"]}, {"accumulate": TF32}),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_function_that_rounds_otherwise_is_seen_on_expand(rounder, name):
    fault, fields = FAULTS[name]
    assert rungs(**fields) == []
    rounder(lambda c: replace(c, **fault))
    assert set(rungs(**fields)) == {Rung.EXPAND}


def test_two_roundings_for_one_are_seen_on_expand(monkeypatch):
    fields = {"storage": E4M3FN, "accumulate": F64}
    nodes = (("power", {"accumulate": F32}), ("size", {"accumulate": F32}))
    x = np.full_like(DATA, 1 + 2.0**-4 + 2.0**-40)
    i, j = tg.dims("i j")
    half = tg.compute("half", (i, j), tg.input("x", DATA.shape)[i, j] + (2.0**-4 + 2.0**-40))
    schedule = Schedule(default=NodeSchedule(**fields))
    one = Task(graph=tg.Graph(half), inputs={"x": np.ones_like(x)}, schedule=schedule)
    assert verify_batch([one], ())[0].ok
    assert rungs(nodes, **fields) == []
    rounding.rounder.cache_clear()
    monkeypatch.setattr(rounding, "_to_odd", lambda x: x.builder.let(Convert(F32, x.expr)))
    try:
        found = verify_batch([one], ())[0].findings
    finally:
        rounding.rounder.cache_clear()
    assert [f.rung for f in found] == [Rung.EXPAND]
    assert "is not round:e4m3fn:rne:saturate" in found[0].message


def test_a_code_without_its_sign_is_seen_on_expand(monkeypatch):
    def unsigned(format_):
        made = rounding.encoder(format_)
        lets = [
            replace(s, value=Op(U32, "bxor", (s.value.args[0], s.value.args[0])))
            if isinstance(s.value, Op) and s.value.op == "shr" and s.value.args[1].value == 31
            else s
            for s in made.body
        ]
        return replace(made, body=tuple(lets))

    monkeypatch.setattr(pack, "encoder", unsigned)
    assert Rung.EXPAND in rungs(storage=E4M3FN)


@pytest.mark.parametrize(
    "fields",
    [{"accumulate": TF32}, {"accumulate": E5M2, "storage": E4M3FN}],
    ids=["tf32-registers", "e5m2-registers"],
)
def test_a_result_that_is_not_rounded_is_seen_on_round(monkeypatch, fields):
    monkeypatch.setattr(context.Context, "rounded", lambda self, value: value)
    found = report(**fields).findings
    assert {f.rung for f in found} == {Rung.ROUND}
    assert "a result is not rounded to" in found[0].message


def test_a_stored_number_that_is_not_rounded_is_seen_on_round_or_expand(monkeypatch):
    monkeypatch.setattr(reads, "_as_stored", lambda ctx, buffer, value, own: value)
    assert set(rungs(storage=TF32)) == {Rung.ROUND}
    assert set(rungs(storage=E4M3FN)) <= {Rung.ROUND, Rung.EXPAND} != set()


def test_another_rounding_than_the_schedule_says_is_seen_on_round(monkeypatch):
    right = context.Context.converted

    def nearest(self, value, conversion):
        return right(self, value, replace(conversion, rounding="rne"))

    monkeypatch.setattr(context.Context, "converted", nearest)
    assert set(rungs(storage=E4M3FN, rounding="rz")) == {Rung.ROUND}
    assert set(rungs(accumulate=TF32, rounding="rz")) == {Rung.ROUND}


def test_an_inlined_result_that_is_not_rounded_is_seen_on_lower(monkeypatch):
    nodes = (("apart", {"place": "inline"}),)
    right = reads.recalled

    def unrounded(ctx, ref, value, own):
        tensors = {r: replace(b, conversion=None) for r, b in ctx.tensors.items()}
        return right(replace(ctx, tensors=tensors), ref, value, own)

    monkeypatch.setattr(reads, "recalled", unrounded)
    assert rungs(nodes, storage=E4M3FN) == [Rung.LOWER]
