"""Dual numbers: forward-mode derivatives in the definition of the IR.

Defines `interpret_dual` and `dual_table`, which adds a tangent to the values of any arithmetic
table (f64, f64 with errors, balls). Relies on the definition alone, so it is a check of gradients
that shares nothing with them. A tangent of 0 stays 0 against an infinite derivative, and the
derivative of `select` is that of the branch taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from tang.errors import GraphError
from tang.interpreter.arithmetic import Arithmetic, Array, Mask, OpKey, Value
from tang.interpreter.definition import evaluate_node
from tang.interpreter.f64 import F64
from tang.interpreter.inputs import prepare
from tang.ir.expr import INDEX, REAL, Expr, Sort, named, real
from tang.ir.graph import Graph
from tang.ir.validate import validate
from tang.ir.view import Ref

Tensors = dict[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Dual:
    """Values and tangents of one arithmetic."""

    value: Value
    tangent: Value

    @property
    def shape(self) -> tuple[int, ...]:
        return np.shape(self.value)

    @property
    def dtype(self) -> np.dtype[Any]:
        found: np.dtype[Any] = self.value.dtype
        return found

    @property
    def ndim(self) -> int:
        return int(self.value.ndim)


def interpret_dual(
    graph: Graph, inputs: Mapping[str, Any], tangents: Mapping[str, Any]
) -> tuple[Tensors, Tensors]:
    """The outputs of a program in f64, and their tangents for tangents of its inputs.

    Inputs without a tangent are constant; outputs that are no reals have tangent 0. Raises as
    `interpret` does, and GraphError for a tangent that fits no real input.
    """
    return evaluate_dual(graph, inputs, tangents, F64)


def evaluate_dual(
    graph: Graph,
    inputs: Mapping[str, Any],
    tangents: Mapping[str, Any],
    base: Arithmetic,
    *,
    absorb: bool = True,
) -> tuple[Tensors, Tensors]:
    """As `interpret_dual`, with values and tangents in an arithmetic.

    Without `absorb` a tangent of 0 is multiplied like any other, so that 0·∞ is NaN.
    """
    validate(graph)
    bound, arrays = prepare(graph, inputs)
    table = dual_table(base, absorb)
    tensors: dict[Ref, Value] = {}
    for i in bound.inputs:
        tensors[Ref(i.name)] = _leaf(base, arrays[i.name], i.sort, tangents.get(i.name))
    _check_tangents(bound, tangents)
    with np.errstate(all="ignore"):
        for node in bound.nodes:
            for name, value in evaluate_node(node, tensors, table).items():
                tensors[Ref(node.name, name)] = value
    found = {o.name: tensors[o.ref] for o in bound.outputs}
    values = {n: v.value if isinstance(v, Dual) else v for n, v in found.items()}
    zero = base.constant(real(0))
    slopes = {n: v.tangent if isinstance(v, Dual) else zero for n, v in found.items()}
    return values, slopes


def _check_tangents(graph: Graph, tangents: Mapping[str, Any]) -> None:
    known = {i.name: i for i in graph.inputs}
    for name, tangent in tangents.items():
        if name not in known or known[name].sort is not REAL:
            raise GraphError(f"a tangent for {name!r}: only real inputs have tangents")
        shape = tuple(p.constant for p in known[name].shape)
        if np.shape(tangent) != shape:
            raise GraphError(
                f"the tangent of {name!r} has shape {np.shape(tangent)}, expected {shape}"
            )


def _leaf(base: Arithmetic, array: Array, sort: Sort, tangent: object) -> Value:
    value = base.leaf(array, sort)
    if sort is not REAL:
        return value
    slope = np.zeros(array.shape) if tangent is None else np.array(tangent, np.float64)
    return Dual(value, base.leaf(slope, REAL))


@lru_cache(maxsize=32)
def dual_table(base: Arithmetic, absorb: bool = True) -> Arithmetic:
    """The arithmetic of pairs (value, tangent) over another arithmetic."""
    return Arithmetic(
        name=f"duals over {base.name}",
        ops={**base.ops, **_DualOps(base, absorb).table()},
        constant=lambda e: _constant(base, e),
        leaf=lambda a, sort: _leaf(base, a, sort, None),
        where=lambda mask, a, b: _where(base, mask, a, b),
        structure=lambda f, a: _structure(base, f, a),
        undecided=None if base.undecided is None else lambda s: _undecided(base, s),
    )


def _constant(base: Arithmetic, e: Expr) -> Value:
    value = base.constant(e)
    return Dual(value, base.constant(real(0))) if e.sort is REAL else value


def _where(base: Arithmetic, mask: Mask, a: Value, b: Value) -> Value:
    if not isinstance(a, Dual):
        return base.where(mask, a, b)
    return Dual(base.where(mask, a.value, b.value), base.where(mask, a.tangent, b.tangent))


def _structure(base: Arithmetic, f: Callable[[Array], Array], a: Value) -> Value:
    if not isinstance(a, Dual):
        return base.structure(f, a)
    return Dual(base.structure(f, a.value), base.structure(f, _spread(base, a.tangent, a.shape)))


def _spread(base: Arithmetic, tangent: Value, shape: tuple[int, ...]) -> Value:
    """The tangent in the shape of its value."""
    if np.shape(tangent) == shape or tangent.shape == shape:
        return tangent
    return base.structure(lambda x: np.broadcast_to(x, shape), tangent)


def _undecided(base: Arithmetic, sort: Sort) -> Value:
    found = base.undecided(sort) if base.undecided is not None else None
    return Dual(found, found) if sort is REAL else found


class _DualOps:
    """The operations on reals, by the chain rule in the base arithmetic."""

    def __init__(self, base: Arithmetic, absorb: bool) -> None:
        self.base = base
        self.absorb = absorb

    def op(self, name: str, *operands: Value) -> Value:
        """An operation of the base on reals."""
        return self.base.ops[name, REAL](*operands)

    def number(self, value: float | Fraction | str) -> Value:
        return self.base.constant(named(value) if isinstance(value, str) else real(value))

    def times(self, tangent: Value, factor: Value) -> Value:
        """tangent · factor, 0 where the tangent is 0 and absorbs."""
        zero = self.number(0)
        product = self.op("mul", tangent, factor)
        if not self.absorb:
            return product
        return self.op("select", self.op("eq", tangent, zero), zero, product)

    def table(self) -> dict[OpKey, Callable[..., Value]]:
        """Every operation of the table that takes or gives reals."""
        table: dict[OpKey, Callable[..., Value]] = {("to_real", INDEX): self.to_real}
        for name in ("recip", "sqrt", "sin", "exp2", "log2", "erf"):
            table[name, REAL] = self.unary(name)
        for name in ("lt", "eq", "isnan", "to_index"):
            table[name, REAL] = self.test(name)
        for name in ("add", "mul", "neg", "atan2", "select", "floor"):
            table[name, REAL] = getattr(self, name)
        return table

    def add(self, a: Dual, b: Dual) -> Dual:
        return Dual(self.op("add", a.value, b.value), self.op("add", a.tangent, b.tangent))

    def mul(self, a: Dual, b: Dual) -> Dual:
        value = self.op("mul", a.value, b.value)
        left, right = self.times(a.tangent, b.value), self.times(b.tangent, a.value)
        return Dual(value, self.op("add", left, right))

    def neg(self, a: Dual) -> Dual:
        return Dual(self.op("neg", a.value), self.op("neg", a.tangent))

    def floor(self, a: Dual) -> Dual:
        return Dual(self.op("floor", a.value), self.number(0))

    def select(self, condition: Mask, a: Dual, b: Dual) -> Dual:
        value = self.op("select", condition, a.value, b.value)
        return Dual(value, self.op("select", condition, a.tangent, b.tangent))

    def to_real(self, a: Array) -> Dual:
        return Dual(self.base.ops["to_real", INDEX](a), self.number(0))

    def atan2(self, y: Dual, x: Dual) -> Dual:
        """(x·dy − y·dx) / (x² + y²)."""
        squares = [self.op("mul", v.value, v.value) for v in (x, y)]
        norm = self.op("recip", self.op("add", *squares))
        along = self.times(y.tangent, self.op("mul", x.value, norm))
        across = self.times(x.tangent, self.op("mul", y.value, norm))
        slope = self.op("add", along, self.op("neg", across))
        return Dual(self.op("atan2", y.value, x.value), slope)

    def unary(self, name: str) -> Callable[[Dual], Dual]:
        def operation(a: Dual) -> Dual:
            value = self.op(name, a.value)
            return Dual(value, self.times(a.tangent, self.slope(name, a.value, value)))

        return operation

    def test(self, name: str) -> Callable[..., Value]:
        return lambda *operands: self.op(name, *(o.value for o in operands))

    def slope(self, name: str, x: Value, y: Value) -> Value:
        """The derivative of a function at x, where its value is y."""
        mul = self.base.ops["mul", REAL]
        match name:
            case "recip":
                return self.op("neg", mul(y, y))
            case "sqrt":
                return mul(self.number(Fraction(1, 2)), self.op("recip", y))
            case "sin":
                quarter = mul(self.number("pi"), self.number(Fraction(1, 2)))
                return self.op("sin", self.op("add", x, quarter))
            case "exp2":
                return mul(self.number("ln2"), y)
            case "log2":
                return self.op("recip", mul(x, self.number("ln2")))
            case _:
                exponent = mul(self.op("neg", mul(x, x)), self.number("log2e"))
                root = self.op("sqrt", self.number("pi"))
                return mul(mul(self.number(2), self.op("recip", root)), self.op("exp2", exponent))
