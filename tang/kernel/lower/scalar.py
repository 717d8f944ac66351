"""Scalar expressions of the graph as expressions of a kernel.

Defines the evaluator of bodies, lifts, combines and projections: one row of `RULES` per operation,
sharing through lets, folds kept in thread arrays. Relies on recognition and the builder. What an
argument or a state component is comes from the caller.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import prod
from typing import Final

from tang.errors import TangBugError
from tang.ir.expr import INDEX, REAL, Expr, walk
from tang.kernel import ir as k
from tang.kernel.lower import recognise
from tang.kernel.lower.build import Value, constant
from tang.kernel.lower.context import Context
from tang.kernel.lower.ranges import EFFECT, INT32, INT64, Range, point
from tang.kernel.lower.values import chosen_range, fold_range, is_data
from tang.kernel.narrow import Conversion

Argument = Callable[[int], Value]
State = Callable[[int, int, tuple[Value, ...]], Value]


@dataclass(frozen=True, slots=True)
class Kept:
    """Where the values of a fold are kept: an array over its free axes, or a register."""

    name: str
    type: k.Type
    axes: tuple[str, ...]
    sizes: tuple[int, ...]
    depth: int
    range: Range | None = None


@dataclass(slots=True)
class Evaluator:
    """Evaluates expressions in the current scopes of a context.

    nearest  whether infinities are the largest numbers where a format has none, as of identities
    """

    ctx: Context
    argument: Argument
    state: State
    nearest: bool = False
    folds: dict[Expr, Kept] = field(default_factory=dict)

    def value(self, root: Expr) -> Value:
        """The value of one expression, for use in the innermost scope."""
        return self.values((root,))[0]

    def values(self, roots: tuple[Expr, ...]) -> list[Value]:
        """The values of expressions; what they share is named once."""
        done: dict[int, Value] = {}
        uses = self._uses(roots)
        for e in _order(roots):
            value = self._step(e, done)
            done[id(e)] = self.ctx.builder.let(value) if uses.get(id(e), 0) > 1 else value
        return [done[id(r)] for r in roots]

    def prepare(self, roots: tuple[Expr, ...]) -> None:
        """Compute every fold below the roots, inner ones first, once per free static axis."""
        for root in roots:
            for e in folds_in(root):
                if e not in self.folds:
                    self.folds[e] = self._keep(e)

    def _uses(self, roots: tuple[Expr, ...]) -> dict[int, int]:
        count: dict[int, int] = {}
        below = (a for e in _order(roots) for a in operands(e)[1])
        for e in (*below, *roots):
            count[id(e)] = count.get(id(e), 0) + 1
        return count

    def _step(self, e: Expr, done: dict[int, Value]) -> Value:
        name, args = operands(e)
        return self._rule(name, e)(self, e, [done[id(a)] for a in args])

    def _rule(self, name: str, e: Expr) -> Callable[[Evaluator, Expr, list[Value]], Value]:
        if name in RULES:
            return RULES[name]
        if e.sort is INDEX and name in EFFECT:
            return lambda ev, e, a: _integer(ev.ctx, name, e, a)
        if is_exact(name, self.ctx.precision.conversion):
            return lambda ev, e, a: ev.ctx.builder.op(ev.ctx.type_of(e.sort), name, *a)
        if name in k.OPS or name in k.MATH:
            return lambda ev, e, a: _arithmetic(ev.ctx, name, e, a)
        raise TangBugError(f"lowering has no rule for {name}")

    def _keep(self, e: Expr) -> Kept:
        ctx, b = self.ctx, self.ctx.builder
        free = tuple(sorted(n for n in e.names if n not in ctx.env))
        sizes = ctx.axis_sizes(free) if free else ()
        kind = ctx.type_of(e.sort)
        total = k.Var(kind, b.names.fresh("sum"))
        kept = Kept(b.names.fresh("sums") if free else total.name, kind, free, sizes, b.depth)
        if free:
            b.emit(k.Array(kept.name, kind, prod(sizes)))
        with ctx.axis_loops(free):
            r = self._sum(e, total)
            if free:
                at = ctx.linear(tuple(ctx.env[n] for n in free), sizes)
                b.emit(k.Store(kept.name, b.settled(at, b.depth).expr, total))
        return replace(kept, range=r)

    def _sum(self, e: Expr, total: k.Var) -> Range | None:
        """total = Σ body over the axis, in order, from zero."""
        ctx, b = self.ctx, self.ctx.builder
        axis, size = folded_axis(e)
        zero = b.literal(0) if e.sort is INDEX else constant(total.type, 0)
        b.emit(k.Declare(total, zero.expr))
        with ctx.loop(axis, b.literal(0), b.literal(size), point(size)):
            body = self.value(e.args[0])
            r = fold_range(e, body.range) if body.range else None
            r = r.limited(INT64) if r and is_data(e) else r
            b.demand(r)
            term = b.settled(body, b.depth).expr
            more = Value(k.Op(total.type, "add", (total, term)), b.depth)
            b.emit(k.Assign(total, (more if e.sort is INDEX else ctx.rounded(more)).expr))
        return r


def is_exact(name: str, conversion: Conversion | None) -> bool:
    """Whether a format holds the results of an operation over reals wherever it holds the operands.

    It does not hold ⌊−7.5⌋ where 7.5 is the largest number, as in e2m3.
    """
    if name == "floor":
        return conversion is None or conversion.format.largest.denominator == 1
    return name == "neg"


def _arithmetic(ctx: Context, name: str, e: Expr, a: list[Value]) -> Value:
    """An operation in the node's format."""
    value = ctx.builder.op(ctx.type_of(e.sort), name, *a)
    return ctx.rounded(value) if e.sort is REAL else value


