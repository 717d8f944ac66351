"""Index tensors that are computed from coordinates alone.

Defines `CoordinateIndices`, which reads a gather of such a tensor (a quotient, a phase, a shifted
coordinate) as forms over new dims, with the equations that define them. Relies on the graph; a
gather of anything else is opaque, and its adjoint is gated. It solves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tang.autodiff.signs import highest, lowest
from tang.autodiff.solve import Equation
from tang.ir.expr import Expr, walk
from tang.ir.extent import Poly, poly
from tang.ir.graph import Comprehension
from tang.ir.view import Affine, Read, constant, variable


@dataclass(slots=True)
class Unknowns:
    """New dims with their extents, and the equations that tie them to the reader's dims."""

    extents: dict[str, Poly] = field(default_factory=dict)
    equations: list[Equation] = field(default_factory=list)
    implied: set[str] = field(default_factory=set)
    divisions: dict[tuple[Affine, int], tuple[str, str]] = field(default_factory=dict)
    """Quotient and phase of each form and stride, so that equal ones are one."""

    def add(self, other: Unknowns) -> None:
        """Take over what another gather of the same reader defines."""
        self.extents |= other.extents
        self.equations += other.equations
        self.implied |= other.implied
        self.divisions |= other.divisions


def index_form(
    read: Read,
    node: Comprehension | None,
    box: Mapping[str, Poly],
    fresh: Callable[[str], str],
    earlier: Unknowns,
) -> tuple[Affine, Unknowns] | None:
    """The index that the read yields, as a form; None when it is opaque.

    `node` made the index tensor, `box` has the extents of the dims in the read's forms, `earlier`
    holds what other gathers of the reader define.
    """
    plain = not read.view.guard and not read.view.gathers
    if node is None or node.monoid is not None or not plain:
        return None
    body = node.body[node.outputs.index(read.source.output)]
    dims = zip(node.point, read.view.coords, strict=True)
    parse = _Parse(
        {d.name: c for d, c in dims}, {d.name: d.extent for d in node.point}, fresh, earlier
    )
    try:
        form = parse.run(body)
    except _OpaqueError:
        return None
    known = box.keys() | parse.found.extents.keys()
    return (form, parse.found) if form.variables <= known else None


class _OpaqueError(Exception):
    """The index depends on data, or on more than this module understands."""


@dataclass(slots=True)
class _Parse:
    """Forms of expressions over the coordinates of an index tensor."""

    coords: dict[str, Affine]
    sizes: dict[str, Poly]
    fresh: Callable[[str], str]
    earlier: Unknowns
    found: Unknowns = field(default_factory=Unknowns)

    def run(self, root: Expr) -> Affine:
        """The expression as an affine form in the reader's dims."""
        done: dict[Expr, tuple[Affine, Affine]] = {}
        for e in walk(root):
            done[e] = self._form(e, [done[a] for a in e.args])
        return done[root][0]

    def _form(self, e: Expr, a: list[tuple[Affine, Affine]]) -> tuple[Affine, Affine]:
        """The form over the reader's dims, and over the tensor's own (for its range)."""
        match e.op, e.payload:
            case "index", int(n):
                return constant(n), constant(n)
            case "extent", str(dim):
                return constant(self.sizes[dim]), constant(self.sizes[dim])
            case "iota", str(dim):
                return self.coords[dim], variable(dim)
            case "add", None:
                return a[0][0] + a[1][0], a[0][1] + a[1][1]
            case "neg", None:
                return -a[0][0], -a[0][1]
            case "mul", None:
                return self._product(a)
            case (("floordiv" | "mod"), None):
                return self._division(e.op, a)
            case _:
                raise _OpaqueError

    def _product(self, a: list[tuple[Affine, Affine]]) -> tuple[Affine, Affine]:
        for x, y in ((a[0], a[1]), (a[1], a[0])):
            if not y[0].terms:
                return x[0].scale(y[0].const), x[1].scale(y[0].const)
        raise _OpaqueError

    def _division(self, op: str, a: list[tuple[Affine, Affine]]) -> tuple[Affine, Affine]:
        """n = s·Q + φ with 0 ≤ φ < s, for n that is seen to be ≥ 0 and s a known number."""
        (outer, own), (by, _) = a
        low = lowest(own, self.sizes)
        if by.terms or not by.const.is_constant or low is None or not low.is_constant:
            raise _OpaqueError
        stride = by.const.constant
        if low.constant < 0:
            raise _OpaqueError
        high = highest(own, self.sizes) or poly(0)
        size = poly(high.constant // stride + 1) if high.is_constant else high + 1
        known = self.earlier.divisions.get((outer, stride))
        q, phase = known or (self.fresh("quotient"), self.fresh("phase"))
        self.sizes |= {q: size, phase: poly(stride)}
        if known is None:
            self._define(outer, stride, (q, phase), size)
        chosen = variable(q if op == "floordiv" else phase)
        return chosen, chosen

    def _define(self, outer: Affine, stride: int, names: tuple[str, str], size: Poly) -> None:
        """outer = stride · quotient + phase."""
        q, phase = names
        self.found.divisions[outer, stride] = names
        self.found.extents |= {q: size, phase: poly(stride)}
        self.found.implied |= {q}
        right = outer - variable(q, stride) - variable(phase)
        self.found.equations.append(Equation(constant(0), right))
