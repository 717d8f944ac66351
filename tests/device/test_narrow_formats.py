"""Formats of fewer than 16 bits on every language: folds, maps and memory, bit for bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tang as tg
from tang.emit.printer import Printer
from tang.emulator.narrow import narrowed
from tang.ir.format import custom_format
from tang.kernel.expand.rounding import rounder
from tang.kernel.ir import F16, F32, F64
from tang.kernel.narrow import E2M1, E2M3, E3M2, E4M3FN, E5M2, TF32, Conversion, conversion_named
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.verify import Rung, Task, verify_batch
from tang.verify.backends import BACKENDS, available

OWN = custom_format("own", p=3, emin=-3, largest=20, specials="fn")
SCHEDULES = [
    NodeSchedule(storage=E4M3FN, accumulate=F32),
    NodeSchedule(storage=E5M2, accumulate=F16, overflow="saturate"),
    NodeSchedule(storage=E4M3FN, accumulate=E4M3FN, rounding="rz", overflow="nan"),
    NodeSchedule(storage=E3M2, accumulate=E2M3, rounding="rna"),
    NodeSchedule(storage=E2M1, accumulate=TF32),
    NodeSchedule(storage=F16, accumulate=F16, rounding="rz"),
    NodeSchedule(storage=OWN, accumulate=OWN),
    NodeSchedule(storage=TF32, accumulate=E5M2),
]


def graph():
    """Sums and softmax-like weights of rows, and products of both."""
    i, r, j = tg.dims("i r j")
    x = tg.input("x", (9, 13))
    total = tg.compute("total", (i,), tg.sum(x[i, r], over=r))
    mass = tg.compute("mass", (i,), tg.logsumexp(x[i, r], over=r))
    part = tg.compute("part", (i, j), tg.exp(x[i, j] - mass[i]) * total[i])
    return tg.Graph(part=part, down=tg.compute("down", (i, j), x[i, j] * 0.3 + total[i]))


def data():
    """Rows from subnormal to beyond every end, with specials."""
    rng = np.random.default_rng(5)
    x = rng.standard_normal((9, 13)) * np.exp2(np.linspace(-18, 17, 9))[:, None]
    x[2, 3], x[4, 5], x[6, 7], x[8, 1] = np.nan, np.inf, -0.0, -np.inf
    return x.astype(np.float32)


def tasks(schedules=SCHEDULES):
    """The program under every schedule, the sums split or folded by lanes."""
    found = []
    for n, s in enumerate(schedules):
        nodes = (("total", replace(s, split=3)), ("mass", replace(s, lanes=4)))
        chosen = Schedule(nodes=nodes, default=s)
        found.append(Task(graph=graph(), inputs={"x": data()}, schedule=chosen, name=f"{n}"))
    return found


def test_every_rung_holds_on_every_language():
    here = sorted(name for name in BACKENDS if not available()[name])
    if not here:
        pytest.skip("no backend runs here")
    for report in verify_batch(tasks(), here):
        assert report.ok, report.to_text()
        emitted = [r for r in report.results if r.rung is Rung.EMIT]
        assert [(r.backend, r.unsupported) for r in emitted] == [(name, "") for name in here]


FOLDS = ("max", "min", "argmax", "logsumexp")
STARTS = [
    NodeSchedule(storage=F32, accumulate=f, overflow=o, **how)
    for f, o in ((E4M3FN, "nan"), (E4M3FN, "saturate"), (OWN, "nan"), (E2M1, "saturate"),
                 (E5M2, "nan"))
    for how in ({}, {"lanes": 4}, {"split": 3})
]  # fmt: skip


def test_extrema_start_from_a_number_where_a_format_has_no_infinity():
    """Their identity is the largest number, not NaN: it is no number that overflowed."""
    i, r = tg.dims("i r")
    x = tg.input("x", (5, 13))
    made = tg.Graph(**{n: tg.compute(n, (i,), getattr(tg, n)(x[i, r], over=r)) for n in FOLDS})
    given = np.random.default_rng(3).choice([-2.0, -1.0, 0.5, 1.0, 2.0], (5, 13))
    here = sorted(name for name in BACKENDS if not available()[name])
    if not here:
        pytest.skip("no backend runs here")
    chosen = [Schedule(nodes=tuple((n, s) for n in FOLDS)) for s in STARTS]
    asked = [Task(graph=made, inputs={"x": given}, schedule=s, name=f"{n}")
             for n, s in enumerate(chosen)]  # fmt: skip
    for report in verify_batch(asked, here):
        assert report.ok, report.to_text()
    want = {"max": given.max(1), "min": given.min(1), "argmax": given.argmax(1)}
    for s in chosen:
        found = tg.emulate(made, {"x": given}, s, rules=())
        for name, values in want.items():
            assert np.array_equal(found[name], values), (name, s)


@pytest.mark.parametrize("backend", ["c", "opencl"])
def test_f64_is_rounded_once(backend):
    if available()[backend]:
        pytest.skip(f"backend {backend} does not run here")
    i = tg.dims("i")
    x = tg.input("x", (64,))
    made = tg.Graph(tg.compute("y", (i,), x[i] + (2.0**-4 + 2.0**-40)))
    for rounding in ("rne", "rz", "rna"):
        s = Schedule(default=NodeSchedule(storage=E4M3FN, accumulate=F64, rounding=rounding))
        given = np.linspace(-8, 8, 64)
        (report,) = verify_batch([Task(graph=made, inputs={"x": given}, schedule=s)], (backend,))
        assert report.ok, report.to_text()


@pytest.mark.parametrize("storage", [E2M1, E4M3FN, TF32], ids=lambda f: f.name)
def test_a_program_takes_and_gives_the_numbers_of_its_format(storage):
    i, j = tg.dims("i j")
    x = tg.input("x", (9, 13))
    made = tg.Graph(tg.compute("y", (i, j), -x[i, j]))
    conversion = Conversion(storage)
    for isolate in (False, True):
        schedule = Schedule(default=NodeSchedule(storage=storage))
        program = tg.compile(made, schedule=schedule, rules=(), isolate=isolate)
        got = program({"x": data()})["y"]
        want = narrowed(conversion, -narrowed(conversion, data()))
        assert got.dtype == np.float32
        assert np.array_equal(got, want, equal_nan=True)


def emitted_otherwise(monkeypatch, change):
    """Print the roundings of kernels as others, under the same names."""
    right = Printer.function

    def wrong(self, function, symbol):
        conversion = conversion_named(function.implements)
        if conversion is not None:
            made = rounder(change(conversion), function.params[0].type)
            function = replace(made, name=function.name)
        return right(self, function, symbol)

    monkeypatch.setattr(Printer, "function", wrong)


FAULTS = {
    "towards zero": {"rounding": "rz"},
    "to infinity": {"overflow": "inf"},
    "in another format": {"format": TF32},
}


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_a_text_that_rounds_otherwise_is_seen_on_emit(monkeypatch, fault):
    chosen = [NodeSchedule(storage=E5M2, accumulate=F32, overflow="saturate")]
    emitted_otherwise(monkeypatch, lambda c: replace(c, **FAULTS[fault]))
    (report,) = verify_batch(tasks(chosen), ("c",))
    assert {f.rung for f in report.findings} == {Rung.EMIT}
