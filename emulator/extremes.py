"""Comparisons whose choice is continuous: max, min and abs as kernels write them.

Defines `extreme_of`, which recognises select(x < y, y, x), select(x < y, x, y) and
select(x < 0, −x, x). Relies on the kernel IR alone. It computes nothing: a domain with bounds
takes them as one operation, since the result moves no further than the operands do.
"""

from __future__ import annotations

from tang.kernel.ir import Const, Expr, Op, Var


def extreme_of(e: Op) -> tuple[str, tuple[Expr, ...]] | None:
    """("max" or "min", (x, y)) or ("abs", (x,)) for a select of that form over floats, or None."""
    condition, yes, no = e.args
    if not (isinstance(condition, Op) and condition.op == "lt" and e.type.is_float):
        return None
    x, y = condition.args
    if _same(yes, y) and _same(no, x):
        return "max", (x, y)
    if _same(yes, x) and _same(no, y):
        return "min", (x, y)
    negated = isinstance(yes, Op) and yes.op == "neg" and _same(yes.args[0], x)
    if negated and _same(no, x) and isinstance(y, Const) and y.value == 0:
        return "abs", (x,)
    return None


def _same(a: Expr, b: Expr) -> bool:
    return a is b or (isinstance(a, Var | Const) and a == b)
