"""Presets of precision: one format for everything, with or without scales.

Defines `PRESETS`, `SCALED`, `preset` and `scaled_preset`. Relies on `schedule_auto` for places,
splits and lanes, and on the block formats of `tang.ir.format`. It reads no files and no JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from tang.budget.scale_data import Narrow, Precise, Scale
from tang.errors import ScheduleError
from tang.ir.expr import REAL
from tang.ir.extent import Poly
from tang.ir.format import Format
from tang.ir.graph import Comprehension, Graph
from tang.kernel.ir import BF16, F16, F32, F64, Type
from tang.kernel.narrow import E2M1, E2M3, E3M2, E4M3FN, E5M2, TF32
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.schedule import schedule_auto

Pair = tuple[Type | Format, Type | Format]

PRESETS: Final[Mapping[str, Pair]] = {
    "f64": (F64, F64),
    "f32": (F32, F32),
    "tf32": (TF32, F32),
    "f16": (F16, F32),
    "bf16": (BF16, F32),
    "f16-acc": (F16, F16),
    "bf16-acc": (BF16, BF16),
    "fp8-e4m3": (E4M3FN, F32),
    "fp8-e5m2": (E5M2, F32),
    "fp6-e3m2": (E3M2, F32),
    "fp6-e2m3": (E2M3, F32),
    "fp4-e2m1": (E2M1, F32),
}
"""Preset → format of storage and format of accumulation, of every node and input."""

_TENSOR: Final = Scale()
_BLOCK: Final = Scale(per="block", block=32, format="e8m0")

SCALED: Final[Mapping[str, tuple[Format, Scale]]] = {
    "fp8-e4m3-scaled": (E4M3FN, _TENSOR),
    "fp8-e5m2-scaled": (E5M2, _TENSOR),
    "mxfp8-e4m3": (E4M3FN, _BLOCK),
    "mxfp8-e5m2": (E5M2, _BLOCK),
    "mxfp6-e3m2": (E3M2, _BLOCK),
    "mxfp6-e2m3": (E2M3, _BLOCK),
    "mxfp4": (E2M1, _BLOCK),
}
"""Preset → format and scale, from the data's own magnitudes, of what is stored; sums in f32.

Scaled are inputs and the results of nodes that have a buffer, if they have an axis, and one that
blocks divide. All else is as in the preset bf16.
"""
NAMES: Final = (*PRESETS, *SCALED)


def preset(name: str, graph: Graph) -> Precise:
    """The precision of that name for a rewritten program; ScheduleError where there is none."""
    if name in PRESETS:
        return Precise(schedule=_plain(PRESETS[name], graph))
    if name in SCALED:
        return scaled_preset(*SCALED[name], graph)
    if name == "nvfp4":
        raise ScheduleError(
            "nvfp4 has scales of scales, which schedules do not have: take mxfp4, or round data "
            "with tang.emulator.blocks.quantize_blocks(x, 'nvfp4')"
        )
    raise ScheduleError(
        f"unknown precision {name!r}: one of {', '.join(NAMES)}, or a JSON file or text"
    )


def _plain(pair: Pair, graph: Graph) -> Schedule:
    storage, accumulate = pair
    usual = schedule_auto(graph)

    def spelt(s: NodeSchedule) -> NodeSchedule:
        changed: dict[str, Any] = {"storage": storage, "accumulate": accumulate}
        return replace(s, **changed)

    return Schedule(
        nodes=tuple((name, spelt(s)) for name, s in usual.nodes), default=spelt(usual.default)
    )


def scaled_preset(format_: Format, scale: Scale, graph: Graph) -> Precise:
    """The format with a scale for every tensor that is stored and can have one, else bf16."""
    plain = _plain((BF16, F32), graph)
    chosen = plain.by_name(graph)
    nodes = {n.name: scale for n in graph.nodes if _fits_node(graph, n, chosen[n.name], scale)}
    inputs = {
        i.name: Narrow(storage=format_, scale=scale)
        for i in graph.inputs
        if i.sort is REAL and _fits(i.shape, scale)
    }
    schedule = Schedule(
        nodes=tuple(
            (name, replace(s, storage=format_) if name in nodes else s)
            for name, s in chosen.items()
        ),
        default=plain.default,
    )
    return Precise(schedule=schedule, nodes=nodes, inputs=inputs)


def _fits_node(graph: Graph, node: Comprehension, s: NodeSchedule, scale: Scale) -> bool:
    """Whether a node has a buffer, and real results, all of shapes that can be scaled."""
    if s.place != "materialise":
        return False
    tensors = [node.tensor(n) for n in node.output_names()]
    shapes = [tuple(d.extent for d in t.dims) for t in tensors if t.sort is REAL]
    return bool(shapes) and all(_fits(shape, scale) for shape in shapes)


def _fits(shape: tuple[Poly, ...], scale: Scale) -> bool:
    if not shape:
        return False
    last = shape[-1]
    if scale.per != "block":
        return True
    if not last.is_constant:
        raise ScheduleError(
            f"a preset with scales by block needs numbers for extents, and {last} is none: bind "
            "the program first (tang.ir.bind), or give --size or inputs"
        )
    return last.constant > 0 and last.constant % scale.block == 0
