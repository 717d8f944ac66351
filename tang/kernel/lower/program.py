"""Lowering of a graph: buffers, and the kernels of each node in program order.

Defines `lower`. Relies on the parts of this package, and checks its own result with
`tang.kernel.check`. It does not choose a schedule and it knows no language or device.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from tang.errors import ScheduleError
from tang.ir.expr import BOOL, REAL, Sort
from tang.ir.extent import Poly, poly
from tang.ir.graph import Comprehension, Dim, Graph, reads_of
from tang.ir.monoid import Monoid
from tang.ir.view import Ref
from tang.kernel import check
from tang.kernel import ir as k
from tang.kernel.lower import kernels, values
from tang.kernel.lower.context import Recipe
from tang.kernel.lower.inline_places import Places, places_of
from tang.kernel.lower.inline_tails import Tail
from tang.kernel.lower.names import Names
from tang.kernel.lower.ranges import INPUT, INT32, Range, Sizes, assumed_facts, sizes_of
from tang.kernel.lower.results import components_for
from tang.kernel.plan import Buffer, Launch, Plan, Result, Role
from tang.kernel.schedule import NodeSchedule, Precision, Schedule, check_schedule


@dataclass(slots=True)
class _Lowering:
    """What has been decided so far."""

    graph: Graph
    chosen: dict[str, NodeSchedule]
    sizes: Sizes
    places: Places
    known: frozenset[Ref]
    names: Names = field(default_factory=Names)
    kernel_names: Names = field(default_factory=Names)
    buffers: list[Buffer] = field(default_factory=list)
    tensors: dict[Ref, Buffer] = field(default_factory=dict)
    results: dict[Ref, Range] = field(default_factory=dict)
    states: dict[str, dict[int, Range]] = field(default_factory=dict)
    dims: dict[str, dict[str, tuple[Dim, ...]]] = field(default_factory=dict)
    recipes: dict[str, Recipe] = field(default_factory=dict)
    launches: list[Launch] = field(default_factory=list)


def lower(graph: Graph, schedule: Schedule | None = None) -> Plan:
    """The plan of a graph: every node that is needed becomes one kernel, or two when split.

    Inlined nodes and epilogues are computed in the kernels of others (see `inline_places`).

    Raises ScheduleError for an illegal schedule and LimitError for indices beyond 64 bits. The
    plan states as facts what it assumes of symbolic extents.
    """
    schedule = schedule or Schedule()
    check_schedule(schedule, graph)
    _check_splits(schedule, graph)
    places = places_of(graph, schedule)
    work = _Lowering(
        graph, schedule.by_name(graph), sizes_of(graph.facts), places, needed_refs(graph)
    )
    for i in graph.inputs:
        work.results[Ref(i.name)] = INPUT
        _add_buffer(work, Ref(i.name), i.name, i.shape, i.sort, schedule.default.stored)
    for node in graph.nodes:
        _describe(work, node)
    for node in graph.nodes:
        if work.chosen[node.name].place == "materialise":
            _lower_node(work, node)
    plan = Plan(
        graph=graph,
        buffers=tuple(work.buffers),
        launches=tuple(work.launches),
        results=tuple(Result(o.name, work.tensors[o.ref].name) for o in graph.outputs),
        facts=assumed_facts(graph.facts, graph.symbols),
    )
    check.check_plan(plan)
    return plan


def needed_refs(graph: Graph) -> frozenset[Ref]:
    """The tensors that a later node reads or that the caller wants."""
    reads = (r.source for n in graph.nodes for r in reads_of(n))
    return frozenset([*reads, *(o.ref for o in graph.outputs)])


def _check_splits(schedule: Schedule, graph: Graph) -> None:
    for name, s in schedule.nodes:
        if s.split > 1 and graph.node(name).monoid is None:
            raise ScheduleError(f"{name}: split {s.split} needs a reduction; the node is a map")
        if s.lanes > 1 and graph.node(name).monoid is None:
            raise ScheduleError(f"{name}: lanes {s.lanes} need a reduction; the node is a map")


def _describe(work: _Lowering, node: Comprehension) -> None:
    """Find out all that other nodes must know of a node, and add its buffers."""
    states = values.state_ranges(node, work.sizes, work.results)
    work.states[node.name] = states
    work.results |= values.result_ranges(node, work.sizes, work.results, states)
    work.dims[node.name] = result_dims(node)
    schedule = work.chosen[node.name]
    for name in node.output_names():
        ref = Ref(node.name, name)
        if ref in work.known:
            tensor = node.tensor(name)
            label = f"{node.name}_{name}"
            _add_buffer(work, ref, label, tensor.shape, tensor.sort, schedule.stored)
    if schedule.place == "inline":
        work.recipes[node.name] = _recipe(work, node)


def _recipe(work: _Lowering, node: Comprehension) -> Recipe:
    s, states, dims = work.chosen[node.name], work.states[node.name], work.dims[node.name]
    return Recipe(node, s.computed, states, dims, s.promotion_of(node.monoid))


def _lower_node(work: _Lowering, node: Comprehension) -> None:
    schedule = work.chosen[node.name]
    targets = [n for n in node.output_names() if Ref(node.name, n) in work.places.stored]
    apart = {n: d for n in targets if (d := dims_apart(work, node, n)) is not None}
    together = tuple(n for n in targets if n not in apart)
    tails = _tails(work, node)
    if together or tails:
        taken = work.places.held.get(node.name, frozenset())
        held = tuple(n for n in node.output_names() if Ref(node.name, n) in taken)
        main = kernels.Task(
            node, node.name, "point", node.point, together, schedule, held=held, tails=tails
        )
        _add_kernels(work, main)
    for dims in dict.fromkeys(apart.values()):
        group = tuple(n for n in targets if apart.get(n) == dims)
        _add_kernels(work, kernels.Task(node, f"{node.name}_state", "point", dims, group, schedule))


def _tails(work: _Lowering, node: Comprehension) -> tuple[Tail, ...]:
    """The epilogues of a node's kernel, without those that nobody wants."""
    places, found = work.places, []
    for name in places.tails.get(node.name, ()):
        tail = work.graph.node(name)
        held = places.held[node.name]
        stored = tuple(n for n in tail.outputs if Ref(name, n) in places.stored)
        wanted = tuple(n for n in tail.outputs if n in stored or Ref(name, n) in held)
        if wanted:
            found.append(Tail(_recipe(work, tail), stored, wanted))
    return tuple(found)


