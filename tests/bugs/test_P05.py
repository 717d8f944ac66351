"""P05: a narrowing conversion is never removed (xla#41605, pytorch#179561, jax#23007, jax#6283)."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tang as tg
from tang import api
from tang.device import CompilerOptions, HostC
from tang.kernel.ir import BF16, F16, F32
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.verify import Task, verify_batch

PI = {"x": np.array([math.pi])}


def round_trip():
    """x stored narrow, read back, stored wide."""
    i = tg.dims("i")
    y = tg.compute("y", i, tg.input("x", (1,))[i])
    return tg.Graph(z=tg.compute("z", i, y[i]))


def two_sum():
    """What is lost when a and b are added: b − ((a + b) − a)."""
    i = tg.dims("i")
    a, b = tg.input("a", (3,)), tg.input("b", (3,))
    return tg.Graph(r=tg.compute("r", i, b[i] - ((a[i] + b[i]) - a[i])))


def narrow(storage):
    """The node y alone is stored narrow."""
    return Schedule(nodes=(("y", NodeSchedule(storage=storage, accumulate=F32)),))


@pytest.mark.parametrize("level", ["-O0", "-O3"])
@pytest.mark.parametrize(("storage", "value"), [(BF16, 3.140625), (F16, 3.140625), (F32, None)])
def test_a_value_stored_narrow_is_narrow(storage, value, level, tmp_path):
    device = HostC(CompilerOptions(cache=tmp_path, optimize=level))
    found = api.compile(round_trip(), schedule=narrow(storage), rules=(), device=device)(PI)["z"]
    assert found.tolist() == [value or float(np.float32(math.pi))]


SUMS = {"a": np.array([256.0, 2048, 1]), "b": np.array([1.5, 1, 2**-30])}
LOST = {BF16: [-0.5, 1, 2**-30], F16: [0.0, 1, 2**-24 * 0], F32: [0.0, 0, 2**-30]}


@pytest.mark.parametrize("level", ["-O0", "-O3"])
@pytest.mark.parametrize("real", [BF16, F16, F32])
def test_what_an_addition_loses_is_found_in_every_format(real, level, tmp_path):
    device = HostC(CompilerOptions(cache=tmp_path, optimize=level))
    schedule = Schedule(default=NodeSchedule(storage=real, accumulate=real))
    found = api.compile(two_sum(), schedule=schedule, device=device)(SUMS)["r"]
    assert found.astype(np.float64).tolist() == LOST[real]


def test_every_rung_agrees():
    wide = [Schedule(default=NodeSchedule(storage=r, accumulate=r)) for r in LOST]
    tasks = [Task(graph=two_sum(), inputs=SUMS, schedule=s) for s in wide]
    tasks += [Task(graph=round_trip(), inputs=PI, schedule=narrow(s)) for s in (BF16, F16)]
    for report in verify_batch(tasks):
        assert report.ok, report.to_text()
