"""Leaves: what the placeholders of a symbolic value stand for.

Defines the four kinds of leaf: a dim, the extent of a dim, the read of a tensor and the output of
a reduction. Relies on IR data types; a `Value` maps placeholder expressions to leaves. Extents
are not resolved here: inference belongs to `infer`, naming and numbering to `build`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Final

from tang.ir.expr import Expr
from tang.ir.extent import Poly
from tang.ir.monoid import Monoid

if TYPE_CHECKING:
    from tang.frontend.tensors import Tensor
    from tang.frontend.values import Value

SERIALS: Final = count()
"""Numbers in order of creation; they order nodes and keep placeholders apart."""


@dataclass(frozen=True, slots=True, eq=False)
class Dim:
    """A dim: its extent is given, or inferred anew in every `compute` that uses it."""

    name: str
    extent: Poly | None
    serial: int


@dataclass(frozen=True, slots=True, eq=False)
class Extent:
    """The size of a dim, or a polynomial in symbolic sizes, used as an index value."""

    of: Dim | Poly


@dataclass(frozen=True, slots=True, eq=False)
class TensorRead:
    """An element of a tensor; `fill` is given by `.at` and guards what can leave the source."""

    tensor: Tensor
    subscripts: tuple[Value, ...]
    fill: Expr | None
    site: str
    free: frozenset[Dim]


@dataclass(frozen=True, slots=True, eq=False)
class Reduction:
    """A fold of `inputs` over the dims `over`, restricted to `where` (every form ≥ 0).

    axes   dims that stand for the monoid's static axes in the inputs, by axis name
    """

    monoid: Monoid
    inputs: tuple[Value, ...]
    over: tuple[Dim, ...]
    where: tuple[Value, ...]
    site: str
    free: frozenset[Dim]
    axes: tuple[tuple[str, Dim], ...] = field(default=())


@dataclass(frozen=True, slots=True, eq=False)
class Reduced:
    """One output (or state component) of a reduction, used inside an expression."""

    reduction: Reduction
    output: str


Leaf = Dim | Extent | TensorRead | Reduced


def free_dims(leaf: Leaf) -> frozenset[Dim]:
    """The dims that must be bound where the leaf is used."""
    if isinstance(leaf, Dim):
        return frozenset((leaf,))
    if isinstance(leaf, TensorRead):
        return leaf.free
    return leaf.reduction.free if isinstance(leaf, Reduced) else frozenset()
