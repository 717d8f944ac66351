"""Winners: which element of a fold is its maximum or minimum, by position.

Defines `position`, the lexicographic number of a reduce point, and `winner`, which reads the number
of the first largest (or smallest) element. Relies on the stock argmax; over a symbolic extent,
which may be 0, its laws are kept with an identity that nothing wins against.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from tang.autodiff.element import compact, identity_view
from tang.autodiff.frame import Frame
from tang.ir import monoids
from tang.ir.expr import INDEX, Expr, apply, extent, index, iota, named, state
from tang.ir.extent import poly
from tang.ir.graph import Comprehension, Dim
from tang.ir.monoid import Monoid
from tang.ir.view import Ref


def position(reduce: Sequence[Dim]) -> Expr:
    """The number of a reduce point in lexicographic order."""
    total = index(0)
    for n, d in enumerate(reduce):
        size = index(d.extent.constant) if d.extent.is_constant else extent(d.name)
        first = iota(d.name)
        total = first if n == 0 else apply("add", apply("mul", total, size), first)
    return total


def winner(frame: Frame, k: int, dims: tuple[Dim, ...], rule: str) -> Expr | None:
    """The position of the element that wins among body value k, −1 for none; None if there is none.

    `dims` are the dims of the elements, reduce dims last.
    """
    node = frame.node
    if any(d.extent == poly(0) for d in node.reduce):
        return None
    point = dims[: len(dims) - len(node.reduce)]
    value = frame.within(node.body[k], dims)
    reads, body = compact(frame.reads, value)
    name = frame.tape.fresh(f"{node.name}_winner")
    made = Comprehension(
        name, point, reads, (body, position(node.reduce)), node.reduce, node.where,
        _monoid(rule, all(d.extent.is_constant for d in node.reduce)),
    )  # fmt: skip
    frame.tape.append(made)
    at = identity_view([d.name for d in point])
    return frame.read(Ref(name, "index"), at, INDEX)


def _monoid(rule: str, is_known: bool) -> Monoid:
    stock = monoids.ARGMAX if rule == "max" else monoids.ARGMIN
    return stock if is_known else _with_identity(rule)


@lru_cache(maxsize=2)
def _with_identity(rule: str) -> Monoid:
    """argmax or argmin where nothing at all gives index −1."""
    stock = monoids.ARGMAX if rule == "max" else monoids.ARGMIN
    absent = [apply("lt", state(side, 1, INDEX), index(0)) for side in (0, 1)]
    combine = tuple(
        apply("select", absent[1], state(0, c, e.sort),
              apply("select", absent[0], state(1, c, e.sort), e))
        for c, e in enumerate(stock.combine)
    )  # fmt: skip
    lowest = named("-inf" if rule == "max" else "inf")
    return Monoid(
        f"{stock.name}_or_none", stock.inputs, stock.components, stock.lift,
        (lowest, index(-1)), combine, stock.outputs, stock.project, commutative=True,
    )  # fmt: skip
