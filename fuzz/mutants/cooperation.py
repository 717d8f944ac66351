"""Mutants of cooperative kernels: wrong lanes, wrong trees, missing barriers in lowering.

Defines `COOPERATION`. Relies on the names of the parts of `tang.kernel.lower.cooperative`. Each
must be found on the rung `lower`, whose replay knows barriers, races and bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tang.fuzz.mutants.apply import Mutant
from tang.verify import Rung

Function = Callable[..., Any]
_PART: Final = "tang.kernel.lower.cooperative:"


def _next_chunk(original: Function) -> Function:
    def chunk_of(ctx: Any, team: Any, crew: Any) -> Any:  # noqa: ANN401
        b = ctx.builder
        return b.let(b.add(original(ctx, team, crew), b.literal(1)), "chunk")

    return chunk_of


def _overlapping(original: Function) -> Function:
    """Before: lo … hi − 1; after: lo … hi, up to the end."""

    def chunk_bounds(ctx: Any, dim: Any, split: int) -> Any:  # noqa: ANN401
        b, (low, high) = ctx.builder, original(ctx, dim, split)
        further = b.integer("min", b.add(high, b.literal(1)), b.extent(dim.extent))
        return low, b.let(further, "hi")

    return chunk_bounds


def _sides_exchanged(original: Function) -> Function:
    """Before: combine(own, partner's); after: combine(partner's, own)."""
    from tang.kernel.lower import cooperative as c
    from tang.kernel.lower import state

    def join(ctx: Any, crew: Any, partner: Any) -> None:  # noqa: ANN401
        at = ctx.builder.let(partner, "partner")
        with ctx.branch(c.has_any(ctx, crew.seen, at)):
            folding = c.recall(ctx, crew, at)
            state.accumulate(ctx, *folding, c.reader_of(ctx, crew, crew.local))
            c.keep(ctx, crew, folding)

    return join


def _one_further(original: Function) -> Function:
    def partner_of(ctx: Any, local: Any, step: Any) -> Any:  # noqa: ANN401
        b = ctx.builder
        return b.add(original(ctx, local, step), b.literal(1))

    return partner_of


def _nobody(original: Function) -> Function:
    return lambda *_: []


def _part(name: str, what: str, function: str, make: Function) -> Mutant:
    return Mutant(name, what, _PART + function, make, Rung.LOWER)


COOPERATION: Final = (
    _part("lane-takes-next-chunk", "every lane folds the chunk of the next one", "chunk_of",
          _next_chunk),
    Mutant("chunks-overlap", "a chunk takes the first element of the next one",
           "tang.kernel.lower.nest:chunk_bounds", _overlapping, Rung.LOWER),
    _part("tree-sides-exchanged", "a neighbour's state comes left of a lane's own", "join",
          _sides_exchanged),
    _part("tree-one-level-short", "the last level of the tree is left out", "levels_of",
          lambda f: lambda lanes: f(lanes) - 1),
    _part("tree-without-barriers", "lanes do not wait for each other", "meet",
          lambda f: lambda ctx: None),
    _part("partner-one-further", "a lane takes the state after its partner's", "partner_of",
          _one_further),
    _part("every-lane-joins", "lanes that have no partner take one too", "takes_part", _nobody),
    _part("every-lane-stores", "all lanes of a point store its results", "stores", _nobody),
    _part("empty-lane-joins", "a lane without elements takes part in the tree", "has_any", _nobody),
    _part("lanes-of-a-workgroup", "lanes are counted through the workgroup", "lane_of",
          lambda f: lambda ctx, local, lanes: local),
    _part("workgroup-array-one-short", "a workgroup array lacks its last element", "room",
          lambda f: lambda workgroup, slot: max(f(workgroup, slot) - 1, 1)),
    Mutant("lanes-not-launched", "a thread is launched per point, whatever its lanes",
           "tang.kernel.lower.kernels:launched",
           lambda f: lambda ctx, task: f(ctx, task) if task.lanes == 1 else _points(ctx),
           Rung.LOWER),
)  # fmt: skip


def _points(ctx: Any) -> Any:  # noqa: ANN401
    from tang.kernel.lower.kernels import thread_count

    return thread_count(ctx)
