"""States stored by kernels of their own are folded in the order of the schedule, too.

A state component that lacks a point dim which may be empty has such a kernel; where the extents are
numbers, the node's own kernel stores it. Both must give the same bits.
"""

from __future__ import annotations

import numpy as np
import pytest

from tang.emulator.replay import replay
from tang.ir.bind import bind
from tang.ir.expr import INDEX, REAL, arg, iota
from tang.ir.extent import poly
from tang.ir.graph import Comprehension, Dim, Graph, Input, Output
from tang.ir.monoid import Monoid
from tang.ir.monoids import ARGMAX, SUM, WELFORD
from tang.ir.view import Read, Ref, View, variable
from tang.kernel.ir import F16
from tang.kernel.lower import lower
from tang.kernel.schedule import NodeSchedule, Schedule

TERMS = 37
X = np.random.default_rng(3).standard_normal((2, TERMS)) * 10


def states_of(monoid: Monoid) -> Graph:
    """Every state of s[i, j] = fold over r of x[j, r], of which none depends on i."""
    i, j, r = Dim("i", poly("n")), Dim("j", poly(2)), Dim("r", poly(TERMS))
    read = Read(Ref("x"), View((variable("j"), variable("r"))))
    body = tuple(iota("r") if s is INDEX else arg(0, REAL) for s in monoid.inputs)
    node = Comprehension("s", (i, j), (read,), body, (r,), (), monoid)
    outputs = tuple(Output(c.name, Ref("s", c.name)) for c in monoid.components)
    inputs = (Input("x", (poly(2), poly(TERMS)), REAL), Input("w", (poly("n"),), REAL))
    return Graph(inputs, (node,), outputs)


def outputs_of(graph: Graph, schedule: Schedule, sizes: dict[str, int]) -> dict[str, np.ndarray]:
    plan = lower(graph, schedule)
    w = np.zeros(3, np.float32)
    done = replay(plan, {"x": X.astype(np.float32), "w": w}, sizes=sizes)
    assert not done.findings
    return done.outputs


SCHEDULES = {
    "one": NodeSchedule(),
    "split": NodeSchedule(split=5),
    "empty chunks": NodeSchedule(split=30),
    "lanes": NodeSchedule(lanes=4, workgroup=8),
    "split and lanes": NodeSchedule(split=3, lanes=4, workgroup=8),
    "runs": NodeSchedule(split=2, promote=4, partial=F16),
}


@pytest.mark.parametrize(
    ("monoid", "how"),
    [(m, how) for m in (SUM, WELFORD, ARGMAX) for how in SCHEDULES if (m, how) != (ARGMAX, "runs")],
    ids=lambda x: getattr(x, "name", x),
)
def test_a_state_has_the_same_bits_whoever_stores_it(monoid: Monoid, how: str) -> None:
    graph = states_of(monoid)
    schedule = Schedule(nodes=(("s", SCHEDULES[how]),))
    apart = outputs_of(graph, schedule, {"n": 3})
    together = outputs_of(bind(graph, {"n": 3}), schedule, {})
    assert apart.keys() == together.keys()
    for name, value in apart.items():
        assert value.tobytes() == together[name].tobytes(), name


def test_the_order_is_seen_in_the_bits() -> None:
    graph = states_of(SUM)
    one, split = (
        outputs_of(graph, Schedule(nodes=(("s", SCHEDULES[how]),)), {"n": 3})["acc"]
        for how in ("one", "split")
    )
    assert one.tobytes() != split.tobytes()
    assert np.allclose(one, split, rtol=1e-5)
    assert one.dtype == np.dtype("float32")
