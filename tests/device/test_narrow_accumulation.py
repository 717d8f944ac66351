"""f16 and bf16 on every language: all their numbers through all operations, bit for bit."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tang.ir import derived
from tang.ir.expr import apply, arg, real
from tang.ir.extent import poly
from tang.ir.graph import Comprehension, Dim, Graph, Input, Output
from tang.ir.monoids import LOGSUMEXP, PROD, SUM, WELFORD
from tang.ir.view import Read, Ref, View, variable
from tang.kernel.ir import BF16, F16, F32, Type
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.verify import Task, verify_batch
from tang.verify.backends import BACKENDS, available

PAIRS = [p for p in product((F16, BF16, F32), repeat=2) if p != (F32, F32)]
BODIES = {
    "tenth": apply("add", arg(0), real(0.1)),
    "third": derived.div(arg(0), real(3)),
    "square": apply("mul", arg(0), arg(0)),
    "negative": apply("neg", arg(0)),
    "inverse": apply("recip", arg(0)),
    "root": apply("sqrt", arg(0)),
    "whole": apply("floor", arg(0)),
    "position": apply("to_index", arg(0)),
    "small": apply("lt", arg(0), real(1)),
    "greatest": derived.maximum(arg(0), real(1)),
    "power": apply("exp2", arg(0)),
    "logarithm": apply("log2", arg(0)),
    "sine": apply("sin", arg(0)),
    "angle": apply("atan2", arg(0), real(2)),
    "error": apply("erf", arg(0)),
    "gate": derived.sigmoid(arg(0)),
}


@pytest.fixture(scope="module", params=sorted(BACKENDS))
def backend(request: pytest.FixtureRequest) -> str:
    """A backend that runs here."""
    reason = available()[request.param]
    if reason:
        pytest.skip(f"backend {request.param} does not run here: {reason}")
    return str(request.param)


def every_number(format_: Type) -> np.ndarray:
    """All numbers of a format of 16 bits, NaN once, and one number beyond them."""
    words = np.arange(2**16, dtype=np.uint32)
    with np.errstate(invalid="ignore"):
        if format_ is F16:
            found = words.astype(np.uint16).view(np.float16).astype(np.float64)
        else:
            found = (words << 16).view(np.float32).astype(np.float64)
    return np.concatenate([found[~np.isnan(found)], [np.nan, 3e38]])


def all_bodies(size: int) -> Graph:
    """Every body of an input, as the outputs of one node each: few buffers a kernel."""
    read = Read(Ref("x"), View((variable("i"),)))
    dims = (Dim("i", poly(size)),)
    nodes = tuple(Comprehension(n, dims, (read,), (e,), outputs=("y",)) for n, e in BODIES.items())
    outputs = tuple(Output(n, Ref(n, "y")) for n in BODIES)
    return Graph((Input("x", (poly(size),)),), nodes, outputs)


def test_every_number_goes_through_every_operation_of_its_own_format(backend):
    tasks = []
    for format_ in (F16, BF16):
        x = every_number(format_)
        schedule = Schedule(default=NodeSchedule(storage=format_, accumulate=format_))
        tasks.append(Task(graph=all_bodies(x.size), inputs={"x": x}, schedule=schedule))
    assert_right(tasks, backend)


def assert_right(tasks: list[Task], backend: str) -> None:
    """Every rung of every task, its kernels compiled together."""
    for report in verify_batch(tasks, (backend,)):
        assert report.ok, report.to_text()


def folds(rows: int, size: int) -> Graph:
    """Folds of the rows of an input, each read again by a map: narrow results are loaded too."""
    read = Read(Ref("x"), View((variable("i"), variable("r"))))
    point, reduce = (Dim("i", poly(rows)),), (Dim("r", poly(size)),)
    nodes, outputs = [], []
    for m in (SUM, PROD, LOGSUMEXP, WELFORD):
        nodes.append(Comprehension(m.name, point, (read,), (arg(0),), reduce, monoid=m))
        again = Read(Ref(m.name, m.outputs[0].name), View((variable("i"),)))
        body = (apply("mul", arg(0), real(0.5)),)
        nodes.append(Comprehension(f"half_{m.name}", point, (again,), body, outputs=("y",)))
        outputs.append(Output(m.name, Ref(f"half_{m.name}", "y")))
    return Graph((Input("x", (poly(rows), poly(size))),), tuple(nodes), tuple(outputs))


def test_folds_of_every_pair_of_formats_are_bit_for_bit(backend):
    generator = np.random.default_rng(1)
    scales = np.exp2(np.linspace(-30, 18, 16))[:, None]
    x = (generator.standard_normal((16, 13)) * scales).astype(np.float32)
    x[3, 4], x[5, 6], x[7, 8] = np.inf, -np.inf, np.nan
    graph = folds(*x.shape)
    tasks = []
    for (storage, accumulate), split in product(PAIRS, (1, 3)):
        own = NodeSchedule(storage=storage, accumulate=accumulate, split=split)
        named = tuple((n.name, own) for n in graph.nodes if n.monoid is not None)
        rest = NodeSchedule(storage=storage, accumulate=accumulate)
        schedule = Schedule(nodes=named, default=rest)
        tasks.append(Task(graph=graph, inputs={"x": x}, schedule=schedule))
    assert_right(tasks, backend)
