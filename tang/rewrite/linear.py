"""Index expressions as affine forms, and back.

Defines `linear`, which also carries out floor division and remainder where the parts are proved to
separate, `form_of` for normal forms, and `index_expr`. Relies on `proofs`. It does not touch reals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tang.ir.expr import Expr, apply, extent, index, walk
from tang.ir.extent import ZERO, Monomial, Poly, poly
from tang.ir.graph import Dim
from tang.ir.view import Affine, constant, variable
from tang.rewrite.normal import Monomial as Powers
from tang.rewrite.normal import Terms
from tang.rewrite.proofs import Domain

Leaf = Callable[[Expr], Affine | None]


def linear(root: Expr, leaf: Leaf, domain: Domain) -> Affine | None:
    """The index expression as a form; `leaf` gives that of coordinates, extents and arguments.

    None where it is no form, or a quotient or remainder is not proved to be one.
    """
    done: dict[Expr, Affine | None] = {}
    for e in walk(root):
        done[e] = leaf(e) or _step(e, [done[a] for a in e.args], domain)
    return done[root]


def form_of(terms: Terms, extents: Mapping[str, Poly]) -> Affine | None:
    """A sum of products of coordinates and sizes as a form; None for any other sum."""
    total = constant(0)
    for m, c in terms.items():
        term = _product_form(extents, m) if c.denominator == 1 else None
        if term is None:
            return None
        total = total + term.scale(int(c))
    return total


def _product_form(extents: Mapping[str, Poly], m: Powers) -> Affine | None:
    form, factor = None, poly(1)
    for atom, power in m:
        name = str(atom.payload)
        if atom.op == "extent" and power > 0 and name in extents:
            for _ in range(power):
                factor = factor * extents[name]
        elif atom.op == "iota" and power == 1 and form is None and name in extents:
            form = variable(name)
        else:
            return None
    return constant(factor) if form is None else form.scale(factor)


def _step(e: Expr, args: list[Affine | None], domain: Domain) -> Affine | None:
    if e.op == "index" and isinstance(e.payload, int):
        return constant(e.payload)
    forms = [a for a in args if a is not None]
    if len(forms) < len(args) or not forms:
        return None
    match e.op:
        case "add":
            return forms[0] + forms[1]
        case "neg":
            return -forms[0]
        case "mul":
            return _product(*forms)
        case "floordiv" | "mod" if not forms[1].terms:
            parts = separated(forms[0], forms[1].const, domain)
            return None if parts is None else parts[e.op == "mod"]
    return None


def _product(a: Affine, b: Affine) -> Affine | None:
    if not a.terms:
        return b.scale(a.const)
    return a.scale(b.const) if not b.terms else None


def separated(form: Affine, divisor: Poly, domain: Domain) -> tuple[Affine, Affine] | None:
    """form = divisor · quotient + remainder with 0 ≤ remainder < divisor proved, or None."""
    quotient, rest = constant(ZERO), constant(ZERO)
    for v, c in form.terms:
        q, r = _divided(c, divisor)
        quotient = quotient + Affine(((v, q),) if q.terms else ())
        rest = rest + Affine(((v, r),) if r.terms else ())
    q, r = _divided(form.const, divisor)
    quotient, rest = quotient + q, rest + r
    return (quotient, rest) if domain.inside(rest, ZERO, divisor) else None


def _divided(p: Poly, divisor: Poly) -> tuple[Poly, Poly]:
    """p = divisor · quotient + remainder, term by term."""
    if len(divisor.terms) != 1:
        return (poly(1), ZERO) if p == divisor else (ZERO, p)
    (monomial, n), quotient, rest = divisor.terms[0], ZERO, ZERO
    for m, c in p.terms:
        left = _without(m, monomial)
        if left is None:
            rest = rest + Poly(((m, c),))
            continue
        q, r = divmod(c, n)
        quotient = quotient + (Poly(((left, q),)) if q else ZERO)
        rest = rest + (Poly(((m, r),)) if r else ZERO)
    return quotient, rest


def _without(m: Monomial, part: Monomial) -> Monomial | None:
    left = list(m)
    for s in part:
        if s not in left:
            return None
        left.remove(s)
    return tuple(left)


def index_expr(
    form: Affine, leaf: Callable[[str], Expr | None], dims: tuple[Dim, ...]
) -> Expr | None:
    """A form as an expression in a node with these dims; None where an extent has no name there."""
    parts: list[Expr] = []
    for v, c in form.terms:
        at, factor = leaf(v), extent_expr(c, dims)
        if at is None or factor is None:
            return None
        parts.append(_times(at, factor))
    if form.const.terms or not parts:
        offset = extent_expr(form.const, dims)
        if offset is None:
            return None
        parts.append(offset)
    total = parts[0]
    for p in parts[1:]:
        total = apply("add", total, p)
    return total


def _times(at: Expr, factor: Expr) -> Expr:
    if factor is index(1):
        return at
    return apply("neg", at) if factor is index(-1) else apply("mul", at, factor)


def extent_expr(p: Poly, dims: tuple[Dim, ...]) -> Expr | None:
    """A polynomial from the extents of these dims, None where one of its symbols has no name."""
    if p.is_constant:
        return index(p.constant)
    for d in dims:
        if d.extent == p:
            return extent(d.name)
    total: Expr | None = None
    for monomial, c in p.terms:
        term: Expr | None = index(c)
        for s in monomial:
            term = _multiplied(term, _symbol_expr(s, dims))
        if term is None:
            return None
        total = term if total is None else apply("add", total, term)
    return total


def _multiplied(a: Expr | None, b: Expr | None) -> Expr | None:
    if a is None or b is None:
        return None
    return b if a is index(1) else apply("mul", a, b)


def _symbol_expr(s: str, dims: tuple[Dim, ...]) -> Expr | None:
    """A symbol from a dim of extent s, s + c or k · s."""
    found: Expr | None = None
    for d in dims:
        terms = dict(d.extent.terms)
        factor, offset = terms.pop((s,), 0), terms.pop((), 0)
        if terms or factor < 1:
            continue
        if factor == 1 and not offset:
            return extent(d.name)
        moved = apply("add", extent(d.name), index(-offset)) if offset else extent(d.name)
        found = moved if factor == 1 else apply("floordiv", moved, index(factor))
    return found
