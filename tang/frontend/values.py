"""Symbolic values: scalars written with dims, subscripts, operators and functions.

Defines `Value`, an IR expression over placeholders with the leaves they stand for, its operators,
and the conversion of Python and NumPy scalars. Relies on the IR's operation table for sorts.
A value is never computed here, so it has no truth, no length and no number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import NoReturn

import numpy as np

from tang.frontend.describe import describe_expr, name_of_leaf
from tang.frontend.leaves import SERIALS, Dim, Leaf, Reduced, Reduction, free_dims
from tang.frontend.site import failure
from tang.ir import derived, expr
from tang.ir.expr import BOOL, INDEX, REAL, Expr, Sort

Scalar = bool | int | float | Fraction | np.generic
"""Python and NumPy numbers that become constants."""

_NO_LEAVES: Mapping[Expr, Leaf] = MappingProxyType({})


def _no_leaves() -> Mapping[Expr, Leaf]:
    return _NO_LEAVES


_NO_TRUTH = (
    "{what} is symbolic and has no truth value: use tg.select(condition, a, b) for `if`, "
    "& | ~ for `and`/`or`/`not`, and (a < b) & (b < c) for chained comparisons"
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Value:
    """A scalar of the program at one point.

    expr      the expression over placeholders
    leaves    what each placeholder stands for
    relation  affine forms that are ≥ 0 exactly when this bool holds, or None
    """

    expr: Expr
    leaves: Mapping[Expr, Leaf] = field(default_factory=_no_leaves)
    relation: tuple[Value, ...] | None = None

    __array_ufunc__ = None  # NumPy scalars on the left leave the operation to this class

    @property
    def sort(self) -> Sort:
        """real, index or bool."""
        return self.expr.sort

    @property
    def free(self) -> frozenset[Dim]:
        """The dims that must be bound where this value is computed."""
        return frozenset[Dim]().union(*map(free_dims, self.leaves.values()))

    def output(self, name: str) -> Value:
        """Another output or state component of the reduction that this value is."""
        leaf = self.leaves.get(self.expr)
        if not isinstance(leaf, Reduced):
            raise failure(f"{self!r} is no reduction: only a reduction has outputs")
        return reduced(leaf.reduction, name)

    def __repr__(self) -> str:
        return describe_expr(self.expr, lambda e: name_of_leaf(self.leaves[e]))

    def __add__(self, other: Operand) -> Value:
        return arithmetic("add", self, other)

    def __radd__(self, other: Operand) -> Value:
        return arithmetic("add", other, self)

    def __mul__(self, other: Operand) -> Value:
        return arithmetic("mul", self, other)

    def __rmul__(self, other: Operand) -> Value:
        return arithmetic("mul", other, self)

    def __sub__(self, other: Operand) -> Value:
        return arithmetic("sub", self, other)

    def __rsub__(self, other: Operand) -> Value:
        return arithmetic("sub", other, self)

    def __truediv__(self, other: Operand) -> Value:
        return _divide(self, other)

    def __rtruediv__(self, other: Operand) -> Value:
        return _divide(other, self)

    def __floordiv__(self, other: Operand) -> Value:
        return _whole("floordiv", "//", self, other)

    def __mod__(self, other: Operand) -> Value:
        return _whole("mod", "%", self, other)

    def __pow__(self, exponent: float) -> Value:
        return power(self, exponent)

    def __neg__(self) -> Value:
        return arithmetic("neg", self)

    def __abs__(self) -> Value:
        if self.sort is INDEX:
            below = Value(expr.apply("lt", self.expr, expr.index(0)), self.leaves)
            return combine(derived.select, below, -self, self)
        return combine(derived.absolute, want(self, REAL, "abs"))

    def __lt__(self, other: Operand) -> Value:
        return _less(self, other)

    def __gt__(self, other: Operand) -> Value:
        return _less(other, self)

    def __le__(self, other: Operand) -> Value:
        return _at_most(self, other)

    def __ge__(self, other: Operand) -> Value:
        return _at_most(other, self)

    def __eq__(self, other: Operand) -> Value:  # type: ignore[override]
        return _equal(self, other)

    def __ne__(self, other: Operand) -> Value:  # type: ignore[override]
        return ~_equal(self, other)

    __hash__ = object.__hash__

    def __and__(self, other: Operand) -> Value:
        return _both(self, other)

    def __rand__(self, other: Operand) -> Value:
        return _both(other, self)

    def __or__(self, other: Operand) -> Value:
        return _logic("or", self, other)

    def __ror__(self, other: Operand) -> Value:
        return _logic("or", other, self)

    def __invert__(self) -> Value:
        return _logic("not", self)

    def __bool__(self) -> NoReturn:
        raise failure(_NO_TRUTH.format(what=repr(self)))

    def __iter__(self) -> Iterator[Value]:
        raise failure(f"{self!r} is one scalar: it cannot be iterated or unpacked")

    def __float__(self) -> NoReturn:
        raise failure(f"{self!r} is symbolic and has no number; tg.real(x) casts an index to real")

    def __index__(self) -> NoReturn:
        raise failure(f"{self!r} is symbolic and has no number: an int is needed here")

    __int__ = __index__


Operand = Value | Scalar


def placeholder(key: Expr, leaf: Leaf) -> Value:
    """The value that is exactly one leaf."""
    return Value(key, MappingProxyType({key: leaf}))


def reduced(reduction: Reduction, output: str) -> Value:
    """The value that is one output of a reduction; raises GraphError for an unknown name."""
    m = reduction.monoid
    known = {c.name: c.sort for c in (*m.components, *m.outputs)}
    if output not in known:
        raise failure(f"{m.name} has no output {output!r}: one of {', '.join(known)}")
    return placeholder(expr.arg(next(SERIALS), known[output]), Reduced(reduction, output))


def combine(f: Callable[..., Expr], *values: Value) -> Value:
    """The value of f over the expressions, with the leaves of all."""
    return Value(f(*(v.expr for v in values)), _merged(*values))


def _merged(*values: Value) -> Mapping[Expr, Leaf]:
    holders = [v.leaves for v in values if v.leaves]
    if all(h is holders[0] for h in holders[1:]):
        return holders[0] if holders else _NO_LEAVES
    total: dict[Expr, Leaf] = {}
    for h in holders:
        total.update(h)
    return MappingProxyType(total)


def as_value(x: object, sort: Sort | None = None) -> Value:
    """A value from a value or a scalar; an int becomes an index only where `sort` says so."""
    if isinstance(x, Value):
        return x
    if isinstance(x, (np.generic, np.ndarray)):
        x = _plain(x)
    if isinstance(x, bool):
        return Value(expr.boolean(x))
    if isinstance(x, int):
        return Value(expr.index(x) if sort is INDEX else expr.real(Fraction(x)))
    if isinstance(x, (float, Fraction)):
        return Value(expr.real(x))
    raise failure(_unusable(x))


def _plain(x: np.generic | np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> object:
    if isinstance(x, np.ndarray) and x.ndim:
        raise failure(
            f"a NumPy array of shape {x.shape} cannot be part of an expression: "
            "declare it with tg.input and pass the data when the program runs"
        )
    if x.dtype.kind not in "biuf":
        raise failure(f"{x!r} (NumPy's {x.dtype}) is no value: numbers are real, index or bool")
    item = x.item()
    return item if isinstance(item, (bool, int, float)) else float(item)


def _unusable(x: object) -> str:
    name = getattr(x, "name", None)
    if hasattr(x, "subscript") and name is not None:
        return f"tensor {name!r} is used without subscripts: write {name}[i, …]"
    return f"{x!r} ({type(x).__name__}) is no value: use numbers, dims or subscripted tensors"


def want(x: Operand, sort: Sort, what: str) -> Value:
    """A value of the given sort; the error says how to cast."""
    value = as_value(x, sort)
    if value.sort is not sort:
        cures = {
            (INDEX, REAL): "tg.real(…) casts an index",
            (REAL, INDEX): "tg.index(…) takes the floor",
            (BOOL, REAL): "tg.select(condition, 1.0, 0.0) makes a number of a bool",
            (BOOL, INDEX): "tg.select(condition, tg.index(1), tg.index(0)) makes an index",
        }
        cure = cures.get((value.sort, sort), "compare it with something")
        article = "an" if sort is INDEX else "a"
        raise failure(
            f"{what} takes {article} {sort.value}, not {value!r} ({value.sort.value}): {cure}"
        )
    return value


def same_sort(what: str, a: Operand, b: Operand) -> tuple[Value, Value]:
    """Both as values of one sort: a scalar takes the sort of the other operand."""
    left = as_value(a, b.sort if isinstance(b, Value) else None)
    right = as_value(b, left.sort if isinstance(a, Value) else None)
    if left.sort is right.sort:
        return left, right
    raise failure(
        f"{what} needs operands of one sort, not {left!r} ({left.sort.value}) and {right!r} "
        f"({right.sort.value}): cast with tg.real, tg.index or tg.select"
    )


def arithmetic(op: str, *operands: Operand) -> Value:
    """add, sub, mul or neg over reals or over indices."""
    values = same_sort(op, *operands) if len(operands) == 2 else (as_value(operands[0]),)
    if values[0].sort is BOOL:
        raise failure(
            f"{op} of the bool {values[0]!r}: tg.select(condition, 1.0, 0.0) makes a number of it"
        )
    if op == "sub":
        return combine(derived.sub, *values)
    return combine(lambda *e: expr.apply(op, *e), *values)


def _divide(a: Operand, b: Operand) -> Value:
    left, right = same_sort("/", a, b)
    if left.sort is INDEX:
        raise failure(
            f"/ of the indices {left!r} and {right!r}: use // for indices, or tg.real(…) first"
        )
    return combine(derived.div, want(left, REAL, "/"), right)


def _whole(op: str, sign: str, a: Operand, b: Operand) -> Value:
    left, right = same_sort(sign, a, b)
    if left.sort is not INDEX:
        raise failure(f"{sign} takes indices, not {left!r}: for reals use tg.floor(a / b)")
    constant = right.expr.op == "index" and isinstance(right.expr.payload, int)
    positive = constant and isinstance(right.expr.payload, int) and right.expr.payload > 0
    if not positive and right.expr.op != "extent":
        raise failure(f"{sign} divides by a positive int or an extent, not by {right!r}")
    return combine(lambda x, y: expr.apply(op, x, y), left, right)


def power(x: Value, exponent: object) -> Value:
    """xⁿ for an int n, and the square root for 0.5."""
    n = _plain(exponent) if isinstance(exponent, np.generic) else exponent
    base = want(x, REAL, "**")
    if isinstance(n, int) and not isinstance(n, bool):
        return combine(lambda e: derived.power(e, n), base)
    if isinstance(n, float) and n == 0.5:
        return combine(lambda e: expr.apply("sqrt", e), base)
    raise failure(
        f"** takes an int or 0.5 as exponent, not {exponent!r}: use tg.exp(y * tg.log(x))"
    )


def _less(a: Operand, b: Operand) -> Value:
    left, right = same_sort("<", a, b)
    if left.sort is BOOL:
        raise failure(f"< of the bools {left!r} and {right!r}: use & | ~ and ==")
    result = combine(derived.lt, left, right)
    return _related(result, right - left - 1) if left.sort is INDEX else result


def _at_most(a: Operand, b: Operand) -> Value:
    left, right = same_sort("<=", a, b)
    if left.sort is BOOL:
        raise failure(f"<= of the bools {left!r} and {right!r}: use & | ~ and ==")
    if left.sort is REAL:
        return combine(derived.le, left, right)
    result = combine(lambda x, y: expr.apply("not", derived.lt(y, x)), left, right)
    return _related(result, right - left)


def _equal(a: Operand, b: Operand) -> Value:
    left, right = same_sort("==", a, b)
    result = combine(lambda x, y: expr.apply("eq", x, y), left, right)
    if left.sort is not INDEX:
        return result
    return _related(result, right - left, left - right)


def _related(result: Value, *forms: Value) -> Value:
    return Value(result.expr, result.leaves, forms)


def _both(a: Operand, b: Operand) -> Value:
    result = _logic("and", a, b)
    parts = [v.relation for v in (a, b) if isinstance(v, Value)]
    if len(parts) == 2 and parts[0] is not None and parts[1] is not None:
        return Value(result.expr, result.leaves, parts[0] + parts[1])
    return result


def _logic(op: str, *operands: Operand) -> Value:
    sign = {"and": "&", "or": "|", "not": "~"}[op]
    values = [want(x, BOOL, sign) for x in operands]
    return combine(lambda *e: expr.apply(op, *e), *values)
