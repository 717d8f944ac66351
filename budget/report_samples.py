"""How far every node of a program is from f64 on given inputs, whole or on sampled tiles.

Defines `Sample`, `Setting`, `setting_of` and `measure`. Relies on replay with shadows for values
and bounds, and on the interpreter for the exact values. It judges nothing, and it sees the errors
of these inputs alone.

Whole: the plan is replayed operation by operation, with every node stored (which changes no bit).
Tiles: a node is replayed on a tile of its points only. What it reads are the tensors upstream as
f64 computes them from *their* sources and as their formats then store them: rounding by storage is
carried through the whole program, arithmetic in accumulators is seen inside the tile alone. The
bound of a tile is sound for its own arithmetic, given these sources.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
from tang.emulator.shadow import SHADOW
from tang.interpreter import fast_interpret
from tang.ir.expr import REAL, Sort
from tang.ir.format import Format, format_named
from tang.ir.graph import Comprehension, Graph, Output
from tang.ir.view import Ref
from tang.kernel.expand import expand_math
from tang.kernel.ir import Type
from tang.kernel.lower import lower
from tang.kernel.plan import Buffer, Plan, Role
from tang.kernel.schedule import NodeSchedule, Schedule

Array = npt.NDArray[Any]
F64Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

_PAIRS: Final = np.dtype([("value", "f8"), ("shadow", "f8"), ("bound", "f8")])


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """One real tensor that a node computes, or an input, on all its elements or on a tile.

    value    as the format stores it;  exact  in f64, from exact sources
    bound    sound, |value − exact| under the decisions that were taken; infinite where unknown
    carried  in f64 from the sources as they are stored: what is wrong with it was inherited
    kept     `carried` as the format stores it: the difference is what storage costs
    tile     which points of the node; None for inputs
    """

    ref: Ref
    format: Format
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
        tensors |= _evaluated(graph, node, tensors)
    return Setting(graph, inputs, tensors)


def measure(setting: Setting, schedule: Schedule, seed: int = 0, *, tiles: bool) -> list[Sample]:
    """Every real tensor that is read or returned, in program order, inputs first."""
    opened = stored_everywhere(setting.graph, schedule)
    plan = lower(setting.graph, opened)
    found = [_input_sample(b, setting) for b in _reals(plan, Role.INPUT)]
    emulated = {s.ref: s.value for s in found}
    for i in setting.graph.inputs:
        emulated.setdefault(Ref(i.name), setting.exact[Ref(i.name)])
    if tiles:
        return found + list(_on_tiles(setting, opened, plan, emulated, seed))
    return found + list(_on_all(setting, opened, plan, emulated))


def stored_everywhere(graph: Graph, schedule: Schedule) -> Schedule:
    """The schedule with a buffer for every node: the same bits, and all can be seen."""
    chosen = schedule.by_name(graph)
    nodes = tuple((n, replace(s, place="materialise")) for n, s in chosen.items())
    return replace(schedule, nodes=nodes)


# --- f64 ------------------------------------------------------------------------------------------


def _wide(array: Array, sort: Sort) -> Array:
    return np.asarray(array, np.float64) if sort is REAL else np.asarray(array)


def _evaluated(
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


def _reals(plan: Plan, role: Role | None = None) -> list[Buffer]:
    """Buffers of real tensors: the inputs, or what nodes compute."""
    inputs = role is Role.INPUT
    return [
        b for b in plan.buffers
        if b.sort is REAL and b.ref is not None and (b.role is Role.INPUT) == inputs
    ]  # fmt: skip


def _input_sample(buffer: Buffer, setting: Setting) -> Sample:
    ref = _ref(buffer)
    exact = setting.exact[ref]
    value = _stored(exact, buffer)
    bound = _distance(value, exact)
    return Sample(ref, format_of(buffer), value, exact, bound, exact, value)


def _distance(value: Array, exact: Array) -> F64Array:
    """|value − exact|, 0 where both are the same infinity or NaN, infinite where one is."""
    with np.errstate(all="ignore"):
        gap = np.abs(value - exact)
    same = (value == exact) | (np.isnan(value) & np.isnan(exact))
    return np.where(same, 0.0, np.where(np.isfinite(gap), gap, np.inf))


def _ref(buffer: Buffer) -> Ref:
    return buffer.ref if buffer.ref is not None else Ref(buffer.name)


# --- all of a program -----------------------------------------------------------------------------


def _on_all(
    setting: Setting, schedule: Schedule, plan: Plan, emulated: dict[Ref, Array]
) -> Iterator[Sample]:
    data = {i.name: _given(Ref(i.name), i.sort, setting, emulated) for i in setting.graph.inputs}
    done = replay(expand_math(plan), data, domain=_DOMAIN, sizes={}, sanitize=False)
    buffers = {_ref(b): b for b in plan.buffers}
    for node in setting.graph.nodes:
        carried = _evaluated(setting.graph, node, emulated)
        for name in node.output_names():
            buffer = buffers.get(Ref(node.name, name))
            if buffer is not None:
                sample = _seen(done, buffer, setting.exact[_ref(buffer)], carried, whole(node))
                emulated[_ref(buffer)] = done.buffers[buffer.name]
                if sample is not None:
                    emulated[_ref(buffer)] = sample.value
                    yield sample


def _given(ref: Ref, sort: Sort, setting: Setting, emulated: Mapping[Ref, Array]) -> Array:
    """A tensor as the domain of pairs reads it."""
    if sort is not REAL:
        return emulated[ref]
    exact, value = setting.exact[ref], emulated[ref]
    pairs = np.empty(np.shape(exact), _PAIRS)
    pairs["value"], pairs["shadow"], pairs["bound"] = value, exact, _distance(value, exact)
    return pairs


def _read(type_: Type, array: Array) -> Parts:
    """Planes of values with shadows; arrays without are their own shadows."""
    if array.dtype != _PAIRS:
        return SHADOW.read(type_, array)
    kept = formats.stored(type_, array["value"]).reshape(-1)
    return kept, np.array(array["shadow"]), np.array(array["bound"])


_DOMAIN: Final[Domain] = replace(SHADOW, name="shadow of pairs", read=_read)


def _seen(
    done: Replay, buffer: Buffer, exact: Array, carried: Mapping[Ref, Array], tile: Tile
) -> Sample | None:
    """The sample of a buffer after a replay; None for indices and bools."""
    if buffer.sort is not REAL:
        return None
    planes = done.planes[buffer.name]
    value = np.asarray(unpack(planes["value"], buffer.type), np.float64)
    taint, shadow = planes["taint"], planes["shadow"]
    carried_here = carried[_ref(buffer)]
    return Sample(
        ref=_ref(buffer),
        format=format_of(buffer),
        value=value,
        exact=np.where(taint, exact, shadow),
        bound=np.where(taint, np.inf, planes["bound"]),
        carried=carried_here,
        kept=_stored(carried_here, buffer),
        tile=tile,
    )


# --- tiles ----------------------------------------------------------------------------------------


def _on_tiles(
    setting: Setting, schedule: Schedule, plan: Plan, emulated: dict[Ref, Array], seed: int
) -> Iterator[Sample]:
    buffers = {_ref(b): b for b in plan.buffers}
    for node in setting.graph.nodes:
        carried = _evaluated(setting.graph, node, emulated)
        tile = tile_of(node, seed)
        yield from _tile_samples(setting, schedule, node, tile, emulated, carried, buffers)
        for ref, values in carried.items():
            buffer = buffers.get(ref)
            real = buffer is not None and buffer.sort is REAL
            emulated[ref] = _stored(values, buffer) if real and buffer is not None else values


def _tile_samples(
    setting: Setting,
    schedule: Schedule,
    node: Comprehension,
    tile: Tile,
    emulated: Mapping[Ref, Array],
    carried: Mapping[Ref, Array],
    buffers: Mapping[Ref, Buffer],
) -> Iterator[Sample]:
    """One node on a tile, from its sources as they are stored."""
    wanted = [n for n in node.output_names() if Ref(node.name, n) in buffers]
    alone = _tile_plan(setting.graph, node, tile, schedule, wanted)
    data = {
        name: _given(ref, setting.graph.sort(ref), setting, emulated)
        for ref, name in sources_of(node).items()
    }
    done = replay(expand_math(alone), data, domain=_DOMAIN, sizes={}, sanitize=False)
    for b in alone.buffers:
        if b.role is Role.INPUT or b.ref is None:
            continue
        at = tile.of(node.tensor(b.ref.output).dims)
        here = {b.ref: carried[b.ref][at]}
        sample = _seen(done, b, setting.exact[b.ref][at], here, tile)
        if sample is not None:
            yield sample


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
