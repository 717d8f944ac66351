"""Reach: whether a view can leave its source, as soon as the extents in question are numbers.

Defines `Prover`, which checks every coordinate of every read of a node, gathers included. Relies
on `bounds`. Coordinates with gathered values are not decided here: out of range they are the
interpreter's error; nor are symbolic extents, which `bind` makes concrete and checks again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from tang.errors import GraphError
from tang.ir.bounds import form_range
from tang.ir.extent import Poly
from tang.ir.graph import Comprehension
from tang.ir.view import Affine, Interval, Read, Ref, constant, is_gathered

MAX_PROOF_WORK: Final = 200_000
"""Terms times constraints, summed over the different proofs of one graph."""

Shapes = Callable[[Ref], tuple[Poly, ...]]
_Question = tuple[Affine, tuple[tuple[str, int], ...], tuple[Affine, ...]]


@dataclass(slots=True)
class Prover:
    """Ranges of coordinates, remembered across the reads of one graph; the work is bounded."""

    answers: dict[_Question, tuple[int, int] | None] = field(default_factory=dict)
    work: int = 0

    def check(self, node: Comprehension, shapes: Shapes) -> None:
        """Raise GraphError for the first coordinate that can leave its source."""
        sizes = {d.name: d.extent for d in node.dims}
        if node.monoid is not None:
            sizes.update({a.name: constant(a.size).const for a in node.monoid.axes})
        if any(e.is_constant and e.constant == 0 for e in sizes.values()):
            return  # no points, no reads
        dims = {n: e.constant for n, e in sizes.items() if e.is_constant}
        for n, read in enumerate(node.reads):
            place = f"node {node.name!r}: reads[{n}]"
            self._check_read(_Place(place, dims, shapes), read, node.where)

    def _check_read(self, at: _Place, read: Read, where: Sequence[Affine]) -> None:
        known = (*where, *(c for i in read.view.guard for c in _conditions(i)))
        for k, gather in enumerate(read.view.gathers):
            inner = _Place(f"{at.text}.view.gathers[{k}]", at.dims, at.shapes)
            self._check_read(inner, gather, known)
        shape = at.shapes(read.source)
        for n, (coord, size) in enumerate(zip(read.view.coords, shape, strict=True)):
            if size.is_constant and at.decides(coord):
                self._check_coord(at, read, n, coord, size.constant, known)

    def _check_coord(
        self, at: _Place, read: Read, n: int, coord: Affine, size: int, where: Sequence[Affine]
    ) -> None:
        coupled = _coupled(coord, where)
        if not all(at.decides(w) for w in coupled):
            return
        found = self._range(coord, at.dims, coupled)
        if found is None or (found[0] >= 0 and found[1] < size):
            return
        every = tuple(w for w in where if at.decides(w))
        if self._range(coord, at.dims, every) is not None:  # None: no point is read at all
            raise GraphError(
                f"{at.text}.view.coords[{n}] = {coord} ranges over [{found[0]}, {found[1]}], but "
                f"dim {n} of {str(read.source)!r} has extent {size}: guard the read with a fill, "
                f"or restrict the dims {sorted(coord.variables)}"
            )

    def _range(
        self, coord: Affine, dims: Mapping[str, int], where: tuple[Affine, ...]
    ) -> tuple[int, int] | None:
        used = coord.variables.union(*(w.variables for w in where))
        box = tuple(sorted((v, dims[v]) for v in used))
        question = (coord, box, where)
        if question not in self.answers:
            self.work += (1 + len(box)) * len(where)
            if self.work > MAX_PROOF_WORK:
                raise GraphError("too many different conditions on reads: split the program")
            self.answers[question] = form_range(coord, dict(box), where)
        return self.answers[question]


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a read is, with the dims of known extent there."""

    text: str
    dims: Mapping[str, int]
    shapes: Shapes

    def decides(self, form: Affine) -> bool:
        """Whether the form is concrete and so is the extent of each of its variables."""
        polys = (form.const, *(c for _, c in form.terms))
        return form.variables <= self.dims.keys() and all(p.is_constant for p in polys)


def _conditions(i: Interval) -> tuple[Affine, ...]:
    """lo ≤ form < hi as forms ≥ 0; none when it needs gathered values."""
    if is_gathered(i.form):
        return ()
    return i.form - i.lo, constant(i.hi - 1) - i.form


def _coupled(coord: Affine, where: Sequence[Affine]) -> tuple[Affine, ...]:
    """The conditions that share variables with coord, directly or through each other.

    Conditions without variables are kept too: one that fails empties the domain.
    """
    reached, rest = set(coord.variables), list(where)
    found: list[Affine] = []
    while True:
        apart = [w for w in rest if w.variables and not w.variables & reached]
        touching = [w for w in rest if not w.variables or w.variables & reached]
        if not touching:
            return tuple(found)
        found += touching
        rest = apart
        reached.update(*(w.variables for w in touching))
