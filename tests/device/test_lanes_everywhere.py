"""Kernels with lanes write what replay says, bit for bit, on every language that runs here."""

from __future__ import annotations

import numpy as np
import pytest

from tang.errors import DeviceError
from tang.ir.expr import INDEX, REAL, Expr, arg, iota
from tang.ir.extent import poly
from tang.ir.graph import Comprehension, Dim, Graph, Input, Output
from tang.ir.monoid import Monoid
from tang.ir.monoids import ARGMAX, ONLINE_SOFTMAX, SUM, WELFORD, top_k
from tang.ir.view import Read, Ref, View, variable
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.verify import Task, verify_batch
from tang.verify.backends import BACKENDS, open_backend

SCHEDULES = {
    "lanes-2": NodeSchedule(lanes=2, workgroup=2),
    "lanes-3": NodeSchedule(lanes=3, workgroup=12),
    "lanes-32": NodeSchedule(lanes=32, workgroup=64),
    "lanes-8-of-a-split": NodeSchedule(lanes=8, split=2, workgroup=8),
}
MONOIDS = {
    "sum": SUM, "argmax": ARGMAX, "softmax": ONLINE_SOFTMAX, "welford": WELFORD, "top": top_k(2),
}  # fmt: skip


def folded(monoid: Monoid) -> Graph:
    """x[i, r] folded over 41 elements at 5 points, those after the diagonal left out."""
    reads: list[Read] = []
    body: list[Expr] = []
    for n, sort in enumerate(monoid.inputs):
        if sort is INDEX:
            body.append(iota("r"))
            continue
        body.append(arg(len(reads), sort))
        reads.append(Read(Ref(f"x{n}"), View((variable("i"), variable("r")))))
    dims = (Dim("i", poly(5)),), (Dim("r", poly(41)),)
    where = (variable("i", 8) + variable("i") - variable("r"),)
    node = Comprehension("f", dims[0], tuple(reads), tuple(body), dims[1], where, monoid)
    inputs = tuple(Input(r.source.node, (poly(5), poly(41)), REAL) for r in reads)
    return Graph(inputs, (node,), tuple(Output(n, Ref("f", n)) for n in node.output_names()))


def tasks() -> list[Task]:
    found = []
    for label, schedule in SCHEDULES.items():
        for name, monoid in MONOIDS.items():
            graph = folded(monoid)
            rng = np.random.default_rng(len(found))
            data = {i.name: rng.standard_normal((5, 41)).astype("f4") for i in graph.inputs}
            chosen = Schedule(nodes=(("f", schedule),))
            found.append(Task(graph=graph, inputs=data, schedule=chosen, name=f"{name}, {label}"))
    return found


@pytest.mark.parametrize("backend", BACKENDS)
def test_lanes_conform(backend):
    try:
        open_backend(backend)
    except DeviceError as e:
        pytest.skip(str(e))
    for report in verify_batch(tasks(), (backend,)):
        assert report.ok, report.to_text()
