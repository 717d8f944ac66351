"""How far every node of a program is from f64 on given inputs, whole or on sampled tiles.

Defines `Sample`, `Measured`, `Setting`, `setting_of`, `measure`, `outputs_under`, `evaluated`,
`distance`, `stored_inputs` and `stored_everywhere`. Relies on replay with shadows for values and
bounds, and on the interpreter for the exact values. It judges nothing, and it sees the errors of
these inputs alone.

Whole: the plan is replayed operation by operation, with every node stored (which changes no bit).
Tiles: a node is replayed on a tile of its points only. What it reads are the tensors upstream as
f64 computes them from *their* sources and as their formats then store them: rounding by storage is
carried through the whole program, arithmetic in accumulators is seen inside the tile alone. The
bound of a tile is sound for its own arithmetic, given these sources.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tang.budget.report_isolate import (
    Tile,
    fed,
    feed_name,
    isolated,
    sources_of,
    split_sums,
    tile_of,
    whole,
)
from tang.device.narrow import pack_buffer, unpack_buffer
from tang.device.storage import unpack
from tang.emulator import formats
from tang.emulator.domain import Domain, Parts
from tang.emulator.replay import Replay, replay
from tang.emulator.strict import STRICT
from tang.interpreter import fast_interpret
from tang.ir.expr import REAL, Sort
from tang.ir.format import Format, format_named
from tang.ir.graph import Comprehension, Graph, Input, Output, reads_of
from tang.ir.view import Ref
from tang.kernel.expand import expand_math
from tang.kernel.ir import Type
from tang.kernel.lower import lower
from tang.kernel.plan import Buffer, Plan, Role
from tang.kernel.schedule import NodeSchedule, Schedule

Array = npt.NDArray[Any]
F64Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

_CURE: Final = "ask for a certificate without samples (certified, samples=0)"
"""Of functions in f64, which samples cannot follow."""
_PAIRS: Final = np.dtype([("value", "f8"), ("shadow", "f8"), ("bound", "f8")])


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """One tensor that a node computes, or an input, on all its elements or on a tile.

    format   None of indices and bools, which are as f64 here
    value    as the format stores it;  exact  in f64, from exact sources
    bound    sound, |value − exact| under the decisions that were taken; infinite where unknown
    carried  in f64 from the sources as they are stored: what is wrong with it was inherited
    kept     `carried` as the format stores it: the difference is what storage costs
    tile     which points of the node; None for inputs
    """

    ref: Ref
    format: Format | None
    value: F64Array = field(repr=False)
    exact: F64Array = field(repr=False)
    bound: F64Array = field(repr=False)
    carried: F64Array = field(repr=False)
    kept: F64Array = field(repr=False)
    tile: Tile | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """A program with numbers for extents, its data, and the exact value of every tensor of it."""

    graph: Graph
    inputs: Mapping[str, Array] = field(repr=False)
    exact: Mapping[Ref, Array] = field(repr=False)


def setting_of(graph: Graph, inputs: Mapping[str, Array]) -> Setting:
    """The exact f64 values of every node; extents are numbers and inputs fit."""
    tensors: dict[Ref, Array] = {Ref(i.name): _wide(inputs[i.name], i.sort) for i in graph.inputs}
    for node in graph.nodes:
        tensors |= evaluated(graph, node, tensors)
    return Setting(graph, inputs, tensors)


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """Samples in program order, inputs first, and every tensor as later nodes read it.

    whole  seconds of processor that the replay of every element takes; of tiles an estimate: the
           points and steps of the program at the rate of the tile that had most of them
    """

    samples: tuple[Sample, ...]
    emulated: Mapping[Ref, Array] = field(repr=False)
    whole: float = 0.0

    def of(self, ref: Ref) -> Sample | None:
        return next((s for s in self.samples if s.ref == ref), None)


def measure(setting: Setting, schedule: Schedule, seed: int = 0, *, tiles: bool) -> Measured:
    """Every real tensor that is read or returned, and every output of any sort."""
    opened = stored_everywhere(setting.graph, schedule)
    plan = lower(setting.graph, opened)
    found = [_input_sample(b, setting) for b in plan.buffers if _is_real_input(b)]
    emulated = dict(setting.exact) | {s.ref: s.value for s in found}
    if tiles:
        more, seconds = _on_tiles(setting, opened, plan, emulated, seed)
    else:
        start = time.process_time()
        more = _on_all(setting, opened, plan, emulated)
        seconds = time.process_time() - start
    return Measured((*found, *more), emulated, seconds)


def outputs_under(
    setting: Setting,
    schedule: Schedule,
    refs: Collection[Ref],
    seed: int = 0,
    *,
    before: tuple[Schedule, Measured] | None = None,
) -> dict[Ref, tuple[Array, Array]]:
    """The values and the exact values of some tensors under another schedule.

    before  a schedule that was measured on tiles: so is this one, and what it does not change is
            not computed again; without it the whole program is replayed
    """
    opened = stored_everywhere(setting.graph, schedule)
    plan = lower(setting.graph, opened)
    if before is None:
        return _replayed(setting, plan, refs)
    return _retiled(setting, opened, plan, refs, seed, before)


def stored_everywhere(graph: Graph, schedule: Schedule) -> Schedule:
    """The schedule with a buffer for every node: the same bits, and all can be seen."""
    chosen = schedule.by_name(graph)
    nodes = tuple((n, replace(s, place="materialise")) for n, s in chosen.items())
    return replace(schedule, nodes=nodes)


def stored_inputs(
    graph: Graph, schedule: Schedule, inputs: Mapping[str, Array]
) -> dict[str, Array]:
    """Inputs as a kernel reads them: reals rounded once to the schedule's format of inputs."""
    plan = lower(graph, schedule)
    found = dict(inputs)
    for i, buffer in _inputs(graph, plan):
        if i.sort is REAL:
            found[i.name] = _stored(inputs[i.name], buffer)
    return found


