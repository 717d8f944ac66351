"""Inlined nodes: what a node means, computed inside the kernel that reads it.

Defines `recompute`: the body of a map, or the loop of a reduction, at the coordinates of a read.
Relies on the state, the nest and on reads, which call it; so it nests to any depth, up to
`MOST_NESTED`. It decides nothing: which nodes are inlined is the schedule's, how far a value may
move out of loops is told by the depths of its coordinates.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from tang.errors import ScheduleError
from tang.ir.extent import Poly
from tang.ir.view import Ref
from tang.kernel.lower import address, results, state
from tang.kernel.lower.build import Value
from tang.kernel.lower.context import THREAD, Context, Place, Recipe

MOST_COPIES: Final = 1024
"""Inlined computations in one kernel: their code multiplies with every level of nesting."""

MOST_NESTED: Final = 16
"""Levels of inlined nodes in inlined nodes."""


def recompute(ctx: Context, ref: Ref, place: Place) -> Value:
    """The value of a result of an inlined node, in the register type of that node.

    Raises ScheduleError naming the node where its kernel would grow too large.
    """
    recipe = ctx.recipes[ref.node]
    if recipe.node.monoid is not None:
        return _folded(ctx, recipe, place).value(ref.output, place.axes)
    with _counted(ctx, recipe):
        inner = within(ctx, recipe, place)
        body = recipe.node.body[recipe.node.outputs.index(ref.output)]
        return state.body_evaluator(inner).value(body)


def _folded(ctx: Context, recipe: Recipe, place: Place) -> results.Results:
    """The finished fold of an inlined reduction, made once per point in the scope of the point."""
    b, node = ctx.builder, recipe.node
    home = home_of(ctx, place)
    key = (node.name, place.targets, tuple(v.expr for v in place.point.values()))
    found = b.recall(key, home)
    if isinstance(found, results.Results):
        return found
    with b.at(home), _counted(ctx, recipe):
        inner = within(ctx, recipe, place)
        components = results.components_for(state.monoid_of(inner), place.targets)
        slots, seen = results.begin(inner, components)
        results.fold(inner, 1, slots, seen)
        made = results.finished(inner, slots, seen, place.targets)
    b.keep(key, made, home)
    return made


def home_of(ctx: Context, place: Place) -> int:
    """The depth at which the loop of an inlined reduction stands: where its point is known."""
    b = ctx.builder
    depth = max([b.floor, place.ground, *(v.depth for v in place.point.values())])
    return b.sunk(depth, ctx.pin)


@contextmanager
def _counted(ctx: Context, recipe: Recipe) -> Iterator[None]:
    """Count one more computation of an inlined node, and refuse what goes beyond all bounds."""
    b, name = ctx.builder, recipe.node.name
    b.copies, b.nesting = b.copies + 1, b.nesting + 1
    if b.copies > MOST_COPIES:
        raise ScheduleError(
            f"{name}: inlining computes nodes more than {MOST_COPIES} times in one kernel: "
            f"materialise {name!r} or one of the nodes that read it"
        )
    if b.nesting > MOST_NESTED:
        raise ScheduleError(
            f"{name}: inlined {b.nesting} levels deep, {MOST_NESTED} at most: materialise "
            f"{name!r} or one of the nodes that read it"
        )
    try:
        yield
    finally:
        b.nesting -= 1


def within(ctx: Context, recipe: Recipe, place: Place) -> Context:
    """The context of an inlined node at a place of another node's kernel."""
    b = ctx.builder
    threads = _shared_threads(ctx, place)
    env = dict(place.point)
    if threads and THREAD in ctx.env:
        env[THREAD] = ctx.env[THREAD]
    return Context(
        builder=b,
        node=recipe.node,
        precision=recipe.precision,
        tensors=ctx.tensors,
        results=ctx.results,
        states=recipe.states,
        dims=recipe.dims,
        env=env,
        threads=threads,
        pin=b.depth,
        validated=_has_elements(ctx, recipe, place),
        params=ctx.params,
        buffers=ctx.buffers,
        ground=place.ground,
        used=results.used_reads(recipe.node, place.targets),
        recipes=ctx.recipes,
        recompute=ctx.recompute,
        promotion=recipe.promotion,
    )


def _has_elements(ctx: Context, recipe: Recipe, place: Place) -> bool:
    """Whether the node has a point wherever this place exists, and elements at every point."""
    sizes, node = ctx.builder.sizes, recipe.node
    missing = [d for d in node.point if d.name not in place.point]
    exists = all(sizes.never_empty(d.extent) for d in missing)
    return exists and address.always_iterates(node, sizes)


def _shared_threads(ctx: Context, place: Place) -> tuple[tuple[str, Poly], ...]:
    """The thread dims under the names of the inner dims with their coordinates, all or none."""
    names = {v.expr: dim for dim, v in place.point.items() if v.integer is None}
    found = []
    for name, extent in ctx.threads:
        at = ctx.env.get(name)
        if at is None or (at.integer is None and at.expr not in names):
            return ()
        if at.integer is None:
            found.append((names[at.expr], extent))
    return tuple(found)
