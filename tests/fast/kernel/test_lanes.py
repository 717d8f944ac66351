"""Lanes: several threads of a workgroup fold one point, in order, and meet at barriers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tang.errors import ScheduleError
from tang.ir.expr import INDEX, REAL, Expr, arg, iota
from tang.ir.extent import Poly, PolyLike, poly
from tang.ir.graph import Comprehension, Dim, Graph, Input, Output
from tang.ir.monoid import Monoid
from tang.ir.monoids import ARGMAX, BUILTIN, MAX, ONLINE_SOFTMAX, SUM, WELFORD, product, top_k
from tang.ir.view import Read, Ref, View, variable
from tang.kernel import ir as k
from tang.kernel.lower import lower
from tang.kernel.schedule import NodeSchedule, Schedule, shared_bytes
from tang.kernel.text import plan_text

Agree = Callable[..., dict[str, Any]]
LANES = (2, 3, 4, 8)
MONOIDS = {
    **BUILTIN,
    "top_3": top_k(3),
    "product": product(SUM, ARGMAX, MAX),
    "product_top": product(top_k(2), WELFORD),
}


def lanes(count: int, points: int = 2, **fields: Any) -> Schedule:
    """So many lanes per point and points per workgroup."""
    return Schedule(nodes=(("f", NodeSchedule(lanes=count, workgroup=count * points, **fields)),))


def folded(monoid: Monoid, points: int, elements: PolyLike, **parts: Any) -> Graph:
    """x[i, r], as many as the monoid takes, folded over r; indices are r."""
    inputs: list[Input] = []
    reads: list[Read] = []
    body: list[Expr] = []
    for n, sort in enumerate(monoid.inputs):
        if sort is INDEX:
            body.append(iota("r"))
            continue
        inputs.append(Input(f"x{n}", (poly(points), poly(elements)), sort))
        body.append(arg(len(reads), sort))
        reads.append(Read(Ref(f"x{n}"), View((variable("i"), variable("r")))))
    dims = (Dim("i", poly(points)),), (Dim("r", poly(elements)),)
    node = Comprehension("f", dims[0], tuple(reads), tuple(body), dims[1], monoid=monoid, **parts)
    outputs = tuple(Output(n, Ref("f", n)) for n in node.output_names())
    return Graph(tuple(inputs), (node,), outputs)


def data(graph: Graph, **sizes: int) -> dict[str, np.ndarray[Any, Any]]:
    found: dict[str, np.ndarray[Any, Any]] = {}
    for n, i in enumerate(graph.inputs):
        shape = tuple(p.evaluate(sizes) for p in i.shape)
        values = np.random.default_rng(n).integers(-8, 9, shape) / 4.0
        found[i.name] = values if i.sort is REAL else values > 0
    return found


@pytest.mark.parametrize("count", LANES)
@pytest.mark.parametrize("name", MONOIDS)
def test_every_monoid_folds_as_defined_with_lanes(name: str, count: int, agree: Agree) -> None:
    graph = folded(MONOIDS[name], 5, 7)
    agree(graph, data(graph), lanes(count))


@pytest.mark.parametrize("name", MONOIDS)
def test_excluded_points_contribute_nothing(name: str, agree: Agree) -> None:
    graph = folded(MONOIDS[name], 5, 7, where=(variable("i") - variable("r"),))
    agree(graph, data(graph), lanes(4))


@pytest.mark.parametrize("name", MONOIDS)
def test_chunks_of_a_split_are_folded_by_lanes(name: str, agree: Agree) -> None:
    graph = folded(MONOIDS[name], 3, 11)
    agree(graph, data(graph), lanes(3, split=2))


@pytest.mark.parametrize("name", [n for n, m in BUILTIN.items() if m.identity is not None])
def test_an_empty_reduction_gives_the_projected_identity(name: str, agree: Agree) -> None:
    for n in (0, "n") if BUILTIN[name].inputs[0] is not INDEX else (0,):
        graph = folded(BUILTIN[name], 2, n)
        agree(graph, data(graph, n=0), lanes(4))


def test_lanes_without_elements_are_skipped_by_a_semigroup(agree: Agree) -> None:
    graph = folded(ARGMAX, 2, 3)
    agree(graph, {"x0": np.full((2, 3), -np.inf)}, lanes(8))


def test_a_component_without_a_dim_is_stored_once(agree: Agree) -> None:
    reads = (
        Read(Ref("q"), View((variable("i"), variable("r")))),
        Read(Ref("v"), View((variable("r"), variable("j")))),
    )
    node = Comprehension(
        "f",
        (Dim("i", poly(3)), Dim("j", poly(2))),
        reads,
        (arg(0), arg(1)),
        (Dim("r", poly(9)),),
        monoid=ONLINE_SOFTMAX,
    )
    inputs = (Input("q", (poly(3), poly(9)), REAL), Input("v", (poly(9), poly(2)), REAL))
    graph = Graph(inputs, (node,), tuple(Output(n, Ref("f", n)) for n in node.output_names()))
    agree(graph, data(graph), lanes(4))


def test_symbolic_extents_are_shared_out_when_they_are_known(agree: Agree) -> None:
    graph = folded(BUILTIN["affine_scan"], 4, "n")
    for n in (1, 5, 12):
        agree(graph, data(graph, n=n), lanes(4))


def test_states_meet_in_workgroup_arrays_with_a_barrier_per_level() -> None:
    (launch,) = lower(folded(SUM, 5, 7), lanes(8, 4)).launches
    body = launch.kernel.body
    (array,) = (s for s in body if isinstance(s, k.Array))
    assert (array.scope, array.size) == (k.Scope.WORKGROUP, 32)
    (loop,) = (s for s in body if isinstance(s, k.For))
    assert isinstance(loop.body[0], k.Barrier)
    assert loop.hi == k.Const(k.I32, 3)
    assert launch.threads == Poly((((), 40),))


def test_a_kernel_with_two_lanes_has_one_barrier_and_no_loop() -> None:
    text = plan_text(lower(folded(SUM, 5, 7), lanes(2)))
    assert text.count("barrier") == 1
    assert "step" not in text


@pytest.mark.parametrize(
    ("schedule", "message"),
    [
        (NodeSchedule(lanes=3), "64 threads are no multiple of 3 lanes"),
        (NodeSchedule(lanes=0), "ints of at least 1"),
        (NodeSchedule(lanes=2, workgroup=8192), "make workgroup smaller"),
    ],
    ids=["no multiple", "none", "too much memory"],
)
def test_impossible_lanes_are_refused(schedule: NodeSchedule, message: str) -> None:
    with pytest.raises(ScheduleError, match=message):
        lower(folded(SUM, 5, 7), Schedule(nodes=(("f", schedule),)))


def test_a_map_has_no_lanes() -> None:
    read = Read(Ref("x"), View((variable("i"),)))
    node = Comprehension("f", (Dim("i", poly(3)),), (read,), (arg(0),), outputs=("y",))
    graph = Graph((Input("x", (poly(3),), REAL),), (node,), (Output("y", Ref("f", "y")),))
    with pytest.raises(ScheduleError, match="lanes 2 need a reduction"):
        lower(graph, lanes(2))
    lower(graph, Schedule(default=NodeSchedule(lanes=2)))


def test_the_memory_of_a_workgroup_counts_every_component_and_the_flag() -> None:
    assert shared_bytes(SUM, NodeSchedule(workgroup=64)) == 64 * 4
    assert shared_bytes(ARGMAX, NodeSchedule(workgroup=8)) == 8 * (4 + 8 + 4)
