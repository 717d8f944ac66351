"""Every draw asserts that errors stay within derived bounds; a bound that is too small is found."""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg
from tang.emulator import shadow
from tang.kernel.ir import F16
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.verify import Rung, Task, Verdict, verify_batch

DATA = np.random.default_rng(8).random((8, 33))


def report(data=DATA):
    """What the rungs below devices say of sums of rows in f16."""
    i, k = tg.dims("i k")
    x = tg.input("x", data.shape)
    graph = tg.Graph(y=tg.compute("y", (i,), tg.sum(x[i, k] * x[i, k], over=k)))
    schedule = Schedule(default=NodeSchedule(storage=F16, accumulate=F16))
    return verify_batch([Task(graph=graph, inputs={"x": data}, schedule=schedule)], ())[0]


def _smaller(bound, x):
    return bound / 100


def _finite(bound, x):
    return np.where(np.isinf(bound), 1.0, bound)


@pytest.mark.parametrize(
    ("change", "data"),
    [(_smaller, DATA), (_finite, DATA * 1e3)],
    ids=["a hundredth", "finite after an overflow"],
)
def test_a_bound_that_is_too_small_is_a_finding_of_round(monkeypatch, change, data):
    assert report(data).ok
    right = shadow.total

    def total(op, x, e, *rest):
        return change(right(op, x, e, *rest), x)

    monkeypatch.setattr(shadow, "total", total)
    found = report(data).findings
    assert [(f.rung, f.verdict, f.origin) for f in found] == [
        (Rung.ROUND, Verdict.OVER_BUDGET, "bound")
    ]
    assert "error exceeds its derived bound" in found[0].message
