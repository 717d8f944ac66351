"""`compute`: from a written formula to comprehensions.

Defines `compute`, which makes one node per formula and an anonymous node, `NAME.MONOID`, for
every reduction that stands inside a larger expression. Relies on inference and lowering. Names
stay provisional until a graph is assembled, and nothing is rewritten or simplified.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from tang.frontend.dims import as_dims
from tang.frontend.infer import infer
from tang.frontend.leaves import SERIALS, Dim, Reduced, Reduction
from tang.frontend.lowering import Lowering, Scope, point_order, unique, unique_names
from tang.frontend.site import call_site, failure
from tang.frontend.tensors import Node, Tensor, result
from tang.frontend.values import Operand, Value, as_value
from tang.ir.extent import Poly
from tang.ir.graph import Comprehension
from tang.ir.graph import Dim as NodeDim

Formula = Operand | Mapping[str, Operand]


def compute(name: str, dims: Value | Sequence[Value], value: Formula) -> Tensor:
    """A tensor over the point dims: a map, or a reduction when the formula is one.

    A mapping of names to formulas makes a map of several outputs. Reductions inside a larger
    expression become nodes of their own, NAME.sum and so on, over the dims that they depend on.
    """
    if not isinstance(name, str) or not name:
        raise failure(f"tg.compute needs a non-empty name, not {name!r}")
    return make(name, dims, value)


def make(name: str, dims: Value | Sequence[Value], value: Formula, *, auto: bool = False) -> Tensor:
    """`compute`, where `auto` marks a name that may be changed when it is taken."""
    point = as_dims(dims, f"tg.compute({name!r})")
    outputs = _outputs(name, value)
    values = tuple(outputs.values())
    site = call_site()
    extents = infer(name, point, values)
    builder = _Builder(name, site, extents)
    root = _root(values)
    node = (
        builder.map(name, auto, point, outputs)
        if root is None
        else builder.reduction(name, auto, _checked_point(name, point, root), root.reduction)
    )
    return result(node, root.output if root is not None else next(iter(outputs)))


def _outputs(name: str, value: Formula) -> dict[str, Value]:
    if not isinstance(value, Mapping):
        return {"value": as_value(value)}
    if not value:
        raise failure(f"{name!r}: a computation needs at least one output")
    for key in value:
        if not isinstance(key, str) or not key:
            raise failure(f"{name!r}: an output needs a non-empty name, not {key!r}")
    return {key: as_value(v) for key, v in value.items()}


def _root(values: tuple[Value, ...]) -> Reduced | None:
    """The reduction that a single formula is, if it is one."""
    leaf = values[0].leaves.get(values[0].expr) if len(values) == 1 else None
    return leaf if isinstance(leaf, Reduced) else None


def _checked_point(name: str, point: tuple[Dim, ...], root: Reduced) -> tuple[Dim, ...]:
    both = [d.name for d in point if d in root.reduction.over]
    if both:
        raise failure(
            f"{name!r}: dim {both[0]!r} is both a point dim and reduced over: drop it from one"
        )
    return point


@dataclass(slots=True)
class _Builder:
    """The nodes of one `compute`."""

    name: str
    site: str
    extents: Mapping[Dim, Poly]
    made: dict[Reduction, Node] = field(default_factory=dict)
    equal: dict[Comprehension, Node] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    def node_of(self, r: Reduction) -> Node:
        """The anonymous node of a nested reduction, made once; equal reductions share one."""
        if r not in self.made:
            label = f"{self.name}.{r.monoid.name}"
            node = self.reduction(label, True, point_order(r, self.extents), r)
            self.made[r] = self.equal.setdefault(node.comprehension, node)
            if self.made[r] is node:
                self.made[r] = replace(node, name=unique(label, self.taken))
                self.equal[node.comprehension] = self.made[r]
        return self.made[r]

    def map(
        self, name: str, auto: bool, point: tuple[Dim, ...], outputs: Mapping[str, Value]
    ) -> Node:
        names = unique_names(point, ())
        low = Lowering(Scope(name, names, self.extents, False), self.node_of)
        body = tuple(low.body(v) for v in outputs.values())
        dims = tuple(NodeDim(names[d], self.extents[d]) for d in point)
        node = Comprehension(name, dims, tuple(low.reads), body, outputs=tuple(outputs))
        return self._node(name, auto, node, low)

    def reduction(self, name: str, auto: bool, point: tuple[Dim, ...], r: Reduction) -> Node:
        static = [a.name for a in r.monoid.axes]
        names = unique_names((*point, *r.over), static)
        reach = {**names, **{d: a for a, d in r.axes}}
        low = Lowering(Scope(name, reach, self.extents, bool(r.where)), self.node_of)
        body = tuple(low.body(v) for v in r.inputs)
        where = tuple(low.form(w) for w in r.where)
        dims = {d: NodeDim(names[d], self.extents[d]) for d in (*point, *r.over)}
        node = Comprehension(
            name,
            tuple(dims[d] for d in point),
            tuple(low.reads),
            body,
            tuple(dims[d] for d in r.over),
            where,
            r.monoid,
        )
        return self._node(name, auto, node, low)

    def _node(self, name: str, auto: bool, c: Comprehension, low: Lowering) -> Node:
        return Node(name, auto, c, tuple(low.sources), next(SERIALS), self.site)