def result_dims(node: Comprehension) -> dict[str, tuple[Dim, ...]]:
    """By result of a node the point dims that it has: outputs all, components what they need."""
    if node.monoid is None:
        return dict.fromkeys(node.outputs, node.point)
    found = dict.fromkeys((c.name for c in node.monoid.outputs), node.point)
    for c, names in zip(node.monoid.components, node.component_dims(), strict=True):
        found[c.name] = tuple(d for d in node.point if d.name in names)
    return found


def dims_apart(work: _Lowering, node: Comprehension, name: str) -> tuple[Dim, ...] | None:
    """The dims of a state component that needs a kernel of its own, or None.

    A component without a dim is stored by the threads at 0 along it: none where it is empty.
    """
    dims = work.dims[node.name][name]
    missing = [d for d in node.point if d not in dims]
    return None if all(work.sizes.never_empty(d.extent) for d in missing) else dims


def _add_kernels(work: _Lowering, task: kernels.Task) -> None:
    """The kernels of a task in the order of its schedule: one, or partials and their combination.

    The order of a sum is the schedule's, whichever dims its results have.
    """
    node, schedule = task.node, task.schedule
    if node.monoid is None or not node.reduce:
        _launch(work, replace(task, name=work.kernel_names.fresh(task.name)))
        return
    if schedule.split == 1:
        name = work.kernel_names.fresh(task.name)
        _launch(work, replace(task, name=name, lanes=schedule.lanes))
        return
    partials = _partial_buffers(work, task, node.monoid)
    for role, team in (("partial", schedule.lanes), ("combine", 1)):
        name = work.kernel_names.fresh(f"{task.name}_{role}")
        _launch(work, replace(task, name=name, role=role, partials=partials, lanes=team))


def _launch(work: _Lowering, task: kernels.Task) -> None:
    """Build and append a kernel, unless it can never have a thread."""
    if any(d.extent == Poly() for d in task.dims):
        return
    world = kernels.World(
        work.sizes, work.tensors, work.results, work.states, work.dims, work.recipes
    )
    work.launches.append(kernels.launch_of(task, world))


def _partial_buffers(work: _Lowering, task: kernels.Task, monoid: Monoid) -> kernels.Partials:
    """One buffer per component, with the chunk as its first dimension; `seen` for a semigroup."""
    node, schedule = task.node, task.schedule
    chunks = poly(schedule.split)
    found: dict[int, Buffer] = {}
    for i in components_for(monoid, task.results):
        c = monoid.components[i]
        dims = (d.extent for d in work.dims[node.name][c.name])
        shape = (chunks, *dims, *(poly(monoid.axis_size(a)) for a in c.axes))
        held = schedule.computed
        kind = _storage(c.sort, held.type, work.states[node.name].get(i))
        name = work.names.fresh(f"{node.name}_{c.name}_partial")
        rounding = held.conversion if c.sort is REAL else None
        found[i] = Buffer(name, shape, c.sort, kind, Role.TEMPORARY, conversion=rounding)
    seen = None
    if monoid.identity is None:
        shape = (chunks, *(d.extent for d in task.dims))
        name = work.names.fresh(f"{node.name}_seen_partial")
        seen = Buffer(name, shape, BOOL, k.BOOL, Role.TEMPORARY)
    work.buffers += [*found.values(), *([seen] if seen else [])]
    return kernels.Partials(found, seen)


def _add_buffer(
    work: _Lowering, ref: Ref, label: str, shape: tuple[Poly, ...], sort: Sort, real: Precision
) -> None:
    """Add the buffer of a tensor; one that nobody stores only tells its shape and its format."""
    kind = _storage(sort, real.type, work.results.get(ref))
    rounding = real.conversion if sort is REAL else None
    wanted = any(o.ref == ref for o in work.graph.outputs)
    role = Role.OUTPUT if wanted else Role.TEMPORARY
    if ref.output == "":
        role = Role.INPUT
    is_real = role is Role.INPUT or ref in work.places.stored
    name = work.names.fresh(label) if is_real else label
    work.tensors[ref] = Buffer(name, shape, sort, kind, role, ref, rounding)
    if is_real:
        work.buffers.append(work.tensors[ref])


def _storage(sort: Sort, real: k.Type, r: Range | None) -> k.Type:
    """The type in memory: BOOL (a byte), and 32 bits for indices where all their values fit."""
    if sort is REAL:
        return real
    if sort is BOOL:
        return k.BOOL
    return k.I32 if r is None or r.within(INT32) else k.I64
