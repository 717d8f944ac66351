"""How many elements a reduction folds, in the ways a program can say it.

Defines `counts`. Relies on opened nodes. It compares nothing: a caller tries each candidate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import prod

from tang.ir.expr import Expr, apply, index, real, walk
from tang.ir.extent import poly
from tang.ir.view import Affine
from tang.rewrite.opened import NotHereError, Space


def counts(
    space: Space, names: Sequence[str], where: frozenset[Affine], seen: Expr
) -> Iterator[Expr]:
    """Real expressions for the number of points over the named dims where the conditions hold.

    Without conditions the product of the extents; and every result that `seen` reads which
    counts those points.
    """
    if not where:
        try:
            size = space.size(prod((space.extents[n] for n in names), start=poly(1)))
        except NotHereError:
            size = None
        if size is not None:
            fixed = size.payload if size.op == "index" else None
            yield real(Fraction(fixed)) if isinstance(fixed, int) else apply("to_real", size)
    for a in walk(seen):
        found = space.reduction(a, "sum", "index_sum")
        if found is None or space.depends(a) & set(names):
            continue
        for naming in found.namings([(n, space.extents[n]) for n in names]):
            if found.where(naming) == where and found.body(naming) in (real(1), index(1)):
                yield a if found.node.body[0] is real(1) else apply("to_real", a)
                break
