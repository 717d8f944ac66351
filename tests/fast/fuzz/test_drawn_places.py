"""Places that campaigns draw: replaying what is inlined stays short."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import pytest

from tang.fuzz.derivations import derived_program
from tang.fuzz.formats import formats_of
from tang.fuzz.places import LARGEST, LONGEST
from tang.fuzz.worker import draw_case
from tang.ir.graph import Comprehension, Dim, Graph, reads_of
from tang.kernel.schedule import Schedule

C = formats_of(("c",))
LONG = 72
"""A draw of seed 1: a gradient through products, whose loops multiply when all is inlined."""


def _program(index: int) -> tuple[Graph, Schedule]:
    case = draw_case(1, index, C)
    if case.recipe is None:
        return case.graph, case.schedule
    graph, schedule, _ = derived_program(case.graph, case.recipe, C)
    return graph, schedule


def _size(dims: tuple[Dim, ...]) -> int:
    return prod(d.extent.evaluate(dict.fromkeys(d.extent.symbols, 4)) for d in dims)


def _steps(node: Comprehension, inlined: dict[str, Comprehension]) -> int:
    """The steps of loops that one point of a node takes, those of inlined nodes included."""
    sources = (r.source.node for r in reads_of(node))
    inner = sum(_steps(inlined[name], inlined) for name in sources if name in inlined)
    return _size(node.reduce) * (1 + inner)


def _too_long(graph: Graph, schedule: Schedule) -> list[str]:
    """The inlined nodes beyond a limit in one of their readers."""
    placed = dict(schedule.nodes)
    inlined = {n.name: n for n in graph.nodes if n.name in placed}
    inlined = {name: n for name, n in inlined.items() if placed[name].place == "inline"}
    found = []
    for node in graph.nodes:
        long, large = _size(node.reduce), _size((*node.point, *node.reduce))
        for name in {r.source.node for r in reads_of(node)} & inlined.keys():
            steps = _steps(inlined[name], inlined)
            if steps * long > LONGEST or steps * large > LARGEST:
                found.append(name)
    return found


@pytest.mark.parametrize("start", range(0, 300, 60))
def test_no_drawn_node_is_inlined_beyond_the_limits(start: int) -> None:
    for index in range(start, start + 60):
        assert not _too_long(*_program(index)), index


def test_a_program_with_everything_inlined_is_beyond_them() -> None:
    graph, schedule = _program(LONG)
    wanted = {o.ref.node for o in graph.outputs}
    read = {r.source.node for n in graph.nodes for r in reads_of(n)}
    inline = tuple(
        (name, replace(s, place="inline", split=1, lanes=1) if name in read - wanted else s)
        for name, s in schedule.nodes
    )
    assert _too_long(graph, replace(schedule, nodes=inline))
