"""Programs for the tests of inlining, and replay of two schedules of one program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tang.emulator.replay import replay
from tang.ir.expr import REAL, Expr, Sort, apply, arg
from tang.ir.extent import Poly, PolyLike, poly
from tang.ir.graph import Comprehension, Dim, Graph, Input, Output
from tang.ir.monoid import Monoid
from tang.ir.monoids import ONLINE_SOFTMAX, SUM
from tang.ir.validate import validate
from tang.ir.view import Affine, Interval, Read, Ref, View, variable
from tang.kernel.ir import F32, Type
from tang.kernel.lower import lower
from tang.kernel.plan import Plan
from tang.kernel.schedule import NodeSchedule, Schedule


def form(at: str | Affine) -> Affine:
    return variable(at) if isinstance(at, str) else at


def read(source: str, *at: str | Affine, output: str = "", **view: Any) -> Read:
    return Read(Ref(source, output), View(tuple(form(a) for a in at), **view))


def guarded(source: str, at: Affine, size: PolyLike, fill: Expr, output: str = "") -> Read:
    """source[at], or the fill outside of the source."""
    return read(source, at, output=output, guard=(Interval(at, Poly(), poly(size)),), fill=fill)


def dims(**extents: PolyLike) -> tuple[Dim, ...]:
    return tuple(Dim(n, poly(e)) for n, e in extents.items())


def given(name: str, *shape: PolyLike, sort: Sort = REAL) -> Input:
    return Input(name, tuple(poly(n) for n in shape), sort)


def map_of(
    name: str, point: tuple[Dim, ...], reads: tuple[Read, ...], *body: Expr
) -> Comprehension:
    return Comprehension(name, point, reads, body, outputs=("y", "z", "w")[: len(body)])


def fold_of(
    name: str,
    point: tuple[Dim, ...],
    reads: tuple[Read, ...],
    reduce: tuple[Dim, ...],
    *body: Expr,
    monoid: Monoid = SUM,
    where: tuple[Affine, ...] = (),
) -> Comprehension:
    return Comprehension(name, point, reads, body or (arg(0),), reduce, where, monoid)


def graph_of(inputs: tuple[Input, ...], *nodes: Comprehension, output: str = "") -> Graph:
    """The graph whose only output is a result of the last node."""
    last = nodes[-1]
    name = output or last.output_names()[0]
    found = Graph(inputs, nodes, (Output("out", Ref(last.name, name)),))
    validate(found)
    return found


def attention(length: PolyLike, width: int) -> Graph:
    """Scores over d, folded by online softmax: out[q, c] = Σ_k softmax_k(Q·K)[q, k] · V[k, c]."""
    product = apply("mul", arg(0), arg(1))
    scores = fold_of(
        "scores", dims(q=length, k=length), (read("Q", "q", "d"), read("K", "k", "d")),
        dims(d=width), product,
    )  # fmt: skip
    out = fold_of(
        "attend", dims(q=length, c=width), (read("scores", "q", "k", output="value"),
        read("V", "k", "c")), dims(k=length), arg(0), arg(1), monoid=ONLINE_SOFTMAX,
    )  # fmt: skip
    inputs = tuple(given(name, length, width) for name in "QKV")
    return graph_of(inputs, scores, out)


def placed(default: NodeSchedule | None = None, **places: str) -> Schedule:
    """A schedule with some nodes placed; formats as in `default`."""
    base = default or NodeSchedule()
    rows = {n: NodeSchedule(storage=base.storage, accumulate=base.accumulate, place=p)
            for n, p in places.items()}  # fmt: skip
    return Schedule(nodes=tuple(rows.items()), default=base)


def formats(storage: Type, accumulate: Type = F32) -> NodeSchedule:
    return NodeSchedule(storage=storage, accumulate=accumulate)


def numbers(graph: Graph, seed: int = 0, **sizes: int) -> dict[str, Any]:
    """Normal numbers, or indices in −1 … 4."""
    rng, found = np.random.default_rng(seed), {}
    for i in graph.inputs:
        shape = tuple(p.evaluate(sizes) for p in i.shape)
        real = rng.normal(size=shape).astype(np.float32)
        found[i.name] = real if i.sort is REAL else rng.integers(-1, 5, shape)
    return found


def same_bits(graph: Graph, data: Mapping[str, Any], schedule: Schedule, plain: Schedule) -> Plan:
    """Both schedules give the same bits on replay; the plan of the first."""
    plan = lower(graph, schedule)
    left, right = replay(plan, data), replay(lower(graph, plain), data)
    assert left.findings == ()
    for name, value in right.outputs.items():
        a, b = np.asarray(left.outputs[name]), np.asarray(value)
        assert a.dtype == b.dtype
        assert a.tobytes() == b.tobytes()
    return plan
