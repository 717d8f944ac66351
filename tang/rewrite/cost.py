"""What a rewrite costs: operations, points and bytes, at nominal sizes where symbols are free.

Defines `operations`, `points`, `traffic` and `nominal`. Relies on the IR. Costs choose between
legal programs and never decide what is legal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Final

from tang.ir.expr import LEAVES, Expr, walk
from tang.ir.extent import Poly, poly
from tang.ir.graph import Comprehension, Fact, reads_of
from tang.ir.view import Ref
from tang.rewrite.program import Program

NOMINAL: Final = 64
"""The size that a symbolic extent is taken to have, within its facts."""
OPERATIONS: Final[Mapping[str, int]] = {
    "sqrt": 4, "recip": 4, "exp2": 16, "log2": 16, "sin": 16, "atan2": 16, "erf": 16,
}  # fmt: skip
"""Operations that cost more than one."""
ELEMENT: Final = 16
"""Operations that cost as much as moving one element to or from memory."""
BYTES: Final = 4
"""Bytes of an element: f32 or i32."""


def operations(*roots: Expr) -> int:
    """The cost of evaluating expressions once; what they share counts once."""
    return sum(OPERATIONS.get(e.op, 1) for e in walk(*roots) if e.op not in LEAVES)


def nominal(p: Poly, facts: Sequence[Fact]) -> int:
    """The value of an extent at nominal sizes."""
    if p.is_constant:
        return p.constant
    known = {f.symbol: f for f in facts}
    return p.evaluate({s: _nominal(known.get(s, Fact(s))) for s in p.symbols})


def _nominal(f: Fact) -> int:
    size = max(NOMINAL, f.minimum)
    return size if f.maximum is None else min(size, f.maximum)


def points(node: Comprehension) -> Poly:
    """How often a node evaluates its body."""
    axes = node.monoid.axes if node.monoid is not None else ()
    return product([*(d.extent for d in node.dims), *(poly(a.size) for a in axes)])


def product(extents: Iterable[Poly]) -> Poly:
    """The product of extents, 1 for none."""
    return prod(extents, start=poly(1))


def read_elements(program: Program, node: Comprehension) -> Poly:
    """Elements of the distinct tensors that a node reads."""
    sources = dict.fromkeys(r.source for r in reads_of(node))
    return sum((product(program.type_of(s)[0]) for s in sources), start=Poly())


def written_elements(program: Program, node: Comprehension) -> Poly:
    """Elements of the results that a node has to store."""
    used = program.used(node.name)
    names = [n for n in node.output_names() if n in used]
    shapes = (program.type_of(Ref(node.name, n))[0] for n in names)
    return sum((product(s) for s in shapes), start=Poly())


def traffic(program: Program, node: Comprehension) -> Poly:
    """Bytes that a node moves: each distinct tensor read once, each used result written once."""
    return (read_elements(program, node) + written_elements(program, node)) * BYTES
