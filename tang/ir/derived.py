"""Functions built from the primitive operations, in the one form that lowering recognises.

Defines subtraction, division, extrema, exponentials and the like over `Expr`. Relies on the
operation table; each docstring gives the definition. It does not evaluate, and it does not claim
accuracy: lowering replaces a recognised form by a direct function where that is more accurate.
"""

from __future__ import annotations

from fractions import Fraction

from tang.ir.expr import INDEX, Expr, Sort, apply, boolean, index, named, real

ONE = Fraction(1)
HALF = Fraction(1, 2)


def sub(a: Expr, b: Expr) -> Expr:
    """a + (−b)."""
    return apply("add", a, apply("neg", b))


def div(a: Expr, b: Expr) -> Expr:
    """a · (1/b)."""
    return apply("mul", a, apply("recip", b))


def lt(a: Expr, b: Expr) -> Expr:
    """a < b; false when either is NaN."""
    return apply("lt", a, b)


def le(a: Expr, b: Expr) -> Expr:
    """a < b or a = b; false when either is NaN."""
    return apply("or", apply("lt", a, b), apply("eq", a, b))


def select(condition: Expr, a: Expr, b: Expr) -> Expr:
    """a where the condition holds, else b; the other branch is not evaluated."""
    return apply("select", condition, a, b)


def maximum(a: Expr, b: Expr) -> Expr:
    """The larger; NaN when either is NaN; a among equals."""
    return select(apply("isnan", a), a, select(apply("isnan", b), b, select(lt(a, b), b, a)))


def minimum(a: Expr, b: Expr) -> Expr:
    """The smaller; NaN when either is NaN; a among equals."""
    return select(apply("isnan", a), a, select(apply("isnan", b), b, select(lt(b, a), b, a)))


def index_maximum(a: Expr, b: Expr) -> Expr:
    """The larger index."""
    return select(lt(a, b), b, a)


def index_minimum(a: Expr, b: Expr) -> Expr:
    """The smaller index."""
    return select(lt(b, a), b, a)


def absolute(a: Expr) -> Expr:
    """−a where a < 0, else a."""
    return select(lt(a, real(0)), apply("neg", a), a)


def exp(a: Expr) -> Expr:
    """2^(a · log₂e)."""
    return apply("exp2", apply("mul", a, named("log2e")))


def log(a: Expr) -> Expr:
    """log₂a · ln 2."""
    return apply("mul", apply("log2", a), named("ln2"))


def cos(a: Expr) -> Expr:
    """sin(a + π/2)."""
    return apply("sin", apply("add", a, apply("mul", named("pi"), real(HALF))))


def sigmoid(a: Expr) -> Expr:
    """1 / (1 + exp(−a))."""
    return apply("recip", apply("add", real(ONE), exp(apply("neg", a))))


def tanh(a: Expr) -> Expr:
    """1 − 2 / (exp(2a) + 1)."""
    doubled = exp(apply("mul", a, real(2)))
    return sub(real(ONE), div(real(2), apply("add", doubled, real(ONE))))


def power(a: Expr, n: int) -> Expr:
    """aⁿ for an integer n by repeated squaring; a⁰ = 1 even for NaN."""
    if n < 0:
        return apply("recip", power(a, -n))
    result: Expr | None = None
    square = a
    while n:
        if n & 1:
            result = square if result is None else apply("mul", result, square)
        n >>= 1
        square = apply("mul", square, square) if n else square
    return real(ONE) if result is None else result


def zero(sort: Sort) -> Expr:
    """The neutral constant of a sort: 0.0, 0 or False."""
    if sort is Sort.REAL:
        return real(0)
    return index(0) if sort is INDEX else boolean(False)


def absent(sort: Sort) -> Expr:
    """What an empty semigroup or an unreadable element is: NaN, −1 or False."""
    if sort is Sort.REAL:
        return named("nan")
    return index(-1) if sort is INDEX else boolean(False)
