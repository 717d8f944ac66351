"""Frames: one node of the program while its cotangents are pulled back through it.

Defines `Frame` (the reads a rule may use), `Pull` (the cotangents of body values at every point)
and `distribute`, which sends them on to the tensors that the body reads. Relies on the tape and on
`transpose`. The rules of reductions, which make pulls, are elsewhere.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from tang.autodiff.adjoint import transpose
from tang.autodiff.algebra import ONE, ZERO, total
from tang.autodiff.derivative import Derivative, Seed
from tang.autodiff.element import (
    Element,
    compact,
    identity_view,
    used_reads,
    with_extents,
)
from tang.autodiff.tape import Tape
from tang.ir.expr import REAL, Expr, Sort, arg, walk
from tang.ir.extent import poly
from tang.ir.graph import Comprehension, Dim
from tang.ir.view import Affine, Read, Ref, View


@dataclass(frozen=True, slots=True)
class Pull:
    """Cotangents of some body values: one expression per position, at every point of dims.

    `where` are the conditions on these points; None stands for the node's own.
    """

    dims: tuple[Dim, ...]
    values: dict[int, Expr]
    where: tuple[Affine, ...] | None = None


@dataclass(slots=True)
class Frame:
    """A node with the reads of its body, to which rules add reads of their own."""

    tape: Tape
    node: Comprehension
    reads: list[Read] = field(default_factory=list)
    masked: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.reads = list(self.node.reads)

    @property
    def axes(self) -> tuple[Dim, ...]:
        """The static axes of the monoid, as dims."""
        monoid = self.node.monoid
        return () if monoid is None else tuple(Dim(a.name, poly(a.size)) for a in monoid.axes)

    @property
    def dims(self) -> tuple[Dim, ...]:
        """Every dim over which the body varies."""
        return (*self.node.dims, *self.axes)

    def derivative(self) -> Derivative:
        """Derivatives that know which reads can be structural zeros."""
        return Derivative(self.tape.strict, frozenset(self.masked))

    def read(self, ref: Ref, view: View, sort: Sort = REAL, masked: bool = False) -> Expr:
        """The value of a tensor that rule reads besides the body's."""
        self.reads.append(Read(ref, view))
        if masked:
            self.masked.add(len(self.reads) - 1)
        return arg(len(self.reads) - 1, sort)

    def result(self, output: str) -> Expr:
        """An output or state component of the node itself, at the present point."""
        tensor = self.node.tensor(output)
        return self.read(Ref(self.node.name, output), self.here(output), tensor.sort)

    def here(self, output: str) -> View:
        """The view of an output at the present point and static axes."""
        tensor = self.node.tensor(output)
        return identity_view([*(d.name for d in tensor.dims), *(a for a, _ in tensor.axes)])

    def cotangent(self, output: str) -> Expr:
        """The cotangent of an output or state component at the present point; 0 for none."""
        found = self.tape.cotangent(Ref(self.node.name, output))
        if found is None:
            return ZERO
        if found.ref is None:
            return found.constant
        return self.read(found.ref, self.here(output), REAL, found.masked)

    def within(self, value: Expr, dims: Sequence[Dim]) -> Expr:
        """The value with extents of dims outside of `dims` as numbers, or read."""
        every = [*self.dims, *(d for d in dims if d not in self.dims)]
        return with_extents(value, dims, every, self.reads, self.tape.size)

    def is_masked(self, value: Expr) -> bool:
        """Whether a value over these reads can be a structural zero."""
        return self.derivative().masks.masked(value, frozenset(self.masked))


def distribute(frame: Frame, pulls: Sequence[Pull], active: Collection[Ref]) -> None:
    """Send pulls on to every active tensor that the body reads."""
    for group in _groups(frame.node, active):
        read = frame.node.reads[group[0]]
        for pull in pulls:
            value = _pulled(frame, pull, group)
            if value is ZERO:
                continue
            masked = frame.is_masked(value)
            reads, value = compact(frame.reads, frame.within(value, pull.dims))
            where = frame.node.where if pull.where is None else pull.where
            element = Element(pull.dims, reads, value, where)
            name = f"d_{read.source.node}_from_{frame.node.name}"
            term = transpose(frame.tape, element, read, name, masked)
            frame.tape.contribute(read.source, term)


def _pulled(frame: Frame, pull: Pull, group: tuple[int, ...]) -> Expr:
    """Σ over body values of cotangent · ∂value/∂read, for reads that are one and the same."""
    derivative = frame.derivative()
    seed = _seed(group)
    parts = []
    for k, cotangent in pull.values.items():
        if cotangent is not ZERO and not set(group).isdisjoint(used_reads(frame.node.body[k])):
            parts.append(derivative.times(cotangent, derivative.of(frame.node.body[k], seed)))
    return total(parts)


def _seed(group: tuple[int, ...]) -> Seed:
    return lambda e: ONE if e.op == "arg" and e.payload in group else ZERO


def _groups(node: Comprehension, active: Collection[Ref]) -> list[tuple[int, ...]]:
    """Reads of active tensors, equal ones together."""
    sorts = {e.payload: e.sort for b in node.body for e in walk(b) if e.op == "arg"}
    found: dict[Read, list[int]] = {}
    for i, read in enumerate(node.reads):
        if read.source in active and sorts.get(i) is REAL:
            found.setdefault(read, []).append(i)
    return [tuple(g) for g in found.values()]
