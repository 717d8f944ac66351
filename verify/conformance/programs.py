"""Conformance of whole programs: small graphs, lowered, with replay's state before every launch.

Defines `program_cases`. Relies on the front end, on lowering and on the verifier's trials. What
lowering makes of a graph is under test elsewhere; here its kernels are test data for emitters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

import tang as tg
from tang.emulator.replay import replay
from tang.ir.graph import Fact, Graph
from tang.kernel.ir import BF16, F16, F32
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.verify.conformance.case import Case
from tang.verify.inputs import random_inputs
from tang.verify.rung_emit import trials
from tang.verify.subject import Task, prepare

PLAIN: Final = Schedule()
SPLIT: Final = Schedule(default=NodeSchedule(split=3))
HALF: Final = Schedule(default=NodeSchedule(storage=F16, accumulate=F32, workgroup=32))
NARROW: Final = Schedule(default=NodeSchedule(storage=BF16, accumulate=BF16, split=2))


def program_cases() -> Iterator[Case]:
    """One case per program and schedule."""
    yield program("matmul", _matmul(5, 33, 7), PLAIN)
    yield program("matmul split", _matmul(5, 33, 7), SPLIT)
    yield program("matmul in f16", _matmul(5, 33, 7), HALF)
    yield program("matmul in bf16 split", _matmul(3, 17, 5), NARROW)
    for sizes in ({"m": 1, "n": 1}, {"m": 65, "n": 3}, {"m": 0, "n": 4}):
        shown = ", ".join(f"{s} = {n}" for s, n in sizes.items())
        yield program(f"symbolic matmul, {shown}", _symbolic(4096), PLAIN, sizes)
    yield program("unbounded symbolic matmul", _symbolic(None), PLAIN, {"m": 3, "n": 5})
    yield program("softmax", _softmax(), PLAIN)
    yield program("softmax in f16", _softmax(), HALF)
    yield program("masked attention", _attention(), PLAIN)
    yield program("argmax split", _argmax(), SPLIT)
    yield program("top-k", _top_k(), PLAIN)
    yield program("guarded convolution", _convolution(), PLAIN)
    yield program("embedding", _embedding(), PLAIN)
    yield program("cumulative sum", _cumulative(), PLAIN)
    yield program("layer norm split", _layer_norm(), SPLIT)
    yield program("an empty reduction", _empty(), PLAIN)


def program(
    name: str, graph: Graph, schedule: Schedule, sizes: Mapping[str, int] | None = None
) -> Case:
    """The launches of a program on random inputs."""
    data = random_inputs(graph, sizes or {}, seed=1)
    subject = prepare(Task(graph=graph, inputs=data, schedule=schedule, name=name))
    replayed = replay(subject.expanded, subject.stored, sizes=subject.sizes)
    found = tuple(trials(subject, replayed))
    return Case(f"program: {name}", found, (), replayed.findings)


def _matmul(m: int, inner: int, n: int) -> Graph:
    i, j, k = tg.dims("i j k")
    a, b = tg.input("A", (m, inner)), tg.input("B", (inner, n))
    return tg.Graph(tg.compute("C", (i, j), tg.sum(a[i, k] * b[k, j], over=k)))


def _symbolic(largest: int | None) -> Graph:
    """With a bound the indices fit 32 bits, without one they take 64."""
    i, j, k = tg.dims("i j k")
    a, b = tg.input("A", ("m", 4)), tg.input("B", (4, "n"))
    graph = tg.Graph(tg.compute("C", (i, j), tg.sum(a[i, k] * b[k, j], over=k)))
    facts = tuple(Fact(s, maximum=largest) for s in ("m", "n"))
    return replace(graph, facts=facts) if largest is not None else graph


def _softmax() -> Graph:
    i, k = tg.dims("i k")
    x = tg.input("X", (5, 33))
    top = tg.compute("top", (i,), tg.max(x[i, k], over=k))
    weight = tg.exp(x[i, k] - top[i])
    return tg.Graph(tg.compute("P", (i, k), weight / tg.sum(weight, over=k)))


def _attention() -> Graph:
    q, key, v = (tg.input(n, (2, 5, 8)) for n in ("Q", "K", "V"))
    mask = tg.input("mask", (2, 5, 5), "bool")
    return tg.Graph(out=tg.attention(q, key, v, mask=mask, masked=True))


def _argmax() -> Graph:
    i, k = tg.dims("i k")
    x = tg.input("X", (6, 33))
    best = tg.compute("best", (i,), tg.argmax(x[i, k], over=k))
    return tg.Graph(index=best, value=best.output("value"))


def _top_k() -> Graph:
    i, k = tg.dims("i k")
    x = tg.input("X", (4, 21))
    best = tg.compute("best", (i,), tg.top_k(x[i, k], 3, over=k))
    return tg.Graph(values=best, indices=best.output("indices"))


def _convolution() -> Graph:
    o, r = tg.dims("o r")
    p = tg.dims(p=8)
    x, w = tg.input("X", (15,)), tg.input("W", (3, 3))
    y = tg.sum(x.at(2 * p + r - 1, fill=0) * w[o, r], over=r)
    return tg.Graph(tg.compute("Y", (o, p), y))


def _embedding() -> Graph:
    t, d = tg.dims("t d")
    table, token = tg.input("table", (11, 5)), tg.input("token", (7,), "index")
    return tg.Graph(tg.compute("E", (t, d), table.at(token[t], d, fill=0)))


def _cumulative() -> Graph:
    i, s = tg.dims("i s")
    t = tg.dims(t=17)
    x = tg.input("X", (3, 17))
    return tg.Graph(tg.compute("Y", (i, t), tg.sum(x[i, s], over=s, where=[s <= t])))


def _layer_norm() -> Graph:
    x, weight, bias = tg.input("X", (4, 40)), tg.input("weight", (40,)), tg.input("bias", (40,))
    return tg.Graph(Y=tg.layer_norm(x, weight, bias, eps=1e-5))


def _empty() -> Graph:
    i, k = tg.dims("i k")
    x = tg.input("X", (3, 0))
    return tg.Graph(tg.compute("y", (i,), tg.sum(x[i, k], over=k)))
