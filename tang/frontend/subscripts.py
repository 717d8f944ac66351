"""Subscripts: from what stands in brackets to affine forms.

Defines the normalisation of a subscript list and `affine`, which turns an index value into an
affine form over its leaves. Relies on values and extents; it does not know dims' names in the
comprehension, which the caller supplies leaf by leaf, and it does not check bounds.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tang.frontend.describe import describe_expr, name_of_leaf
from tang.frontend.leaves import Extent, Leaf
from tang.frontend.site import failure
from tang.frontend.values import Value, as_value
from tang.ir.expr import INDEX, Expr, walk
from tang.ir.extent import symbol
from tang.ir.view import Affine, constant, variable

AFFINE_CURE = (
    "subscripts are sums of dims times ints or extents; for anything else compute an index "
    "tensor first, h = tg.compute('h', (i,), …), and subscript by h[i]"
)


def subscript_list(name: str, rank: int, key: object) -> tuple[Value, ...]:
    """One checked index value per source dimension; errors name the tensor and the subscript."""
    parts = key if isinstance(key, tuple) else (key,)
    if len(parts) != rank:
        shown = ", ".join(map(repr, parts))
        raise failure(
            f"{name}[{shown}]: {name!r} has rank {rank}, but {len(parts)} subscripts came"
        )
    return tuple(_subscript(name, p) for p in parts)


def _subscript(name: str, x: object) -> Value:
    where = f"{name}[… {x!r} …]"
    if isinstance(x, (slice, type(Ellipsis))):
        raise failure(f"{where}: write one dim per axis, or use tg.slice(x, axis, start, stop)")
    if isinstance(x, (bool, np.bool_)):
        raise failure(f"{where}: a bool is no subscript")
    if isinstance(x, (float, np.floating)):
        raise failure(f"{where}: a float is no subscript: use an int, a dim or tg.index(…)")
    value = as_value(x, INDEX)
    if value.sort is not INDEX:
        cure = "tg.index(…) takes the floor of a real" if value.sort.value == "real" else "select"
        raise failure(f"{where}: a subscript is an index, not a {value.sort.value}: {cure}")
    affine(value, where, _unresolved)
    return value


def _unresolved(key: Expr, leaf: Leaf) -> Affine:
    """Forms for a check of shape alone: every extent is one unknown size."""
    return constant(symbol("n")) if isinstance(leaf, Extent) else variable(str(key.payload))


def affine(value: Value, where: str, of_leaf: Callable[[Expr, Leaf], Affine]) -> Affine:
    """The affine form of an index value; raises GraphError for anything else."""
    done: dict[Expr, Affine] = {}
    for e in walk(value.expr):
        leaf = value.leaves.get(e)
        form = of_leaf(e, leaf) if leaf is not None else _form(e, done)
        if form is None:
            shown = describe_expr(e, lambda x: name_of_leaf(value.leaves[x]))
            raise failure(f"{where}: {shown} is not affine; {AFFINE_CURE}")
        done[e] = form
    return done[value.expr]


def _form(e: Expr, done: dict[Expr, Affine]) -> Affine | None:
    if e.op == "index" and isinstance(e.payload, int):
        return constant(e.payload)
    parts = [done[a] for a in e.args if a in done]
    if e.op == "add":
        return parts[0] + parts[1]
    if e.op == "neg":
        return -parts[0]
    if e.op == "mul":
        return _product(parts[0], parts[1])
    return None


def _product(a: Affine, b: Affine) -> Affine | None:
    if not a.terms:
        return b.scale(a.const)
    return a.scale(b.const) if not b.terms else None
