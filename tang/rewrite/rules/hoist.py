"""Rule `hoist-invariant-factors`: a factor that the fold does not vary goes behind it.

Defines `HOIST_INVARIANT_FACTORS`. Relies on distributivity, so factors must be finite: 0 · inf is
NaN on one side only. It holds for sums of reals; nothing moves a factor back into a fold.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

from tang.ir.expr import Expr, apply, arg, extent, real, substitute, walk
from tang.ir.extent import ZERO, poly
from tang.ir.graph import Comprehension
from tang.ir.view import Read, Ref, View, variable
from tang.rewrite.linear import extent_expr
from tang.rewrite.matching import args_of, fits, in_reach, is_sum, tidy
from tang.rewrite.program import Program
from tang.rewrite.proofs import domain_of, nonnegative
from tang.rewrite.rule import Edit, Requirement, Rule

_SINGULAR: Final = frozenset({"recip", "log2", "sqrt", "exp2", "sin"})
"""Operations that can make a NaN or an infinity of finite operands."""


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
    inner = tidy(replace(node, name=name, body=(_product(varying),)))
    outer = _epilogue(node, inner, output, fixed)
    shapes = {Ref(name, output): inner.tensor(output).shape}
    if not (fits(outer) and in_reach(program, outer, shapes)):
        return None
    text = f"Σ of {len(fixed) + len(varying)} factors, {len(fixed)} of them invariant → behind it"
    return Edit((node.name,), (inner, outer), node.name, text)


def _parts(node: Comprehension) -> tuple[list[Expr], list[Expr]]:
    """The factors that no reduce dim changes, and the others."""
    dims = {d.name for d in node.reduce}
    fixed: list[Expr] = []
    varying: list[Expr] = []
    for f in map(partial(_without_extents, node), _factors(node.body[0])):
        free = f.names.union(*(node.reads[i].view.dims() for i in args_of([f])))
        sizes = {e.payload for e in walk(f) if e.op == "extent"}
        (varying if (free | sizes) & dims else fixed).append(f)
    return fixed, varying


def _without_extents(node: Comprehension, factor: Expr) -> Expr:
    """The factor with extents of reduce dims from those of point dims, or as numbers."""
    changes = {}
    for d in node.reduce:
        size = extent_expr(d.extent, node.point)
        if size is not None:
            changes[extent(d.name)] = size
    return substitute(factor, changes)


def _factors(root: Expr) -> list[Expr]:
    found, waiting = [], [root]
    while waiting:
        e = waiting.pop()
        if e.op == "mul":
            waiting += reversed(e.args)
        elif e.op == "neg":
            waiting += (e.args[0], real(-1))
        else:
            found.append(e)
    return found


def _product(factors: list[Expr]) -> Expr:
    total = factors[0]
    for f in factors[1:]:
        total = apply("mul", total, f)
    return total


def _epilogue(
    node: Comprehension, inner: Comprehension, output: str, fixed: list[Expr]
) -> Comprehension:
    """The map of the old name: the sum times the invariant factors."""
    coords = tuple(variable(d.name) for d in node.point)
    total = Read(Ref(inner.name, output), View(coords))
    body = _product([arg(len(node.reads)), *fixed])
    return tidy(
        Comprehension(node.name, node.point, (*node.reads, total), (body,), outputs=(output,))
    )


def _readable(program: Program, node: Comprehension, fixed: list[Expr]) -> bool:
    """Whether the factors may be evaluated also where the fold is empty.

    There the left side reads nothing and is 0: reads must lie in their sources at every point,
    and no finite operand may make a factor NaN or infinite.
    """
    points = domain_of(replace(node, reduce=(), where=(), monoid=None), program.facts)
    filled = (nonnegative(d.extent - 1, points.minimum) for d in node.reduce)
    if not node.where and all(filled):
        return True
    if any(e.op in _SINGULAR for e in walk(*fixed)):
        return False
    for i in args_of(fixed):
        read = node.reads[i]
        inside = points.under(read.view.guard)
        shape = program.type_of(read.source)[0]
        pairs = zip(read.view.coords, shape, strict=True)
        if read.view.gathers or not all(inside.inside(c, ZERO, poly(n)) for c, n in pairs):
            return False
    return True


HOIST_INVARIANT_FACTORS: Final = Rule(
    "hoist-invariant-factors",
    "Σ_r c · f(r) with c free of r → c · Σ_r f(r)",
    "ring",
    frozenset({Requirement.FINITE, Requirement.REASSOCIATES}),
    "Tang.hoist_invariant_factors",
    _find,
    recalled=True,
)
