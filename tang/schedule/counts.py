"""Counts: operations and bytes of nodes at assumed sizes.

Defines `Sizes`, `operations` (per point of a node), `written` (in its code) and `evaluations` (how
often a read is made).
Relies on the IR. It knows no device: every operation counts as one, a function as `FUNCTION`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Final

from tang.ir.expr import LEAVES, Expr, Sort, walk
from tang.ir.extent import Poly
from tang.ir.graph import Comprehension, Dim, Fact, Graph, Tensor, reads_of
from tang.ir.view import GATHERED, Read

ASSUMED: Final = 1024
"""What a symbolic extent without a declared maximum counts as (or its minimum, if larger)."""

FUNCTION: Final = 16
"""Operations that a portable function counts as."""

READ: Final = 4
"""Operations that a read counts as in code: its address, its guard, the load."""

_FUNCTIONS: Final = ("exp2", "log2", "sin", "atan2", "erf")


@dataclass(frozen=True, slots=True)
class Sizes:
    """Symbols as numbers: declared maxima, else what is assumed."""

    symbols: Mapping[str, int] = field(default_factory=dict)

    def of(self, extent: Poly) -> int:
        return max(extent.evaluate(self.symbols), 0)

    def volume(self, extents: Iterable[Poly]) -> int:
        return prod(self.of(e) for e in extents)

    def points(self, dims: Iterable[Dim]) -> int:
        return self.volume(d.extent for d in dims)


def sizes_of(graph: Graph) -> Sizes:
    """The sizes that decisions about a graph go by."""
    facts = {f.symbol: f for f in graph.facts}
    return Sizes({s: _size(facts.get(s, Fact(s))) for s in graph.symbols})


def _size(fact: Fact) -> int:
    return max(ASSUMED, fact.minimum) if fact.maximum is None else fact.maximum


def operations(node: Comprehension, sizes: Sizes) -> int:
    """Operations for one point, reads and index arithmetic aside."""
    if node.monoid is None:
        return _count(node.body)
    monoid = node.monoid
    axes = {a.name: a.size for a in monoid.axes}
    parts = zip(monoid.components, monoid.lift, monoid.combine, strict=True)
    step = _count(node.body)
    step += sum(_count((x, y)) * prod(axes[a] for a in c.axes) for c, x, y in parts)
    ends = zip(monoid.outputs, monoid.project, strict=True)
    last = sum(_count((e,)) * prod(axes[a] for a in c.axes) for c, e in ends)
    return step * sizes.points(node.reduce) + last


def written(node: Comprehension) -> int:
    """Operations in the code of a node: each stands there once, whatever loops are around it.

    A read counts as `READ` and the node itself as one more read: loops, guards, its conversion.
    """
    m = node.monoid
    folds = () if m is None else (*m.lift, *m.combine, *m.project)
    own = sum(e.op not in LEAVES and e.op != "state" for e in walk(*node.body, *folds))
    return own + READ * (1 + sum(1 for _ in reads_of(node)))


def _count(roots: tuple[Expr, ...]) -> int:
    """Operations of expressions, what they share once, sums over static axes term by term."""
    total = 0
    for e in walk(*roots):
        if e.op == "fold" and isinstance(e.payload, tuple):
            total += int(e.payload[1]) * (1 + _count(e.args))
        elif e.op not in LEAVES and e.op != "state":
            total += FUNCTION if e.op in _FUNCTIONS else 1
    return total


def evaluations(node: Comprehension, read: Read, sizes: Sizes) -> int:
    """How often a read is made for one point: over the reduce dims and axes it depends on."""
    names = read.view.dims()
    axes = node.monoid.axes if node.monoid else ()
    along = prod(a.size for a in axes if a.name in names)
    return along * sizes.points(d for d in node.reduce if d.name in names)


def bytes_of(tensor: Tensor, sizes: Sizes, real: int) -> int:
    """The bytes of a tensor, `real` for each real."""
    each = {Sort.REAL: real, Sort.INDEX: 4, Sort.BOOL: 1}[tensor.sort]
    return each * sizes.volume(tensor.shape)


def degree(shape: tuple[Poly, ...]) -> int:
    """How fast the number of elements grows with the symbols."""
    return sum(max((len(m) for m, _ in extent.terms), default=0) for extent in shape)


def is_same_point(node: Comprehension, source: Comprehension, read: Read) -> bool:
    """Whether a node reads a result at its own point, of a source with the same points."""
    if [d.extent for d in node.point] != [d.extent for d in source.point]:
        return False
    view, names = read.view, [d.name for d in source.tensor(read.source.output).dims]
    if view.guard or view.gathers:
        return False
    own = {s.name: n.name for s, n in zip(source.point, node.point, strict=True)}
    forms = view.coords[: len(names)]
    return all(
        f.const == Poly() and [(v, str(c)) for v, c in f.terms] == [(own[n], "1")]
        for f, n in zip(forms, names, strict=True)
    ) and not any(v.startswith(GATHERED) for f in view.coords for v in f.variables)
