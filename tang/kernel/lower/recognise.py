"""Recognition: compositions of primitive operations that one direct function computes better.

Defines the table of derived forms and the matcher. Relies on `tang.ir.derived`, whose very forms
are the patterns, so the two cannot drift apart; names of nodes or monoids play no part. It does
not emit anything.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache

from tang.ir import derived
from tang.ir.expr import INDEX, REAL, Expr, Sort, arg

COMMUTATIVE = ("add", "mul")
_HOLES = (-1, -2)


@dataclass(frozen=True, slots=True)
class Form:
    """A pattern over holes, and the row of the kernel IR's OPS or MATH that computes it."""

    op: str
    pattern: Expr
    holes: tuple[Expr, ...]


@cache
def forms() -> tuple[Form, ...]:
    """The table, larger forms before the forms that they contain."""
    return (
        _form("tanh", derived.tanh, 1),
        _form("sigmoid", derived.sigmoid, 1),
        _form("exp", derived.exp, 1),
        _form("log", derived.log, 1),
        _form("cos", derived.cos, 1),
        _form("div", derived.div, 2),
        _form("sub", derived.sub, 2),
        _form("sub", derived.sub, 2, INDEX),
    )


@cache
def forms_of(head: str) -> tuple[Form, ...]:
    """The forms whose outermost operation is `head`."""
    return tuple(f for f in forms() if f.pattern.op == head)


def _form(op: str, build: Callable[..., Expr], arity: int, sort: Sort = REAL) -> Form:
    holes = tuple(arg(h, sort) for h in _HOLES[:arity])
    return Form(op, build(*holes), holes)


@lru_cache(maxsize=8192)
def recognise(e: Expr) -> tuple[str, tuple[Expr, ...]] | None:
    """before: a derived form → after: (operation, operands); None when no row matches."""
    for form in forms_of(e.op):
        found = _match(form.pattern, e, {})
        if found is not None:
            return form.op, tuple(found[h] for h in form.holes)
    return None


def _match(pattern: Expr, e: Expr, found: dict[Expr, Expr]) -> dict[Expr, Expr] | None:
    if pattern.op == "arg":
        if pattern.sort is not e.sort or found.get(pattern, e) is not e:
            return None
        return {**found, pattern: e}
    if (pattern.op, pattern.sort, pattern.payload) != (e.op, e.sort, e.payload):
        return None
    orders = [e.args]
    if e.op in COMMUTATIVE:
        orders.append(e.args[::-1])
    tries = (_match_all(pattern.args, o, found) for o in orders)
    return next((m for m in tries if m is not None), None)


def _match_all(
    patterns: tuple[Expr, ...], args: tuple[Expr, ...], found: dict[Expr, Expr] | None
) -> dict[Expr, Expr] | None:
    for p, a in zip(patterns, args, strict=True):
        if found is None:
            return None
        found = _match(p, a, found)
    return found
