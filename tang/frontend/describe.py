"""How values are shown in messages: as the user wrote them, as far as that is known.

Defines `describe_expr` and the names of leaves. Relies on expressions and leaves; long
expressions are cut. The text is for people: the exact text form of a program is `tang.ir.text`.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Final

from tang.frontend.leaves import Dim, Extent, Leaf, TensorRead
from tang.ir.expr import Expr

_DEPTH: Final = 6
_INFIX: Final = {
    "add": "+", "mul": "*", "lt": "<", "eq": "==", "and": "&", "or": "|",
    "floordiv": "//", "mod": "%",
}  # fmt: skip
_PLACEHOLDERS: Final = ("arg", "iota", "extent")


def name_of_leaf(leaf: Leaf) -> str:
    """A dim's name, a read with its subscripts, a reduction's monoid."""
    if isinstance(leaf, Dim):
        return leaf.name
    if isinstance(leaf, Extent):
        return f"extent({leaf.of.name})" if isinstance(leaf.of, Dim) else f"({leaf.of})"
    if isinstance(leaf, TensorRead):
        inside = ", ".join(repr(s) for s in leaf.subscripts)
        return f"{leaf.tensor.name}[{inside}]"
    return f"{leaf.reduction.monoid.name}(…)"


def describe_expr(e: Expr, leaf: Callable[[Expr], str], depth: int = _DEPTH) -> str:
    """The expression in infix form, cut below `depth` operations."""
    if e.op in _PLACEHOLDERS:
        return leaf(e)
    if not e.args:
        return _constant(e)
    if depth == 0:
        return "…"
    parts = [describe_expr(a, leaf, depth - 1) for a in e.args]
    if e.op == "neg":
        return "-" + _wrapped(e.args[0], parts[0])
    if e.op == "add" and e.args[1].op == "neg":
        inner = describe_expr(e.args[1].args[0], leaf, depth - 1)
        return f"{parts[0]} - {_wrapped(e.args[1].args[0], inner)}"
    if e.op in _INFIX:
        return _infix(e, parts)
    return f"{e.op}({', '.join(parts)})"


def _infix(e: Expr, parts: list[str]) -> str:
    if e.op != "add":
        parts = [_wrapped(a, p) for a, p in zip(e.args, parts, strict=True)]
    sign = _INFIX[e.op]
    return sign.join(parts) if e.op == "mul" else f" {sign} ".join(parts)


def _wrapped(e: Expr, text: str) -> str:
    return f"({text})" if e.op in _INFIX else text


def _constant(e: Expr) -> str:
    if isinstance(e.payload, Fraction) and e.payload.denominator != 1:
        return repr(float(e.payload))
    return str(e.payload)
