"""What is emulated is what devices compute, bit for bit, and a fold is not."""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg
from tang.budget import emulate, precision_from
from tang.kernel.ir import F16
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.rewrite import rewrite
from tang.verify import available

RNG = np.random.default_rng(4)
DATA = {"x": RNG.standard_normal((6, 320)), "w": RNG.standard_normal((320, 8))}
PRECISIONS = ("f32", "f16", "f16-acc", "bf16", "bf16-acc", "tf32", "fp8-e4m3", "fp8-e5m2")
HERE = available()


def layer():
    """Normalised rows, a product, its activation, and the largest of each row."""
    x, w = tg.input("x", (6, 320)), tg.input("w", (320, 8))
    y = tg.matmul(tg.layer_norm(x, name="n"), w)
    i, j = tg.dims("i j")
    return tg.Graph(y=tg.gelu(y), best=tg.compute("best", (i,), tg.argmax(y[i, j], over=j)))


def run(graph, precision, target):
    """The compiled program's outputs."""
    schedule = precision_from(precision, rewrite(graph).graph)
    return tg.compile(graph, target, schedule)(DATA)


@pytest.mark.parametrize(
    ("target", "precision"),
    [*(("c", p) for p in PRECISIONS), ("opencl", "f16"), ("opencl", "fp8-e4m3")],
)
def test_every_preset_is_emulated_bit_for_bit(target, precision):
    if target not in HERE:
        pytest.skip(f"{target} does not run here")
    want, got = emulate(layer(), DATA, precision), run(layer(), precision, target)
    assert set(want) == set(got)
    for name in want:
        assert want[name].dtype == got[name].dtype
        assert np.array_equal(want[name], got[name], equal_nan=want[name].dtype.kind == "f")


def test_a_tree_of_lanes_is_emulated_bit_for_bit_and_the_fold_is_another():
    graph = rewrite(layer()).graph
    lanes = NodeSchedule(storage=F16, accumulate=F16, lanes=32)
    named = tuple((n.name, lanes) for n in graph.nodes if n.monoid is not None and n.reduce)
    schedule = Schedule(nodes=named, default=NodeSchedule(storage=F16, accumulate=F16))
    got = run(layer(), schedule, "c")["y"]
    assert np.array_equal(emulate(layer(), DATA, schedule)["y"], got)
    assert not np.array_equal(emulate(layer(), DATA, schedule, "fold")["y"], got)
