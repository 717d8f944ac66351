"""Kernels: what the threads of one launch do for one node.

Defines tasks and their bodies: point kernels (one thread per point), partial kernels (one thread
per point and chunk) and combine kernels (one thread per point over the partial states). Relies on
every other part of lowering; which tasks a node needs is decided in `program`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Final

from tang.errors import LimitError
from tang.ir.extent import Poly, poly
from tang.ir.graph import Comprehension, Dim
from tang.ir.monoid import Component, Monoid
from tang.ir.view import Affine, Ref, variable
from tang.kernel import ir as k
from tang.kernel.lower import address, cooperative, nest, reads, state
from tang.kernel.lower.build import Builder, Value
from tang.kernel.lower.cleanup import without_dead_code
from tang.kernel.lower.context import CHUNK, Context
from tang.kernel.lower.names import Names
from tang.kernel.lower.ranges import INT32, Range, Sizes, below, point
from tang.kernel.lower.scalar import Evaluator
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
    """

    node: Comprehension
    name: str
    role: str
    dims: tuple[Dim, ...]
    targets: tuple[str, ...]
    schedule: NodeSchedule
    partials: Partials | None = None
    lanes: int = 1


@dataclass(frozen=True, slots=True)
class World:
    """What every kernel of a plan may know: sizes, buffers, ranges of index values, dims.

    dims  by node and result the point dims that the result has
    """

    sizes: Sizes
    tensors: Mapping[Ref, Buffer]
    results: Mapping[Ref, Range]
    states: Mapping[str, Mapping[int, Range]]
    dims: Mapping[str, Mapping[str, tuple[Dim, ...]]]


def launch_of(task: Task, world: World) -> Launch:
    """Build a task's kernel with 32-bit indices if they suffice, else with 64-bit ones."""
    ctx, kernel = _assemble(task, world, k.I32)
    if not ctx.builder.widest.within(INT32):
        ctx, kernel = _assemble(task, world, k.I64)
        _check_limit(ctx, task)
    scalars = tuple(poly(s) for s in ctx.builder.symbols)
    buffers = tuple(ctx.params)
    return Launch(kernel, buffers, scalars, thread_count(ctx) * poly(task.lanes))


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
        accumulate=task.schedule.accumulate,
        tensors=world.tensors,
        results=world.results,
        states=world.states.get(node.name, {}),
        dims=world.dims[node.name],
        threads=threads,
        validated=complete and address.always_iterates(node, world.sizes),
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
        components_for(state.monoid_of(ctx), task.targets),
        lambda: _begin(ctx, task),
        lambda folding: _fold(ctx, chunks, *folding),
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
    _fold(ctx, 1, slots, seen)
    _finish(ctx, task, slots, seen)


def _partial(ctx: Context, task: Task) -> None:
    slots, seen = _begin(ctx, task)
    _fold(ctx, task.schedule.split, slots, seen)
    _store_partials(ctx, task, slots, seen)


def _fold(ctx: Context, chunks: int, slots: dict[int, Slot], seen: k.Var | None) -> None:
    """Take the elements of one of so many chunks, which the coordinate CHUNK names."""

    def element() -> None:
        state.accumulate(ctx, slots, seen, state.lift_element(ctx, tuple(slots)))

    nest.over_elements(ctx, chunks, element)


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
    node = ctx.node
    evaluator = state.body_evaluator(ctx)
    bodies = tuple(node.body[node.outputs.index(t)] for t in task.targets)
    evaluator.prepare(bodies)
    for target, value in zip(task.targets, evaluator.values(bodies), strict=True):
        _store_result(ctx, target, value)


def components_for(monoid: Monoid, targets: tuple[str, ...]) -> tuple[int, ...]:
    """The components that these results need."""
    wanted = {i for i, c in enumerate(monoid.components) if c.name in targets}
    for c, e in zip(monoid.outputs, monoid.project, strict=True):
        if c.name in targets:
            wanted |= state.states_in(e)
    return state.closure(monoid, wanted)


def _begin(ctx: Context, task: Task) -> tuple[dict[int, Slot], k.Var | None]:
    """Declare the state, and for a semigroup whether an element has been seen."""
    components = components_for(state.monoid_of(ctx), task.targets)
    slots = state.slots(ctx, components)
    state.initialise(ctx, slots)
    if state.monoid_of(ctx).identity is not None:
        return slots, None
    seen = k.Var(k.BOOL, ctx.builder.names.fresh("seen"))
    ctx.builder.emit(k.Declare(seen, k.Const(k.BOOL, False)))
    return slots, seen


def _finish(ctx: Context, task: Task, slots: dict[int, Slot], seen: k.Var | None) -> None:
    """Project and store the outputs, then store the state components that are wanted."""
    monoid, b = state.monoid_of(ctx), ctx.builder
    depth = b.depth

    def reader(side: int, i: int, coords: Coords) -> Value:
        return state.read_slot(ctx, slots[i], coords, depth)

    evaluator = Evaluator(ctx, state.no_argument, reader)
    pairs = zip(monoid.outputs, monoid.project, strict=True)
    wanted = [(c, e) for c, e in pairs if c.name in task.targets]
    evaluator.prepare(tuple(e for _, e in wanted))
    for c, e in wanted:
        with ctx.axis_loops(c.axes):
            value = evaluator.value(e)
            _store_result(ctx, c.name, _unless_empty(ctx, seen, c, value, depth), c.axes)
    for slot in slots.values():
        if slot.component.name in task.targets:
            _store_component(ctx, slot, depth)


def _unless_empty(
    ctx: Context, seen: k.Var | None, c: Component, value: Value, depth: int
) -> Value:
    """An output of a semigroup: NaN, −1 or False when there was no element."""
    if seen is None:
        return value
    kind = ctx.type_of(c.sort)
    flag, none = Value(seen, depth), ctx.absent(c.sort)
    r = value.range | none.range if value.range and none.range else None
    return ctx.builder.op(kind, "select", flag, value, none, range=r)


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
        at = _seen_index(ctx, partials.seen)
        reads.store(ctx, partials.seen, at, Value(seen, b.depth))


def _seen_index(ctx: Context, buffer: Buffer) -> Value:
    dims = (CHUNK, *(d.name for d in ctx.node.point))
    return address.linear_index(ctx, _coordinates(dims, ()), buffer.shape)


def _chunk_seen(ctx: Context, task: Task) -> list[Value]:
    """For a semigroup: whether the chunk held an element."""
    if task.partials is None or task.partials.seen is None:
        return []
    buffer = task.partials.seen
    return [reads.load(ctx, buffer, _seen_index(ctx, buffer))]


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
