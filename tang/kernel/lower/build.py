"""The builder: statements in nested scopes, values that know where they may live.

Defines `Value` (an expression, the outermost scope in which it can be computed, and the range of
an integer) and `Builder`, which folds integer arithmetic, names what is loop-invariant in the
outermost scope, and records the widest integer. Relies on the kernel IR; it knows no graph.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from tang.ir.extent import Poly
from tang.kernel import ir as k
from tang.kernel.lower.names import Names
from tang.kernel.lower.ranges import EFFECT, INT32, INT64, ZERO, Range, Sizes, point

TALLEST: Final = 12
"""Height from which an expression gets a name, so that no text or recursion grows without bound."""


@dataclass(frozen=True, slots=True)
class Value:
    """A kernel expression, the depth of the scope where its inputs exist, its integer range."""

    expr: k.Expr
    depth: int
    range: Range | None = None
    height: int = 0

    @property
    def integer(self) -> int | None:
        """The value of an integer literal."""
        if isinstance(self.expr, k.Const) and isinstance(self.expr.value, int):
            return self.expr.value
        return None


@dataclass(slots=True)
class Scope:
    """The statements of one block so far and what is known by name in it.

    mentions  by register or array the keys of `known` that read it
    kept      what parts of lowering have made in this block, by keys of their own
    """

    is_loop: bool = False
    statements: list[k.Stmt] = field(default_factory=list)
    known: dict[Hashable, Value] = field(default_factory=dict)
    mentions: dict[str, list[Hashable]] = field(default_factory=dict)
    kept: dict[Hashable, object] = field(default_factory=dict)


@dataclass(slots=True)
class Builder:
    """One kernel in the making.

    index    the integer type of every index of the kernel
    floor    the outermost scope in which values may be named
    widest   the hull of every integer met, with a note of where the extreme arose
    symbols  the symbolic extents used, in order of use
    copies   how often an inlined node has been computed, and how deeply nested it is now
    """

    index: k.Type
    sizes: Sizes
    names: Names
    scopes: list[Scope] = field(default_factory=lambda: [Scope()])
    floor: int = 0
    subject: str = ""
    widest: Range = ZERO
    culprit: str = ""
    symbols: dict[str, k.Var] = field(default_factory=dict)
    copies: int = 0
    nesting: int = 0

    @property
    def depth(self) -> int:
        return len(self.scopes) - 1

    def emit(self, statement: k.Stmt) -> None:
        """Append a statement to the innermost scope."""
        self.scopes[-1].statements.append(statement)

    @contextmanager
    def nested(self, is_loop: bool = False) -> Iterator[Scope]:
        """A new innermost scope; what to make of its statements is up to the caller."""
        scope = Scope(is_loop)
        self.scopes.append(scope)
        try:
            yield scope
        finally:
            self.scopes.pop()

    @contextmanager
    def at(self, depth: int) -> Iterator[None]:
        """Work in an enclosing scope for a while."""
        inner = self.scopes[depth + 1 :]
        del self.scopes[depth + 1 :]
        try:
            yield
        finally:
            self.scopes.extend(inner)

    def sunk(self, depth: int, limit: int) -> int:
        """The deepest scope down to `limit` that runs at most as often as the one at `depth`."""
        while depth < min(limit, self.depth) and not self.scopes[depth + 1].is_loop:
            depth += 1
        return depth

    def find(self, key: Hashable, depth: int) -> Value | None:
        """What is known under a key in the scopes down to that depth."""
        for scope in self.scopes[: depth + 1]:
            if key in scope.known:
                return scope.known[key]
        return None

    def learn(self, key: Hashable, value: Value, depth: int) -> None:
        """Know a value under a key from the scope of that depth inwards."""
        scope = self.scopes[depth]
        scope.known[key] = value
        for name in names_in(key):
            scope.mentions.setdefault(name, []).append(key)

    def forget(self, names: Set[str]) -> None:
        """Know no longer what was computed from registers or arrays that have been overwritten."""
        for scope in self.scopes:
            for name in names:
                for key in scope.mentions.pop(name, ()):
                    scope.known.pop(key, None)

    def recall(self, key: Hashable, depth: int) -> object | None:
        """What was kept under a key in the scopes down to that depth."""
        found = (s.kept[key] for s in self.scopes[: depth + 1] if key in s.kept)
        return next(found, None)

    def keep(self, key: Hashable, made: object, depth: int) -> None:
        """Keep something that holds from the scope of that depth inwards."""
        self.scopes[depth].kept[key] = made

    def let(self, value: Value, hint: str = "t") -> Value:
        """Name a value in the outermost scope where it can be computed, once."""
        if is_atom(value.expr):
            return value
        depth = max(value.depth, self.floor)
        found = self.find(value.expr, depth)
        if found is not None:
            return found
        named = Value(k.Var(value.expr.type, self.names.fresh(hint)), depth, value.range)
        if isinstance(named.expr, k.Var):
            self.scopes[depth].statements.append(k.Let(named.expr, value.expr))
        self.learn(value.expr, named, depth)
        return named

    def demand(self, r: Range | None) -> None:
        """Note that an integer of this range must be representable."""
        if r is None:
            return
        if not r.within(self.widest):
            self.culprit = self.subject
        self.widest = self.widest | r

    def literal(self, value: int) -> Value:
        """An index literal."""
        self.demand(point(value))
        return Value(k.Const(self.index, value), 0, point(value))

    def op(self, kind: k.Type, name: str, *args: Value, range: Range | None = None) -> Value:
        """An operation; operands that live further out are named there."""
        depth = max(a.depth for a in args)
        self.demand(range)
        exprs = tuple(self.settled(a, depth).expr for a in args)
        height = 1 + max(a.height for a in args)
        value = Value(k.Op(kind, name, exprs), depth, range, height)
        return self.let(value) if height >= TALLEST else value

    def settled(self, value: Value, depth: int) -> Value:
        """The value as an operand at a depth: named where it was hoisted from there."""
        return self.let(value) if value.depth < depth else value

    def converted(self, kind: k.Type, value: Value, range: Range | None = None) -> Value:
        """A conversion to another type."""
        return Value(k.Convert(kind, value.expr), value.depth, range, value.height + 1)

    def integer(self, name: str, *args: Value, trusted: bool = False) -> Value:
        """Integer arithmetic, folded where the operands tell.

        `trusted`: the values come from data, for which the interpreter itself stops at 64 bits.
        """
        folded = _folded(self, name, args)
        if folded is not None:
            return folded
        ranges = [a.range or INT32 for a in args]
        result = EFFECT[name](*ranges)
        if trusted:
            result = result.limited(INT64)
        return self.op(self.index, name, *args, range=result)

    def add(self, a: Value, b: Value) -> Value:
        return self.integer("add", a, b)

    def sub(self, a: Value, b: Value) -> Value:
        return self.integer("sub", a, b)

    def mul(self, a: Value, b: Value) -> Value:
        return self.integer("mul", a, b)

    def floordiv(self, a: Value, b: Value) -> Value:
        return self.integer("floordiv", a, b)

    def mod(self, a: Value, b: Value) -> Value:
        return self.integer("mod", a, b)

    def le(self, a: Value, b: Value) -> Value:
        return self.op(k.BOOL, "le", a, b)

    def lt(self, a: Value, b: Value) -> Value:
        return self.op(k.BOOL, "lt", a, b)

    def both(self, conditions: list[Value]) -> Value:
        """The conjunction of at least one condition."""
        total = conditions[0]
        for c in conditions[1:]:
            total = self.op(k.BOOL, "and", total, c)
        return total

    def symbol(self, name: str) -> Value:
        """A symbolic extent: a scalar of the kernel."""
        if name not in self.symbols:
            self.symbols[name] = k.Var(self.index, self.names.fresh(name))
        r = self.sizes.symbol(name)
        self.demand(r)
        return Value(self.symbols[name], 0, r)

    def extent(self, extent: Poly) -> Value:
        """The value of an extent."""
        total = self.literal(0)
        for monomial, coefficient in extent.terms:
            term = self.literal(coefficient)
            for s in monomial:
                term = self.mul(term, self.symbol(s))
            total = self.add(total, term)
        return total


def is_atom(e: k.Expr) -> bool:
    """Whether an expression is a name or a literal."""
    return isinstance(e, k.Const | k.Var)


def constant(kind: k.Type, value: Fraction | str | int | bool) -> Value:
    """A literal of any type but the index type (see `Builder.int`)."""
    return Value(k.Const(kind, value), 0)


def _folded(b: Builder, name: str, args: tuple[Value, ...]) -> Value | None:
    numbers = [a.integer for a in args]
    if len(args) == 1:
        return b.literal(-numbers[0]) if numbers[0] is not None else None
    left, right = numbers
    if left is not None and right is not None and (name in _EXACT or right > 0):
        return b.literal(_compute(name, left, right))
    return _neutral(b, name, args[0], args[1])


_EXACT: Final = ("add", "sub", "mul", "min")


def _compute(name: str, a: int, b: int) -> int:
    exact = {"add": a + b, "sub": a - b, "mul": a * b, "min": min(a, b)}
    if name in exact:
        return exact[name]
    return a // b if name == "floordiv" else a % b


def _neutral(b: Builder, name: str, x: Value, y: Value) -> Value | None:
    """x+0, x−0, 0+x, x·1, 1·x, x·0, 0·x, x div 1, x mod 1, and div, mod of what is smaller."""
    left, right = x.integer, y.integer
    if name == "mul" and 0 in (left, right):
        return b.literal(0)
    if right == (0 if name in ("add", "sub") else 1) and name not in ("min", "mod"):
        return x
    if left == {"add": 0, "mul": 1}.get(name) and left is not None:
        return y
    if name in ("floordiv", "mod") and _smaller(x.range, y.range):
        return b.literal(0) if name == "floordiv" else x
    return None


def _smaller(x: Range | None, y: Range | None) -> bool:
    return x is not None and y is not None and x.lo >= 0 and x.hi < y.lo


def names_in(e: object) -> Iterator[str]:
    """The names of variables, buffers and arrays that an expression reads directly."""
    match e:
        case k.Var():
            yield e.name
        case k.Load():
            yield e.source
            yield from names_in(e.index)
        case k.Op() | k.Call():
            for a in e.args:
                yield from names_in(a)
        case k.Convert() | k.Bitcast():
            yield from names_in(e.value)
