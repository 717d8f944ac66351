"""The state of a fold in a thread: registers and arrays, their first values and their updates.

Defines `Slot`, one component's storage, and the statements that initialise, combine and copy
states. Relies on the evaluator. Combine reads the whole old state before it overwrites any of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import prod

from tang.errors import TangBugError
from tang.ir.expr import Expr, walk
from tang.ir.monoid import Component, Monoid
from tang.kernel import ir as k
from tang.kernel.lower import reads
from tang.kernel.lower.build import Value
from tang.kernel.lower.context import Context
from tang.kernel.lower.ranges import Range
from tang.kernel.lower.scalar import Evaluator
from tang.kernel.lower.values import lifted

Coords = tuple[Value, ...]
Reader = Callable[[int, Coords], Value]


@dataclass(frozen=True, slots=True)
class Slot:
    """One component of a state in a thread: a register, or an array over its static axes."""

    component: Component
    var: k.Var
    sizes: tuple[int, ...]
    range: Range | None


def monoid_of(ctx: Context) -> Monoid:
    """The monoid of the node."""
    if ctx.node.monoid is None:
        raise TangBugError(f"map {ctx.node.name!r} has no state")
    return ctx.node.monoid


def closure(monoid: Monoid, wanted: set[int]) -> tuple[int, ...]:
    """The components that must be folded in order to know the wanted ones."""
    found: set[int] = set()
    while wanted - found:
        i = (wanted - found).pop()
        found.add(i)
        wanted = wanted | states_in(monoid.combine[i])
    return tuple(sorted(found))


@lru_cache(maxsize=8192)
def states_in(e: Expr) -> frozenset[int]:
    """The components that an expression reads."""
    pairs = (x.payload for x in walk(e) if x.op == "state")
    return frozenset(int(p[1]) for p in pairs if isinstance(p, tuple))


def slots(ctx: Context, components: tuple[int, ...], prefix: str = "") -> dict[int, Slot]:
    """Names for the storage of components; nothing is declared yet."""
    monoid = monoid_of(ctx)
    found: dict[int, Slot] = {}
    for i in components:
        c = monoid.components[i]
        var = k.Var(ctx.type_of(c.sort), ctx.builder.names.fresh(prefix + c.name))
        found[i] = Slot(c, var, ctx.axis_sizes(c.axes) if c.axes else (), ctx.states.get(i))
    return found


def read_slot(ctx: Context, slot: Slot, coords: Coords, depth: int) -> Value:
    """The value of a component at coordinates, valid from a depth inwards."""
    ctx.builder.demand(slot.range)
    if not slot.sizes:
        return Value(slot.var, depth, slot.range)
    at = ctx.linear(coords, slot.sizes)
    deepest = max(at.depth, depth)
    value = k.Load(slot.var.type, slot.var.name, ctx.builder.settled(at, deepest).expr)
    return Value(value, deepest, slot.range, 1)


def own_coords(ctx: Context, component: Component) -> Coords:
    """The current coordinates along the axes of a component."""
    return tuple(ctx.env[a] for a in component.axes)


def assign(ctx: Context, slot: Slot, value: Value) -> None:
    """Overwrite a component at the current coordinates of its axes."""
    b = ctx.builder
    term = b.settled(value, b.depth).expr
    if not slot.sizes:
        b.emit(k.Assign(slot.var, term))
        return
    at = ctx.linear(own_coords(ctx, slot.component), slot.sizes)
    b.emit(k.Store(slot.var.name, b.settled(at, b.depth).expr, term))


def declare(ctx: Context, slot: Slot, value: Callable[[], Value]) -> None:
    """Declare a component, with a value for each coordinate of its axes."""
    b = ctx.builder
    if not slot.sizes:
        b.emit(k.Declare(slot.var, b.settled(value(), b.depth).expr))
        return
    b.emit(k.Array(slot.var.name, slot.var.type, prod(slot.sizes)))
    with ctx.axis_loops(slot.component.axes):
        assign(ctx, slot, value())


def initialise(ctx: Context, state: Mapping[int, Slot]) -> None:
    """Start from the identity; a semigroup from NaN, −1, False, which an empty fold keeps."""
    monoid = monoid_of(ctx)
    for i, slot in state.items():
        evaluator = _constants(ctx)
        if monoid.identity is None:
            declare(ctx, slot, lambda s=slot: ctx.absent(s.component.sort))  # type: ignore[misc]
        else:
            evaluator.prepare((monoid.identity[i],))
            declare(ctx, slot, lambda e=monoid.identity[i], v=evaluator: v.value(e))  # type: ignore[misc]


def restart(ctx: Context, state: Mapping[int, Slot]) -> None:
    """Become the identity again."""
    monoid = monoid_of(ctx)
    if monoid.identity is None:
        raise TangBugError(f"{monoid.name} of {ctx.node.name!r} has no identity to restart from")
    evaluator = _constants(ctx)
    for i, slot in state.items():
        evaluator.prepare((monoid.identity[i],))
        _copy(ctx, slot, lambda c, e=monoid.identity[i]: evaluator.value(e))  # type: ignore[misc]
    ctx.builder.forget({slot.var.name for slot in state.values()})


def _constants(ctx: Context) -> Evaluator:
    """Of the expressions of an identity."""
    return Evaluator(ctx, no_argument, _no_state, nearest=True)


def no_argument(position: int) -> Value:
    """The arguments of an expression that has none."""
    raise TangBugError(f"argument {position} outside of a lift")


def _no_state(side: int, component: int, coords: Coords) -> Value:
    raise TangBugError(f"state {side}, {component} outside of combine and project")


def lift_element(ctx: Context, components: tuple[int, ...]) -> Reader:
    """Emit the lift of the current element; arrays hold components with axes."""
    monoid, b = monoid_of(ctx), ctx.builder
    exprs = lifted(ctx.node, monoid)
    evaluator = body_evaluator(ctx)
    evaluator.prepare(tuple(exprs[i] for i in components))
    plain = tuple(i for i in components if not monoid.components[i].axes)
    values = dict(zip(plain, evaluator.values(tuple(exprs[i] for i in plain)), strict=True))
    kept = {i: b.let(v, f"new_{monoid.components[i].name}") for i, v in values.items()}
    arrays = slots(ctx, tuple(i for i in components if i not in plain), "new_")
    depth = b.depth
    for i, slot in arrays.items():
        declare(ctx, slot, lambda e=exprs[i]: evaluator.value(e))  # type: ignore[misc]

    def reader(i: int, coords: Coords) -> Value:
        return kept[i] if i in kept else read_slot(ctx, arrays[i], coords, depth)

    return reader


def body_evaluator(ctx: Context) -> Evaluator:
    """An evaluator of expressions over the reads of the node."""
    return Evaluator(ctx, lambda i: reads.read_value(ctx, ctx.node.reads[i]), _no_state)


def combine(ctx: Context, state: Mapping[int, Slot], right: Reader) -> None:
    """state = combine(state, right): every new value is known before the first is stored."""
    monoid, b = monoid_of(ctx), ctx.builder
    depth = b.depth

    def component(side: int, i: int, coords: Coords) -> Value:
        return right(i, coords) if side else read_slot(ctx, state[i], coords, depth)

    evaluator = Evaluator(ctx, no_argument, component)
    exprs = {i: monoid.combine[i] for i in state}
    evaluator.prepare(tuple(exprs.values()))
    plain = tuple(i for i, s in state.items() if not s.sizes)
    values = evaluator.values(tuple(exprs[i] for i in plain))
    arrays = slots(ctx, tuple(i for i in state if i not in plain), "next_")
    for i, slot in arrays.items():
        declare(ctx, slot, lambda e=exprs[i]: evaluator.value(e))  # type: ignore[misc]
    if len(state) > 1:
        values = [_snapshot(ctx, state, v) for v in values]
    for i, value in zip(plain, values, strict=True):
        b.demand(state[i].range)
        assign(ctx, state[i], value)
    for i, slot in arrays.items():
        _copy(ctx, state[i], lambda c, s=slot: read_slot(ctx, s, c, depth))  # type: ignore[misc]
    b.forget({slot.var.name for slot in state.values()})


def _snapshot(ctx: Context, state: Mapping[int, Slot], value: Value) -> Value:
    """The value under a name that later assignments to the state do not change."""
    b = ctx.builder
    if not any(value.expr == slot.var for slot in state.values()):
        return b.let(value, "next")
    var = k.Var(value.expr.type, b.names.fresh("next"))
    b.emit(k.Let(var, value.expr))
    return Value(var, b.depth, value.range)


def replace(ctx: Context, state: Mapping[int, Slot], right: Reader) -> None:
    """state = right."""
    for i, slot in state.items():
        _copy(ctx, slot, lambda c, n=i: right(n, c))  # type: ignore[misc]
    ctx.builder.forget({slot.var.name for slot in state.values()})


def _copy(ctx: Context, slot: Slot, source: Callable[[Coords], Value]) -> None:
    with ctx.axis_loops(slot.component.axes):
        assign(ctx, slot, source(own_coords(ctx, slot.component)))


def accumulate(ctx: Context, state: Mapping[int, Slot], seen: k.Var | None, right: Reader) -> None:
    """Take one more element; the first one of a semigroup becomes the state."""
    b = ctx.builder
    if seen is None:
        combine(ctx, state, right)
        return
    with b.nested() as later:
        combine(ctx, state, right)
    with b.nested() as first:
        replace(ctx, state, right)
    b.emit(k.If(seen, tuple(later.statements), tuple(first.statements)))
    b.emit(k.Assign(seen, k.Const(k.BOOL, True)))
