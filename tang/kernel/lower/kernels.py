"""Kernels: what the threads of one launch do for one node.

Defines tasks and their bodies: point kernels (one thread per point), partial kernels (one thread
per point and chunk) and combine kernels (one thread per point over the partial states). Relies on
every other part of lowering; which tasks a node needs is decided in `program`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from math import prod
from typing import Final

from tang.errors import LimitError
from tang.ir.extent import Poly, poly
from tang.ir.graph import Comprehension, Dim
from tang.ir.view import Affine, Ref, variable
from tang.kernel import ir as k
from tang.kernel.lower import address, cooperative, inline, inline_tails, reads, results, state
from tang.kernel.lower.build import Builder, Value
from tang.kernel.lower.cleanup import without_dead_code
from tang.kernel.lower.context import CHUNK, Context, Held, Recipe
from tang.kernel.lower.inline_tails import Tail
from tang.kernel.lower.names import Names
from tang.kernel.lower.ranges import INT32, Range, Sizes, below, point
from tang.kernel.lower.state import Coords, Reader, Slot
from tang.kernel.lower.values import fits
from tang.kernel.plan import Buffer, Launch
from tang.kernel.schedule import NodeSchedule


@dataclass(frozen=True, slots=True)
class Partials:
    """The buffers between a partial and a combine kernel: states by component, and `seen`."""

    states: Mapping[int, Buffer]
    seen: Buffer | None


@dataclass(frozen=True, slots=True)
class Task:
    """One kernel to build: its node, name, role, thread dims and the results it stores.

    lanes  how many threads fold one point (of a point or partial kernel of a reduction)
    held   results that epilogues take from registers
    tails  the epilogues, in program order
    """

    node: Comprehension
    name: str
    role: str
    dims: tuple[Dim, ...]
    targets: tuple[str, ...]
    schedule: NodeSchedule
    partials: Partials | None = None
    lanes: int = 1
    held: tuple[str, ...] = ()
    tails: tuple[Tail, ...] = ()

    @property
    def results(self) -> tuple[str, ...]:
        """What the kernel must know of its node, stored or not, in the node's order."""
        wanted = {*self.targets, *self.held}
        return tuple(n for n in self.node.output_names() if n in wanted)


@dataclass(frozen=True, slots=True)
class World:
    """What every kernel of a plan may know: sizes, buffers, ranges of index values, dims.

    dims     by node and result the point dims that the result has
    recipes  the nodes that are computed where they are read
    """

    sizes: Sizes
    tensors: Mapping[Ref, Buffer]
    results: Mapping[Ref, Range]
    states: Mapping[str, Mapping[int, Range]]
    dims: Mapping[str, Mapping[str, tuple[Dim, ...]]]
    recipes: Mapping[str, Recipe] = field(default_factory=dict)


def launch_of(task: Task, world: World) -> Launch:
    """Build a task's kernel with 32-bit indices if they suffice, else with 64-bit ones."""
    ctx, kernel = _assemble(task, world, k.I32)
    if not ctx.builder.widest.within(INT32):
        ctx, kernel = _assemble(task, world, k.I64)
        _check_limit(ctx, task)
    scalars = tuple(poly(s) for s in ctx.builder.symbols)
    buffers = tuple(ctx.params)
    return Launch(kernel, buffers, scalars, launched(ctx, task))


def launched(ctx: Context, task: Task) -> Poly:
    """How many threads are launched: several per point where it has lanes."""
    return thread_count(ctx) * poly(task.lanes)


def _check_limit(ctx: Context, task: Task) -> None:
    b = ctx.builder
    symbols = frozenset(s for d in task.node.dims for s in d.extent.symbols)
    if fits(b.widest, b.sizes, symbols | frozenset(b.symbols)):
        return
    extents = ", ".join(f"{d.name} = {d.extent}" for d in task.node.dims)
    raise LimitError(
        f"node {task.node.name!r}: {b.culprit or 'an index'} reaches "
        f"{max(b.widest.hi, -b.widest.lo)}, beyond 64-bit indices, with extents {extents}: "
        "make the extents smaller"
    )


def _assemble(task: Task, world: World, index: k.Type) -> tuple[Context, k.Kernel]:
    builder = Builder(index, world.sizes, Names(k.BUILTINS))
    ctx = _context(task, world, builder)
    body = _guarded_body(ctx, task) if task.lanes == 1 else _cooperative(ctx, task)
    return ctx, k.Kernel(
        name=task.name,
        params=tuple(ctx.params.values()),
        scalars=tuple(builder.symbols.values()),
        body=without_dead_code(body),
        workgroup=task.schedule.workgroup,
        origin=task.node.name,
        role=task.role,
    )


