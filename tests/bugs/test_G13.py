"""G13: nothing is overwritten before its last read, and nothing is applied twice.

pytorch#174074, Fuser#2839, mlir-aie#3656, NeMo-Speech.cpp#28.
"""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg
from tang.interpreter import fast_interpret, interpret
from tang.kernel.plan import Role

X = np.arange(1.0, 9.0, dtype=np.float32)


def program():
    """x + flip(x), a chain whose first input is read again at its end, x[at] += x[at]."""
    i, k = tg.dims(i=8), tg.dims(k=2)
    x, at = tg.input("x", (8,)), tg.input("at", (2,), "index")
    first = tg.compute("first", i, x[i] * 2)
    second = tg.compute("second", i, first[i] + 1)
    hit = tg.any(at[k] == i, k)
    return tg.Graph(
        mirrored=tg.compute("mirrored", i, x[i] + x[7 - i]),
        chain=tg.compute("chain", i, second[i] * x[i] + first[7 - i]),
        doubled=tg.compute("doubled", i, x[i] + tg.select(hit, x[i], 0.0)),
    )


def check(found):
    assert found["mirrored"].tolist() == [9] * 8
    assert found["chain"].tolist() == ((2 * X + 1) * X + 2 * X[::-1]).tolist()
    assert found["doubled"].tolist() == [2, 2, 3, 4, 5, 6, 7, 8]


def test_both_evaluators_gather_before_they_write():
    data = {"x": X.copy(), "at": np.array([0, 0])}
    for evaluate in (interpret, fast_interpret):
        check(evaluate(program(), data))
    assert data["x"].tolist() == X.tolist()


def test_calls_change_no_input_and_repeat(compiled):
    data = {"x": X.copy(), "at": np.array([0, 0])}
    for split in (1, 2):
        run = compiled(program(), split=split)
        for _ in range(3):
            found = run(data)
            check(found)
            for array in found.values():
                assert not np.shares_memory(array, data["x"])
                array[:] = -1
        assert data["x"].tolist() == X.tolist()


def test_one_array_may_serve_as_two_inputs(compiled):
    i = tg.dims("i")
    a, b = tg.input("a", ("n",)), tg.input("b", ("n",))
    run = compiled(tg.Graph(y=tg.compute("y", i, a[i] - 2 * b[tg.size("n") - 1 - i])))
    assert run({"a": X, "b": X})["y"].tolist() == (X - 2 * X[::-1]).tolist()
    assert (
        run({"a": X[::-1], "b": X[::2].repeat(2)})["y"].tolist()
        == (X[::-1] - 2 * X[::2].repeat(2)[::-1]).tolist()
    )


@pytest.mark.parametrize("split", [1, 3])
def test_no_launch_writes_what_it_reads_and_no_result_is_overwritten(split, compiled):
    plan = compiled(program(), split=split).plan
    written: list[str] = []
    for launch in plan.launches:
        out = [n for n, p in zip(launch.buffers, launch.kernel.params, strict=True) if p.writable]
        assert len(set(launch.buffers)) == len(launch.buffers)
        assert all(plan.buffer(n).role is not Role.INPUT for n in out)
        written += out
    assert len(set(written)) == len(written)


def test_every_rung_agrees(verified):
    verified([(program(), {"x": X, "at": np.array([0, 0])})], splits=(1, 2))
