"""Cooperative kernels: several threads of one workgroup fold one point together.

Defines `cooperative_body`: every lane folds a contiguous chunk of the first reduce dim, the
partial states meet in workgroup arrays, and a tree combines neighbours in order, with a barrier
before each level. Relies on the state and on what the kernel hands over as a `Team`; which nodes
have lanes is the schedule's choice, and memory limits are checked with the schedule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod

from tang.kernel import ir as k
from tang.kernel.lower import address, state
from tang.kernel.lower.build import Value
from tang.kernel.lower.context import CHUNK, Context
from tang.kernel.lower.ranges import Range, below, point
from tang.kernel.lower.state import Coords, Reader, Slot

Folding = tuple[dict[int, Slot], k.Var | None]
"""A state in registers, and for a semigroup whether it holds an element."""


@dataclass(frozen=True, slots=True)
class Team:
    """What the lanes of a point do: one after the other but for `fold`, which all do at once.

    begin   declares the state, of no element
    fold    takes the elements of the chunk that the coordinate CHUNK names
    finish  stores what the state means
    """

    lanes: int
    workgroup: int
    components: tuple[int, ...]
    begin: Callable[[], Folding]
    fold: Callable[[Folding], None]
    finish: Callable[[Folding], None]


@dataclass(frozen=True, slots=True)
class Crew:
    """One thread's place: its point, whether that exists, its lane, and the shared states."""

    point: Value
    exists: Value
    lane: Value
    local: Value
    states: dict[int, Slot]
    seen: k.Var | None


def cooperative_body(ctx: Context, team: Team, at: Value, count: Range, exists: Value) -> None:
    """Emit a kernel's statements; thread t is lane t mod lanes of point t div lanes.

    at      the point of this thread (see `point_of`); exists  whether it is one of `count`
    """
    crew = _crew(ctx, team, Value(at.expr, 0, below(count)), exists)
    with _phase(ctx, [exists]):
        address.thread_coordinates(ctx, _here(ctx, crew.point))
        folding = team.begin()
        with ctx.bound(CHUNK, chunk_of(ctx, team, crew)):
            team.fold(folding)
        keep(ctx, crew, folding)
    _tree(ctx, team, crew)
    with _phase(ctx, [exists, *stores(ctx, crew.lane)]):
        address.thread_coordinates(ctx, _here(ctx, crew.point))
        team.finish(recall(ctx, crew, crew.local))


def point_of(ctx: Context, lanes: int, points: Range, workgroup: int) -> Value:
    """The linear index of the point that a thread works on, beyond the last one in the tail."""
    b = ctx.builder
    threads = Range(0, points.hi * lanes + workgroup)
    b.demand(threads)
    thread = Value(k.Var(b.index, "global_id"), 0, threads)
    return b.let(b.floordiv(thread, b.literal(lanes)), "point")


def _crew(ctx: Context, team: Team, points: Value, exists: Value) -> Crew:
    b, monoid = ctx.builder, state.monoid_of(ctx)
    local = Value(k.Var(b.index, "local_id"), 0, below(point(team.workgroup)))
    lane = b.let(lane_of(ctx, local, team.lanes), "lane")
    shared = state.slots(ctx, team.components, "all_")
    for slot in shared.values():
        size = room(team.workgroup, slot)
        b.emit(k.Array(slot.var.name, slot.var.type, size, k.Scope.WORKGROUP))
    seen = None
    if monoid.identity is None:
        seen = k.Var(k.BOOL, b.names.fresh("all_seen"))
        b.emit(k.Array(seen.name, k.BOOL, team.workgroup, k.Scope.WORKGROUP))
    return Crew(points, exists, lane, local, shared, seen)


def room(workgroup: int, slot: Slot) -> int:
    """How many elements hold a component of every thread of a workgroup."""
    return workgroup * prod(slot.sizes)


def lane_of(ctx: Context, local: Value, lanes: int) -> Value:
    """Which of its point's threads a thread is; a workgroup holds whole points."""
    return ctx.builder.mod(local, ctx.builder.literal(lanes))


def stores(ctx: Context, lane: Value) -> list[Value]:
    """Whether a lane stores the results of its point: the first one does."""
    return [ctx.builder.op(k.BOOL, "eq", lane, ctx.builder.literal(0))]


def chunk_of(ctx: Context, team: Team, crew: Crew) -> Value:
    """The lane, counted on from chunk to chunk where the reduction is split as well."""
    outer = ctx.env.get(CHUNK)
    if outer is None:
        return crew.lane
    b = ctx.builder
    return b.let(b.add(b.mul(outer, b.literal(team.lanes)), crew.lane), "chunk")


@contextmanager
def _phase(ctx: Context, conditions: list[Value]) -> Iterator[None]:
    """A stretch without barriers, for the threads that satisfy conditions."""
    b, before = ctx.builder, (ctx.builder.floor, ctx.pin, dict(ctx.env))
    with ctx.branch(conditions):
        b.floor = ctx.pin = b.depth
        yield
    b.floor, ctx.pin, ctx.env = before


def _here(ctx: Context, value: Value) -> Value:
    """A value that is not taken out of the current phase."""
    return Value(value.expr, ctx.builder.depth, value.range, value.height)


# --- the tree -------------------------------------------------------------------------------------