def _context(task: Task, world: World, builder: Builder) -> Context:
    node = task.node
    threads = tuple((d.name, d.extent) for d in task.dims)
    if task.role == "partial":
        threads = ((CHUNK, poly(task.schedule.split)), *threads)
    complete = task.dims == node.point
    return Context(
        builder=builder,
        node=node,
        precision=task.schedule.computed,
        tensors=world.tensors,
        results=world.results,
        states=world.states.get(node.name, {}),
        dims=world.dims[node.name],
        threads=threads,
        validated=complete and address.always_iterates(node, world.sizes),
        used=results.used_reads(node, task.results),
        recipes=world.recipes,
        recompute=inline.recompute,
        promotion=task.schedule.promotion_of(node.monoid),
    )


def thread_count(ctx: Context) -> Poly:
    """How many threads have work."""
    return prod((e for _, e in ctx.threads), start=poly(1))


def _guarded_body(ctx: Context, task: Task) -> tuple[k.Stmt, ...]:
    b = ctx.builder
    b.subject = "the number of threads"
    total = b.extent(thread_count(ctx))
    count = total.range or INT32
    b.demand(point(count.hi + task.schedule.workgroup))
    thread = Value(k.Var(b.index, "global_id"), 0, below(count))
    condition = tail_guard(b, thread, total)
    with b.nested() as scope:
        b.floor = ctx.pin = b.depth
        address.thread_coordinates(ctx, Value(thread.expr, b.depth, thread.range))
        BODY[task.role](ctx, task)
    guarded = k.If(condition.expr, tuple(scope.statements))
    return (*b.scopes[0].statements, guarded)


def _cooperative(ctx: Context, task: Task) -> tuple[k.Stmt, ...]:
    """The same with several threads per point, which meet at barriers."""
    b, chunks = ctx.builder, task.lanes
    if task.role == "partial":
        chunks *= task.schedule.split
    b.subject = "the number of threads"
    total = b.extent(thread_count(ctx))
    count = total.range or INT32
    at = cooperative.point_of(ctx, task.lanes, count, task.schedule.workgroup)

    def finish(folding: cooperative.Folding) -> None:
        end = _store_partials if task.role == "partial" else _finish
        end(ctx, task, *folding)

    team = cooperative.Team(
        task.lanes,
        task.schedule.workgroup,
        results.components_for(state.monoid_of(ctx), task.results),
        lambda: _begin(ctx, task),
        lambda folding: results.fold(ctx, chunks, *folding),
        finish,
    )
    exists = b.let(tail_guard(b, at, total), "exists")
    cooperative.cooperative_body(ctx, team, at, count, exists)
    return tuple(b.scopes[0].statements)


def tail_guard(b: Builder, thread: Value, total: Value) -> Value:
    """Whether a thread has work: launches are rounded up to whole workgroups."""
    return b.lt(thread, total)


# --- bodies by role -------------------------------------------------------------------------------


def _point(ctx: Context, task: Task) -> None:
    if ctx.node.monoid is None:
        _map(ctx, task)
        return
    slots, seen = _begin(ctx, task)
    results.fold(ctx, 1, slots, seen)
    _finish(ctx, task, slots, seen)


def _partial(ctx: Context, task: Task) -> None:
    slots, seen = _begin(ctx, task)
    results.fold(ctx, task.schedule.split, slots, seen)
    _store_partials(ctx, task, slots, seen)


def _combine(ctx: Context, task: Task) -> None:
    b, split = ctx.builder, task.schedule.split
    slots, seen = _begin(ctx, task)
    pin = ctx.pin
    with ctx.loop(CHUNK, b.literal(0), b.literal(split), point(split)):
        ctx.pin = b.depth
        with ctx.branch(_chunk_seen(ctx, task)):
            ctx.pin = b.depth
            state.accumulate(ctx, slots, seen, _partial_reader(ctx, task))
    ctx.pin = pin
    _finish(ctx, task, slots, seen)


BODY: Final[dict[str, Callable[[Context, Task], None]]] = {
    "point": _point,
    "partial": _partial,
    "combine": _combine,
}
"""What the threads of a kernel do, by its role."""


def _map(ctx: Context, task: Task) -> None:
    values = _store_map(ctx, task.targets, task.results)
    _compute_tails(ctx, task, lambda name, coords: values[name])


def _store_map(ctx: Context, stored: tuple[str, ...], known: tuple[str, ...]) -> dict[str, Value]:
    """Compute results of a map, store some of them, and return them all."""
    node = ctx.node
    evaluator = state.body_evaluator(ctx)
    bodies = tuple(node.body[node.outputs.index(n)] for n in known)
    evaluator.prepare(bodies)
    values = dict(zip(known, evaluator.values(bodies), strict=True))
    for name in stored:
        _store_result(ctx, name, values[name])
    return values


def _compute_tails(ctx: Context, task: Task, result: Callable[[str, Coords], Value]) -> None:
    """Compute and store the epilogues, each with the results of those before it in registers."""
    held = {
        Ref(ctx.node.name, name): Held(ctx.precision, partial(_along_axes, ctx.node, name, result))
        for name in task.held
    }
    for tail in task.tails:
        inner = inline_tails.tail_context(ctx, tail, held)
        values = _store_map(inner, tail.stored, tail.targets)
        for name, value in values.items():
            held[Ref(inner.node.name, name)] = Held(inner.precision, partial(_at_point, value))


