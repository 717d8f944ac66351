"""Sums under schedules: programs, their replay, and the value of their atom."""

import numpy as np

from tang.emulator import evaluate, round_to
from tang.emulator.replay import replay
from tang.ir.expr import arg
from tang.ir.extent import poly
from tang.ir.graph import Comprehension, Dim, Graph, Input, Output
from tang.ir.monoids import SUM
from tang.ir.view import Read, Ref, View, variable
from tang.kernel.ir import BF16, F16, F32, F64
from tang.kernel.narrow import NARROW
from tang.kernel.schedule import Schedule
from tang.schedule.sums import summation_of
from tang.verify.subject import Task, prepare

FORMATS = {"f64": F64, "f32": F32, "f16": F16, "bf16": BF16, "e4m3fn": NARROW["e4m3fn"]}


def sums_of(shape, body=None):
    """Sums over all dims but the first."""
    names = ("i", "r", "s")[: len(shape)]
    first, *others = (Dim(n, poly(e)) for n, e in zip(names, shape, strict=True))
    read = Read(Ref("x"), View(tuple(variable(n) for n in names)))
    body = arg(0) if body is None else body
    node = Comprehension("y", (first,), (read,), (body,), tuple(others), monoid=SUM)
    output = Output("y", Ref("y", SUM.outputs[0].name))
    return Graph((Input("x", tuple(poly(e) for e in shape)),), (node,), (output,))


def data(rng, shape, format_):
    """Numbers of a format (of f32 for f64), whose sums are rounded at every step."""
    held = "f32" if format_ == "f64" else format_
    return round_to(rng.standard_normal(shape) * 3, held, overflow="saturate")


def replayed(graph, x, schedule):
    """The node and its results."""
    task = Task(graph=graph, inputs={"x": x}, schedule=Schedule(nodes=(("y", schedule),)))
    subject = prepare(task)
    done = replay(subject.expanded, subject.stored, sizes=subject.sizes, sanitize=False)
    return subject.bound.nodes[0], np.asarray(done.outputs["y"], np.float64)


def atom_value(node, schedule, terms, format_):
    """What the node's atom gives."""
    overflow = "saturate" if format_ == "e4m3fn" else "inf"
    return evaluate(summation_of(node, schedule, {}), terms, format_, overflow=overflow)


def same(got, wanted):
    """Bit for bit, NaN aside."""
    signs = np.array_equal(np.signbit(got), np.signbit(wanted))
    return signs and np.array_equal(got, wanted, equal_nan=True)
