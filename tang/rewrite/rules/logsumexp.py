"""Rule `logsumexp`: m + log Σ exp(x − m) and log Σ exp x in one stable pass.

Defines `LOGSUMEXP`. Relies on normal forms, weights and opened nodes. The maximum m is optional,
and only a maximum of x itself is taken for one; anything else added to x stays part of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from tang.ir import monoids
from tang.ir.expr import Expr, apply, arg, named, substitute, walk
from tang.ir.graph import Comprehension
from tang.ir.view import Ref
from tang.rewrite.normal import LN2, Ring, add_all, emit, factors, mul_all, summands, tidied
from tang.rewrite.opened import NotHereError, Opened, Space, compact, own, plain, rebuilt, replaced
from tang.rewrite.program import Program
from tang.rewrite.rule import Edit, Requirement, Rule
from tang.rewrite.scores import Sum, shifted_score, stable_score
from tang.rewrite.weights import is_weight, spread, weight_of

_LOG2E: Final = named("log2e")


def _find(program: Program, node: Comprehension) -> Edit | None:
    if not any(x.op == "log2" for b in node.body for x in walk(b)):
        return None
    space = Space(program, node.dims)
    try:
        for part in range(len(node.body)):
            body = own(space, node, part)
            for log in (x for x in walk(body) if x.op == "log2"):
                mass = space.reduction(log.args[0], "sum")
                edit = mass and _fuse(program, node, part, space, body, log, mass)
                if edit:
                    return edit
    except NotHereError:
        return None
    return None


def _fuse(
    program: Program,
    node: Comprehension,
    part: int,
    space: Space,
    body: Expr,
    log: Expr,
    mass: Opened,
) -> Edit | None:
    inside = Space(program, mass.node.dims)
    parts = spread(inside, own(inside, mass.node), exact=False)
    weight = weight_of(parts) if all(is_weight(p, exact=False) for p in parts) else None
    if weight is None:
        return None
    total = Sum(inside, mass.node, weight)
    found = stable_score(total, exact=False)
    score = found.score if found else shifted_score(total, drop=False)
    if score is None:
        return None
    reads, exprs = compact(inside.reads, (score,))
    fused = Comprehension(
        program.fresh(f"{mass.node.name}.logsumexp"),
        mass.node.point, reads, exprs, mass.node.reduce, mass.node.where, monoids.LOGSUMEXP,
    )  # fmt: skip
    value = arg(space.number(replaced(plain(fused, Ref(fused.name, "value")), mass.env)))
    log_mass = apply("mul", value, _LOG2E)
    if found is not None:
        top = space.moved(found.shift, inside.reads, mass.node.dims, mass.env)
        scaled = apply(
            "mul", top, emit({((LN2, found.power),) if found.power else (): found.factor})
        )
        new = _without_maximum(space, body, log, scaled, value)
        if new is None:
            full = space.full(body)
            new = _without_maximum(space, full, space.full(log), scaled, value)
    else:
        new = tidied(substitute(body, {log: log_mass}), value)
    if new is None:
        return None
    changed = rebuilt(space, node, part, new)
    over = ", ".join(d.name for d in fused.reduce)
    shift = "m + " if found else ""
    text = f"{shift}log {mass.node.name} = log Σ exp(x) over {over} → logsumexp {fused.name}"
    seen = dict.fromkeys(s for s in (*space.seen, *inside.seen) if s != node.name)
    return Edit((node.name,), (fused, changed), node.name, text, context=tuple(seen))


def _without_maximum(space: Space, body: Expr, log: Expr, top: Expr, value: Expr) -> Expr | None:
    """before: … + c·(max + log mass) … → after: … + c·logsumexp …, in the sum that holds both.

    `top` is the maximum in units of log2: log2 mass + top is log2e · value. None in a body without
    such a sum.
    """
    ring = Ring()
    for whole in reversed(list(walk(body))):
        if whole.op not in ("add", "neg"):
            continue
        parts = summands(whole)
        for n, p in enumerate(parts):
            scale = _scale(p, log)
            if scale is None:
                continue
            wanted = ring.terms(space.full(apply("mul", top, scale)))
            for group in _groups(parts, n):
                have = ring.terms(space.full(add_all([parts[k] for k in group])))
                if have == wanted:
                    rest = [q for k, q in enumerate(parts) if k != n and k not in group]
                    new = add_all([*rest, mul_all([value, _LOG2E, scale])])
                    return substitute(body, {whole: tidied(new, value)})
    return None


def _groups(parts: list[Expr], skip: int) -> Iterator[tuple[int, ...]]:
    """Single summands, the maximum being one, then nothing else."""
    yield from ((k,) for k in range(len(parts)) if k != skip)


def _scale(p: Expr, log: Expr) -> Expr | None:
    """c with p = c · log."""
    sign = Fraction(1)
    while p.op == "neg":
        p, sign = p.args[0], -sign
    parts = factors(p)
    if log not in parts:
        return None
    parts.remove(log)
    rest = mul_all(parts)
    return rest if sign == 1 else apply("neg", rest)


LOGSUMEXP: Final = Rule(
    "logsumexp",
    "m + log Σ exp(x − m) with m = max x, or log Σ exp x → logsumexp of x",
    "real exponential field",
    frozenset({Requirement.FINITE, Requirement.REASSOCIATES}),
    "Tang.logsumexp",
    _find,
)