# --- f64 ------------------------------------------------------------------------------------------


def _wide(array: Array, sort: Sort) -> Array:
    return np.asarray(array, np.float64) if sort is REAL else np.asarray(array)


def evaluated(
    graph: Graph, node: Comprehension, tensors: Mapping[Ref, Array], tile: Tile | None = None
) -> dict[Ref, Array]:
    """Every result of a node in f64 from given sources."""
    alone = split_sums(isolated(graph, node, tile))
    data = {name: tensors[ref] for ref, name in sources_of(node).items()}
    return {Ref(node.name, n): a for n, a in fast_interpret(alone, data).items()}


def _stored(values: Array, buffer: Buffer) -> F64Array:
    """Values as a buffer holds them."""
    with np.errstate(all="ignore"):
        kept = unpack_buffer(pack_buffer(np.asarray(values, np.float64), buffer), buffer)
    return np.asarray(kept, np.float64).reshape(np.shape(values))


def format_of(buffer: Buffer) -> Format:
    """The format of a buffer's numbers."""
    if buffer.conversion is not None:
        return buffer.conversion.format
    return format_named(buffer.type.value)


def _is_real_input(b: Buffer) -> bool:
    return b.role is Role.INPUT and b.sort is REAL


def _input_sample(buffer: Buffer, setting: Setting) -> Sample:
    ref = _ref(buffer)
    exact = setting.exact[ref]
    value = _stored(exact, buffer)
    bound = distance(value, exact)
    return Sample(ref, format_of(buffer), value, exact, bound, exact, value)


def distance(value: Array, exact: Array) -> F64Array:
    """|value − exact|, 0 where both are the same infinity or NaN, infinite where one is."""
    with np.errstate(all="ignore"):
        gap = np.abs(value - exact)
    same = (value == exact) | (np.isnan(value) & np.isnan(exact))
    return np.asarray(np.where(same, 0.0, np.where(np.isfinite(gap), gap, np.inf)))


def _ref(buffer: Buffer) -> Ref:
    return buffer.ref if buffer.ref is not None else Ref(buffer.name)


# --- all of a program -----------------------------------------------------------------------------


def _on_all(
    setting: Setting, schedule: Schedule, plan: Plan, emulated: dict[Ref, Array]
) -> list[Sample]:
    done = _shadowed(setting, plan, emulated)
    buffers, wanted = {_ref(b): b for b in plan.buffers}, _results(setting.graph)
    found = []
    for node in setting.graph.nodes:
        carried = evaluated(setting.graph, node, emulated)
        for name in node.output_names():
            ref = Ref(node.name, name)
            if ref not in buffers:
                continue
            sample = _seen(done, buffers[ref], setting.exact[ref], carried[ref], whole(node))
            real = sample.format is not None
            emulated[ref] = sample.value if real else _plain_values(done, buffers[ref])
            if real or ref in wanted:
                found.append(sample)
    return found


def _shadowed(setting: Setting, plan: Plan, emulated: Mapping[Ref, Array]) -> Replay:
    data = {i.name: _given(Ref(i.name), i.sort, setting, emulated) for i in setting.graph.inputs}
    return replay(expand_math(plan, cure=_CURE), data, domain=_DOMAIN, sizes={}, sanitize=False)