def _along_axes(
    node: Comprehension, name: str, result: Callable[[str, Coords], Value], coords: Coords
) -> Value:
    return result(name, inline_tails.held_axes(node, name, coords))


def _at_point(value: Value, coords: Coords) -> Value:
    return value


def _begin(ctx: Context, task: Task) -> tuple[dict[int, Slot], k.Var | None]:
    """Declare the state, and for a semigroup whether an element has been seen."""
    components = results.components_for(state.monoid_of(ctx), task.results)
    return results.begin(ctx, components)


def _finish(ctx: Context, task: Task, slots: dict[int, Slot], seen: k.Var | None) -> None:
    """Project and store the outputs, then store the state components that are wanted."""
    depth = ctx.builder.depth
    found = results.finished(ctx, slots, seen, task.results)
    for c in state.monoid_of(ctx).outputs:
        if c.name in task.targets:
            with ctx.axis_loops(c.axes):
                value = found.value(c.name, state.own_coords(ctx, c))
                _store_result(ctx, c.name, value, c.axes)
    for slot in slots.values():
        if slot.component.name in task.targets:
            _store_component(ctx, slot, depth)
    _compute_tails(ctx, task, found.value)


def _store_component(ctx: Context, slot: Slot, depth: int) -> None:
    c = slot.component
    names = {d.name for d in ctx.dims[c.name]}
    with ctx.branch(store_condition(ctx, names)), ctx.axis_loops(c.axes):
        value = state.read_slot(ctx, slot, state.own_coords(ctx, c), depth)
        _store_result(ctx, c.name, value, c.axes)


def store_condition(ctx: Context, names: set[str]) -> list[Value]:
    """Among threads that hold the same value, the one at 0 along the dims it lacks stores it."""
    b = ctx.builder
    missing = [n for n, _ in ctx.threads if n not in names and n != CHUNK]
    found = [ctx.env[n] for n in missing]
    return [b.op(k.BOOL, "eq", c, b.literal(0)) for c in found if c.integer != 0]


def _store_result(ctx: Context, name: str, value: Value, axes: tuple[str, ...] = ()) -> None:
    buffer = ctx.tensors[Ref(ctx.node.name, name)]
    ctx.builder.subject = f"the store of {buffer.name}"
    coords = _coordinates(tuple(d.name for d in ctx.dims[name]), axes)
    reads.store(ctx, buffer, address.linear_index(ctx, coords, buffer.shape), value)


def _coordinates(dims: tuple[str, ...], axes: tuple[str, ...]) -> tuple[Affine, ...]:
    return tuple(variable(n) for n in (*dims, *axes))


# --- partial states -------------------------------------------------------------------------------


def _partial_dims(ctx: Context, component: str) -> tuple[str, ...]:
    return (CHUNK, *(d.name for d in ctx.dims[component]))


def _store_partials(ctx: Context, task: Task, slots: dict[int, Slot], seen: k.Var | None) -> None:
    b, partials = ctx.builder, task.partials
    if partials is None:
        return
    for i, slot in slots.items():
        c, buffer = slot.component, partials.states[i]
        dims = _partial_dims(ctx, c.name)
        b.subject = f"the store of {buffer.name}"
        with ctx.branch(store_condition(ctx, set(dims))), ctx.axis_loops(c.axes):
            value = state.read_slot(ctx, slot, state.own_coords(ctx, c), b.floor)
            at = address.linear_index(ctx, _coordinates(dims, c.axes), buffer.shape)
            reads.store(ctx, buffer, at, value)
    if seen is not None and partials.seen is not None:
        at = _seen_index(ctx, task, partials.seen)
        reads.store(ctx, partials.seen, at, Value(seen, b.depth))


def _seen_index(ctx: Context, task: Task, buffer: Buffer) -> Value:
    dims = (CHUNK, *(d.name for d in task.dims))
    return address.linear_index(ctx, _coordinates(dims, ()), buffer.shape)


def _chunk_seen(ctx: Context, task: Task) -> list[Value]:
    """For a semigroup: whether the chunk held an element."""
    if task.partials is None or task.partials.seen is None:
        return []
    buffer = task.partials.seen
    return [reads.load(ctx, buffer, _seen_index(ctx, task, buffer))]


def _partial_reader(ctx: Context, task: Task) -> Reader:
    """Reads the partial state of the current chunk; registers are loaded once."""
    b, monoid = ctx.builder, state.monoid_of(ctx)
    buffers = task.partials.states if task.partials else {}

    def reader(i: int, coords: Coords) -> Value:
        buffer = buffers[i]
        c = monoid.components[i]
        names = tuple(f"%at{n}" for n in range(len(coords)))
        ctx.env.update(zip(names, coords, strict=True))
        dims = _partial_dims(ctx, c.name)
        at = address.linear_index(ctx, _coordinates(dims, names), buffer.shape)
        with b.at(max(at.depth, ctx.pin)):
            value = reads.load(ctx, buffer, at, ctx.states.get(i))
        return value if coords else b.let(value, f"new_{c.name}")

    return reader
