"""Rule `hoist-invariant-factors`: a factor that the fold does not vary goes behind it.

Defines `HOIST_INVARIANT_FACTORS`. Relies on distributivity, so factors must be finite: 0 · inf is
NaN on one side only. It holds for sums of reals; nothing moves a factor back into a fold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tang.ir.expr import Expr, arg, extent, real, substitute, walk
from tang.ir.extent import ZERO, poly
from tang.ir.graph import Comprehension, reads_of
from tang.ir.view import Read, Ref, View, variable
from tang.rewrite.constants import special
from tang.rewrite.kinds import kind_of
from tang.rewrite.linear import extent_expr
from tang.rewrite.matching import args_of, fits, in_reach, is_sum, tidy
from tang.rewrite.normal import flattened, mul_all
from tang.rewrite.opened import nonempty
from tang.rewrite.program import Program
from tang.rewrite.proofs import domain_of
from tang.rewrite.rule import Edit, Requirement, Rule

_SINGULAR: Final = frozenset({"recip", "log2", "sqrt", "exp2", "sin"})
"""Operations that can make a NaN or an infinity of finite operands."""
_FAR: Final = 3
"""Nodes that are looked at, one behind the other."""


def _find(program: Program, node: Comprehension) -> Edit | None:
    """Σ_r c · f(r) → c · Σ_r f(r), as a reduction and a map of the old name."""
    if not is_sum(node.monoid) or node.monoid is None:
        return None
    output = node.monoid.outputs[0].name
    if program.used(node.name) - {output}:
        return None
    fixed, varying = _parts(node)
    if not fixed or not varying:
        return None
    if not _readable(program, node, fixed):
        return None
    name = program.fresh(f"{node.name}.sum")
    inner = tidy(replace(node, name=name, body=(mul_all(varying),)))
    outer = _epilogue(node, inner, output, fixed)
    shapes = {Ref(name, output): inner.tensor(output).shape}
    if not (fits(outer) and in_reach(program, outer, shapes)):
        return None
    text = f"Σ of {len(fixed) + len(varying)} factors, {len(fixed)} of them invariant → behind it"
    return Edit((node.name,), (inner, outer), node.name, text)


def _parts(node: Comprehension) -> tuple[list[Expr], list[Expr]]:
    """The factors that no reduce dim changes, and the others."""
    body = _without_extents(node)
    varies = _varying(node, body)
    fixed: list[Expr] = []
    varying: list[Expr] = []
    for f in flattened(body, _signed):
        (varying if varies.get(f) else fixed).append(f)
    return fixed, varying


def _without_extents(node: Comprehension) -> Expr:
    """The body with extents of reduce dims from those of point dims, or as numbers."""
    changes = {}
    for d in node.reduce:
        size = extent_expr(d.extent, node.point)
        if size is not None:
            changes[extent(d.name)] = size
    return substitute(node.body[0], changes)


def _varying(node: Comprehension, body: Expr) -> dict[Expr, bool]:
    """For every subexpression whether a reduce dim, or its extent, changes it."""
    dims = {d.name for d in node.reduce}
    found: dict[Expr, bool] = {}
    for e in walk(body):
        of_read = e.op == "arg" and isinstance(e.payload, int)
        names = node.reads[args_of([e])[0]].view.dims() if of_read else e.names
        own = not dims.isdisjoint(names) or (e.op == "extent" and e.payload in dims)
        found[e] = own or any(found[a] for a in e.args)
    return found


def _signed(e: Expr) -> Sequence[Expr] | None:
    """The parts of a product or of a sign."""
    if e.op == "mul":
        return e.args
    return (real(-1), e.args[0]) if e.op == "neg" else None


def _epilogue(
    node: Comprehension, inner: Comprehension, output: str, fixed: list[Expr]
) -> Comprehension:
    """The map of the old name: the sum times the invariant factors."""
    coords = tuple(variable(d.name) for d in node.point)
    total = Read(Ref(inner.name, output), View(coords))
    body = mul_all([arg(len(node.reads)), *fixed])
    return tidy(
        Comprehension(node.name, node.point, (*node.reads, total), (body,), outputs=(output,))
    )


def _readable(program: Program, node: Comprehension, fixed: list[Expr]) -> bool:
    """Whether the factors may be evaluated also where the fold is empty.

    There the left side reads nothing and is 0: reads must lie in their sources at every point,
    and no finite operand may make a factor NaN or infinite, nor a result that it reads.
    """
    if nonempty(program, node):
        return True
    if any(e.op in _SINGULAR for e in walk(*fixed)):
        return False
    points = domain_of(replace(node, reduce=(), where=(), monoid=None), program.facts)
    for i in args_of(fixed):
        read = node.reads[i]
        inside = points.under(read.view.guard)
        shape = program.type_of(read.source)[0]
        pairs = zip(read.view.coords, shape, strict=True)
        if read.view.gathers or not all(inside.inside(c, ZERO, poly(n)) for c, n in pairs):
            return False
        if not _is_finite(program, read.source.node, _FAR):
            return False
    return True


def _is_finite(program: Program, name: str, far: int) -> bool:
    """Whether all that a node gives is finite where inputs are: sums, products, maps of such."""
    node = program.node(name)
    if node is None:
        return True  # an input
    if not far or not (node.monoid is None or kind_of(node) in ("sum", "prod")):
        return False
    exprs = [*node.body, *(r.view.fill for r in node.reads if r.view.fill is not None)]
    if any(e.op in _SINGULAR or special(e) in ("inf", "-inf", "nan") for e in walk(*exprs)):
        return False
    return all(_is_finite(program, r.source.node, far - 1) for r in reads_of(node))


HOIST_INVARIANT_FACTORS: Final = Rule(
    "hoist-invariant-factors",
    "Σ_r c · f(r) with c free of r → c · Σ_r f(r)",
    "ring",
    frozenset({Requirement.FINITE, Requirement.REASSOCIATES}),
    "Tang.hoist_invariant_factors",
    _find,
    recalled=True,
)
