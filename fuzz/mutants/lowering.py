"""Mutants of lowering: wrong kernels for right graphs.

Defines `LOWERING`. Relies on the names of lowering's functions and rule tables. Each must be
found on the rung `lower`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, Final

from tang.fuzz.mutants.apply import Mutant
from tang.ir.derived import zero
from tang.ir.expr import Expr, rebuild, state, substitute, walk
from tang.ir.extent import Poly
from tang.ir.monoid import Monoid
from tang.kernel import ir as k
from tang.kernel.lower.build import constant
from tang.verify import Rung

Function = Callable[..., Any]
_LOWER: Final = "tang.kernel.lower"


def _zero_identity(original: Function) -> Function:
    from tang.kernel.lower.state import declare

    def initialise(ctx: Any, slots: Mapping[int, Any]) -> None:  # noqa: ANN401
        for slot in slots.values():
            declare(ctx, slot, partial(ctx.literal, zero(slot.component.sort)))

    return initialise


def _no_tail_guard(original: Function) -> Function:
    return lambda b, thread, total: constant(k.BOOL, True)


def _short_chunks(original: Function) -> Function:
    def chunk_bounds(ctx: Any, dim: Any, split: int) -> Any:  # noqa: ANN401
        low, high = original(ctx, dim, split)
        return low, ctx.builder.let(ctx.builder.sub(high, ctx.builder.literal(1)), "hi")

    return chunk_bounds


def _swapped_sides(original: Function) -> Function:
    def monoid_of(ctx: Any) -> Monoid:  # noqa: ANN401
        monoid: Monoid = original(ctx)
        return replace(monoid, combine=tuple(_swapped(e) for e in monoid.combine))

    return monoid_of


def _swapped(root: Expr) -> Expr:
    """The expression with left and right states exchanged."""
    done: dict[Expr, Expr] = {}
    for e in walk(root):
        args = tuple(done[a] for a in e.args)
        if e.op == "state" and isinstance(e.payload, tuple):
            side, component = int(e.payload[0]), int(e.payload[1])
            done[e] = state(1 - side, component, e.sort, args)
        else:
            done[e] = rebuild(e, args)
    return substitute(root, {}) if root not in done else done[root]


def _half_guard(original: Function) -> Function:
    return lambda ctx, interval: original(ctx, interval)[:-1]


def _zero_fill(original: Function) -> Function:
    def conditional(ctx: Any, read: Any) -> Any:  # noqa: ANN401
        view = read.view
        if view.fill is not None:
            view = replace(view, fill=zero(view.fill.sort))
        return original(ctx, replace(read, view=view))

    return conditional


def _reversed_strides(original: Function) -> Function:
    def row_major(shape: tuple[Poly, ...]) -> tuple[Poly, ...]:
        return tuple(reversed(original(tuple(reversed(shape)))))

    return row_major


def _next_iota(original: Function) -> Function:
    def iota(ev: Any, e: Any, a: Any) -> Any:  # noqa: ANN401
        b = ev.ctx.builder
        return b.add(original(ev, e, a), b.literal(1))

    return iota


def _less_or_equal(original: Function) -> Function:
    return lambda ev, e, a: ev.ctx.builder.op(k.BOOL, "le", *a)


def _swapped_branches(original: Function) -> Function:
    return lambda ev, e, a: original(ev, e, [a[0], a[2], a[1]])


def _double_recip(original: Function) -> Function:
    def recip(ev: Any, e: Any, a: Any) -> Any:  # noqa: ANN401
        kind = ev.ctx.accumulate
        return ev.ctx.builder.op(kind, "div", constant(kind, Fraction(1) + Fraction(1, 2**20)), *a)

    return recip


def _strict_where(original: Function) -> Function:
    from tang.kernel.lower import address

    def where_condition(ctx: Any, form: Any) -> Any:  # noqa: ANN401
        b = ctx.builder
        return [b.lt(b.literal(0), address.form_value(ctx, form))]

    return where_condition


def _combine_at_once(original: Function) -> Function:
    from tang.kernel.lower.state import combine

    return lambda ctx, slots, seen, right: combine(ctx, slots, right)


LOWERING: Final = (
    Mutant("where-is-strict", "a form of where must be above 0, not at least 0",
           f"{_LOWER}.nest:where_condition", _strict_where, Rung.LOWER),
    Mutant("states-overwritten-in-turn", "a component is combined with another one's new value",
           f"{_LOWER}.state:_snapshot", lambda f: lambda ctx, slots, value: value, Rung.LOWER),
    Mutant("empty-chunk-combined", "a chunk without elements takes part",
           f"{_LOWER}.kernels:_chunk_seen", lambda f: lambda ctx, task: [], Rung.LOWER),
    Mutant("first-element-combined", "a semigroup's first element is combined with nothing",
           f"{_LOWER}.state:accumulate", _combine_at_once, Rung.LOWER),
    Mutant("wrong-identity", "a fold starts from 0 whatever the monoid",
           f"{_LOWER}.state:initialise", _zero_identity, Rung.LOWER),
    Mutant("tail-guard-missing", "threads beyond the last one work too",
           f"{_LOWER}.kernels:tail_guard", _no_tail_guard, Rung.LOWER),
    Mutant("chunk-one-short", "a chunk of a split loses its last element",
           f"{_LOWER}.nest:chunk_bounds", _short_chunks, Rung.LOWER),
    Mutant("combine-order-swapped", "the new element comes left of the old ones",
           f"{_LOWER}.state:monoid_of", _swapped_sides, Rung.LOWER),
    Mutant("guard-half-dropped", "the last condition of a guard is not tested",
           f"{_LOWER}.address:interval_conditions", _half_guard, Rung.LOWER),
    Mutant("fill-is-zero", "a guarded read yields 0 outside, whatever its fill",
           f"{_LOWER}.reads:_conditional", _zero_fill, Rung.LOWER),
    Mutant("strides-reversed", "arrays are addressed column by column",
           f"{_LOWER}.context:row_major", _reversed_strides, Rung.LOWER),
    Mutant("where-dropped", "excluded points take part",
           f"{_LOWER}.nest:where_condition", lambda f: lambda ctx, form: [], Rung.LOWER),
    Mutant("iota-off-by-one", "coordinates count from 1",
           f"{_LOWER}.scalar:RULES", _next_iota, Rung.LOWER, "iota"),
    Mutant("less-is-less-or-equal", "a < b holds for equals",
           f"{_LOWER}.scalar:RULES", _less_or_equal, Rung.LOWER, "lt"),
    Mutant("select-swapped", "select takes the other branch",
           f"{_LOWER}.scalar:RULES", _swapped_branches, Rung.LOWER, "select"),
    Mutant("recip-numerator", "1/x has a numerator of 1 + 2⁻²⁰",
           f"{_LOWER}.scalar:RULES", _double_recip, Rung.LOWER, "recip"),
)  # fmt: skip
