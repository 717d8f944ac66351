"""Relations between nodes that intervals cannot see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from tang.emulator.certify_expressions import Refinement
from tang.ir.expr import Expr, walk
from tang.ir.graph import Comprehension, Graph


@dataclass(frozen=True, slots=True)
class Hints:
    """What is known of a node's expressions beyond intervals.

    refined  expression → rule that its step passes
    sums     lift → how to sum it: "exp" with the exponent, "weighted" with weight and value
    """

    refined: Mapping[Expr, Refinement] = field(default_factory=dict)
    sums: Mapping[Expr, tuple[str, tuple[Expr, ...]]] = field(default_factory=dict)


class Relations:
    """What is known of the nodes so far.

    standard  the least positive constant that is added to something under a root, or None
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.standard = _under_roots(graph)

    def hints(self, node: Comprehension) -> Hints:
        """What is known of a node before it is read."""
        return Hints()

    def leave(self, node: Comprehension) -> None:
        """Learn what a node is to those after it."""


def _under_roots(graph: Graph) -> float | None:
    found = []
    for node in graph.nodes:
        for e in walk(*node.body):
            if e.op == "sqrt" and e.args[0].op == "add":
                found += [float(x.payload) for x in e.args[0].args
                          if isinstance(x.payload, Fraction) and x.payload > 0]  # fmt: skip
    return min(found, default=None)
