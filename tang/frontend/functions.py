"""Functions of scalars, which also apply to whole tensors element by element.

Defines `select`, the extrema and the elementary functions. Relies on the forms of
`tang.ir.derived`, which lowering recognises, and on `elementwise` for tensors. It adds no
operation of its own to the IR.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar, cast, overload

from tang.frontend.elementwise import elementwise
from tang.frontend.site import failure
from tang.frontend.tensors import Tensor
from tang.frontend.values import Operand, Value, as_value, combine, same_sort, want
from tang.ir import derived, expr
from tang.ir.expr import BOOL, INDEX, REAL, Expr

T = TypeVar("T", Value, Tensor)
_PI = expr.named("pi")


def _unary(name: str, f: Callable[[Expr], Expr], x: Operand | Tensor) -> Value | Tensor:
    if isinstance(x, Tensor):
        return elementwise(lambda v: combine(f, want(v, REAL, f"tg.{name}")), x, name=name)
    return combine(f, want(x, REAL, f"tg.{name}"))


def _function(name: str, f: Callable[[Expr], Expr], meaning: str) -> Callable[[T], T]:
    def function(x: T) -> T:
        return cast("T", _unary(name, f, x))  # the kind of x decides

    function.__name__ = function.__qualname__ = name
    function.__doc__ = meaning
    return function


def _op(op: str) -> Callable[[Expr], Expr]:
    return lambda e: expr.apply(op, e)


def _gelu(e: Expr) -> Expr:
    root = expr.apply("sqrt", expr.real(Fraction(1, 2)))
    inside = expr.apply("erf", expr.apply("mul", e, root))
    half = expr.apply("mul", e, expr.real(Fraction(1, 2)))
    return expr.apply("mul", half, expr.apply("add", expr.real(1), inside))


def _gelu_tanh(e: Expr) -> Expr:
    scale = expr.apply("sqrt", expr.apply("mul", expr.real(2), expr.apply("recip", _PI)))
    cubic = expr.apply("mul", expr.real(Fraction(44715, 10**6)), derived.power(e, 3))
    inside = derived.tanh(expr.apply("mul", scale, expr.apply("add", e, cubic)))
    half = expr.apply("mul", e, expr.real(Fraction(1, 2)))
    return expr.apply("mul", half, expr.apply("add", expr.real(1), inside))


def _silu(e: Expr) -> Expr:
    return expr.apply("mul", e, derived.sigmoid(e))


exp = _function("exp", derived.exp, "eˣ.")
exp2 = _function("exp2", _op("exp2"), "2ˣ.")
log = _function("log", derived.log, "Natural logarithm; −inf at 0, NaN below.")
log2 = _function("log2", _op("log2"), "Binary logarithm; −inf at 0, NaN below.")
sqrt = _function("sqrt", _op("sqrt"), "Square root; NaN below 0.")
rsqrt = _function("rsqrt", lambda e: derived.div(expr.real(1), _op("sqrt")(e)), "1/√x.")
recip = _function("recip", _op("recip"), "1/x.")
sin = _function("sin", _op("sin"), "Sine of radians.")
cos = _function("cos", derived.cos, "Cosine of radians.")
tanh = _function("tanh", derived.tanh, "Hyperbolic tangent.")
sigmoid = _function("sigmoid", derived.sigmoid, "1 / (1 + e⁻ˣ).")
erf = _function("erf", _op("erf"), "Error function.")
floor = _function("floor", _op("floor"), "Largest whole number ≤ x, as a real.")
silu = _function("silu", _silu, "x · sigmoid(x).")


def gelu(x: T, approximate: str = "none") -> T:
    """x · Φ(x): with erf, or by its tanh approximation when `approximate="tanh"`."""
    if approximate not in ("none", "tanh"):
        raise failure(f'gelu: approximate is "none" or "tanh", not {approximate!r}')
    return _GELU[approximate](x)


_GELU = {
    "none": _function("gelu", _gelu, "Exact gelu."),
    "tanh": _function("gelu", _gelu_tanh, "Gelu by tanh."),
}


@overload
def maximum(a: Tensor, b: Operand | Tensor) -> Tensor: ...
@overload
def maximum(a: Operand, b: Tensor) -> Tensor: ...
@overload
def maximum(a: Operand, b: Operand) -> Value: ...
def maximum(a: Operand | Tensor, b: Operand | Tensor) -> Value | Tensor:
    """The larger of two reals (NaN when either is) or of two indices."""
    return _binary("maximum", derived.maximum, derived.index_maximum, a, b)


@overload
def minimum(a: Tensor, b: Operand | Tensor) -> Tensor: ...
@overload
def minimum(a: Operand, b: Tensor) -> Tensor: ...
@overload
def minimum(a: Operand, b: Operand) -> Value: ...
def minimum(a: Operand | Tensor, b: Operand | Tensor) -> Value | Tensor:
    """The smaller of two reals (NaN when either is) or of two indices."""
    return _binary("minimum", derived.minimum, derived.index_minimum, a, b)


Pair = Callable[[Expr, Expr], Expr]


def _binary(
    name: str, f: Pair, of_index: Pair, a: Operand | Tensor, b: Operand | Tensor
) -> Value | Tensor:
    def scalar(x: Operand, y: Operand) -> Value:
        left, right = same_sort(f"tg.{name}", x, y)
        if left.sort is INDEX:
            return combine(of_index, left, right)
        return combine(f, want(left, REAL, f"tg.{name}"), right)

    if isinstance(a, Tensor) or isinstance(b, Tensor):
        return elementwise(scalar, a, b, name=name)
    return scalar(a, b)


def relu(x: T) -> T:
    """max(x, 0); NaN stays."""
    return maximum(x, 0)


def absolute(x: T) -> T:
    """|x| of a real or an index."""
    if isinstance(x, Tensor):
        return elementwise(builtins.abs, x, name="abs")
    return builtins.abs(as_value(x))


def atan2(y: Operand, x: Operand) -> Value:
    """The angle of the point (x, y), in (−π, π]."""
    return combine(lambda a, b: expr.apply("atan2", a, b), *_reals("atan2", y, x))


def isnan(x: Operand) -> Value:
    """Whether a real is NaN."""
    return combine(_op("isnan"), want(x, REAL, "tg.isnan"))


def clip(x: Operand, lo: Operand, hi: Operand) -> Value:
    """x limited to lo … hi; NaN stays."""
    return minimum(maximum(x, lo), hi)


def select(condition: Operand, a: Operand, b: Operand) -> Value:
    """a where the condition holds, else b; the other branch is not evaluated."""
    test = want(condition, BOOL, "tg.select")
    left, right = same_sort("tg.select", a, b)
    return combine(derived.select, test, left, right)


def _reals(name: str, *operands: Operand) -> list[Value]:
    return [want(x, REAL, f"tg.{name}") for x in operands]
