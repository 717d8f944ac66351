"""Random derivations: which rules a program goes through before it is lowered, and gradients.

Defines `draw_derivation` and the plain-data form of derivations. Relies on the names of the rules
alone. It applies none: that is the ladder's work, where they are under test. Shrinks to none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import prod
from typing import Any, Final

from tang.fuzz.source import Source, chance, choose, weighted
from tang.ir.expr import REAL, arg
from tang.ir.graph import Comprehension, Dim, Graph, Output
from tang.ir.monoids import SUM
from tang.ir.view import Read, Ref, View, variable
from tang.rewrite import RULES
from tang.verify.derive import Derivation, Gradient
from tang.verify.report import Report

LOSS: Final = "loss"
"""Name of the output that gradients are taken of."""

_MOST: Final = 400
"""Elements of a tensor that is summed into a loss at most, and of an input differentiated by."""


def draw_derivation(
    source: Source, graph: Graph, sizes: Mapping[str, int]
) -> tuple[Graph, Derivation | None]:
    """A derivation and the graph that it starts from, which has a loss where one is needed."""
    if not chance(source, 50):
        return graph, None
    rules = _draw_rules(source)
    strict = chance(source, 50)
    wrt = _draw_wrt(source, graph, sizes) if chance(source, 35) else ()
    summed = _summable(graph, sizes) if wrt else []
    if not summed:
        return graph, Derivation(rules=rules, strict=strict)
    gradient = Gradient(LOSS, wrt)
    with_loss = _with_loss(graph, choose(source, summed))
    return with_loss, Derivation(rules=rules, strict=strict, gradient=gradient)


def _draw_rules(source: Source) -> tuple[str, ...] | None:
    """The pipeline, or some rules in any order; shrinks to a single rule."""
    kind = weighted(source, ((40, "some"), (60, "pipeline")))
    if kind == "pipeline":
        return None
    left = list(RULES)
    wanted = 1 + source.below(len(left))
    return tuple(left.pop(source.below(len(left))) for _ in range(wanted))


def _draw_wrt(source: Source, graph: Graph, sizes: Mapping[str, int]) -> tuple[str, ...]:
    names = [
        i.name
        for i in graph.inputs
        if i.sort is REAL and prod(p.evaluate(sizes) for p in i.shape) <= _MOST
    ]
    if not names:
        return ()
    kept = tuple(n for n in names if chance(source, 60))
    return kept or (choose(source, names),)


def _summable(graph: Graph, sizes: Mapping[str, int]) -> list[Output]:
    def small(o: Output) -> bool:
        return prod(p.evaluate(sizes) for p in graph.shape(o.ref)) <= _MOST

    taken = any(o.name == LOSS for o in graph.outputs)
    found = (o for o in graph.outputs if o.ref.output and graph.sort(o.ref) is REAL and small(o))
    return [] if taken else list(found)


def _with_loss(graph: Graph, summed: Output) -> Graph:
    """The graph with the sum of one of its results as a further output."""
    dims = tuple(Dim(f"r{n}", extent) for n, extent in enumerate(graph.shape(summed.ref)))
    read = Read(summed.ref, View(tuple(variable(d.name) for d in dims)))
    names = {n.name for n in graph.nodes} | {i.name for i in graph.inputs}
    name = next(n for n in (LOSS, *(f"{LOSS}{k}" for k in range(len(names) + 1))) if n not in names)
    node = Comprehension(name, (), (read,), (arg(0),), dims, (), SUM)
    outputs = (*graph.outputs, Output(LOSS, Ref(name, "value")))
    return replace(graph, nodes=(*graph.nodes, node), outputs=outputs)


# --- plain data ----------------------------------------------------------------------------------


def derivation_data(derivation: Derivation | None) -> dict[str, Any] | None:
    """The derivation as plain data, for JSON and for repro files."""
    if derivation is None:
        return None
    gradient = derivation.gradient
    return {
        "rules": None if derivation.rules is None else list(derivation.rules),
        "strict": derivation.strict,
        "loss": gradient.loss if gradient else None,
        "wrt": list(gradient.wrt) if gradient else [],
    }


def derivation_from(data: Mapping[str, Any] | None) -> Derivation | None:
    """The derivation that `derivation_data` wrote."""
    if data is None:
        return None
    rules = data["rules"]
    gradient = Gradient(data["loss"], tuple(data["wrt"])) if data["loss"] else None
    names = None if rules is None else tuple(rules)
    return Derivation(rules=names, strict=bool(data["strict"]), gradient=gradient)


# --- coverage ------------------------------------------------------------------------------------


def drawn_cells(derivation: Derivation | None) -> Iterable[str]:
    """What coverage counts of a drawn derivation."""
    if derivation is None:
        return
    yield "derived:strict" if derivation.strict else "derived:default"
    yield "derived:pipeline" if derivation.rules is None else "derived:some-rules"
    if derivation.gradient is not None:
        yield "derived:gradient"


def applied_cells(report: Report) -> Iterable[str]:
    """What coverage counts of a finished check: the rules that had something to do."""
    names = {name for r in report.results for name in r.rules}
    return sorted(f"applied:{name}" for name in names)


def derivation_cells() -> tuple[str, ...]:
    """Every cell of these two groups."""
    kinds = ("strict", "default", "pipeline", "some-rules", "gradient")
    return (*(f"derived:{k}" for k in kinds), *(f"applied:{name}" for name in RULES))
