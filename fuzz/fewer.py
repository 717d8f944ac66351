"""Cases of which less is computed: results left out, and results given instead of computed.

Defines `smaller_programs`. Relies on a program without dead nodes being the same program for what
it still computes, and on the interpreter for the values of what is given. It asks nobody whether a
case fails; the choices of the draw do not survive.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tang.errors import GraphError, TangError
from tang.fuzz.case import Case
from tang.interpreter import interpret
from tang.ir.bind import infer_sizes
from tang.ir.graph import Comprehension, Graph, Input, Output, reads_of, without_dead
from tang.ir.view import Ref
from tang.kernel.schedule import Schedule
from tang.rewrite.program import redirected

Array = NDArray[Any]


def smaller_programs(case: Case) -> Iterator[Case]:
    """The case with one result alone, without one of its results, with one node's result given.

    A loss stays, and so do the inputs that it is differentiated by: then results are left out.
    """
    yield from filter(_has_sizes, _proposals(case))


def _proposals(case: Case) -> Iterator[Case]:
    if case.recipe is not None and case.recipe.derivation.gradient is not None:
        gradient = case.recipe.derivation.gradient
        yield from _without_one(case, gradient.loss, frozenset(gradient.wrt))
        return
    yield from _one_alone(case)
    yield from _without_one(case)
    yield from _one_given(case)


def _has_sizes(case: Case) -> bool:
    """Whether the inputs that are left still give every symbol's value away."""
    try:
        shapes = {n: a.shape for n, a in case.inputs.items()}
        return infer_sizes(case.graph, shapes) == dict(case.sizes)
    except GraphError:
        return False


def _one_alone(case: Case) -> Iterator[Case]:
    """One node's result as the only one, the earliest node first."""
    for node in case.graph.nodes:
        refs = (Ref(node.name, o) for o in node.output_names())
        outputs = tuple(Output(f"out{n}", ref) for n, ref in enumerate(refs))
        smaller = _pruned(case, replace(case.graph, outputs=outputs))
        if len(smaller.graph.nodes) < len(case.graph.nodes):
            yield smaller


def _without_one(
    case: Case, kept: str = "", wanted: frozenset[str] = frozenset()
) -> Iterator[Case]:
    for output in case.graph.outputs:
        left = tuple(o for o in case.graph.outputs if o is not output)
        if left and output.name != kept:
            yield _pruned(case, replace(case.graph, outputs=left), wanted)


def _one_given(case: Case) -> Iterator[Case]:
    """A node that is no output as inputs that hold its values, the last first."""
    outputs = {o.ref.node for o in case.graph.outputs}
    for node in reversed(case.graph.nodes):
        if node.name not in outputs:
            given = _given(case, node)
            if given is not None:
                yield given


def _given(case: Case, node: Comprehension) -> Case | None:
    """None where the interpreter cannot give the values."""
    graph = case.graph
    reads = (r.source for n in graph.nodes for r in reads_of(n))
    refs = tuple(dict.fromkeys(ref for ref in reads if ref.node == node.name))
    names = _fresh(graph, len(refs))
    wanted = tuple(Output(name, ref) for name, ref in zip(names, refs, strict=True))
    moved = {ref: Ref(name) for name, ref in zip(names, refs, strict=True)}
    inputs = tuple(Input(o.name, graph.shape(o.ref), graph.sort(o.ref)) for o in wanted)
    changed = replace(
        graph,
        inputs=(*graph.inputs, *inputs),
        nodes=tuple(redirected(n, moved) for n in graph.nodes if n is not node),
    )
    try:
        values = interpret(replace(graph, outputs=wanted), case.inputs)
    except TangError:
        return None
    data = {**case.inputs, **{n: _stored(v) for n, v in values.items()}}
    return _pruned(replace(case, inputs=data), changed)


def _stored(value: Array) -> Array:
    """Reals as every input holds them: numbers of f32."""
    if value.dtype.kind != "f":
        return value
    with np.errstate(over="ignore"):
        return value.astype(np.float32).astype(np.float64)


def _fresh(graph: Graph, count: int) -> tuple[str, ...]:
    """Names that no tensor has."""
    taken = {i.name for i in graph.inputs} | {n.name for n in graph.nodes}
    free = (f"x{k}" for k in range(len(taken) + count))
    return tuple(name for name in free if name not in taken)[:count]


def _pruned(case: Case, graph: Graph, wanted: frozenset[str] = frozenset()) -> Case:
    """The case for another graph, without dead nodes and inputs that nobody reads."""
    graph = without_dead(graph)
    read = {r.source.node for n in graph.nodes for r in reads_of(n)}
    needed = read | {o.ref.node for o in graph.outputs} | wanted
    graph = replace(graph, inputs=tuple(i for i in graph.inputs if i.name in needed))
    graph = replace(graph, facts=tuple(f for f in graph.facts if f.symbol in graph.symbols))
    live = {n.name for n in graph.nodes}
    chosen = tuple((name, s) for name, s in case.schedule.nodes if name in live)
    return replace(
        case,
        graph=graph,
        sizes={s: n for s, n in case.sizes.items() if s in graph.symbols},
        schedule=Schedule(nodes=chosen, default=case.schedule.default),
        inputs={i.name: case.inputs[i.name] for i in graph.inputs},
        index=-1,
        choices=(),
    )
