"""Mutants of inlining and epilogues: right values at wrong places, or of wrong bits.

Defines `INLINING`. Relies on the names of lowering's functions. Each must be found on the rung
`lower`; lost roundings are seen there by the comparison of places alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from tang.fuzz.mutants.apply import Mutant
from tang.ir.expr import REAL
from tang.ir.view import Ref
from tang.kernel import ir as k
from tang.verify import Rung, Verdict

Function = Callable[..., Any]
_LOWER: Final = "tang.kernel.lower"
_READS_OUTSIDE: Final = frozenset({Verdict.WRONG, Verdict.OUT_OF_BOUNDS})


def _no_guard(original: Function) -> Function:
    """The guard of a read of an inlined node is not tested."""

    def conditional(ctx: Any, reads: Any) -> Any:  # noqa: ANN401
        if reads[0].source.node not in ctx.recipes:
            return original(ctx, reads)
        views = (replace(r.view, guard=(), fill=None) for r in reads)
        return original(ctx, [replace(r, view=v) for r, v in zip(reads, views, strict=True)])

    return conditional


def _no_where(original: Function) -> Function:
    def within(ctx: Any, recipe: Any, place: Any) -> Any:  # noqa: ANN401
        inner = original(ctx, recipe, place)
        inner.node = replace(inner.node, where=())
        return inner

    return within


def _kept_state(original: Function) -> Function:
    """An inlined fold goes on from where it was the last time."""

    def begin(ctx: Any, components: Any) -> Any:  # noqa: ANN401
        if ctx.node.name not in ctx.recipes:
            return original(ctx, components)
        with ctx.builder.at(ctx.builder.floor):
            return original(ctx, components)

    return begin


def _other_result(original: Function) -> Function:
    """Another result of the same sort and shape is taken from an inlined node that has one."""

    def recompute(ctx: Any, ref: Any, place: Any) -> Any:  # noqa: ANN401
        node = ctx.recipes[ref.node].node
        own = node.tensor(ref.output)
        others = (n for n in node.output_names() if n != ref.output)
        like = [n for n in others if node.tensor(n) == own]
        if not like:
            return original(ctx, ref, place)
        targets = tuple(n for n in node.output_names() if n in (*place.targets, like[0]))
        return original(ctx, Ref(ref.node, like[0]), replace(place, targets=targets))

    return recompute


def _unrounded(original: Function) -> Function:
    """A result that is not stored is not rounded to its storage format either."""

    def recalled(ctx: Any, ref: Any, value: Any, own: Any) -> Any:  # noqa: ANN401
        if ctx.tensors[ref].sort is not REAL or value.expr.type is ctx.accumulate:
            return value
        return ctx.builder.converted(ctx.accumulate, value)

    return recalled


def _reversed_point(original: Function) -> Function:
    """The coordinates of an inlined node come in the wrong order where the extents allow it."""

    def within(ctx: Any, recipe: Any, place: Any) -> Any:  # noqa: ANN401
        extents = {d.name: d.extent for d in recipe.node.point}
        names = list(place.point)
        if [extents[n] for n in names] != [extents[n] for n in reversed(names)]:
            return original(ctx, recipe, place)
        turned = dict(zip(names, reversed(place.point.values()), strict=True))
        return original(ctx, recipe, replace(place, point=turned))

    return within


def _seen_from_the_start(original: Function) -> Function:
    """An inlined semigroup combines its first element with nothing."""

    def begin(ctx: Any, components: Any) -> Any:  # noqa: ANN401
        slots, seen = original(ctx, components)
        if seen is not None and ctx.node.name in ctx.recipes:
            ctx.builder.emit(k.Assign(seen, k.Const(k.BOOL, True)))
        return slots, seen

    return begin


def _without_inner_fill(original: Function) -> Function:
    """Reads inside an inlined node yield 0 outside of their guards."""

    def register(ctx: Any, read: Any) -> Any:  # noqa: ANN401
        from tang.ir.derived import zero

        view = read.view
        if ctx.node.name in ctx.recipes and view.fill is not None:
            read = replace(read, view=replace(view, fill=zero(view.fill.sort)))
        return original(ctx, read)

    return register


def _negative(original: Function) -> Function:

    def held_value(ctx: Any, read: Any) -> Any:  # noqa: ANN401
        value = original(ctx, read)
        return ctx.builder.op(value.expr.type, "neg", value) if value.range is None else value

    return held_value


INLINING: Final = (
    Mutant("inlined-guard-dropped", "an inlined node is computed outside of a read's guard too",
           f"{_LOWER}.reads:_conditional", _no_guard, Rung.LOWER, verdicts=_READS_OUTSIDE),
    Mutant("inlined-where-lost", "an inlined fold takes the points that its where excludes",
           f"{_LOWER}.inline:within", _no_where, Rung.LOWER, verdicts=_READS_OUTSIDE),
    Mutant("inlined-state-kept", "an inlined fold does not start anew for every point",
           f"{_LOWER}.results:begin", _kept_state, Rung.LOWER),
    Mutant("inlined-other-result", "an inlined node gives another one of its results",
           f"{_LOWER}.inline:recompute", _other_result, Rung.LOWER),
    Mutant("inlined-unrounded", "an inlined result is not rounded to its storage format",
           f"{_LOWER}.reads:recalled", _unrounded, Rung.LOWER),
    Mutant("inlined-transposed", "an inlined node is computed at its mirrored point",
           f"{_LOWER}.inline:within", _reversed_point, Rung.LOWER, verdicts=_READS_OUTSIDE),
    Mutant("inlined-seen-from-start", "an inlined semigroup combines its first element",
           f"{_LOWER}.results:begin", _seen_from_the_start, Rung.LOWER),
    Mutant("inlined-fill-is-zero", "guarded reads of an inlined node yield 0 outside",
           f"{_LOWER}.reads:_register", _without_inner_fill, Rung.LOWER),
    Mutant("epilogue-negates", "an epilogue takes the negative of what its node has",
           f"{_LOWER}.reads:_held_value", _negative, Rung.LOWER),
)  # fmt: skip
