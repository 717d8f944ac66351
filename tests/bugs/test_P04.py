"""P04: the accumulator has the format that the schedule names, in every kernel of the node."""

from __future__ import annotations

import numpy as np
import pytest

from tang.emulator.replay import replay
from tang.ir.expr import apply, arg
from tang.ir.extent import poly
from tang.ir.graph import Comprehension, Dim, Graph, Input, Output
from tang.ir.monoids import SUM
from tang.ir.view import Read, Ref, View, variable
from tang.kernel import ir as k
from tang.kernel.lower import lower
from tang.kernel.schedule import NodeSchedule, Schedule


def dot() -> Graph:
    reads = tuple(Read(Ref(n), View((variable("r"),))) for n in "ab")
    body = (apply("mul", arg(0), arg(1)),)
    node = Comprehension("d", (), reads, body, (Dim("r", poly(64)),), monoid=SUM)
    inputs = (Input("a", (poly(64),)), Input("b", (poly(64),)))
    return Graph(inputs, (node,), (Output("y", Ref("d", "acc")),))


@pytest.mark.parametrize("split", [1, 4])
def test_f16_operands_accumulate_in_f32_when_asked(split: int) -> None:
    schedule = Schedule(
        nodes=(("d", NodeSchedule(split=split, storage=k.F32, accumulate=k.F32)),),
        default=NodeSchedule(storage=k.F16),
    )
    plan = lower(dot(), schedule)
    inputs = {"a": np.full(64, 1100, np.float16), "b": np.ones(64, np.float16)}
    assert replay(plan, inputs).outputs["y"] == 70400
    for launch in plan.launches:
        (guard,) = launch.kernel.body
        assert isinstance(guard, k.If)
        registers = [s.var.type for s in guard.then if isinstance(s, k.Declare)]
        assert registers == [k.F32]


def test_an_f16_accumulator_overflows_as_the_schedule_says() -> None:
    schedule = Schedule(default=NodeSchedule(storage=k.F16, accumulate=k.F16))
    inputs = {"a": np.full(64, 1100, np.float16), "b": np.ones(64, np.float16)}
    assert np.isinf(replay(lower(dot(), schedule), inputs).outputs["y"])
