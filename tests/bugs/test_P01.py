"""P01: partials of a split stay in the accumulation format, so cancelling halves lose nothing."""

from __future__ import annotations

import numpy as np
import pytest

from tang.emulator.replay import replay
from tang.ir.expr import arg
from tang.ir.extent import poly
from tang.ir.graph import Comprehension, Dim, Graph, Input, Output
from tang.ir.monoids import SUM
from tang.ir.view import Read, Ref, View, variable
from tang.kernel import ir as k
from tang.kernel.lower import lower
from tang.kernel.schedule import NodeSchedule, Schedule


def halves(storage: k.Type, accumulate: k.Type) -> float:
    read = Read(Ref("x"), View((variable("r"),)))
    node = Comprehension("s", (), (read,), (arg(0),), (Dim("r", poly(2)),), monoid=SUM)
    graph = Graph((Input("x", (poly(2),)),), (node,), (Output("y", Ref("s", "value")),))
    own = NodeSchedule(split=2, storage=storage, accumulate=accumulate)
    plan = lower(graph, Schedule(nodes=(("s", own),)))
    assert plan.buffer("s_acc_partial").type is accumulate
    return float(replay(plan, {"x": np.array([1000.3, -1000.1], np.float32)}).outputs["y"])


def test_bf16_results_of_cancelling_halves_keep_their_digits() -> None:
    assert halves(k.BF16, k.F32) == pytest.approx(0.2002, abs=1e-3)


def test_bf16_partials_lose_them_only_when_the_schedule_says_so() -> None:
    assert halves(k.BF16, k.BF16) == 0
