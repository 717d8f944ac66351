"""E10: partial results of a split are not added up from one run to the next.

triton#2183, triton#3755, triton#3004.
"""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg
from tang.device import Job, Poison, Ran, poisoned

A = np.arange(15.0, dtype=np.float32).reshape(3, 5)
B = np.arange(10.0, dtype=np.float32).reshape(5, 2)
GRAPH = tg.Graph(C=tg.matmul(tg.input("A", (3, 5)), tg.input("B", (5, 2))))
SPLITS = (2, 3, 7)


@pytest.mark.parametrize("split", SPLITS)
def test_the_second_call_equals_the_first(split, compiled):
    run = compiled(GRAPH, split=split)
    for _ in range(4):
        assert run({"A": A, "B": B})["C"].tolist() == (A @ B).tolist()


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("poison", Poison)
def test_timed_repetitions_over_poison_leave_the_result_of_one_run(split, poison, compiled, host):
    plan = compiled(GRAPH, split=split).plan
    held = {"A": A, "B": B}
    for b in plan.buffers:
        shape = tuple(p.constant for p in b.shape)
        held.setdefault(b.name, poisoned(b.type, shape, poison))
    kernels = host.compile([launch.kernel for launch in plan.launches])
    for launch, kernel in zip(plan.launches, kernels, strict=True):
        groups = -(-launch.threads.constant // launch.kernel.workgroup)
        buffers = tuple(held[n] for n in launch.buffers)
        (ran,) = host.run([Job(kernel, buffers, (), groups, poison, repeat=5)])
        assert isinstance(ran, Ran)
        assert len(ran.seconds) == 5
        held.update(zip(launch.buffers, (m.data for m in ran.memories), strict=True))
    (result,) = plan.results
    assert held[result.buffer].ravel().tolist() == (A @ B).ravel().tolist()


def test_every_rung_agrees(verified):
    verified([(GRAPH, {"A": A, "B": B})], splits=SPLITS)
