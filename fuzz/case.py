"""Cases: one draw of everything that a check needs.

Defines `Case` (graph, sizes, schedule, inputs) and how one is drawn, alone or in batches, from
(seed, index). Relies on the strategies. It runs no check. A case shrinks as its parts do.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tang.fuzz.derivations import Recipe, draw_recipe
from tang.fuzz.formats import ALL, Formats
from tang.fuzz.graphs import DrawnGraph, draw_graph
from tang.fuzz.inputs import draw_inputs
from tang.fuzz.motifs import draw_motif
from tang.fuzz.precisions import draw_precisions
from tang.fuzz.schedules import draw_schedule
from tang.fuzz.source import SeededSource, Source, chance
from tang.ir.bind import bind
from tang.ir.graph import Graph
from tang.kernel.schedule import Schedule

Array = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Case:
    """A program with a schedule and data.

    sizes    values of the graph's symbols (the inputs' shapes say the same)
    seed, index  where the draw came from; index −1 when it was shrunk or written by hand
    choices  the decisions behind the draw, from which hypothesis shrinks it
    formats  what it was allowed to ask of its backends
    recipe   what is done to the program before it is lowered; its schedule then counts
    """

    graph: Graph
    sizes: Mapping[str, int]
    schedule: Schedule
    inputs: Mapping[str, Array]
    seed: int = 0
    index: int = -1
    choices: tuple[int, ...] = ()
    formats: Formats = ALL
    recipe: Recipe | None = None

    def __repr__(self) -> str:
        return f"<Case {self.name}: {len(self.graph.nodes)} nodes>"

    @property
    def name(self) -> str:
        """How reports call the case."""
        return f"seed {self.seed}, draw {self.index}" if self.index >= 0 else "shrunk case"

    def digest(self) -> str:
        """A name for the content, equal for equal programs, schedules and data."""
        h = hashlib.blake2b(repr((self.graph, self.schedule, self.recipe)).encode(), digest_size=12)
        for name, array in sorted(self.inputs.items()):
            h.update(f"{name}{array.shape}{array.dtype}".encode())
            h.update(np.ascontiguousarray(array).tobytes())
        return h.hexdigest()


def build_case(source: Source, formats: Formats = ALL) -> Case:
    """One case from a source of decisions."""
    drawn = source.part(lambda s: _draw_program(s, formats))
    schedule = source.part(lambda s: draw_schedule(s, drawn.graph, drawn.in_order, formats))
    inputs = source.part(lambda s: draw_inputs(s, drawn.plans))
    graph, recipe = source.part(lambda s: draw_recipe(s, drawn))
    precise = source.part(lambda s: draw_precisions(s, drawn.graph, schedule, drawn.in_order))
    return Case(
        graph,
        drawn.sizes,
        precise if recipe is None else Schedule(),
        inputs,
        formats=formats,
        recipe=recipe,
    )


def _draw_program(source: Source, formats: Formats) -> DrawnGraph:
    """A random graph, or now and then a motif; shrinks to a graph."""
    if not chance(source, 32):
        return draw_graph(source, formats)
    motif = draw_motif(source)
    sizes = dict(motif.sizes)
    if sizes and not formats.i64:  # symbols without a bound need 64 bits
        return DrawnGraph(bind(motif.graph, sizes), {}, motif.plans, frozenset(), motif.aim)
    return DrawnGraph(motif.graph, sizes, motif.plans, frozenset(), motif.aim)


def draw_case(seed: int, index: int, formats: Formats = ALL) -> Case:
    """The case of that name: the same wherever and whenever it is drawn."""
    source = SeededSource(seed, index)
    case = build_case(source, formats)
    return replace(case, seed=seed, index=index, choices=tuple(source.choices))


def draw_batch(seed: int, count: int, start: int = 0, formats: Formats = ALL) -> list[Case]:
    """Cases `start` … `start + count − 1` of a seed."""
    return [draw_case(seed, start + i, formats) for i in range(count)]
