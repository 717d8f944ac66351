"""Rule `substitute-maps`: a map is evaluated where it is read.

Defines `SUBSTITUTE_MAPS`. Relies on `substitution` for the meaning and on `cost` for whether it
pays. It substitutes maps only: an inlined reduction is a schedule.

It pays, all readers of a result together, when no reader needs it stored anyway and

* the elements no longer moved, S written + R·S read + T − R·T for R reads of a result of S
  elements made from tensors of T elements, are no fewer than 0, and
* what is evaluated again, (points of the readers − points of the map) · operations, costs at most
  `cost.ELEMENT` operations for each element no longer moved, of which a kernel less is worth
  `KERNEL`, or nothing.

So a scale or a mask goes into the softmax that reads it; a GELU is not evaluated again for every
column of a product, and a bias stays where it is added once (it is a schedule's epilogue there).
"""

from __future__ import annotations

from typing import Final

from tang.ir.graph import Comprehension
from tang.ir.view import Ref
from tang.rewrite.cost import ELEMENT, nominal, operations, points, product, read_elements
from tang.rewrite.matching import acceptable, readings, tidy
from tang.rewrite.program import Program
from tang.rewrite.proofs import domain_of
from tang.rewrite.rule import Edit, Rule
from tang.rewrite.substitution import inlined

KERNEL: Final = 4096
"""Elements whose movement costs about as much as one more kernel."""
MOST_READS: Final = 24
MOST_OPERATIONS: Final = 192
"""A body with more reads or operations is not made larger: chains of stencils would grow without
end, each step paying for itself."""
MOST_READINGS: Final = 16
"""A map with more reads than this is worth storing."""


def _find(program: Program, node: Comprehension) -> Edit | None:
    """… M[c] … where M[i] = f(i) → … f(c) …, under the guard of the read."""
    for position, read in enumerate(node.reads):
        source = program.node(read.source.node)
        if source is None or source.monoid is not None:
            continue
        if not pays(program, source, read.source):
            continue
        made = inlined(node, position, source, domain_of(node, program.facts))
        if made is None:
            continue
        new = tidy(made)
        if _is_bulky(node, new):
            continue
        if acceptable(program, node, new):
            text = f"{node.name} reads {read.source} → {node.name} computes it"
            return Edit((node.name,), (new,), node.name, text, context=(source.name,))
    return None


def _is_bulky(old: Comprehension, new: Comprehension) -> bool:
    """Whether a body has grown beyond what is read and compiled at ease."""
    reads = len(new.reads) > max(MOST_READS, len(old.reads))
    before, after = (sum(map(operations, n.body)) for n in (old, new))
    return reads or after > max(MOST_OPERATIONS, before)


def pays(program: Program, source: Comprehension, ref: Ref) -> bool:
    """Whether evaluating a map's result in all its readers costs no more than storing it."""
    if ref.output in program.wanted(ref.node):
        return False
    found = list(readings(program, ref))
    inner = sum(1 for reader, read in found if read in reader.reads)
    if not found or len(found) > MOST_READINGS or inner < len(found):
        return False
    facts = program.facts
    size = nominal(product(d.extent for d in source.point), facts)
    inputs = nominal(read_elements(program, source), facts)
    saved = size + len(found) * size + inputs - len(found) * inputs
    evaluated = sum(nominal(points(reader), facts) for reader, _ in found)
    body = source.body[source.outputs.index(ref.output)]
    again = (evaluated - size) * operations(body)
    return saved >= 0 and again <= ELEMENT * (saved + KERNEL)


SUBSTITUTE_MAPS: Final = Rule(
    "substitute-maps",
    "a read of a map at c under a guard → select(guard, the map's body at c, fill), where that "
    "costs no more than storing the map",
    "any",
    frozenset(),
    "Tang.substitute_maps",
    _find,
    recalled=True,
)
