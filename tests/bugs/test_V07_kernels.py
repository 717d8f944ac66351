"""V07, kernels: a stored value is rounded once; divisions and roots are IEEE.

OpenCL-CTS#1996, OpenCL-CTS#2387.
"""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg
from tang import api
from tang.kernel.ir import BF16, F16, F64
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.verify import Task, verify_batch

X = np.array([1 + 2.0**-11 + 2.0**-40, 1 + 2.0**-11, 1 + 2.0**-11 - 2.0**-40])
WORDS = {F16: (X, [0x3C01, 0x3C00, 0x3C00]), BF16: (1 + (X - 1) * 8, [0x3F81, 0x3F80, 0x3F80])}


def identity():
    i = tg.dims("i")
    return tg.Graph(y=tg.compute("y", i, tg.input("x", (3,))[i]))


def narrow(storage):
    """f64 everywhere but in the result."""
    wide = NodeSchedule(storage=F64, accumulate=F64)
    return Schedule(nodes=(("y", NodeSchedule(storage=storage, accumulate=F64)),), default=wide)


@pytest.mark.parametrize("storage", WORDS)
def test_f64_is_rounded_once_to_what_is_stored(storage, host):
    x, words = WORDS[storage]
    found = api.compile(identity(), schedule=narrow(storage), device=host)({"x": x})["y"]
    if storage is F16:
        assert found.view(np.uint16).tolist() == words
    else:
        assert (found.view(np.uint32) >> 16).tolist() == words


def test_divisions_and_roots_are_correctly_rounded(compiled):
    i = tg.dims("i")
    a, b = tg.input("a", ("n",)), tg.input("b", ("n",))
    graph = tg.Graph(
        quotient=tg.compute("quotient", i, a[i] / b[i]), root=tg.compute("root", i, tg.sqrt(b[i]))
    )
    generator = np.random.default_rng(0)
    x, y = (np.exp2(generator.uniform(-60, 60, 5000)).astype(np.float32) for _ in range(2))
    found = compiled(graph)({"a": x, "b": y})
    np.testing.assert_array_equal(found["quotient"], x / y)
    np.testing.assert_array_equal(found["root"], np.sqrt(y))


def test_every_rung_agrees():
    tasks = [
        Task(graph=identity(), inputs={"x": x}, schedule=narrow(s)) for s, (x, _) in WORDS.items()
    ]
    for report in verify_batch(tasks):
        assert report.ok, report.to_text()