def _tree(ctx: Context, team: Team, crew: Crew) -> None:
    """Level n: every lane at a multiple of 2ⁿ⁺¹ takes the state of the lane 2ⁿ further."""
    b, levels = ctx.builder, levels_of(team.lanes)
    step = k.Var(b.index, b.names.fresh("step"))
    if levels > 1:
        b.emit(k.Declare(step, k.Const(b.index, 1)))
    with ctx.loop("%level", b.literal(0), b.literal(levels), point(levels)):
        reach = b.literal(1)
        if levels > 1:
            reach = Value(step, b.depth, Range(1, 1 << (levels - 1)))
        meet(ctx)
        with _phase(ctx, [crew.exists, *takes_part(ctx, crew.lane, reach, team.lanes)]):
            join(ctx, crew, partner_of(ctx, crew.local, reach))
        if levels > 1:
            b.emit(k.Assign(step, b.add(reach, reach).expr))


def levels_of(lanes: int) -> int:
    """How many levels join so many states to one."""
    return (lanes - 1).bit_length()


def meet(ctx: Context) -> None:
    """All threads of the workgroup arrive before any of them goes on."""
    ctx.builder.emit(k.Barrier())


def takes_part(ctx: Context, lane: Value, step: Value, lanes: int) -> list[Value]:
    """Whether a lane combines on a level, and has a partner there."""
    b = ctx.builder
    twice = b.add(step, step)
    own = b.op(k.BOOL, "eq", b.mod(lane, twice), b.literal(0))
    if lanes & (lanes - 1) == 0:
        return [own]
    return [own, b.lt(b.add(lane, step), b.literal(lanes))]


def partner_of(ctx: Context, local: Value, step: Value) -> Value:
    """Whose state comes right of a thread's own."""
    return ctx.builder.add(local, step)


def join(ctx: Context, crew: Crew, partner: Value) -> None:
    """before: states a, b of neighbours → after: combine(a, b) in the place of a."""
    b = ctx.builder
    at = b.let(partner, "partner")
    with ctx.branch(has_any(ctx, crew.seen, at)):
        folding = recall(ctx, crew, crew.local)
        state.accumulate(ctx, *folding, reader_of(ctx, crew, at))
        keep(ctx, crew, folding)


def has_any(ctx: Context, seen: k.Var | None, owner: Value) -> list[Value]:
    """For a semigroup: whether a thread's state holds an element."""
    return [] if seen is None else [_flag(ctx, seen, owner)]


# --- workgroup arrays -----------------------------------------------------------------------------


def _at(ctx: Context, slot: Slot, owner: Value, coords: Coords) -> Value:
    """Where a thread's component lies: the states of threads one after the other."""
    b = ctx.builder
    own = ctx.linear(coords, slot.sizes)
    return b.add(b.mul(owner, b.literal(prod(slot.sizes))), own)


def _load(ctx: Context, slot: Slot, owner: Value, coords: Coords) -> Value:
    b = ctx.builder
    b.demand(slot.range)
    at = b.settled(_at(ctx, slot, owner, coords), b.depth)
    return Value(k.Load(slot.var.type, slot.var.name, at.expr), b.depth, slot.range, at.height + 1)


def _flag(ctx: Context, seen: k.Var, owner: Value) -> Value:
    b = ctx.builder
    at = b.settled(owner, b.depth)
    return Value(k.Load(k.BOOL, seen.name, at.expr), b.depth, None, at.height + 1)


def keep(ctx: Context, crew: Crew, folding: Folding) -> None:
    """Put the state of this thread where its neighbours see it."""
    b, (slots, seen) = ctx.builder, folding
    for i, slot in slots.items():
        with ctx.axis_loops(slot.component.axes):
            coords = state.own_coords(ctx, slot.component)
            value = state.read_slot(ctx, slot, coords, b.floor)
            at = _at(ctx, crew.states[i], crew.local, coords)
            exprs = [b.settled(v, b.depth).expr for v in (at, value)]
            b.emit(k.Store(crew.states[i].var.name, exprs[0], exprs[1]))
    if seen is not None and crew.seen is not None:
        b.emit(k.Store(crew.seen.name, crew.local.expr, seen))
    b.forget({slot.var.name for slot in crew.states.values()})


def recall(ctx: Context, crew: Crew, owner: Value) -> Folding:
    """The state of a thread, in registers."""
    b, slots = ctx.builder, state.slots(ctx, tuple(crew.states))
    for i, slot in slots.items():
        shared = crew.states[i]
        state.declare(ctx, slot, lambda s=shared: _own(ctx, s, owner))  # type: ignore[misc]
    if crew.seen is None:
        return slots, None
    seen = k.Var(k.BOOL, b.names.fresh("seen"))
    b.emit(k.Declare(seen, _flag(ctx, crew.seen, owner).expr))
    return slots, seen


def _own(ctx: Context, shared: Slot, owner: Value) -> Value:
    return _load(ctx, shared, owner, state.own_coords(ctx, shared.component))


def reader_of(ctx: Context, crew: Crew, owner: Value) -> Reader:
    """Reads the state of another thread; plain components are loaded once."""

    def reader(i: int, coords: Coords) -> Value:
        slot = crew.states[i]
        value = _load(ctx, slot, owner, coords)
        return value if coords else ctx.builder.let(value, f"new_{slot.component.name}")

    return reader
