"""Promotion: a fold in runs of so many terms, each with a state and a precision of its own.

Defines `fold_in_runs`. Relies on the state and the nest of the fold; a register counts the terms of
a run, so that conditions and several reduce dims make no difference to what a run is. Which formats
fit is checked with the schedule: promoting a state rounds nothing.
"""

from __future__ import annotations

from dataclasses import replace

from tang.ir.extent import Poly
from tang.kernel import ir as k
from tang.kernel.lower import nest, state
from tang.kernel.lower.build import Value
from tang.kernel.lower.context import Context
from tang.kernel.lower.ranges import Range
from tang.kernel.lower.state import Coords, Reader, Slot
from tang.kernel.schedule import Precision, Promotion


def fold_in_runs(ctx: Context, promotion: Promotion, chunks: int, slots: dict[int, Slot]) -> None:
    """state ← state + (Σ of the next terms, from the identity), where + is the node's combine.

    The last run is as long as terms are left; a fold without terms has no run.
    """
    if any(d.extent == Poly() for d in ctx.node.reduce):
        return
    b = ctx.builder
    begun = within_run(ctx, promotion.precision)
    run = state.slots(begun, tuple(slots), "run_")
    state.initialise(begun, run)
    terms = k.Var(b.index, b.names.fresh("terms"))
    b.emit(k.Declare(terms, b.literal(0).expr))

    def counted() -> Value:
        return Value(terms, b.depth, Range(0, promotion.every))

    def element() -> None:
        inner = within_run(ctx, promotion.precision)
        state.combine(inner, run, state.lift_element(inner, tuple(run)))
        b.emit(k.Assign(terms, b.add(counted(), b.literal(1)).expr))
        with ctx.branch([is_full(ctx, counted(), promotion.every)]):
            promote(ctx, slots, run)
            state.restart(inner, run)
            b.emit(k.Assign(terms, b.literal(0).expr))

    nest.over_elements(ctx, chunks, element)
    with ctx.branch(is_begun(ctx, counted())):
        promote(ctx, slots, run)


def within_run(ctx: Context, precision: Precision) -> Context:
    """The context as it is now, but for the precision of reals."""
    return replace(ctx, precision=precision, promotion=None)


def is_full(ctx: Context, terms: Value, every: int) -> Value:
    """Whether a run has all its terms."""
    return ctx.builder.op(k.BOOL, "eq", terms, ctx.builder.literal(every))


def is_begun(ctx: Context, terms: Value) -> list[Value]:
    """Whether a run has a term, so that the last one counts."""
    return [ctx.builder.lt(ctx.builder.literal(0), terms)]


def promote(ctx: Context, slots: dict[int, Slot], run: dict[int, Slot]) -> None:
    """Combine the state of a run into that of the fold."""
    depth = ctx.builder.depth
    state.combine(ctx, slots, promoted(ctx, run, depth))


def promoted(ctx: Context, run: dict[int, Slot], depth: int) -> Reader:
    """Reads the state of a run in the register types of the fold, which hold all its numbers."""

    def reader(i: int, coords: Coords) -> Value:
        slot = run[i]
        value = state.read_slot(ctx, slot, coords, depth)
        kind = ctx.type_of(slot.component.sort)
        return value if slot.var.type is kind else ctx.builder.converted(kind, value)

    return reader
