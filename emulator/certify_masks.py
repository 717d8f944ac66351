"""What affine forms over reduce dims tell: which reductions surely have an element, and positions.

Defines `is_never_empty` and `is_position`. Relies on conditions as affine forms ≥ 0 over a box of
whole numbers. It looks for one element that is there everywhere: the first or the last along each
reduce dim, or the one at the coordinate of a point dim, as in causal, anticausal and sliding
windows. Where it finds none, nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice, product
from typing import Final

from tang.ir.expr import Expr
from tang.ir.graph import Comprehension
from tang.ir.view import Affine, variable

_TRIED: Final = 256
"""Elements, at most: a few per reduce dim."""


def is_never_empty(node: Comprehension) -> bool:
    """Whether every point of a node with constant extents surely has an element to reduce."""
    size = {d.name: d.extent.constant for d in node.dims}
    if any(size[d.name] < 1 for d in node.reduce):
        return False
    return any(
        all(_least(w.substitute(place), size) >= 0 for w in node.where)
        for place in islice(_places(node, size), _TRIED)
    )


def _places(node: Comprehension, size: Mapping[str, int]) -> Iterator[dict[str, Affine]]:
    """Elements that there would be without conditions, as forms of the point dims."""
    names = [d.name for d in node.reduce]
    found = []
    for name in names:
        same = [variable(p.name) for p in node.point if size[p.name] <= size[name]]
        found.append([Affine(), *same, Affine() + (size[name] - 1)])
    for forms in product(*found):
        yield dict(zip(names, forms, strict=True))


def is_position(node: Comprehension, e: Expr) -> bool:
    """Whether an index is another one at each element that a point of a node reduces."""
    form = _form(e, {d.name: d.extent.constant for d in node.dims})
    if form is None:
        return False
    reach = 0
    steps = sorted((abs(form.get(d.name, 0)), d.extent.constant) for d in node.reduce)
    for step, size in steps:
        if size > 1 and step <= reach:
            return False
        reach += step * (size - 1)
    return True


def _form(e: Expr, size: Mapping[str, int]) -> dict[str, int] | None:
    """Coefficients by dim, the constant under ""; None of what is no affine form."""
    if e.op == "iota" and str(e.payload) in size:
        return {str(e.payload): 1}
    if e.op == "extent" and str(e.payload) in size:
        return {"": size[str(e.payload)]}
    if e.op == "index" and isinstance(e.payload, int):
        return {"": e.payload}
    parts = [_form(x, size) for x in e.args]
    known = [p for p in parts if p is not None]
    if e.op == "add" and len(known) == 2:
        return {n: known[0].get(n, 0) + known[1].get(n, 0) for n in {*known[0], *known[1]}}
    if e.op == "neg" and known:
        return {n: -c for n, c in known[0].items()}
    constant = next((p for p in known if set(p) <= {""}), None)
    if e.op == "mul" and len(known) == 2 and constant is not None:
        other = known[1] if constant is known[0] else known[0]
        return {n: c * constant.get("", 0) for n, c in other.items()}
    return None


def _least(form: Affine, size: Mapping[str, int]) -> int:
    """The least value of a form over all points; of no points any is."""
    ends = (min(0, c.constant * (size[name] - 1)) for name, c in form.terms)
    return form.const.constant + sum(ends)
