"""Results of a fold: which components they need, and their values once it is done.

Defines `used_reads`, `components_for`, `begin` and `Results`. Relies on the state and the
evaluator. It stores nothing: kernels do, and inlined nodes have nowhere to store to.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache

from tang.ir.expr import walk
from tang.ir.graph import Comprehension
from tang.ir.monoid import Component, Monoid
from tang.ir.view import Read
from tang.kernel import ir as k
from tang.kernel.lower import nest, runs, state
from tang.kernel.lower.build import Value
from tang.kernel.lower.context import Context
from tang.kernel.lower.scalar import Evaluator
from tang.kernel.lower.state import Coords, Slot
from tang.kernel.lower.values import lifted


def components_for(monoid: Monoid, targets: tuple[str, ...]) -> tuple[int, ...]:
    """The components that these results need."""
    wanted = {i for i, c in enumerate(monoid.components) if c.name in targets}
    for c, e in zip(monoid.outputs, monoid.project, strict=True):
        if c.name in targets:
            wanted |= state.states_in(e)
    return state.closure(monoid, wanted)


@lru_cache(maxsize=4096)
def used_reads(node: Comprehension, targets: tuple[str, ...]) -> tuple[Read, ...]:
    """The reads of a node that these results need."""
    if node.monoid is None:
        exprs = tuple(e for n, e in zip(node.outputs, node.body, strict=True) if n in targets)
    else:
        lifts = lifted(node, node.monoid)
        exprs = tuple(lifts[i] for i in components_for(node.monoid, targets))
    positions = {e.payload for e in walk(*exprs) if e.op == "arg"}
    return tuple(r for i, r in enumerate(node.reads) if i in positions)


def begin(ctx: Context, components: tuple[int, ...]) -> tuple[dict[int, Slot], k.Var | None]:
    """Declare the state, and for a semigroup whether an element has been seen."""
    slots = state.slots(ctx, components)
    state.initialise(ctx, slots)
    if state.monoid_of(ctx).identity is not None:
        return slots, None
    seen = k.Var(k.BOOL, ctx.builder.names.fresh("seen"))
    ctx.builder.emit(k.Declare(seen, k.Const(k.BOOL, False)))
    return slots, seen


def fold(ctx: Context, chunks: int, slots: dict[int, Slot], seen: k.Var | None) -> None:
    """Take the elements of one of so many chunks, which the coordinate CHUNK names."""
    if ctx.promotion is not None:
        runs.fold_in_runs(ctx, ctx.promotion, chunks, slots)
        return

    def element() -> None:
        state.accumulate(ctx, slots, seen, state.lift_element(ctx, tuple(slots)))

    nest.over_elements(ctx, chunks, element)


@dataclass(frozen=True, slots=True)
class Results:
    """A finished fold: its state and the evaluator of its projections.

    depth  the scope in which the state was declared
    """

    ctx: Context
    slots: dict[int, Slot]
    seen: k.Var | None
    depth: int
    evaluator: Evaluator

    def value(self, name: str, coords: Coords) -> Value:
        """An output or a state component at coordinates along its static axes."""
        monoid = state.monoid_of(self.ctx)
        for c, e in zip(monoid.outputs, monoid.project, strict=True):
            if c.name == name:
                with ExitStack() as bound:
                    for axis, at in zip(c.axes, coords, strict=True):
                        bound.enter_context(self.ctx.bound(axis, at))
                    return self._unless_empty(c, self.evaluator.value(e))
        slot = self.slots[monoid.component(name)]
        return state.read_slot(self.ctx, slot, coords, self.depth)

    def _unless_empty(self, c: Component, value: Value) -> Value:
        """An output of a semigroup: NaN, −1 or False when there was no element."""
        if self.seen is None:
            return value
        ctx = self.ctx
        flag, none = Value(self.seen, self.depth), ctx.absent(c.sort)
        r = value.range | none.range if value.range and none.range else None
        return ctx.builder.op(ctx.type_of(c.sort), "select", flag, value, none, range=r)


def finished(
    ctx: Context, slots: dict[int, Slot], seen: k.Var | None, names: tuple[str, ...]
) -> Results:
    """The results of a fold whose last element has been taken; sums below `names` are done once."""
    monoid, depth = state.monoid_of(ctx), ctx.builder.depth

    def reader(side: int, i: int, coords: Coords) -> Value:
        return state.read_slot(ctx, slots[i], coords, depth)

    evaluator = Evaluator(ctx, state.no_argument, reader)
    pairs = zip(monoid.outputs, monoid.project, strict=True)
    evaluator.prepare(tuple(e for c, e in pairs if c.name in names))
    return Results(ctx, slots, seen, depth, evaluator)
