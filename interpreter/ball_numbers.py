"""Extended reals as balls: one number at a time.

A number is an `arb` (a finite real, enclosed), one of the floats inf, −inf, nan (certain), EITHER
(an infinity whose sign hangs on the sign of a zero) or UNDECIDED (any of these). `arb`'s own
infinities and NaN are not used, because its order takes no decision on them. Relies on
python-flint; arrays are in `balls`. Precision is flint's context, set by the caller.

Whatever is special follows from representatives: an operand stands for a few floats (a positive
ball for 1, an exact zero for both zeros, UNDECIDED for everything), the operation is done on
each, and the result is certain when all agree. That is sound because the class of a result with
a special operand depends on the classes and signs of the operands alone.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

import flint
import numpy as np
from flint import arb

from tang.interpreter.arithmetic import INDEX_HIGH, INDEX_LOW, UNKNOWN

Number = Any
"""arb | inf | −inf | nan | EITHER | UNDECIDED."""

FALSE, MAYBE, TRUE = 0, 1, 2
"""Kleene's truth values: `and` is the minimum, `or` the maximum, `not x` is 2 − x."""


class Special:
    """A number of which only the class is known; compared by identity."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


EITHER: Final = Special("EITHER")
UNDECIDED: Final = Special("UNDECIDED")
INF, NAN = math.inf, math.nan

_REPRESENTATIVES: Final[dict[str, tuple[float, ...]]] = {
    "positive": (1.0,),
    "negative": (-1.0,),
    "zero": (0.0, -0.0),
    "finite": (-1.0, -0.0, 0.0, 1.0),
    "inf": (INF,),
    "-inf": (-INF,),
    "nan": (NAN,),
    "EITHER": (INF, -INF),
    "UNDECIDED": (NAN, -INF, -1.0, -0.0, 0.0, 1.0, INF),
}


def class_of(x: Number) -> str:
    """The class of a number, a key of the representatives."""
    if type(x) is not arb:
        return x.name if isinstance(x, Special) else str(x)
    if x > 0:
        return "positive"
    if x < 0:
        return "negative"
    return "zero" if x.is_zero() else "finite"


_ON_FLOATS: Final[dict[str, Callable[..., Any]]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "neg": np.negative,
    "recip": np.reciprocal, "sqrt": np.sqrt, "fma": lambda a, b, c: a * b + c,
    "floor": np.floor, "exp2": np.exp2, "exp": np.exp, "log2": np.log2, "log": np.log,
    "sin": np.sin, "cos": np.cos, "tanh": np.tanh, "erf": math.erf, "atan2": np.arctan2,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "lt": np.less, "eq": np.equal,
}  # fmt: skip


@lru_cache(maxsize=4096)
def _outcomes(op: str, classes: tuple[str, ...]) -> tuple[float, ...]:
    """The distinct results over all representatives."""
    found: dict[str, float] = {}
    with np.errstate(all="ignore"):
        for operands in itertools.product(*(_REPRESENTATIVES[c] for c in classes)):
            result = float(_ON_FLOATS[op](*(np.float64(x) for x in operands)))
            found[str(result + 0.0)] = result + 0.0
    return tuple(found.values())


def special(op: str, *operands: Number) -> Number:
    """The result of an operation with an operand that is special or outside its domain."""
    outcomes = _outcomes(op, tuple(class_of(x) for x in operands))
    if len(outcomes) == 1:
        return _exact(outcomes[0])
    return EITHER if all(math.isinf(x) for x in outcomes) else UNDECIDED


def _exact(x: float) -> Number:
    """A certain result: infinite, NaN, an integer, or a multiple of π/4 (from atan2)."""
    if not math.isfinite(x):
        return x
    if x == int(x):
        return arb(int(x))
    return arb.pi() * round(x / (math.pi / 4)) / 4


def _truth(op: str, a: Number, b: Number) -> int:
    outcomes = _outcomes(op, (class_of(a), class_of(b)))
    return MAYBE if len(outcomes) > 1 else (TRUE if outcomes[0] else FALSE)


def _finite(x: Number) -> Number:
    return x if x.is_finite() else UNDECIDED


def from_float(x: float) -> Number:
    """A float as a number; zeros lose their sign."""
    return arb(float(x)) if math.isfinite(x) else float(x)


def from_fraction(x: Fraction) -> Number:
    """A rational, enclosed."""
    return arb(flint.fmpq(x.numerator, x.denominator))


def from_index(n: int) -> Number:
    """An index; UNKNOWN is UNDECIDED."""
    return UNDECIDED if n == UNKNOWN else arb(int(n))


def constant(name: str) -> Number:
    """A named constant of `tang.ir.expr.NAMED`, enclosed."""
    if name == "pi":
        return arb.pi()
    if name in ("ln2", "log2e"):
        return arb.const_log2() if name == "ln2" else 1 / arb.const_log2()
    return from_float(float(name))


def add(a: Number, b: Number) -> Number:
    return a + b if type(a) is arb and type(b) is arb else special("add", a, b)


def sub(a: Number, b: Number) -> Number:
    if type(a) is arb and type(b) is arb:
        return arb(0) if a is b else a - b
    return special("sub", a, b)


def mul(a: Number, b: Number) -> Number:
    return a * b if type(a) is arb and type(b) is arb else special("mul", a, b)


def div(a: Number, b: Number) -> Number:
    regular = type(a) is arb and type(b) is arb and (b > 0 or b < 0)
    return a / b if regular else special("div", a, b)


def fma(a: Number, b: Number, c: Number) -> Number:
    if type(a) is arb and type(b) is arb and type(c) is arb:
        return a * b + c
    return special("fma", a, b, c)


def neg(a: Number) -> Number:
    return -a if type(a) is arb else special("neg", a)


def recip(a: Number) -> Number:
    return 1 / a if type(a) is arb and (a > 0 or a < 0) else special("recip", a)


def sqrt(a: Number) -> Number:
    if type(a) is not arb or a < 0:
        return special("sqrt", a)
    return _finite(a.sqrt())


def floor(a: Number) -> Number:
    return _finite(a.floor()) if type(a) is arb else special("floor", a)


def exp2(a: Number) -> Number:
    if type(a) is not arb:
        return special("exp2", a)
    n = a.unique_fmpz() if a.is_integer() else None
    if n is not None and abs(int(n)) < 2**20:
        return arb((1, int(n)))
    return _finite((a * arb.const_log2()).exp())


def exp(a: Number) -> Number:
    return _finite(a.exp()) if type(a) is arb else special("exp", a)


def log2(a: Number) -> Number:
    if type(a) is not arb or not a > 0:
        return special("log2", a)
    if a.is_exact():
        mantissa, exponent = a.man_exp()
        if mantissa == 1:
            return arb(exponent)
    return _finite(a.log() / arb.const_log2())


def log(a: Number) -> Number:
    return _finite(a.log()) if type(a) is arb and a > 0 else special("log", a)


def sin(a: Number) -> Number:
    return a.sin() if type(a) is arb else special("sin", a)


def cos(a: Number) -> Number:
    return a.cos() if type(a) is arb else special("cos", a)


def tanh(a: Number) -> Number:
    return a.tanh() if type(a) is arb else special("tanh", a)


def sigmoid(a: Number) -> Number:
    return _finite(1 / (1 + (-a).exp())) if type(a) is arb else special("sigmoid", a)


def erf(a: Number) -> Number:
    return a.erf() if type(a) is arb else special("erf", a)


def atan2(y: Number, x: Number) -> Number:
    if type(y) is not arb or type(x) is not arb or y.is_zero():
        return special("atan2", y, x)
    return _finite(arb.atan2(y, x)) if y > 0 or y < 0 or x > 0 else UNDECIDED


def lt(a: Number, b: Number) -> int:
    if type(a) is not arb or type(b) is not arb:
        return _truth("lt", a, b)
    if a < b:
        return TRUE
    return FALSE if a is b or a >= b else MAYBE


def eq(a: Number, b: Number) -> int:
    """Equality; an object equals itself, since it encloses one real number."""
    if type(a) is not arb or type(b) is not arb:
        return _truth("eq", a, b)
    if a is b or (a.is_exact() and b.is_exact()):
        return TRUE if a is b or a == b else FALSE
    return MAYBE if a.overlaps(b) else FALSE


def isnan(a: Number) -> int:
    if a is UNDECIDED:
        return MAYBE
    return TRUE if type(a) is float and math.isnan(a) else FALSE


def choose(condition: int, a: Number, b: Number) -> Number:
    """a or b; both enclosed in one ball when the condition is undecided."""
    if condition != MAYBE:
        return a if condition == TRUE else b
    if a is b:
        return a
    if type(a) is arb and type(b) is arb:
        return a.union(b)
    classes = {class_of(a), class_of(b)}
    if len(classes) == 1:
        return a
    return EITHER if classes <= {"inf", "-inf", "EITHER"} else UNDECIDED


def to_index(a: Number) -> int:
    """⌊a⌋ saturated to 32 bits, −1 for NaN, UNKNOWN when the ball does not tell."""
    if type(a) is not arb:
        if isinstance(a, Special):
            return UNKNOWN
        return -1 if math.isnan(a) else (INDEX_HIGH if a > 0 else INDEX_LOW)
    if a >= INDEX_HIGH:
        return INDEX_HIGH
    if a < INDEX_LOW:
        return INDEX_LOW
    n = a.floor().unique_fmpz()
    return UNKNOWN if n is None else int(n)


def to_float(a: Number) -> float:
    """The nearest float to the centre; NaN for EITHER and UNDECIDED. For reports only."""
    if type(a) is arb:
        return float(a.mid())
    return NAN if isinstance(a, Special) else float(a)
