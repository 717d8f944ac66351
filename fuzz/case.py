"""Cases: one draw of everything that a check needs.

Defines `Case` (graph, sizes, schedule, inputs) and how one is drawn, alone or in batches, from
(seed, index). Relies on the strategies. It runs no check. A case shrinks as its parts do.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tang.fuzz.graphs import draw_graph
from tang.fuzz.inputs import draw_inputs
from tang.fuzz.schedules import draw_schedule
from tang.fuzz.source import SeededSource, Source
from tang.ir.graph import Graph
from tang.kernel.schedule import Schedule

Array = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Case:
    """A program with a schedule and data.

    sizes    values of the graph's symbols (the inputs' shapes say the same)
    seed, index  where the draw came from; index −1 when it was shrunk or written by hand
    choices  the decisions behind the draw, from which hypothesis shrinks it
    """

    graph: Graph
    sizes: Mapping[str, int]
    schedule: Schedule
    inputs: Mapping[str, Array]
    seed: int = 0
    index: int = -1
    choices: tuple[int, ...] = ()

    def __repr__(self) -> str:
        return f"<Case {self.name}: {len(self.graph.nodes)} nodes>"

    @property
    def name(self) -> str:
        """How reports call the case."""
        return f"seed {self.seed}, draw {self.index}" if self.index >= 0 else "shrunk case"

    def digest(self) -> str:
        """A name for the content, equal for equal programs, schedules and data."""
        h = hashlib.blake2b(repr((self.graph, self.schedule)).encode(), digest_size=12)
        for name, array in sorted(self.inputs.items()):
            h.update(f"{name}{array.shape}{array.dtype}".encode())
            h.update(np.ascontiguousarray(array).tobytes())
        return h.hexdigest()


def build_case(source: Source) -> Case:
    """One case from a source of decisions."""
    drawn = source.part(draw_graph)
    schedule = source.part(lambda s: draw_schedule(s, drawn.graph, drawn.in_order))
    inputs = source.part(lambda s: draw_inputs(s, drawn.plans))
    return Case(drawn.graph, drawn.sizes, schedule, inputs)


def draw_case(seed: int, index: int) -> Case:
    """The case of that name: the same wherever and whenever it is drawn."""
    source = SeededSource(seed, index)
    case = build_case(source)
    return Case(
        case.graph, case.sizes, case.schedule, case.inputs, seed, index, tuple(source.choices)
    )


def draw_batch(seed: int, count: int, start: int = 0) -> list[Case]:
    """Cases `start` … `start + count − 1` of a seed."""
    return [draw_case(seed, start + i) for i in range(count)]
