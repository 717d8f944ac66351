"""P04, kernels: sums are accumulated in the format that the schedule names.

llama.cpp#28124, llama.cpp#13607.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

import tang as tg
from tang import api
from tang.emulator.budget import ErrorBudget
from tang.kernel import ir as k
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.verify import Verdict, verify

GRAPH = tg.Graph(y=tg.matmul(tg.input("a", (64,)), tg.input("b", (64,)), name="y"))
DATA = {"a": np.full(64, 1100.0), "b": np.ones(64)}


def program(accumulate, split, host):
    """The dot product of f16 data, its result in f32."""
    node = NodeSchedule(split=split, storage=k.F32, accumulate=accumulate)
    default = NodeSchedule(storage=k.F16, accumulate=accumulate)
    schedule = Schedule(nodes=(("y", node),), default=default)
    return api.compile(GRAPH, schedule=schedule, device=host), schedule


def registers(body):
    """The float types of all registers."""
    found = set()
    for s in body:
        if isinstance(s, k.Let | k.Declare | k.Assign) and s.var.type.is_float:
            found.add(s.var.type)
        if isinstance(s, k.For):
            found |= registers(s.body)
        if isinstance(s, k.If):
            found |= registers((*s.then, *s.otherwise))
    return found


@pytest.mark.parametrize("split", [1, 2, 3])
def test_a_sum_beyond_f16_is_finite_in_f32(split, host):
    run, schedule = program(k.F32, split, host)
    assert run(DATA)["y"] == 70400
    report = verify(GRAPH, DATA, rules=(), schedule=schedule, budget=ErrorBudget(rel=1e-6))
    assert report.ok, report.to_text()


@pytest.mark.parametrize("split", [1, 2])
@pytest.mark.parametrize("accumulate", [k.F32, k.F64])
def test_kernels_and_their_text_hold_sums_in_no_other_format(accumulate, split, host):
    run, _ = program(accumulate, split, host)
    for launch, text in zip(run.plan.launches, run.kernels, strict=True):
        assert registers(launch.kernel.body) == {accumulate}
        body = text.text[text.text.index(f"void {text.name}_k(") :].split("{", 1)[1]
        declared = re.findall(
            r"^ *(?:const )?(f\d+|float|double|_Float16) \w+ =", body, re.MULTILINE
        )
        assert declared
        assert set(declared) == {accumulate.value}
    stored = {b.type for b in run.plan.buffers if b.ref is None}
    assert stored <= {accumulate}


@pytest.mark.parametrize("split", [1, 2])
def test_a_sum_in_f16_overflows_and_is_over_budget(split, host):
    run, schedule = program(k.F16, split, host)
    assert run(DATA)["y"] == np.inf
    report = verify(GRAPH, DATA, rules=(), schedule=schedule, budget=ErrorBudget(rel=1.0))
    assert report.verdicts() == (Verdict.OVER_BUDGET,)
