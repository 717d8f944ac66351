"""What the rules of reductions share: domains of elements, gates, nodes that several pulls use.

Defines `domain`, `gated` and `shared_node`. Relies on frames and elements. It holds no rule.
"""

from __future__ import annotations

from collections.abc import Sequence

from tang.autodiff.algebra import ZERO, choose
from tang.autodiff.element import Element, compact
from tang.autodiff.frame import Frame
from tang.ir.expr import Expr
from tang.ir.graph import Dim
from tang.ir.view import Affine, Ref


def domain(frame: Frame, components: Sequence[int]) -> tuple[Dim, ...]:
    """Point dims of these components, in order, and the reduce dims."""
    every = frame.node.component_dims()
    names = {d for c in components for d in every[c]}
    return (*(d for d in frame.node.point if d.name in names), *frame.node.reduce)


def gated(test: Expr, value: Expr) -> Expr:
    """The value where the test holds, else 0."""
    return choose(test, value, ZERO)


def shared_node(
    frame: Frame,
    name: str,
    value: Expr,
    dims: Sequence[Dim],
    over: Sequence[Dim] = (),
    where: tuple[Affine, ...] = (),
) -> Ref:
    """A node over the frame's reads, at dims and summed over others."""
    value = frame.within(value, (*dims, *over))
    reads, body = compact(frame.reads, value)
    element = Element((*dims, *over), reads, body, where)
    return frame.tape.make(f"d_{frame.node.name}_{name}", element, dims, over)
