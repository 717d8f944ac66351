"""Promotion against bits: a fold in runs is two folds, one within runs and one over them.

Defines `check_promoted`, a part of the rung `round`, and `unrolled`, which writes every node that
has runs as nodes that have none: (x₀ … xₙ) in runs of P → runs j of the terms jP … jP + P − 1 with
the format `partial` everywhere, then a fold of their states in `accumulate`. Both plans, replayed
in formats, must agree bit for bit. Relies on lowering without promotion, which others judge. It
leaves nodes as they are that have lanes, several reduce dims or conditions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tang.emulator.replay import replay
from tang.errors import LimitError
from tang.ir.expr import Expr, apply, index, iota, substitute, walk
from tang.ir.expr import arg as argument
from tang.ir.extent import poly
from tang.ir.graph import Comprehension, Dim, Graph
from tang.ir.monoid import Monoid
from tang.ir.view import Affine, Read, Ref, View, constant, variable
from tang.kernel.ir import F32, F64
from tang.kernel.lower import lower
from tang.kernel.narrow import USUAL
from tang.kernel.schedule import NodeSchedule, Promotion, Schedule
from tang.verify.buffers import first_difference, shared_buffers
from tang.verify.report import Finding
from tang.verify.subject import Subject
from tang.verify.verdict import Rung


def check_promoted(subject: Subject) -> list[Finding]:
    """The first buffer that changes when runs are nodes of their own."""
    graph, schedule = unrolled(subject.bound, subject.schedule)
    if graph is subject.bound:
        return []
    try:
        plain = lower(graph, schedule)
        left = replay(plain, subject.stored, sizes={}, sanitize=False)
    except (LimitError, MemoryError):  # the states of all runs at once
        return []
    right = replay(subject.plan, subject.stored, sizes=subject.sizes, sanitize=False)
    shared = shared_buffers(plain, left, subject.plan, right)
    pairs = {name: (_widened(a), _widened(b)) for name, (a, b) in shared.items()}
    found = first_difference(subject.plan, pairs, ("runs as nodes", "promoted"))
    if found is None:
        return []
    name, ref = found.buffer.name, found.buffer.ref
    said = f"buffer {name} ({ref}) is not what its runs, folded one by one, add up to"
    return [found.finding(Rung.ROUND, said, found.node, "promotion")]


def _widened(values: NDArray[Any]) -> NDArray[Any]:
    """Indices in i64: how wide a buffer of them is depends on what is known of their range."""
    return values.astype(np.int64) if values.dtype.kind == "i" else values


@dataclass(frozen=True, slots=True)
class _Runs:
    """How the only reduce dim of a node is cut: chunks of a split, runs of a chunk, terms of a run.

    total = the number of terms; chunk = those of a chunk; every = those of a run
    """

    chunk_dim: Dim
    run_dim: Dim
    term: Dim
    total: int
    chunk: int
    every: int

    @property
    def start(self) -> Affine:
        """The position of a run's first term."""
        return variable(self.chunk_dim.name, self.chunk) + variable(self.run_dim.name, self.every)

    @property
    def position(self) -> Affine:
        """The position of a term."""
        return self.start + variable(self.term.name)

    def left_in_chunk(self, at: Affine) -> Affine:
        """At least 0 where the position lies in the chunk."""
        return variable(self.chunk_dim.name, self.chunk) + constant(self.chunk - 1) - at

    def left(self, at: Affine) -> Affine:
        """At least 0 where the position lies in the reduction."""
        return constant(self.total - 1) - at


def unrolled(graph: Graph, schedule: Schedule) -> tuple[Graph, Schedule]:
    """The program with nodes in the place of runs; the graph itself where there are none."""
    chosen, taken = schedule.by_name(graph), {n.name for n in graph.nodes}
    nodes: list[Comprehension] = []
    named: list[tuple[str, NodeSchedule]] = []
    for node in graph.nodes:
        s = chosen[node.name]
        promotion = s.promotion_of(node.monoid)
        if node.monoid is None or promotion is None or not _is_plain(node, s):
            nodes.append(node)
            named.append((node.name, s))
            continue
        for made, how in _unrolled_node(node, node.monoid, s, promotion, taken):
            nodes.append(made)
            named.append((made.name, how))
    if len(nodes) == len(graph.nodes):
        return graph, schedule
    default = replace(schedule.default, promote=0, partial=None)
    return replace(graph, nodes=tuple(nodes)), Schedule(nodes=tuple(named), default=_sane(default))


