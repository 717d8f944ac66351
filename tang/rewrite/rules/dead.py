"""Rule `dead-node`: what nobody needs is not computed.

Defines `DEAD_NODE`. Relies on the readers of the program. It removes whole nodes only: a result of
a node that is needed for another result stays.
"""

from __future__ import annotations

from typing import Final

from tang.ir.graph import Comprehension
from tang.rewrite.program import Program
from tang.rewrite.rule import Edit, Rule


def _find(program: Program, node: Comprehension) -> Edit | None:
    if program.readers(node.name) or program.is_output(node.name):
        return None
    return Edit((node.name,), (), node.name, f"{node.name}, which nobody reads → nothing")


DEAD_NODE: Final = Rule(
    "dead-node",
    "a node that no node reads and no output names → nothing",
    "any",
    frozenset(),
    "Tang.dead_node",
    _find,
)
