"""The kinds of views and of `where` conditions, as coverage counts them.

Defines the closed lists `VIEW_KINDS` and `WHERE_KINDS` and how a read is sorted into them. Relies
on the IR alone. A read usually has several kinds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tang.ir.graph import Comprehension, Graph
from tang.ir.view import Affine, Read, is_gathered

VIEW_KINDS: Final = (
    "pick", "transpose", "stride", "offset", "negative", "two-dims", "constant", "diagonal",
    "broadcast", "guard", "mask", "gather", "gather-guarded", "symbolic", "node",
)  # fmt: skip
WHERE_KINDS: Final = ("causal", "banded", "other")


def view_kinds(graph: Graph, node: Comprehension, read: Read) -> set[str]:
    """The kinds that a read of a node belongs to."""
    view = read.view
    kinds = {kind for form in view.coords for kind in _form_kinds(form)}
    kinds.update(_arrangement(node, [c for c in view.coords if not is_gathered(c)]))
    if view.guard:
        kinds.add("guard")
    if any(interval.form not in view.coords for interval in view.guard):
        kinds.add("mask")
    if view.gathers:
        kinds.add("gather-guarded" if view.guard else "gather")
    if any(not p.is_constant for p in graph.shape(read.source)):
        kinds.add("symbolic")
    if read.source.output:
        kinds.add("node")
    return kinds


def _form_kinds(form: Affine) -> Iterator[str]:
    if is_gathered(form):
        return
    if not form.terms:
        yield "constant"
        return
    coefficients = [c.constant if c.is_constant else 2 for _, c in form.terms]
    if len(coefficients) > 1:
        yield "two-dims"
    if any(abs(c) > 1 for c in coefficients):
        yield "stride"
    if any(c < 0 for c in coefficients):
        yield "negative"
    if form.const.terms:
        yield "offset"
    if coefficients == [1] and not form.const.terms:
        yield "pick"


def _arrangement(node: Comprehension, coords: list[Affine]) -> Iterator[str]:
    order = [d.name for d in node.dims]
    used = [v for c in coords for v in sorted(c.variables) if v in order]
    if len(set(used)) < len(used):
        yield "diagonal"
    if [order.index(v) for v in used] != sorted(order.index(v) for v in used):
        yield "transpose"
    if set(order) - set(used):
        yield "broadcast"


def where_kind(where: tuple[Affine, ...]) -> str:
    """Causal: one dim does not pass another; banded: two such conditions."""
    if len(where) > 1:
        return "banded"
    form = where[0]
    coefficients = sorted(c.constant for _, c in form.terms if c.is_constant)
    return "causal" if coefficients == [-1, 1] and not form.const.terms else "other"
