"""Random graphs: one to five nodes and the outputs that make them matter.

Defines `draw_graph`. Relies on `draw_node` for everything inside. It draws neither a schedule nor
data. Shrinks to one node with one output.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from tang.fuzz.formats import ALL, Formats
from tang.fuzz.nodes import draw_node
from tang.fuzz.program import InputPlan, Program, draw_program
from tang.fuzz.source import Source, chance, choose, weighted
from tang.ir.bind import bind
from tang.ir.extent import symbol
from tang.ir.graph import Fact, Graph, Output
from tang.ir.view import Ref

_SPARE: Final = 3
"""How much larger than its value a symbol may be, where it must have a bound."""


@dataclass(frozen=True, slots=True)
class DrawnGraph:
    """A graph, the sizes of its symbols, what its inputs hold, and nodes that must not be split.

    motif  what a program written as people write them is there for ("" for a random graph)
    """

    graph: Graph
    sizes: dict[str, int]
    plans: tuple[InputPlan, ...]
    in_order: frozenset[str]
    motif: str = ""


def draw_graph(source: Source, formats: Formats = ALL) -> DrawnGraph:
    """A random valid graph; shrinks to a map that copies an input."""
    program = draw_program(source, formats)
    count = weighted(source, ((20, 1), (35, 2), (25, 3), (13, 4), (7, 5)))
    for at in range(count):
        source.part(partial(_add_node, program, f"n{at}"))
    graph = Graph(
        tuple(plan.declare() for plan in program.inputs),
        tuple(program.nodes),
        _draw_outputs(source, program),
    )
    graph, sizes = _inferable(source, graph, program.sizes, formats)
    return DrawnGraph(graph, sizes, tuple(program.inputs), frozenset(program.in_order))


def _add_node(program: Program, name: str, source: Source) -> None:
    draw_node(source, program, name)


def _draw_outputs(source: Source, program: Program) -> tuple[Output, ...]:
    """Every node that nothing reads is an output; perhaps a state or an intermediate result too."""
    chosen: list[Ref] = []
    for tensor in program.tensors:
        if tensor.ref.node in program.unread and not tensor.is_state:
            chosen.append(tensor.ref)
    if chance(source, 25):
        results = [t.ref for t in program.tensors if t.ref.output and t.ref not in chosen]
        if results:
            chosen.append(choose(source, results))
    return tuple(Output(f"out{at}", ref) for at, ref in enumerate(chosen))


def _inferable(
    source: Source, graph: Graph, sizes: dict[str, int], formats: Formats
) -> tuple[Graph, dict[str, int]]:
    """The graph with only such symbols as the shape of some input gives away, and facts on them."""
    plain = {s for s in sizes if any(symbol(s) in i.shape for i in graph.inputs)}
    hidden = {s: n for s, n in sizes.items() if s not in plain}
    bound = bind(graph, hidden) if hidden else graph
    facts = tuple(_fact(source, s, sizes[s]) for s in sorted(plain) if chance(source, 40))
    kept = {s: sizes[s] for s in sorted(plain)}
    if not formats.i64:
        facts = _bounded(facts, kept)
    return Graph(bound.inputs, bound.nodes, bound.outputs, facts), kept


def _bounded(facts: tuple[Fact, ...], sizes: dict[str, int]) -> tuple[Fact, ...]:
    """Facts that bound every symbol, so that its indices have 32 bits."""
    known = {f.symbol: f for f in facts}
    found = (known.get(s, Fact(s)) for s in sizes)
    return tuple(
        f if f.maximum is not None else replace(f, maximum=sizes[f.symbol] + _SPARE) for f in found
    )


def _fact(source: Source, name: str, value: int) -> Fact:
    minimum = choose(source, (0, min(1, value), value))
    maximum = choose(source, (None, value, value + 3))
    multiple = choose(source, (1, max(value, 1)))
    return Fact(name, minimum, maximum, multiple)
