"""Lowered graphs mean what the interpreter says, in every schedule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tang.ir.derived import exp, maximum, select, sub
from tang.ir.expr import (
    INDEX,
    REAL,
    Expr,
    Sort,
    apply,
    arg,
    extent,
    index,
    iota,
    named,
    real,
    state,
)
from tang.ir.extent import Poly, PolyLike, poly
from tang.ir.graph import Comprehension, Dim, Graph, Input, Output
from tang.ir.monoid import Axis, Component, Monoid
from tang.ir.monoids import (
    ARGMAX,
    BUILTIN,
    MAX,
    ONLINE_SOFTMAX,
    SUM,
    WELFORD,
    product,
    top_k,
)
from tang.ir.view import Affine, Interval, Read, Ref, View, variable
from tang.kernel.schedule import NodeSchedule, Schedule

Agree = Callable[..., dict[str, Any]]
SPLITS = (1, 2, 3, 9)


def read(source: str, *coords: str | Affine, output: str = "") -> Read:
    forms = tuple(variable(c) if isinstance(c, str) else c for c in coords)
    return Read(Ref(source, output), View(forms))


def dims(**extents: PolyLike) -> tuple[Dim, ...]:
    return tuple(Dim(n, poly(e)) for n, e in extents.items())


def given(name: str, *shape: PolyLike, sort: Sort = REAL) -> Input:
    return Input(name, tuple(poly(n) for n in shape), sort)


def results(node: Comprehension, *names: str) -> tuple[Output, ...]:
    return tuple(Output(n, Ref(node.name, n)) for n in names or node.output_names())


def splits(node: str, count: int) -> Schedule:
    return Schedule(nodes=((node, NodeSchedule(split=count)),))


def numbers(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    """Small dyadic numbers: sums and products of them are exact."""
    return np.random.default_rng(seed).integers(-8, 9, shape) / 4.0


def folded(monoid: Monoid, points: int, elements: PolyLike, **given_parts: Any) -> Graph:
    """x[i, r] and y[i, r], as many as the monoid takes, folded over r; indices are r."""
    inputs: list[Input] = []
    reads: list[Read] = []
    body: list[Expr] = []
    for n, sort in enumerate(monoid.inputs):
        if sort is INDEX:
            body.append(iota("r"))
            continue
        inputs.append(given(f"x{n}", points, elements, sort=sort))
        body.append(arg(len(reads), sort))
        reads.append(read(f"x{n}", "i", "r"))
    node = Comprehension(
        "f",
        dims(i=points),
        tuple(reads),
        tuple(body),
        dims(r=elements),
        monoid=monoid,
        **given_parts,
    )
    return Graph(tuple(inputs), (node,), results(node))


def data(graph: Graph, **sizes: int) -> dict[str, np.ndarray[Any, Any]]:
    found: dict[str, np.ndarray[Any, Any]] = {}
    for n, i in enumerate(graph.inputs):
        values = numbers(*(p.evaluate(sizes) for p in i.shape), seed=n)
        found[i.name] = values if i.sort is REAL else values > 0
    return found


MONOIDS = {
    **BUILTIN,
    "top_1": top_k(1),
    "top_3": top_k(3),
    "product": product(SUM, ARGMAX, MAX),
    "product_top": product(top_k(2), WELFORD),
}


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("name", MONOIDS)
def test_every_monoid_folds_as_defined_in_every_split(name: str, split: int, agree: Agree) -> None:
    graph = folded(MONOIDS[name], 3, 7)
    agree(graph, data(graph), splits("f", split))


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("name", [n for n, m in BUILTIN.items() if m.identity is not None])
def test_an_empty_reduction_gives_the_projected_identity(
    name: str, split: int, agree: Agree
) -> None:
    for n in (0, "n") if BUILTIN[name].inputs[0] is not INDEX else (0,):
        graph = folded(BUILTIN[name], 2, n)
        agree(graph, data(graph, n=0), splits("f", split))


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("name", MONOIDS)
def test_excluded_points_contribute_nothing(name: str, split: int, agree: Agree) -> None:
    causal = (variable("i") - variable("r"),)
    graph = folded(MONOIDS[name], 3, 7, where=causal)
    agree(graph, data(graph), splits("f", split))
    never = (variable("r") - 7,)
    graph = folded(MONOIDS[name], 3, 7, where=never)
    agree(graph, data(graph), splits("f", split))


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin", "top_3"])
def test_specials_win_and_lose_as_defined(name: str, special: float, agree: Agree) -> None:
    graph = folded(MONOIDS[name], 2, 7)
    values = data(graph)
    values["x0"][0, 4] = special
    for split in SPLITS:
        agree(graph, values, splits("f", split))


SWAP = Monoid(
    "swap",
    inputs=(REAL, REAL),
    components=(Component("a", REAL), Component("b", REAL)),
    lift=(arg(0), arg(1)),
    identity=None,
    combine=(state(0, 1), apply("add", state(0, 0), state(1, 1))),
    outputs=(Component("x", REAL), Component("y", REAL)),
    project=(state(0, 0), state(0, 1)),
    commutative=False,
)


def test_combine_reads_the_whole_old_state_before_it_writes(agree: Agree) -> None:
    graph = folded(SWAP, 3, 6)
    agree(graph, data(graph))


def test_a_chunk_without_elements_is_skipped_by_a_semigroup(agree: Agree) -> None:
    graph = folded(ARGMAX, 2, 3)
    agree(graph, {"x0": np.full((2, 3), -np.inf)}, splits("f", 9))


@pytest.mark.parametrize("split", SPLITS)
def test_a_product_over_two_reduce_dims_is_lexicographic(split: int, agree: Agree) -> None:
    node = Comprehension(
        "f",
        dims(i=2),
        (read("x", "i", "r", "s"), read("x", "r", "i", "s")),
        (arg(0), arg(1)),
        dims(r=2, s=3),
        monoid=BUILTIN["affine_scan"],
    )
    graph = Graph((given("x", 2, 2, 3),), (node,), results(node))
    agree(graph, {"x": numbers(2, 2, 3)}, splits("f", split))


def guarded(*, fill: float) -> Read:
    form = variable("i") + variable("r") - 1
    return Read(Ref("x"), View((form,), (Interval(form, Poly(), poly(4)),), real(fill)))


def test_a_guard_gives_its_fill_outside(agree: Agree) -> None:
    node = Comprehension("f", dims(i=4), (guarded(fill=0.5),), (arg(0),), dims(r=3), monoid=SUM)
    graph = Graph((given("x", 4),), (node,), results(node))
    agree(graph, {"x": numbers(4)})
    agree(graph, {"x": numbers(4)}, splits("f", 2))


def test_a_guard_that_never_holds_reads_nothing(agree: Agree) -> None:
    form = variable("i") + 100
    view = View((form,), (Interval(form, Poly(), poly(2)),), named("-inf"))
    node = Comprehension("f", dims(i=4), (Read(Ref("x"), view),), (arg(0),), outputs=("y",))
    agree(Graph((given("x", 2),), (node,), results(node)), {"x": numbers(2)})


def embedding(guard: bool) -> Graph:
    index = read("idx", "i")
    row = variable("@0")
    conditions = (Interval(row, Poly(), poly(3)),) if guard else ()
    view = View((row, variable("j")), conditions, real(7) if guard else None, (index,))
    node = Comprehension("e", dims(i=4, j=2), (Read(Ref("w"), view),), (arg(0),), outputs=("y",))
    return Graph((given("idx", 4, sort=INDEX), given("w", 3, 2)), (node,), results(node))


@pytest.mark.parametrize("guard", [False, True])
def test_a_gather_reads_the_chosen_rows(guard: bool, agree: Agree) -> None:
    agree(embedding(guard), {"idx": np.array([2, 0, 1, 2]), "w": numbers(3, 2)})


def test_a_guarded_gather_gives_its_fill_outside(agree: Agree) -> None:
    found = agree(embedding(True), {"idx": np.array([3, -1, 1, 2**31 - 1]), "w": numbers(3, 2)})
    assert (found["y"][[0, 1, 3]] == 7).all()


def test_symbolic_extents_become_scalars(agree: Agree) -> None:
    node = Comprehension(
        "f", dims(i="m", j=3), (read("x", "i", "r"),), (arg(0),), dims(r="n"), monoid=SUM
    )
    mean = Comprehension(
        "g",
        dims(i="m", j=3),
        (read("f", "i", "j", output="value"),),
        (apply("mul", arg(0), apply("recip", apply("to_real", extent("i")))),),
        outputs=("y",),
    )
    graph = Graph((given("x", "m", "n"),), (node, mean), results(mean))
    for m, n in ((2, 5), (4, 1)):
        agree(graph, {"x": numbers(m, n)})
        agree(graph, {"x": numbers(m, n)}, splits("f", 3))


@pytest.mark.parametrize("symbolic", [False, True])
def test_a_zero_extent_launches_nothing_and_gives_an_empty_result(
    symbolic: bool, agree: Agree
) -> None:
    m: PolyLike = "m" if symbolic else 0
    node = Comprehension("f", dims(i=m), (read("x", "i", "r"),), (arg(0),), dims(r=3), monoid=SUM)
    agree(Graph((given("x", m, 3),), (node,), results(node)), {"x": np.zeros((0, 3))})


def attention(j: PolyLike) -> Graph:
    node = Comprehension(
        "a",
        dims(i=3, j=j),
        (read("s", "i", "t"), read("v", "t", "j")),
        (arg(0), arg(1)),
        dims(t=5),
        monoid=ONLINE_SOFTMAX,
    )
    return Graph((given("s", 3, 5), given("v", 5, j)), (node,), results(node))


@pytest.mark.parametrize("split", SPLITS)
def test_a_component_without_a_dim_is_stored_once(split: int, agree: Agree) -> None:
    found = agree(attention(2), {"s": numbers(3, 5), "v": numbers(5, 2)}, splits("a", split))
    assert found["m"].shape == (3,)
    assert found["acc"].shape == (3, 2)


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("j", [0, "j"])
def test_a_component_is_stored_even_when_a_dim_it_lacks_is_empty(
    j: PolyLike, split: int, agree: Agree
) -> None:
    agree(attention(j), {"s": numbers(3, 5), "v": np.zeros((5, 0))}, splits("a", split))


def test_a_node_without_dims_has_one_thread(agree: Agree) -> None:
    total = Comprehension("t", (), (read("x", "r"),), (arg(0),), dims(r=5), monoid=SUM)
    double = Comprehension(
        "d", (), (read("t", output="value"),), (apply("mul", arg(0), real(2)),), outputs=("y",)
    )
    graph = Graph((given("x", 5),), (total, double), results(double))
    agree(graph, {"x": numbers(5)})
    agree(graph, {"x": numbers(5)}, splits("t", 2))


def test_a_map_with_several_outputs_stores_each(agree: Agree) -> None:
    x = arg(0)
    body = (
        exp(x),
        apply("lt", x, real(0)),
        apply("to_index", apply("mul", x, real(3))),
        maximum(x, apply("to_real", iota("j"))),
        select(apply("lt", iota("i"), iota("j")), x, sub(real(1), x)),
    )
    node = Comprehension(
        "m", dims(i=3, j=4), (read("x", "j", "i"),), body, outputs=("a", "b", "c", "d", "e")
    )
    agree(Graph((given("x", 4, 3),), (node,), results(node)), {"x": numbers(4, 3)})


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 2.0**31, -(2.0**31) - 0.5, -0.25])
def test_a_cast_to_index_floors_and_saturates(value: float, agree: Agree) -> None:
    node = Comprehension(
        "c", dims(i=1), (read("x", "i"),), (apply("to_index", arg(0)),), outputs=("y",)
    )
    agree(Graph((given("x", 1),), (node,), results(node)), {"x": np.array([value])})


def test_index_arithmetic_rounds_towards_minus_infinity(agree: Agree) -> None:
    shifted = apply("add", iota("i"), index(-4))
    body = (
        apply("floordiv", shifted, index(3)),
        apply("mod", shifted, index(3)),
        apply("mod", shifted, extent("i")),
        apply("neg", shifted),
    )
    node = Comprehension("m", dims(i=8), (), body, outputs=("a", "b", "c", "d"))
    agree(Graph((), (node,), results(node)), {})


def test_a_division_by_an_empty_reduce_dim_is_never_reached(agree: Agree) -> None:
    body = (apply("to_real", apply("mod", iota("i"), extent("r"))),)
    node = Comprehension("f", dims(i=3), (read("x", "r"),), body, dims(r="n"), monoid=SUM)
    graph = Graph((given("x", "n"),), (node,), results(node))
    agree(graph, {"x": np.zeros(0)})
    agree(graph, {"x": np.zeros(2)})


def test_a_static_axis_may_be_read_like_a_dim(agree: Agree) -> None:
    axis = iota("h")
    rows = Monoid(
        "rows",
        inputs=(REAL,),
        components=(Component("acc", REAL, ("h",)),),
        lift=(arg(0),),
        identity=(real(0),),
        combine=(apply("add", state(0, 0, REAL, (axis,)), state(1, 0, REAL, (axis,))),),
        outputs=(Component("value", REAL, ("h",)),),
        project=(state(0, 0, REAL, (axis,)),),
        commutative=True,
        axes=(Axis("h", 3),),
    )
    node = Comprehension(
        "f", dims(i=2), (read("x", "i", "r", "h"),), (arg(0),), dims(r=4), monoid=rows
    )
    graph = Graph((given("x", 2, 4, 3),), (node,), results(node))
    for split in SPLITS:
        agree(graph, {"x": numbers(2, 4, 3)}, splits("f", split))
