"""Cases of which less is computed: results are left out, with what only they need.

Defines `fewer_results`. Relies on a program without dead nodes being the same program for what it
still computes. It asks nobody whether a case fails; the choices of the draw do not survive.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tang.fuzz.case import Case
from tang.ir.graph import Comprehension, Graph, reads_of
from tang.kernel.schedule import Schedule


def fewer_results(case: Case) -> Iterator[Case]:
    """The case with one of its results alone, the first first, then without one of them.

    A loss stays, and so do the inputs that it is differentiated by.
    """
    gradient = case.recipe.derivation.gradient if case.recipe else None
    loss, wrt = (gradient.loss, frozenset(gradient.wrt)) if gradient else ("", frozenset())
    fixed = tuple(o for o in case.graph.outputs if o.name == loss)
    free = tuple(o for o in case.graph.outputs if o.name != loss)
    if len(free) > 1 and not fixed:
        for output in free:
            yield _pruned(case, replace(case.graph, outputs=(output,)), wrt)
    if len(free) + len(fixed) > 1:
        for output in free:
            left = tuple(o for o in case.graph.outputs if o is not output)
            yield _pruned(case, replace(case.graph, outputs=left), wrt)


def _pruned(case: Case, graph: Graph, wanted: frozenset[str]) -> Case:
    """The case for a graph with fewer outputs, without dead nodes and inputs that nobody reads."""
    needed = {o.ref.node for o in graph.outputs} | wanted
    kept: list[Comprehension] = []
    for node in reversed(graph.nodes):
        if node.name in needed:
            kept.append(node)
            needed |= {r.source.node for r in reads_of(node)}
    inputs = tuple(i for i in graph.inputs if i.name in needed)
    graph = replace(graph, inputs=inputs, nodes=tuple(reversed(kept)))
    graph = replace(graph, facts=tuple(f for f in graph.facts if f.symbol in graph.symbols))
    live = {n.name for n in graph.nodes}
    chosen = tuple((name, s) for name, s in case.schedule.nodes if name in live)
    return replace(
        case,
        graph=graph,
        sizes={s: n for s, n in case.sizes.items() if s in graph.symbols},
        schedule=Schedule(nodes=chosen, default=case.schedule.default),
        inputs={i.name: case.inputs[i.name] for i in inputs},
        index=-1,
        choices=(),
    )