@lru_cache(maxsize=4096)
def folds_in(root: Expr) -> tuple[Expr, ...]:
    """The folds below an expression, inner ones first."""
    return tuple(e for e in walk(root) if e.op == "fold")


def folded_axis(e: Expr) -> tuple[str, int]:
    """Name and size of the axis of a fold."""
    if not isinstance(e.payload, tuple):
        raise TangBugError(f"{e.op} has no axis")
    return str(e.payload[0]), int(e.payload[1])


def operands(e: Expr) -> tuple[str, tuple[Expr, ...]]:
    """The operation to emit and its operands: a recognised form, a fold as a leaf, or the row."""
    if e.op == "fold":
        return e.op, ()
    found = recognise.recognise(e)
    return found if found is not None else (e.op, e.args)


def _order(roots: tuple[Expr, ...]) -> list[Expr]:
    """Operands before operations, folds as leaves, recognised forms as one operation."""
    found: dict[int, Expr] = {}
    stack = [(r, False) for r in reversed(roots)]
    seen: set[int] = set()
    while stack:
        e, ready = stack.pop()
        if ready:
            found[id(e)] = e
        elif id(e) not in seen:
            seen.add(id(e))
            stack.append((e, True))
            stack.extend((a, False) for a in reversed(operands(e)[1]))
    return list(found.values())


def _integer(ctx: Context, name: str, e: Expr, a: list[Value]) -> Value:
    """Index arithmetic; a divisor that may be 0 where the result is not used becomes 1 there."""
    b = ctx.builder
    b.subject = f"an index {name}"
    if name in ("floordiv", "mod") and not _is_positive(ctx, e.args[1], a[1]):
        top = max(a[1].range.hi if a[1].range else 1, 1)
        a = [a[0], b.op(b.index, "max", a[1], b.literal(1), range=Range(1, top))]
    return b.integer(name, *a, trusted=is_data(e))


def _is_positive(ctx: Context, e: Expr, divisor: Value) -> bool:
    """Whether a divisor is at least 1: a thread exists only where its own dims are not empty."""
    if divisor.range is not None and divisor.range.lo >= 1:
        return True
    return e.op == "extent" and e.payload in [name for name, _ in ctx.threads]


def _select(ev: Evaluator, e: Expr, a: list[Value]) -> Value:
    r = chosen_range(e, a[1].range, a[2].range) if a[1].range and a[2].range else None
    return ev.ctx.builder.op(ev.ctx.type_of(e.sort), "select", *a, range=r)


