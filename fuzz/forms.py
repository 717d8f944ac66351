"""Recognised forms: compositions that lowering may compute by one function.

Defines `FORMS` and the matcher that counts them in a body. Relies on the derived forms as patterns.
It is coverage's own reading: lowering has its own, and the two share nothing but the definitions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Final

from tang.ir import derived
from tang.ir.expr import REAL, Expr, arg, walk

FORMS: Final = ("sub", "div", "exp", "log", "cos", "sigmoid", "tanh", "maximum", "minimum")


def _pattern(name: str) -> Expr:
    function: Callable[..., Expr] = getattr(derived, name)
    hole, other = arg(10**6, REAL), arg(10**6 + 1, REAL)
    return function(hole, other) if name in ("sub", "div", "maximum", "minimum") else function(hole)


@cache
def _patterns() -> dict[str, Expr]:
    return {name: _pattern(name) for name in FORMS}


def recognised(roots: Sequence[Expr]) -> set[str]:
    """The forms that occur in the expressions, nested ones included."""
    patterns = _patterns()
    ops = {p.op for p in patterns.values()}
    found: set[str] = set()
    for e in walk(*roots):
        if e.op in ops:
            found.update(n for n, p in patterns.items() if p.op == e.op and _matches(p, e, {}))
    return found


def _matches(pattern: Expr, e: Expr, holes: dict[Expr, Expr]) -> bool:
    """Whether `e` is the pattern with its holes filled consistently."""
    if pattern.op == "arg":
        return holes.setdefault(pattern, e) is e
    if pattern.op != e.op or pattern.payload != e.payload or len(pattern.args) != len(e.args):
        return False
    return all(_matches(p, a, holes) for p, a in zip(pattern.args, e.args, strict=True))