def _is_plain(node: Comprehension, s: NodeSchedule) -> bool:
    extents = [d.extent for d in node.reduce]
    sized = len(extents) == 1 and extents[0].is_constant and extents[0].constant > 0
    return sized and s.lanes == 1 and not node.where


def _unrolled_node(
    node: Comprehension, monoid: Monoid, s: NodeSchedule, promotion: Promotion, taken: set[str]
) -> Iterator[tuple[Comprehension, NodeSchedule]]:
    """Runs, chunks and the node itself, which keeps its name and its storage."""
    cut = _cut(node, s, promotion)
    merging = _merging(monoid)
    partial = s.accumulate if s.partial is None else s.partial
    plain = replace(s, split=1, promote=0, partial=None, place="materialise")
    runs = _runs(node, cut, _fresh(f"{node.name}_runs", taken))
    yield runs, _sane(replace(plain, storage=partial, accumulate=partial))
    within = () if cut.total == s.split * cut.chunk else (cut.left(cut.start),)
    chunks = _fold(runs, cut.run_dim, merging, _fresh(f"{node.name}_chunks", taken), within)
    yield chunks, _sane(replace(plain, storage=s.accumulate))
    whole = replace(_fold(chunks, cut.chunk_dim, merging, node.name, ()), point=node.point)
    yield whole, _sane(replace(plain, place=s.place))


def _cut(node: Comprehension, s: NodeSchedule, promotion: Promotion) -> _Runs:
    (dim,) = node.reduce
    total = dim.extent.constant
    chunk = -(-total // s.split)
    count = -(-chunk // promotion.every)
    axes = node.monoid.axes if node.monoid is not None else ()
    taken = {d.name for d in node.dims} | {a.name for a in axes}
    names = [_fresh(f"{dim.name}_{part}", taken) for part in ("chunk", "run", "term")]
    extents = (s.split, count, promotion.every)
    chunks, runs, terms = (Dim(n, poly(e)) for n, e in zip(names, extents, strict=True))
    return _Runs(chunks, runs, terms, total, chunk, promotion.every)


def _fresh(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _runs(node: Comprehension, cut: _Runs, name: str) -> Comprehension:
    """The state of every run of every chunk."""
    (dim,) = node.reduce
    at = {dim.name: cut.position}
    new: dict[Expr, Expr] = {}
    for e in walk(*node.body):
        if e.op == "iota" and e.payload == dim.name:
            new[e] = _as_index(cut)
        elif e.op == "extent" and e.payload == dim.name:
            new[e] = index(cut.total)
    where = (cut.left_in_chunk(cut.position), cut.left(cut.position))
    return replace(
        node,
        name=name,
        point=(*node.point, cut.chunk_dim, cut.run_dim),
        reads=tuple(
            Read(r.source, r.view.map_forms(lambda f: f.substitute(at))) for r in node.reads
        ),
        body=tuple(substitute(b, new) for b in node.body),
        reduce=(cut.term,),
        where=where,
    )


def _as_index(cut: _Runs) -> Expr:
    parts = ((cut.chunk_dim, cut.chunk), (cut.run_dim, cut.every), (cut.term, 1))
    total = index(0)
    for dim, factor in parts:
        total = apply("add", total, apply("mul", iota(dim.name), index(factor)))
    return total


def _merging(monoid: Monoid) -> Monoid:
    """The monoid whose elements are states."""
    sorts = tuple(c.sort for c in monoid.components)
    return replace(
        monoid, inputs=sorts, lift=tuple(argument(i, sort) for i, sort in enumerate(sorts))
    )


def _fold(
    source: Comprehension, over: Dim, monoid: Monoid, name: str, where: tuple[Affine, ...]
) -> Comprehension:
    """The states of a node folded over one of its point dims."""
    reads = []
    for c in monoid.components:
        dims = (d.name for d in source.tensor(c.name).dims)
        coords = tuple(variable(n) for n in (*dims, *c.axes))
        reads.append(Read(Ref(source.name, c.name), View(coords)))
    body = tuple(argument(i, c.sort) for i, c in enumerate(monoid.components))
    point = tuple(d for d in source.point if d != over)
    return Comprehension(name, point, tuple(reads), body, (over,), where, monoid)


def _sane(s: NodeSchedule) -> NodeSchedule:
    """The schedule without a rounding that has no format to hold for."""
    kept = [f for f in (s.storage, s.accumulate) if f not in (F32, F64)]
    return s if kept else replace(s, rounding="rne", overflow=USUAL)
