"""A small notation for kernel-IR functions: Python operators that append lets.

Defines `Builder`, which collects the lets of one function, and `Value`, whose operators append one
IR operation each. Relies on the kernel IR alone. It does not fold, reorder or simplify: what is
written is what every device executes, operation by operation.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from tang.kernel.expand.claims import ULP
from tang.kernel.ir import (
    BOOL,
    F32,
    F64,
    I32,
    U32,
    Bitcast,
    Const,
    Convert,
    Expr,
    Function,
    Let,
    Op,
    Type,
    Var,
)

Number = int | float | Fraction
SIGN = 0x80000000
MAGNITUDE = 0x7FFFFFFF
INFINITY = 0x7F800000


@dataclass(slots=True)
class Builder:
    """The parameters and lets of a function in the making."""

    params: list[Var] = field(default_factory=list)
    lets: list[Let] = field(default_factory=list)

    def param(self, name: str, type_: Type = F32) -> Value:
        """A new parameter."""
        var = Var(type_, name)
        self.params.append(var)
        return Value(self, var)

    def let(self, value: Expr) -> Value:
        """Name a value."""
        var = Var(value.type, f"t{len(self.lets)}")
        self.lets.append(Let(var, value))
        return Value(self, var)

    def f32(self, value: float | Fraction | str) -> Value:
        """An f32 constant: a number that f32 holds exactly, or a name of NAMED."""
        exact = value if isinstance(value, str) else Fraction(value)
        return Value(self, Const(F32, exact))

    def f64(self, value: int) -> Value:
        """An f64 constant."""
        return Value(self, Const(F64, Fraction(value)))

    def u32(self, value: int) -> Value:
        """A u32 constant."""
        return Value(self, Const(U32, value))

    def i32(self, value: int) -> Value:
        """An i32 constant."""
        return Value(self, Const(I32, value))

    def function(self, implements: str, result: Value) -> Function:
        """The finished function, with the claim of its accuracy."""
        name, ulp = f"{implements}_f32", ULP[implements]
        return Function(name, tuple(self.params), tuple(self.lets), result.expr, implements, ulp)

    def exact(self, name: str, implements: str, result: Value) -> Function:
        """The finished function, which has no error."""
        return Function(name, tuple(self.params), tuple(self.lets), result.expr, implements)


@dataclass(frozen=True, slots=True)
class Value:
    """A parameter, a named value or a constant; numbers beside it become constants of its type."""

    builder: Builder
    expr: Var | Const

    @property
    def type(self) -> Type:
        return self.expr.type

    def _op(self, op: str, *others: Value | Number, to: Type | None = None) -> Value:
        args = (self.expr, *(self._same(o).expr for o in others))
        return self.builder.let(Op(to or self.type, op, args))

    def _same(self, other: Value | Number) -> Value:
        if isinstance(other, Value):
            return other
        exact = Fraction(other) if self.type is F32 else int(other)
        return Value(self.builder, Const(self.type, exact))

    def __add__(self, other: Value | Number) -> Value:
        return self._op("add", other)

    def __sub__(self, other: Value | Number) -> Value:
        return self._op("sub", other)

    def __mul__(self, other: Value | Number) -> Value:
        return self._op("mul", other)

    def __truediv__(self, other: Value | Number) -> Value:
        return self._op("div", other)

    def __rsub__(self, other: Number) -> Value:
        return self._same(other)._op("sub", self)

    def __radd__(self, other: Number) -> Value:
        return self._same(other)._op("add", self)

    def __rtruediv__(self, other: Number) -> Value:
        return self._same(other)._op("div", self)

    def __and__(self, other: Value | Number) -> Value:
        return self._op("and" if self.type is BOOL else "band", other)

    def __or__(self, other: Value | Number) -> Value:
        return self._op("or" if self.type is BOOL else "bor", other)

    def __xor__(self, other: Value | Number) -> Value:
        return self._op("bxor", other)

    def __lshift__(self, other: Value | Number) -> Value:
        return self._op("shl", other)

    def __rshift__(self, other: Value | Number) -> Value:
        return self._op("shr", other)

    def __lt__(self, other: Value | Number) -> Value:
        return self._op("lt", other, to=BOOL)

    def __le__(self, other: Value | Number) -> Value:
        return self._op("le", other, to=BOOL)

    def is_equal(self, other: Value | Number) -> Value:
        """Whether two numbers are equal."""
        return self._op("eq", other, to=BOOL)

    def floor(self) -> Value:
        """The largest integer below, as a float."""
        return self._op("floor")

    def halve(self) -> Value:
        """An i32 divided by two, rounded towards −∞."""
        return self._op("floordiv", 2)

    def to_i32(self) -> Value:
        """The same integer as an i32; it must be in range."""
        return self.builder.let(Convert(I32, self.expr))

    def to_u32(self) -> Value:
        """The same integer as a u32; it must not be negative."""
        return self.builder.let(Convert(U32, self.expr))

    def to_f32(self) -> Value:
        """The same integer as an f32; below 2²⁴ it is exact everywhere."""
        return self.builder.let(Convert(F32, self.expr))

    def bits(self) -> Value:
        """The bits of an f32 as a u32."""
        return self.builder.let(Bitcast(U32, self.expr))

    def as_f32(self) -> Value:
        """The f32 with these bits."""
        return self.builder.let(Bitcast(F32, self.expr))

    def choose(self, yes: Value, no: Value) -> Value:
        """`yes` where this bool holds, else `no`."""
        args = (self.expr, yes.expr, no.expr)
        return self.builder.let(Op(yes.type, "select", args))


def power_of_two(exponent: Value) -> Value:
    """2^exponent as an f32 for an i32 in −126 … 127."""
    return ((exponent + 127).to_u32() << 23).as_f32()


def horner(x: Value, coefficients: tuple[float, ...]) -> Value:
    """c₀ + x·(c₁ + x·(…)), each operation rounded."""
    total = x * coefficients[-1] + coefficients[-2]
    for c in reversed(coefficients[:-2]):
        total = total * x + c
    return total


def keep_nan(x: Value, result: Value) -> Value:
    """`result`, or x where x is NaN; by bits, which no fast mode removes."""
    return ((x.bits() & MAGNITUDE) <= INFINITY).choose(result, x)
