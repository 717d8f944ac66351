"""Binding and the inference of sizes from shapes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tang.errors import GraphError
from tang.ir.bind import bind, infer_sizes
from tang.ir.expr import INDEX, arg, iota, real
from tang.ir.extent import Poly, poly
from tang.ir.graph import Comprehension, Dim, Fact, Graph, Input, Output
from tang.ir.monoids import ARGMAX, SUM, top_k
from tang.ir.serial import to_json
from tang.ir.view import Interval, Read, Ref, View, variable

N, M = poly("n"), poly("m")
Graphs = dict[str, Callable[[], Graph]]


def inputs_only(*shapes: tuple[Poly, ...], facts: tuple[Fact, ...] = ()) -> Graph:
    """Inputs a, b, … of these shapes and a constant node."""
    inputs = tuple(Input(name, s) for name, s in zip("abcd", shapes, strict=False))
    node = Comprehension("y", (Dim("i", poly(2)),), (), (iota("i"),), outputs=("value",))
    return Graph(inputs, (node,), (Output("y", Ref("y", "value")),), facts)


def test_binding_replaces_symbols_everywhere(graphs: Graphs) -> None:
    bound = bind(graphs["symbolic_softmax"](), {"m": 3, "n": 8})
    assert not bound.symbols
    assert bound.facts == ()
    assert '"n"' not in to_json(bound)
    assert bound.nodes[1].reads[0].view.coords == (variable("i", 8) + variable("k"),)


def test_binding_can_be_partial_and_ignores_other_symbols(graphs: Graphs) -> None:
    bound = bind(graphs["symbolic_softmax"](), {"n": 8, "q": 5})
    assert bound.symbols == {"m"}
    assert [f.symbol for f in bound.facts] == ["m"]


def test_binding_in_two_steps_is_binding_at_once(graphs: Graphs) -> None:
    g = graphs["symbolic_softmax"]()
    assert bind(bind(g, {"n": 4}), {"m": 2}) == bind(g, {"m": 2, "n": 4})


def test_binding_nothing_changes_nothing(sample: Graph) -> None:
    assert bind(sample, {}) == sample


def test_binding_reaches_guards_gathers_and_where():
    guard = (Interval(variable("i", N), poly(0), N * N),)
    index_read = Read(Ref("idx"), View((variable("i"),)))
    view = View((variable("@0", N),), guard, real(0), (index_read,))
    where = (variable("k", N) - N,)
    node = Comprehension(
        "y",
        (Dim("i", N),),
        (Read(Ref("x"), view),),
        (arg(0),),
        reduce=(Dim("k", N + 1),),
        where=where,
        monoid=SUM,
    )
    inputs = (Input("x", (N * N,)), Input("idx", (N,), INDEX))
    bound = bind(Graph(inputs, (node,), (Output("y", Ref("y", "value")),)), {"n": 3})
    (n,) = bound.nodes
    assert n.where == (variable("k", 3) - 3,)
    assert n.reads[0].view.coords == (variable("@0", 3),)
    assert n.reads[0].view.guard == (Interval(variable("i", 3), poly(0), poly(9)),)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"n": -1}, "the size of 'n' is -1"),
        ({"n": 2.0}, "the size of 'n' is an int, not 2.0"),
        ({"n": True}, "the size of 'n' is an int, not True"),
        ({"n": 0}, "n = 0 violates the declared fact n >= 1"),
        ({"n": 8192}, "n = 8192 violates the declared fact n <= 4096"),
        ({"n": 6}, "n = 6 violates the declared fact n % 4 == 0"),
    ],
)
def test_a_bad_size_is_refused(graphs: Graphs, sizes: dict[str, int], message: str) -> None:
    with pytest.raises(GraphError, match=message.replace(".", r"\.")):
        bind(graphs["symbolic_softmax"](), sizes)


def reduction(monoid: object, extent: Poly) -> Graph:
    node = Comprehension(
        "y",
        (),
        (Read(Ref("x"), View((variable("k"),))),),
        (arg(0), iota("k")),
        reduce=(Dim("k", extent),),
        monoid=monoid,
    )
    return Graph((Input("x", (N,)),), (node,), (Output("y", Ref("y", "value")),))


def test_an_extent_that_becomes_negative_is_refused():
    with pytest.raises(GraphError, match="dim 'k' has extent -1"):
        bind(reduction(ARGMAX, N - 1), {"n": 0})


def test_an_argmax_that_becomes_empty_is_refused():
    with pytest.raises(GraphError, match="argmax of nothing"):
        bind(reduction(ARGMAX, N), {"n": 0})


def test_a_top_k_that_gets_too_few_elements_is_refused():
    g = reduction(top_k(3), N)
    g = Graph(g.inputs, g.nodes, (Output("y", Ref("y", "values")),))
    bind(g, {"n": 3})
    with pytest.raises(GraphError, match="fewer than 3"):
        bind(g, {"n": 2})


def test_a_view_that_leaves_its_source_is_refused_once_bound():
    with pytest.raises(GraphError, match=r"= k ranges over \[0, 5\], but dim 0 of 'x'"):
        bind(reduction(ARGMAX, N + 1), {"n": 5})


def test_sizes_come_from_lone_symbols_and_check_the_others(graphs: Graphs) -> None:
    g = graphs["symbolic_softmax"]()
    assert infer_sizes(g, {"X": (3, 8), "F": (24,)}) == {"m": 3, "n": 8}
    with pytest.raises(GraphError, match=r"input 'F' dim 0 is m\*n = 24, but 25 came"):
        infer_sizes(g, {"X": (3, 8), "F": (25,)})


def test_numpy_integers_are_sizes():
    found = infer_sizes(inputs_only((N,)), {"a": (np.int64(4),)})
    assert found == {"n": 4}
    assert type(found["n"]) is int


def test_linear_dims_are_solved_whatever_their_order():
    g = inputs_only((N * M + 1,), (2 * N + 1,), (N + M,))
    assert infer_sizes(g, {"a": (21,), "b": (9,), "c": (9,)}) == {"n": 4, "m": 5}


def test_a_conflict_names_both_inputs_and_values():
    message = r"input 'b' dim 0 is n = 4, but 5 came \(n = 4 by input 'a' dim 0 of size 4\)"
    with pytest.raises(GraphError, match=message):
        infer_sizes(inputs_only((N,), (N,)), {"a": (4,), "b": (5,)})


@pytest.mark.parametrize(
    ("shape", "came", "message"),
    [
        ((2 * N,), (5,), r"input 'a' dim 0 is 2\*n, which cannot be 5"),
        ((N + 3,), (2,), r"is 3\+n, which cannot be 2 for any size n"),
        ((poly(4),), (5,), "input 'a' dim 0 is 4, but 5 came"),
        ((N,), (4, 4), r"input 'a' has shape \(n\), but \(4, 4\) came"),
        ((N * N,), (4,), "do not determine n"),
        ((N + M,), (4,), "do not determine m, n"),
        ((N,), (-4,), "sizes are at least 0"),
    ],
)
def test_a_shape_that_fits_no_size_is_refused(
    shape: tuple[Poly, ...], came: tuple[int, ...], message: str
) -> None:
    with pytest.raises(GraphError, match=message):
        infer_sizes(inputs_only(shape), {"a": came})


def test_missing_and_unknown_inputs_are_named():
    with pytest.raises(GraphError, match=r"input 'a' is missing: it has shape \(n\)"):
        infer_sizes(inputs_only((N,)), {})
    with pytest.raises(GraphError, match="no input 'z': one of a"):
        infer_sizes(inputs_only((N,)), {"a": (1,), "z": (1,)})


def test_inferred_sizes_must_obey_the_facts():
    with pytest.raises(GraphError, match="n = 3 violates the declared fact n % 2 == 0"):
        infer_sizes(inputs_only((N,), facts=(Fact("n", 0, None, 2),)), {"a": (3,)})
