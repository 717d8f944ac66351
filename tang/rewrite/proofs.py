"""Proofs about extents and index forms that hold for every size: signs, bounds, membership.

Defines `Domain`, the dims of a node with what is known of its symbols. Relies on polynomials and
on `bounds` where all extents are numbers. Every answer is sound and none is complete: False means
"not proved", never "false".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tang.ir.bounds import form_range
from tang.ir.extent import ZERO, Poly, poly, symbol
from tang.ir.graph import Comprehension, Fact
from tang.ir.view import Affine, Interval, constant, is_gathered


def nonnegative(p: Poly, minimum: Mapping[str, int]) -> bool:
    """Whether p ≥ 0 for all symbols at or above their minimum (0 where none is given).

    Each symbol s is written as minimum + s'; then p ≥ 0 if no coefficient is negative.
    """
    if p.is_constant:
        return p.constant >= 0
    total = ZERO
    for monomial, c in p.terms:
        product = poly(c)
        for s in monomial:
            product = product * (symbol(s) + minimum.get(s, 0))
        total = total + product
    return all(c >= 0 for _, c in total.terms)


@dataclass(frozen=True, slots=True)
class Domain:
    """The points at which a node reads: 0 ≤ dim < extent, where every condition is ≥ 0.

    minimum  lower bounds of symbols; a dim of extent s with a point makes s ≥ 1
    """

    extents: Mapping[str, Poly]
    minimum: Mapping[str, int]
    where: tuple[Affine, ...] = ()

    def under(self, guard: Iterable[Interval]) -> Domain:
        """The points inside a guard too; conditions on gathered values are left out."""
        inside = (c for i in guard if not is_gathered(i.form) for c in conditions(i))
        return Domain(self.extents, self.minimum, (*self.where, *inside))

    def at_least(self, form: Affine, bound: Poly) -> bool:
        """Whether form ≥ bound at every point."""
        shifted = form - bound
        if not shifted.variables <= self.extents.keys():
            return False
        low = self._low(shifted)
        if low is not None and nonnegative(low, self.minimum):
            return True
        if any(w == shifted for w in self.where):
            return True
        return self._enumerated(shifted)

    def inside(self, form: Affine, low: Poly, high: Poly) -> bool:
        """Whether low ≤ form < high at every point."""
        return self.at_least(form, low) and self.at_least(-form, 1 - high)

    def holds(self, interval: Interval) -> bool:
        """Whether a condition of a guard holds at every point."""
        return self.inside(interval.form, interval.lo, interval.hi)

    def _low(self, form: Affine) -> Poly | None:
        """The smallest value over the box of dims, None when the sign of a coefficient is open."""
        total = form.const
        for v, c in form.terms:
            if nonnegative(c, self.minimum):
                continue
            if not nonnegative(-c, self.minimum):
                return None
            total = total + c * (self.extents[v] - 1)
        return total

    def _enumerated(self, form: Affine) -> bool:
        """The same by `form_range`, which uses `where`, if all that matters is a number."""
        known = {d: e.constant for d, e in self.extents.items() if e.is_constant}
        where = [w for w in self.where if w.variables <= known.keys() and _is_concrete(w)]
        if not where or not form.variables <= known.keys() or not _is_concrete(form):
            return False
        used = form.variables.union(*(w.variables for w in where))
        found = form_range(form, {v: known[v] for v in used}, where)
        return found is None or found[0] >= 0


def domain_of(node: Comprehension, facts: Sequence[Fact]) -> Domain:
    """The points at which a node reads, static axes included."""
    extents = {d.name: d.extent for d in node.dims}
    if node.monoid is not None:
        extents |= {a.name: poly(a.size) for a in node.monoid.axes}
    minimum = {f.symbol: f.minimum for f in facts}
    for e in extents.values():
        for s in e.symbols:
            if e == symbol(s):
                minimum[s] = max(1, minimum.get(s, 0))
    return Domain(extents, minimum, node.where)


def conditions(i: Interval) -> tuple[Affine, Affine]:
    """lo ≤ form < hi as two forms ≥ 0."""
    return i.form - i.lo, constant(i.hi - 1) - i.form


def _is_concrete(form: Affine) -> bool:
    return all(p.is_constant for p in (form.const, *(c for _, c in form.terms)))
