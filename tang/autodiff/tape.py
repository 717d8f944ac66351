"""The tape: cotangents that are still being summed, and the nodes made so far.

Defines `Tape` and `Term`, a contribution to the cotangent of one tensor over that tensor's own
dims. Relies on elements; every sum of contributions is one map, and a tensor's cotangent is
settled once, when every reader has contributed. It knows no rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from tang.autodiff.algebra import ONE, ZERO, total
from tang.autodiff.element import Element, build, compact, identity_view, joined
from tang.autodiff.solve import Quotient
from tang.ir.expr import Expr, apply, arg, index, iota, walk
from tang.ir.extent import Poly
from tang.ir.graph import Comprehension, Dim, Graph
from tang.ir.monoids import COUNT
from tang.ir.view import Read, Ref

VALUE: Final = "value"


@dataclass(frozen=True, slots=True)
class Term:
    """A contribution over the dims `Tape.dims(ref)`; masked: it may be 0 where nothing reads."""

    reads: tuple[Read, ...]
    value: Expr
    masked: bool = False


@dataclass(frozen=True, slots=True)
class Cotangent:
    """The settled cotangent of a tensor: a tensor of the same shape, or a constant."""

    ref: Ref | None
    constant: Expr
    masked: bool


@dataclass(slots=True)
class Tape:
    """Nodes in order, and for every tensor the contributions to its cotangent."""

    graph: Graph
    strict: bool
    nodes: list[Comprehension] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    terms: dict[Ref, list[Term]] = field(default_factory=dict)
    settled: dict[Ref, Cotangent] = field(default_factory=dict)
    shared: dict[object, Ref] = field(default_factory=dict)
    sources: dict[str, Comprehension] = field(default_factory=dict)
    shapes: dict[Ref, tuple[Poly, ...]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.names |= {i.name for i in self.graph.inputs} | {n.name for n in self.graph.nodes}
        self.sources |= {n.name: n for n in self.graph.nodes}
        self.shapes |= {Ref(i.name): i.shape for i in self.graph.inputs}

    def shape(self, ref: Ref) -> tuple[Poly, ...]:
        """The extents of a tensor of the program."""
        if ref not in self.shapes:
            self.shapes[ref] = self.sources[ref.node].tensor(ref.output).shape
        return self.shapes[ref]

    def dims(self, ref: Ref) -> tuple[Dim, ...]:
        """The dims over which contributions to a tensor are given: q0, q1 …"""
        return tuple(Dim(f"q{k}", e) for k, e in enumerate(self.shape(ref)))

    def fresh(self, name: str) -> str:
        """A tensor name that is not taken: the name itself, or with the first free number."""
        found, n = name, 1
        while found in self.names:
            n += 1
            found = f"{name}_{n}"
        self.names.add(found)
        return found

    def append(self, node: Comprehension) -> Comprehension:
        """Add a node; its name is made fresh before."""
        self.nodes.append(node)
        self.sources[node.name] = node
        return node

    def make(
        self, name: str, element: Element, point: Sequence[Dim], over: Sequence[Dim] = ()
    ) -> Ref:
        """A new node that sums the element over dims at every point."""
        node = self.append(build(self.fresh(name), element, point, over))
        return Ref(node.name, VALUE)

    def contribute(self, ref: Ref, term: Term | None) -> None:
        """Add to the cotangent of a tensor."""
        if term is not None and term.value is not ZERO:
            self.terms.setdefault(ref, []).append(term)

    def seed(self, ref: Ref) -> None:
        """The cotangent of the loss is 1."""
        self.contribute(ref, Term((), ONE))

    def cotangent(self, ref: Ref) -> Cotangent | None:
        """The sum of all contributions, as a tensor; None when there is none."""
        if ref not in self.settled:
            terms = self.terms.pop(ref, [])
            if not terms:
                return None
            self.settled[ref] = self._settle(ref, terms)
        return self.settled[ref]

    def _settle(self, ref: Ref, terms: list[Term]) -> Cotangent:
        dims = self.dims(ref)
        masked = all(t.masked for t in terms)
        if all(not t.reads and _is_constant(t.value) for t in terms):
            return Cotangent(None, total([t.value for t in terms]), masked)
        if len(terms) == 1:
            there = identity_view([d.name for d in dims])
            (term,) = terms
            if term.value is arg(0) and term.reads[0].view == there:
                return Cotangent(term.reads[0].source, ZERO, masked)
        made = self.make(_name_of(ref), self.sum_of(dims, terms), dims)
        return Cotangent(made, ZERO, masked)

    def sum_of(self, dims: tuple[Dim, ...], terms: list[Term]) -> Element:
        """All contributions as one element."""
        reads, values = joined([(t.reads, t.value) for t in terms])
        kept, value = compact(reads, total(values))
        return Element(dims, kept, value)

    def tensor(self, ref: Ref) -> Ref:
        """The cotangent of a tensor as a tensor, be it constant or absent (then 0)."""
        found = self.cotangent(ref) or Cotangent(None, ZERO, True)
        if found.ref is not None:
            return found.ref
        dims = self.dims(ref)
        return self.make(_name_of(ref), Element(dims, (), found.constant), dims)

    def quotient(self, q: Quotient) -> Ref:
        """The index tensor of a quotient or a phase; equal ones are shared."""
        key = (q.stride, q.shift, q.is_phase, q.length)
        if key not in self.shared:
            n, s = iota("n"), index(q.stride)
            phase = n if q.inverse == 1 else apply("mul", index(q.inverse), n)
            body = apply("mod", phase, s)
            if not q.is_phase:
                off = apply("neg", apply("mul", index(q.shift), body))
                body = apply("floordiv", n if not q.shift else apply("add", n, off), s)
            word = "phase" if q.is_phase else "quotient"
            name = self.fresh(f"{word}_{q.stride}")
            dims = (Dim("n", q.length),)
            self.append(Comprehension(name, dims, (), (body,), outputs=("index",)))
            self.shared[key] = Ref(name, "index")
        return self.shared[key]

    def size(self, p: Poly) -> Ref:
        """A 0-d index tensor that holds an extent: how many points a dim of it has."""
        if ("size", p) not in self.shared:
            name = self.fresh("size")
            one = index(1)
            dims = (Dim("n", p),)
            self.append(Comprehension(name, (), (), (one,), dims, (), COUNT))
            self.shared["size", p] = Ref(name, "value")
        return self.shared["size", p]


def _is_constant(value: Expr) -> bool:
    """Whether a value means the same in every node: neither coordinates nor extents of dims."""
    return not value.names and all(e.op != "extent" for e in walk(value))


def _name_of(ref: Ref) -> str:
    return f"d_{ref.node}_{ref.output}" if ref.output else f"d_{ref.node}"
