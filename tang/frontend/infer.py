"""Extents: what the dims of one `compute` range over.

Defines `infer`, which collects the plain uses of every dim (a subscript that is exactly the dim)
and takes the extent from them, unless it was given. Relies on leaves and polynomials, compared as
such: `n` and `m` differ even if every caller binds them equally. It does not check bounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tang.frontend.leaves import Dim, Extent, Leaf, Reduced, Reduction, TensorRead
from tang.frontend.site import failure
from tang.frontend.values import Value
from tang.ir.extent import Poly, poly


@dataclass(frozen=True, slots=True)
class _Use:
    """A subscript that is exactly a dim."""

    read: TensorRead
    position: int

    @property
    def extent(self) -> Poly:
        return self.read.tensor.shape[self.position]

    def __str__(self) -> str:
        return f"{self.extent} by axis {self.position} of {self.read.tensor.name!r}"


@dataclass(slots=True)
class _Uses:
    """What one `compute` says about its dims."""

    plain: dict[Dim, list[_Use]] = field(default_factory=dict)
    mentions: dict[Dim, str] = field(default_factory=dict)
    axes: dict[Dim, Poly] = field(default_factory=dict)
    seen: set[Leaf | Reduction] = field(default_factory=set)

    def collect(self, values: Iterable[Value]) -> None:
        """Visit every leaf below the values once."""
        stack = list(values)
        while stack:
            for leaf in stack.pop().leaves.values():
                if leaf not in self.seen:
                    self.seen.add(leaf)
                    stack.extend(self._visit(leaf))

    def _visit(self, leaf: Leaf) -> Iterable[Value]:
        if isinstance(leaf, Dim):
            self.plain.setdefault(leaf, [])
        elif isinstance(leaf, Extent) and isinstance(leaf.of, Dim):
            self.plain.setdefault(leaf.of, [])
        elif isinstance(leaf, TensorRead):
            self._read(leaf)
            return leaf.subscripts
        elif isinstance(leaf, Reduced) and leaf.reduction not in self.seen:
            self.seen.add(leaf.reduction)
            self._reduction(leaf.reduction)
            return (*leaf.reduction.inputs, *leaf.reduction.where)
        return ()

    def _read(self, read: TensorRead) -> None:
        for position, subscript in enumerate(read.subscripts):
            exact = subscript.leaves.get(subscript.expr)
            if isinstance(exact, Dim):
                self.plain.setdefault(exact, []).append(_Use(read, position))
            for d in subscript.free:
                self.mentions.setdefault(d, f"{read.tensor.name}[… {subscript!r} …]")

    def _reduction(self, r: Reduction) -> None:
        for d in r.over:
            self.plain.setdefault(d, [])
        for axis, d in r.axes:
            self.axes[d] = poly(r.monoid.axis_size(axis))


def infer(name: str, dims: Iterable[Dim], values: Iterable[Value]) -> Mapping[Dim, Poly]:
    """The extent of every dim used by the values; raises GraphError naming dim and tensors."""
    uses = _Uses()
    for d in dims:
        uses.plain.setdefault(d, [])
    uses.collect(values)
    return {d: uses.axes[d] if d in uses.axes else _extent(name, d, uses) for d in uses.plain}


def _extent(name: str, d: Dim, uses: _Uses) -> Poly:
    firm = [u for u in uses.plain[d] if u.read.fill is None]
    if d.extent is not None:
        for u in firm:
            if u.extent != d.extent:
                raise _conflict(name, d, f"given as {d.extent}", u)
        return d.extent
    known = firm or uses.plain[d]
    if not known:
        used = uses.mentions.get(d)
        seen = f"it is used only in {used}" if used else "no tensor is subscripted by it alone"
        raise failure(
            f"{name!r}: the extent of dim {d.name!r} cannot be inferred, {seen}: "
            f"give it, tg.dims({d.name}=…)"
        )
    for u in known[1:]:
        if u.extent != known[0].extent:
            raise _conflict(name, d, str(known[0]), u)
    return known[0].extent


def _conflict(name: str, d: Dim, first: str, use: _Use) -> Exception:
    guarded = f".at({d.name}, fill=…)" if use.read.fill is None else ""
    cure = f"use two dims, {use.read.tensor.name}{guarded} for reads that may leave it, "
    return failure(
        f"{name!r}: dim {d.name!r} has two extents: {first}, and {use}: {cure}"
        f"or [{d.name} + 0] for a part of a longer axis",
        use.read.site,
    )