def _compare(name: str) -> Callable[[Evaluator, Expr, list[Value]], Value]:
    return lambda ev, e, a: ev.ctx.builder.op(k.BOOL, name, *a)


def _recip(ev: Evaluator, e: Expr, a: list[Value]) -> Value:
    kind = ev.ctx.accumulate
    return ev.ctx.rounded(ev.ctx.builder.op(kind, "div", constant(kind, 1), *a))


def _to_real(ev: Evaluator, e: Expr, a: list[Value]) -> Value:
    return ev.ctx.rounded(ev.ctx.builder.converted(ev.ctx.accumulate, a[0]))


def _to_index(ev: Evaluator, e: Expr, a: list[Value]) -> Value:
    """Floor, saturated at −2³¹ and 2³¹−1, NaN → −1; f16 has no 2³¹, so its values go to f32."""
    b, kind = ev.ctx.builder, ev.ctx.accumulate
    whole = b.op(kind, "floor", a[0])
    if kind is k.F16:
        whole, kind = b.converted(k.F32, whole), k.F32
    x = b.let(whole, "whole")
    above = b.op(k.BOOL, "le", constant(kind, -(2**31)), x)
    under = b.op(k.BOOL, "lt", x, constant(kind, 2**31))
    inside = b.let(b.both([above, under]), "inside")
    tame = b.op(kind, "select", inside, x, constant(kind, 0))
    low = b.op(k.BOOL, "lt", x, constant(kind, 0))
    side = b.op(b.index, "select", low, b.literal(-(2**31)), b.literal(2**31 - 1))
    edge = b.op(b.index, "select", b.op(k.BOOL, "isnan", x), b.literal(-1), side)
    exact = b.converted(b.index, tame, INT32)
    return b.op(b.index, "select", inside, exact, edge, range=INT32)


def _literal(ev: Evaluator, e: Expr, a: list[Value]) -> Value:
    return ev.ctx.literal(e, ev.nearest)


def _arg(ev: Evaluator, e: Expr, a: list[Value]) -> Value:
    return ev.argument(e.payload if isinstance(e.payload, int) else -1)


def _iota(ev: Evaluator, e: Expr, a: list[Value]) -> Value:
    return ev.ctx.env[str(e.payload)]


def _extent(ev: Evaluator, e: Expr, a: list[Value]) -> Value:
    ctx = ev.ctx
    found = next((d.extent for d in ctx.node.dims if d.name == e.payload), None)
    if found is None:
        return ctx.builder.literal(ctx.axis_sizes((str(e.payload),))[0])
    return ctx.builder.extent(found)


def _state(ev: Evaluator, e: Expr, a: list[Value]) -> Value:
    side, component = e.payload if isinstance(e.payload, tuple) else (-1, -1)
    return ev.state(int(side), int(component), tuple(a))


def _fold(ev: Evaluator, e: Expr, a: list[Value]) -> Value:
    """The value that `prepare` has kept."""
    ctx, kept = ev.ctx, ev.folds[e]
    b = ctx.builder
    if not kept.axes:
        return Value(k.Var(kept.type, kept.name), kept.depth, kept.range)
    at = ctx.linear(tuple(ctx.env[n] for n in kept.axes), kept.sizes)
    depth = max(at.depth, kept.depth)
    value = k.Load(kept.type, kept.name, b.settled(at, depth).expr)
    return Value(value, depth, kept.range, 1)


RULES: Final[dict[str, Callable[[Evaluator, Expr, list[Value]], Value]]] = {
    "real": _literal,
    "index": _literal,
    "bool": _literal,
    "arg": _arg,
    "iota": _iota,
    "extent": _extent,
    "state": _state,
    "fold": _fold,
    "select": _select,
    "lt": _compare("lt"),
    "eq": _compare("eq"),
    "isnan": _compare("isnan"),
    "and": _compare("and"),
    "or": _compare("or"),
    "not": _compare("not"),
    "recip": _recip,
    "to_real": _to_real,
    "to_index": _to_index,
}
"""How to emit each operation that is no plain row of the kernel IR."""
