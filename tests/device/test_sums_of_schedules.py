"""On the C device a scheduled sum gives the bits of its atom, in every format and length."""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg
from tang.emulator import evaluate, round_to
from tang.kernel.ir import BF16, F16, F32
from tang.kernel.narrow import NARROW
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.rewrite import rewrite
from tang.schedule.sums import summation_of

FORMATS = {"f32": F32, "f16": F16, "bf16": BF16, "e4m3fn": NARROW["e4m3fn"]}
TEAMS = ((1, 1), (3, 1), (1, 8), (2, 3))


def program():
    i, r = tg.dims("i r")
    x = tg.input("x", ("m", "n"))
    return tg.Graph(y=tg.compute("y", i, tg.sum(x[i, r], over=r)))


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("team", TEAMS, ids=str)
def test_the_atom_of_a_sum_is_what_a_device_adds(host, format_, team):
    own = NodeSchedule(
        split=team[0], lanes=team[1], workgroup=24, accumulate=FORMATS[format_], storage=F32
    )
    graph = program()
    (node,) = rewrite(graph, ()).graph.nodes
    schedule = Schedule(nodes=((node.name, own),))
    run = tg.compile(graph, device=host, schedule=schedule, rules=())
    overflow = "saturate" if format_ == "e4m3fn" else "inf"
    for length in (1, 7, 64, 100, 1000):
        rng = np.random.default_rng(length)
        x = round_to(rng.standard_normal((16, length)) * 3, format_, overflow="saturate")
        order = summation_of(node, own, {"m": 16, "n": length})
        wanted = evaluate(order, x, format_, overflow=overflow).astype(np.float32)
        got = run({"x": x.astype(np.float32)})["y"]
        assert got.view(np.uint32).tolist() == wanted.view(np.uint32).tolist(), length