def _replayed(
    setting: Setting, plan: Plan, refs: Collection[Ref]
) -> dict[Ref, tuple[Array, Array]]:
    """By a replay in formats alone."""
    data = {
        i.name: _stored(setting.exact[Ref(i.name)], b) if b.sort is REAL else setting.exact[_ref(b)]
        for i, b in _inputs(setting.graph, plan)
    }
    done = replay(expand_math(plan, cure=_CURE), data, domain="formats", sizes={}, sanitize=False)
    found = {}
    for b in plan.buffers:
        if b.ref in refs and b.ref is not None:
            found[b.ref] = _plain_values(done, b), setting.exact[b.ref]
    return found


def _inputs(graph: Graph, plan: Plan) -> Iterator[tuple[Input, Buffer]]:
    buffers = {b.ref: b for b in plan.buffers}
    return ((i, buffers[Ref(i.name)]) for i in graph.inputs)


def _results(graph: Graph) -> frozenset[Ref]:
    return frozenset(o.ref for o in graph.outputs)


def _plain_values(done: Replay, buffer: Buffer) -> Array:
    """What a buffer holds: reals as f64, indices and bools as they are."""
    found = unpack(done.buffers[buffer.name], buffer.type, buffer.sort)
    return np.asarray(found, np.float64) if buffer.sort is REAL else np.asarray(found)


def _given(ref: Ref, sort: Sort, setting: Setting, emulated: Mapping[Ref, Array]) -> Array:
    """A tensor as the domain of pairs reads it."""
    if sort is not REAL:
        return emulated[ref]
    exact, value = setting.exact[ref], emulated[ref]
    pairs = np.empty(np.shape(exact), _PAIRS)
    pairs["value"], pairs["shadow"], pairs["bound"] = value, exact, distance(value, exact)
    return pairs


def _read(type_: Type, array: Array) -> Parts:
    """Planes of values with shadows; arrays without are their own shadows."""
    if array.dtype != _PAIRS:
        return STRICT.read(type_, array)
    kept = formats.stored(type_, array["value"]).reshape(-1)
    return kept, np.array(array["shadow"]), np.array(array["bound"])


_DOMAIN: Final[Domain] = replace(STRICT, name="strict of pairs", read=_read)


def _seen(done: Replay, buffer: Buffer, exact: Array, carried: Array, tile: Tile) -> Sample:
    """The sample of a buffer after a replay."""
    if buffer.sort is not REAL:
        return _seen_exactly(done, buffer, exact, carried, tile)
    planes = done.planes[buffer.name]
    value = np.asarray(unpack(planes["value"], buffer.type), np.float64)
    taint, shadow = planes["taint"], planes["shadow"]
    return Sample(
        ref=_ref(buffer),
        format=format_of(buffer),
        value=value,
        exact=np.where(taint, exact, shadow),
        bound=np.where(taint, np.inf, planes["bound"]),
        carried=carried,
        kept=_stored(carried, buffer),
        tile=tile,
    )


def _seen_exactly(done: Replay, buffer: Buffer, exact: Array, carried: Array, tile: Tile) -> Sample:
    """Indices and bools are right or wrong: the bound of a wrong one is infinite."""
    value = np.asarray(_plain_values(done, buffer), np.float64)
    wide = np.asarray(exact, np.float64)
    bound = np.where(value == wide, 0.0, np.inf)
    kept = np.asarray(carried, np.float64)
    return Sample(_ref(buffer), None, value, wide, bound, kept, kept, tile)


# --- tiles ----------------------------------------------------------------------------------------


def _on_tiles(
    setting: Setting, schedule: Schedule, plan: Plan, emulated: dict[Ref, Array], seed: int
) -> tuple[list[Sample], float]:
    """The samples, and what the replay of all would take."""
    buffers, clock = {_ref(b): b for b in plan.buffers}, _Clock()
    found: list[Sample] = []
    for node in setting.graph.nodes:
        carried = evaluated(setting.graph, node, emulated)
        tile = tile_of(node, seed)
        found += _tile_samples(setting, schedule, node, tile, emulated, carried, clock)
        emulated |= _as_stored(carried, buffers)
    return found, clock.seconds * sum(map(_steps, setting.graph.nodes)) / max(clock.steps, 1)


@dataclass(slots=True)
class _Clock:
    """Points and steps of the largest tile that was replayed, and its seconds of processor."""

    steps: int = 0
    seconds: float = 0.0

    def see(self, steps: int, seconds: float) -> None:
        """Count a tile: small ones are slower by what every one costs."""
        if steps > self.steps:
            self.steps, self.seconds = steps, seconds


def _steps(node: Comprehension) -> int:
    return prod(d.extent.constant for d in node.dims)


