"""Comparisons whose choice is continuous: max, min and abs as kernels write them.

Defines `extreme_of`, which recognises select(x < y, y, x), select(x < y, x, y) and
select(x < 0, −x, x), the first two also where NaN is chosen before. Relies on the kernel IR alone.
It computes nothing: a domain with bounds takes them as one operation, since the result moves no
further than the operands do.
"""

from __future__ import annotations

from typing import Final

from tang.kernel.ir import Const, Expr, Op, Var

Found = tuple[str, tuple[Expr, ...]]

PROPAGATING: Final = {"max": "maximum", "min": "minimum"}
"""The extremes that choose a NaN first: select(isnan(x), x, select(isnan(y), y, …))."""


def extreme_of(e: Op) -> Found | None:
    """(kind, operands) of a select over floats that is an extreme, or None.

    kind  "max", "min" and, where NaN is chosen first, "maximum", "minimum", each of two; "abs"
    """
    condition, yes, no = e.args
    if not (isinstance(condition, Op) and e.type.is_float):
        return None
    if condition.op == "isnan":
        return _propagating(condition.args[0], yes, no)
    return _plain(condition, yes, no) if condition.op == "lt" else None


def _plain(condition: Op, yes: Expr, no: Expr) -> Found | None:
    x, y = condition.args
    if _same(yes, y) and _same(no, x):
        return "max", (x, y)
    if _same(yes, x) and _same(no, y):
        return "min", (x, y)
    negated = isinstance(yes, Op) and yes.op == "neg" and _same(yes.args[0], x)
    if negated and _same(no, x) and isinstance(y, Const) and y.value == 0:
        return "abs", (x,)
    return None


def _propagating(x: Expr, yes: Expr, no: Expr) -> Found | None:
    """select(isnan(x), x, select(isnan(y), y, extreme of x and y))."""
    if not (_same(x, yes) and isinstance(no, Op) and no.op == "select"):
        return None
    condition, y, rest = no.args
    second = isinstance(condition, Op) and condition.op == "isnan" and _same(condition.args[0], y)
    found = extreme_of(rest) if second and isinstance(rest, Op) and rest.op == "select" else None
    if found is None or found[0] not in PROPAGATING:
        return None
    a, b = found[1]
    if (_same(a, x) and _same(b, y)) or (_same(a, y) and _same(b, x)):
        return PROPAGATING[found[0]], (a, b)  # the order of the comparison decides ties
    return None


def _same(a: Expr, b: Expr) -> bool:
    return a is b or (isinstance(a, Var | Const) and a == b)
