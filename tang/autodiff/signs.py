"""Signs of forms over the dims of a node, with symbolic extents.

Defines `lowest`, the smallest value of an affine form over a box of dims, `is_nonnegative`, and
estimates of extents for choosing between solutions. Relies on extents; sound but not complete:
what is not seen to be ≥ 0 becomes a condition, which is always right.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod
from typing import Final

from tang.ir.extent import Poly, poly
from tang.ir.view import Affine

_TYPICAL: Final = 1024
"""What a symbolic extent counts as when two ways to solve a view are compared."""


def lowest(form: Affine, extents: Mapping[str, Poly]) -> Poly | None:
    """The smallest value over 0 ≤ v < extents[v]; None where a coefficient has no known sign."""
    total = form.const
    for v, c in form.terms:
        if _all_positive(-c):
            total = total + c * (extents[v] - 1)
        elif not _all_positive(c):
            return None
    return total


def highest(form: Affine, extents: Mapping[str, Poly]) -> Poly | None:
    """The largest value over the box; None where a coefficient has no known sign."""
    found = lowest(-form, extents)
    return None if found is None else -found


def is_nonnegative(form: Affine, extents: Mapping[str, Poly]) -> bool:
    """Whether the form is seen to be ≥ 0 at every point (at any point every extent is ≥ 1)."""
    least = lowest(form, extents)
    if least is None:
        return False
    present = {s for e in extents.values() for m, _ in e.terms if len(m) == 1 for s in m}
    return _all_positive(least) or _all_positive(_above_one(least, present))


def estimate(extents: Iterable[Poly]) -> int:
    """About how many points a box has."""
    return prod(max(1, e.evaluate(dict.fromkeys(e.symbols, _TYPICAL))) for e in extents)


def _all_positive(p: Poly) -> bool:
    return all(c >= 0 for _, c in p.terms)


def _above_one(p: Poly, symbols: Iterable[str]) -> Poly:
    """p as a polynomial in how far each of the symbols exceeds 1."""
    known = set(symbols)
    total = Poly()
    for m, c in p.terms:
        term = poly(c)
        for s in m:
            term = term * (poly(s) + 1 if s in known else poly(s))
        total = total + term
    return total
