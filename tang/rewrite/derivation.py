"""Derivations: what each step of a rewrite does to the number of kernels and to memory traffic.

Defines `derivation` and `Stage`. Relies on the engine's observer and on `cost`. It counts a kernel
for every node, as if nothing were inlined: inlining is a schedule.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tang.ir.extent import Poly
from tang.ir.graph import Comprehension, Graph
from tang.rewrite.catalogue import PIPELINE, RULES
from tang.rewrite.cost import traffic
from tang.rewrite.engine import Rewritten, Step, apply_rules, chosen
from tang.rewrite.program import Program


@dataclass(frozen=True, slots=True)
class Stage:
    """The program after a step (None: as it was given): its kernels and the bytes they move."""

    step: Step | None
    kernels: int
    bytes: Poly


@dataclass(slots=True)
class _Account:
    """The traffic of a program, known for every node that has not changed."""

    known: dict[str, tuple[Comprehension, frozenset[str], Poly]] = field(default_factory=dict)

    def stage(self, step: Step | None, program: Program) -> Stage:
        nodes = program.nodes()
        return Stage(step, len(nodes), sum((self.node(program, n) for n in nodes), start=Poly()))

    def node(self, program: Program, node: Comprehension) -> Poly:
        used = program.used(node.name)
        found = self.known.get(node.name)
        if found is None or found[0] is not node or found[1] != used:
            found = node, used, traffic(program, node)
            self.known[node.name] = found
        return found[2]


def derivation(
    graph: Graph, rules: Iterable[str] | None = None, strict: bool = False
) -> tuple[Rewritten, list[Stage]]:
    """The rewritten graph and a stage for the program as given and after each step."""
    account = _Account()
    stages = [account.stage(None, Program(graph))]

    def observe(step: Step, program: Program) -> None:
        stages.append(account.stage(step, program))

    selected = chosen(PIPELINE if rules is None else rules, RULES)
    return apply_rules(graph, selected, strict=strict, observe=observe), stages
