"""Rules `dead-node`, `dead-output` and `dead-part`: what nobody needs is not computed.

Defines the three. Relies on the readers of the program and on `factors`. A component that another
component or a used output needs stays.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tang.ir.graph import Comprehension
from tang.ir.monoid import Monoid
from tang.ir.view import Ref
from tang.rewrite.factors import Factor, factors, joined
from tang.rewrite.matching import keeps_types, tidy
from tang.rewrite.program import Program
from tang.rewrite.rule import Edit, Rule
from tang.rewrite.substitution import renamed


def _find_node(program: Program, node: Comprehension) -> Edit | None:
    if program.readers(node.name) or program.is_output(node.name):
        return None
    return Edit((node.name,), (), node.name, f"{node.name}, which nobody reads → nothing")


def _find_output(program: Program, node: Comprehension) -> Edit | None:
    """(f, g) where nobody reads g → (f), with the reads that f needs, each once."""
    used = program.used(node.name)
    if not used:
        return None
    new = tidy(_with_outputs(node, [o for o in node.outputs if o in used]))
    if new == node or not keeps_types(program, node, new):
        return None
    outputs, reads = len(node.outputs) - len(new.outputs), len(node.reads) - len(new.reads)
    text = f"{node.name} with {outputs} outputs and {reads} reads that nobody needs → without"
    return Edit((node.name,), (new,), node.name, text)


def _with_outputs(node: Comprehension, kept: list[str]) -> Comprehension:
    if len(kept) == len(node.outputs):
        return node
    body = tuple(node.body[node.outputs.index(o)] for o in kept)
    return replace(node, outputs=tuple(kept), body=body)


def _find_part(program: Program, node: Comprehension) -> Edit | None:
    """A product of reductions → the product of those with a used result."""
    used = program.used(node.name)
    if node.monoid is None or len(node.monoid.components) < 2 or not used:
        return None
    parts = factors(node.monoid)
    kept = [p for p in parts if used & set(p.names.values())]
    if len(kept) == len(parts):
        return None
    monoid, names, axes = joined(kept)
    if {a.name for a in monoid.axes} & {d.name for d in node.dims}:
        return None
    changed = with_factors(node, kept, monoid, axes)
    redirect = {
        Ref(node.name, p.names[k]): Ref(node.name, new[k])
        for p, new in zip(kept, names, strict=True)
        for k in p.names
        if p.names[k] != new[k] and p.names[k] in used
    }
    text = f"{node.name} folds {len(parts)} monoids, {len(kept)} of them read → {monoid.name}"
    return Edit((node.name,), (tidy(changed),), node.name, text, redirect)


def with_factors(
    node: Comprehension, kept: list[Factor], monoid: Monoid, axes: list[dict[str, str]]
) -> Comprehension:
    """The node with the product of some factors of its monoid in place of the monoid."""
    names = {p.axes[k]: new[k] for p, new in zip(kept, axes, strict=True) for k in p.axes}
    body = tuple(node.body[i] for p in kept for i in p.inputs)
    bare = tidy(replace(node, body=body))
    return replace(renamed(replace(bare, monoid=None), names), monoid=monoid)


DEAD_NODE: Final = Rule(
    "dead-node",
    "a node that no node reads and no output names → nothing",
    "any",
    frozenset(),
    "Tang.dead_node",
    _find_node,
)

DEAD_OUTPUT: Final = Rule(
    "dead-output",
    "outputs of a map and reads of a node that nothing needs → the node without them",
    "any",
    frozenset(),
    "Tang.dead_output",
    _find_output,
    recalled=True,
)

DEAD_PART: Final = Rule(
    "dead-part",
    "a fold of a product of monoids, one of which nobody reads → the fold of the others",
    "product of monoids",
    frozenset(),
    "Tang.dead_part",
    _find_part,
    recalled=True,
)