def _as_stored(carried: Mapping[Ref, Array], buffers: Mapping[Ref, Buffer]) -> dict[Ref, Array]:
    """Results of a node as those who read them find them."""
    found = {}
    for ref, values in carried.items():
        buffer = buffers.get(ref)
        real = buffer is not None and buffer.sort is REAL
        found[ref] = _stored(values, buffer) if real and buffer is not None else values
    return found


def _tile_samples(
    setting: Setting,
    schedule: Schedule,
    node: Comprehension,
    tile: Tile,
    emulated: Mapping[Ref, Array],
    carried: Mapping[Ref, Array],
    clock: _Clock | None = None,
) -> list[Sample]:
    """One node on a tile, from its sources as they are stored."""
    results = _results(setting.graph)
    read = {r.source for n in setting.graph.nodes for r in reads_of(n)}
    wanted = [n for n in node.output_names() if Ref(node.name, n) in results | read]
    alone = _tile_plan(setting.graph, node, tile, schedule, wanted)
    data = {
        name: _given(ref, setting.graph.sort(ref), setting, emulated)
        for ref, name in sources_of(node).items()
    }
    expanded, start = expand_math(alone, cure=_CURE), time.process_time()
    done = replay(expanded, data, domain=_DOMAIN, sizes={}, sanitize=False)
    if clock is not None:
        points = prod(d.extent.constant for d in node.point)
        steps = tile.points * (_steps(node) // points) if points else 0
        clock.see(steps, time.process_time() - start)
    found = []
    for b in alone.buffers:
        if b.role is not Role.INPUT and b.ref is not None:
            at = tile.of(node.tensor(b.ref.output).dims)
            sample = _seen(done, b, setting.exact[b.ref][at], carried[b.ref][at], tile)
            if sample.format is not None or b.ref in results:
                found.append(sample)
    return found


def _retiled(
    setting: Setting,
    schedule: Schedule,
    plan: Plan,
    refs: Collection[Ref],
    seed: int,
    before: tuple[Schedule, Measured],
) -> dict[Ref, tuple[Array, Array]]:
    """On the same tiles, where only what is downstream of a change is computed again."""
    old, measured = before
    emulated, fresh = dict(measured.emulated), set[Ref]()
    for i, b in _inputs(setting.graph, plan):
        if b.sort is REAL and old.default != schedule.default:
            emulated[Ref(i.name)] = _stored(setting.exact[Ref(i.name)], b)
            fresh.add(Ref(i.name))
    buffers = {_ref(b): b for b in plan.buffers}
    found: dict[Ref, tuple[Array, Array]] = {}
    for node in setting.graph.nodes:
        same = _plain(old.of(node.name)) == _plain(schedule.of(node.name))
        own = [r for r in refs if r.node == node.name]
        if same and fresh.isdisjoint(sources_of(node)):
            samples = [s for r in own if (s := measured.of(r)) is not None]
        else:
            carried = evaluated(setting.graph, node, emulated)
            tile = tile_of(node, seed)
            samples = []
            if own:
                samples = _tile_samples(setting, schedule, node, tile, emulated, carried)
            emulated |= _as_stored(carried, buffers)
            fresh |= carried.keys()
        found |= {s.ref: (s.value, s.exact) for s in samples if s.ref in refs}
    return found


def _tile_plan(
    graph: Graph, node: Comprehension, tile: Tile, schedule: Schedule, wanted: Sequence[str]
) -> Plan:
    """The kernels of a node on a tile, its sources in buffers of their own formats."""
    alone = isolated(graph, node, tile)
    alone = replace(alone, outputs=tuple(Output(n, Ref(node.name, n)) for n in wanted))
    names = sources_of(node)
    chosen = [(name, _plain(schedule.of(ref.node))) for ref, name in names.items()]
    nodes = ((node.name, schedule.of(node.name)), *chosen)
    plan = lower(fed(alone), Schedule(nodes=nodes))
    return _opened(plan, set(names.values()))


def _plain(s: NodeSchedule) -> NodeSchedule:
    """The formats alone: what is stored in them is given."""
    return replace(NodeSchedule(), **{n: getattr(s, n) for n in _FORMATS})


_FORMATS: Final = ("storage", "accumulate", "rounding", "overflow")


def _opened(plan: Plan, sources: set[str]) -> Plan:
    """The plan whose maps for sources are inputs, and nothing before them."""
    feeds = {feed_name(s) for s in sources}

    def given(b: Buffer) -> Buffer:
        if b.ref is None or b.ref.node not in sources:
            return b
        return replace(b, role=Role.INPUT, ref=Ref(b.ref.node))

    return replace(
        plan,
        buffers=tuple(given(b) for b in plan.buffers if b.ref is None or b.ref.node not in feeds),
        launches=tuple(n for n in plan.launches if n.kernel.origin not in sources),
    )
