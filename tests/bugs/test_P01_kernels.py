"""P01, kernels: partial sums are kept in the format of the schedule.

modular#7165, FlagGems#5876, oneDNN#756.
"""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg
from tang import api
from tang.emulator.budget import ErrorBudget
from tang.kernel.ir import BF16, F32
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.verify import Verdict, verify

GRAPH = tg.Graph(C=tg.matmul(tg.input("A", (1, 2)), tg.input("B", (2, 1)), name="C"))
DATA = {"A": np.array([[1000.3, -1000.1]]), "B": np.ones((2, 1))}
BUDGET = ErrorBudget(rel=2**-8, abs=1e-3)


def schedule(accumulate, split):
    """bf16 for the result alone."""
    choice = NodeSchedule(split=split, storage=BF16, accumulate=accumulate)
    return Schedule(nodes=(("C", choice),))


@pytest.mark.parametrize("split", [1, 2])
def test_cancelling_halves_keep_their_difference(split, host):
    program = api.compile(GRAPH, schedule=schedule(F32, split), device=host)
    assert program(DATA)["C"].item() == np.float32(0.200195312)
    report = verify(GRAPH, DATA, rules=(), schedule=schedule(F32, split), budget=BUDGET)
    assert report.ok, report.to_text()


def test_the_plan_states_the_format_of_every_partial(host):
    for accumulate in (F32, BF16):
        plan = api.compile(GRAPH, schedule=schedule(accumulate, 2), device=host).plan
        partials = [b for b in plan.buffers if b.ref is None]
        assert [b.type for b in partials] == [accumulate]
        assert plan.buffer(plan.results[0].buffer).type is BF16


@pytest.mark.parametrize("split", [1, 2])
def test_halves_kept_in_bf16_lose_it_and_break_the_budget(split, host):
    program = api.compile(GRAPH, schedule=schedule(BF16, split), device=host)
    assert program(DATA)["C"].item() == 0
    report = verify(GRAPH, DATA, rules=(), schedule=schedule(BF16, split), budget=BUDGET)
    assert Verdict.OVER_BUDGET in report.verdicts()
