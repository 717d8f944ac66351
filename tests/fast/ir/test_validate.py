"""Legal graphs pass; each kind of fault is refused by a message that says where and what to do."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from tang.errors import GraphError
from tang.ir.expr import BOOL, INDEX, Expr, apply, arg, boolean, extent, fold, index, iota, real
from tang.ir.expr import state as state_of
from tang.ir.extent import Poly, poly
from tang.ir.graph import Comprehension, Dim, Fact, Graph, Input, Output
from tang.ir.monoid import Axis, Component, Monoid
from tang.ir.monoids import ARGMAX, MAX, SUM, product, top_k
from tang.ir.validate import MAX_DIMS, MAX_NODES, validate
from tang.ir.view import Affine, Interval, Read, Ref, View, constant, variable

I0, K0 = variable("i"), variable("k")
X = Input("x", (poly(8),))
OUT = (Output("y", Ref("y", "value")),)


def dims(**extents: int | str) -> tuple[Dim, ...]:
    return tuple(Dim(n, poly(e)) for n, e in extents.items())


def read(source: str, *coords: Affine, output: str = "", **view: object) -> Read:
    return Read(Ref(source, output), View(tuple(coords), **view))


def a_map(**change: object) -> Graph:
    """y[i:8] = x[i], with fields of the node replaced."""
    node = Comprehension("y", dims(i=8), (read("x", I0),), (arg(0),), outputs=("value",))
    return Graph((X,), (replace(node, **change),), OUT)


def a_sum(**change: object) -> Graph:
    """y[i:2] = sum[k:4](x[i + k]), with fields of the node replaced."""
    node = Comprehension(
        "y", dims(i=2), (read("x", I0 + K0),), (arg(0),), reduce=dims(k=4), monoid=SUM
    )
    return Graph((X,), (replace(node, **change),), OUT)


def guarded(form: Affine, lo: int, hi: int, fill: Expr | None = None) -> dict[str, object]:
    return {"guard": (Interval(form, poly(lo), poly(hi)),), "fill": fill or real(0)}


def gather(source: str, *coords: Affine, **view: object) -> dict[str, object]:
    return {"gathers": (read(source, *coords, **view),)}


def with_index(*reads: Read) -> Graph:
    """A map whose first read gathers; `idx` holds 8 indices."""
    g = a_map(reads=reads)
    return replace(g, inputs=(X, Input("idx", (poly(8),), INDEX), Input("ok", (poly(8),), BOOL)))


AT = variable("@0")
LEGAL: dict[str, Callable[[], Graph]] = {
    "map": a_map,
    "sum": a_sum,
    "any name": lambda: replace(
        a_map(reads=(read("packed new €", I0),)), inputs=(Input("packed new €", (poly(8),)),)
    ),
    "stride 0": lambda: a_map(reads=(read("x", constant(0)),)),
    "negative stride": lambda: a_map(reads=(read("x", -I0 + 7),)),
    "guarded stencil": lambda: a_map(reads=(read("x", I0 - 1, **guarded(I0 - 1, 0, 8)),)),
    "guard by another form": lambda: a_map(reads=(read("x", I0 + 1, **guarded(I0, 0, 7)),)),
    "where keeps a scan inside": lambda: a_sum(
        point=dims(i=8), reduce=dims(k=8), where=(I0 - K0,), reads=(read("x", I0 - K0),)
    ),
    "no points, no reads": lambda: a_map(point=dims(i=0), reads=(read("x", I0 + 99),)),
    "gather": lambda: with_index(read("x", AT, **gather("idx", I0))),
    "guard shields a gather": lambda: with_index(
        read("x", AT, **gather("idx", I0 + 1), **guarded(I0, 0, 7))
    ),
    "gather of a gather": lambda: with_index(
        read("x", variable("@1"), gathers=(read("idx", I0), read("idx", AT)))
    ),
    "empty sum": lambda: a_sum(reduce=dims(k=0)),
    "empty argmax over no points": lambda: a_sum(
        point=dims(i=0), reduce=dims(k=0), body=(arg(0), iota("k")), monoid=ARGMAX
    ),
    "symbolic, to be decided later": lambda: replace(
        a_map(point=dims(i="n"), reads=(read("x", I0 + 1),))
    ),
    "top-k of as many": lambda: replace(
        a_sum(body=(arg(0), iota("k")), monoid=top_k(4)), outputs=(Output("y", Ref("y", "best")),)
    ),
}


@pytest.mark.parametrize("name", LEGAL)
def test_a_legal_graph_is_accepted(name: str) -> None:
    validate(LEGAL[name]())


def test_every_sample_graph_is_legal(sample: Graph) -> None:
    validate(sample)


def vector_sum() -> Monoid:
    own, other = state_of(0, 0), state_of(1, 0)
    parts = (Component("acc", SUM.inputs[0]),)
    outs = (Component("value", SUM.inputs[0]),)
    add = (apply("add", own, other),)
    axes = (Axis("w", 3),)
    return Monoid("v", SUM.inputs, parts, (arg(0),), (real(0),), add, outs, (own,), True, axes)


def two_nodes(first: str, second: str) -> Graph:
    g = a_map()
    return replace(g, nodes=(replace(g.nodes[0], name=first), replace(g.nodes[0], name=second)))


def later() -> Graph:
    g = two_nodes("y", "z")
    reads = (read("z", I0, output="value"),)
    return replace(g, nodes=(replace(g.nodes[0], reads=reads), g.nodes[1]))


ILLEGAL: dict[str, tuple[Callable[[], Graph], str]] = {
    "same names": (lambda: two_nodes("y", "x"), "two tensors are named 'x'"),
    "no name": (lambda: two_nodes("y", ""), "a tensor needs a non-empty name"),
    "newline": (lambda: two_nodes("y", "a\nb"), "control character"),
    "surrogate": (lambda: two_nodes("y", "\ud800"), "surrogate"),
    "long name": (lambda: two_nodes("y", "n" * 300), "over 256 characters"),
    "no output": (lambda: replace(a_map(), outputs=()), "needs an output"),
    "unknown output": (
        lambda: replace(a_map(), outputs=(Output("o", Ref("z", "value")),)),
        "output 'o' names the unknown tensor 'z'",
    ),
    "unknown result": (
        lambda: replace(a_map(), outputs=(Output("o", Ref("y", "acc")),)),
        "output 'o': node 'y' has no output 'acc': one of value",
    ),
    "output of an input": (
        lambda: a_map(reads=(read("x", I0, output="value"),)),
        "node 'y': reads[0]: 'x' is an input",
    ),
    "two outputs": (lambda: replace(a_map(), outputs=OUT + OUT), "two outputs are named 'y'"),
    "itself": (
        lambda: a_map(reads=(read("y", I0, output="value"),)),
        "node 'y': reads[0] reads itself",
    ),
    "later": (later, "reads[0] reads the later node 'z': nodes read inputs and earlier nodes only"),
    "unknown source": (lambda: a_map(reads=(read("q", I0),)), "reads the unknown tensor 'q'"),
    "rank": (
        lambda: a_map(reads=(read("x", I0, I0),)),
        "reads[0] gives 2 coordinates to 'x' of rank 1",
    ),
    "unknown variable": (
        lambda: a_map(reads=(read("x", variable("j")),)),
        "reads[0].view.coords[0] = j uses ['j']",
    ),
    "unknown variable in a guard": (
        lambda: a_map(reads=(read("x", I0, **guarded(variable("j"), 0, 8)),)),
        "reads[0].view.guard[0] = j uses ['j']",
    ),
    "gathered value without gather": (
        lambda: a_map(reads=(read("x", AT),)),
        "reads[0].view.coords[0] = @0 uses ['@0']",
    ),
    "gather by itself": (
        lambda: with_index(read("x", AT, **gather("idx", AT))),
        "reads[0].view.gathers[0].view.coords[0] = @0 uses ['@0']",
    ),
    "gather from reals": (
        lambda: with_index(read("x", AT, **gather("x", I0))),
        "reads[0].view.gathers[0] takes indices from 'x', which holds real",
    ),
    "gather outside": (
        lambda: with_index(read("x", AT, **gather("idx", I0 + 1))),
        "reads[0].view.gathers[0].view.coords[0] = i + 1 ranges over [1, 8]",
    ),
    "fill": (
        lambda: a_map(reads=(read("x", I0, **guarded(I0, 0, 8, index(0))),)),
        "reads[0]: the fill is index, 'x' holds real",
    ),
    "arg": (lambda: a_map(body=(arg(1),)), "body[0] uses arg 1, but there are 1 reads"),
    "negative arg": (lambda: a_map(body=(arg(-1),)), "body[0] uses arg -1"),
    "arg sort": (
        lambda: a_map(body=(arg(0, INDEX),)),
        "body[0] takes reads[0] as index, not real",
    ),
    "state": (lambda: a_map(body=(state_of(0, 0),)), "body[0] uses state"),
    "fold": (lambda: a_map(body=(fold("w", 2, arg(0)),)), "body[0] uses fold"),
    "iota": (lambda: a_map(body=(iota("j"),)), "uses the coordinate of the unknown dim 'j'"),
    "extent": (lambda: a_map(body=(extent("j"),)), "uses the extent of no dim 'j'"),
    "reduce in a map": (lambda: a_map(reduce=dims(k=2)), "a map has no reduce dims"),
    "where in a map": (lambda: a_map(where=(I0,)), "a map has no where"),
    "bodies": (lambda: a_map(outputs=("a", "b")), "1 bodies for 2 outputs"),
    "no results": (lambda: a_map(outputs=(), body=()), "a map needs an output"),
    "same results": (lambda: a_map(outputs=("a", "a"), body=(arg(0),) * 2), "named 'a'"),
    "outputs of a reduction": (lambda: a_sum(outputs=("v",)), "leave them empty"),
    "monoid sorts": (
        lambda: a_sum(body=(boolean(True),)),
        "sum takes (real), the body gives (bool)",
    ),
    "monoid count": (lambda: a_sum(monoid=ARGMAX), "argmax takes (real, index)"),
    "same dims": (lambda: a_sum(reduce=dims(i=4)), "named 'i'"),
    "dim like an axis": (
        lambda: a_sum(point=dims(rank=2, i=2), body=(arg(0), iota("k")), monoid=top_k(2)),
        "named 'rank'",
    ),
    "dim like a gather": (lambda: a_map(point=(*dims(i=8), Dim("@0", poly(1)))), "starts with @"),
    "negative extent": (lambda: a_map(point=dims(i=-1)), "dim 'i' has extent -1"),
    "huge extent": (lambda: a_map(point=dims(i=2**63)), "beyond 2^63"),
    "negative shape": (
        lambda: replace(a_map(), inputs=(Input("x", (poly(-8),)),)),
        "input 'x' dim 0 has extent -8",
    ),
    "symbol name": (
        lambda: a_map(point=(Dim("i", Poly(((("1n",), 1),))),)),
        "'1n' cannot name an extent",
    ),
    "where over an axis": (
        lambda: a_sum(where=(variable("rank"),), body=(arg(0), iota("k")), monoid=top_k(2)),
        "where[0] = rank uses ['rank']: the point and reduce dims are ['i', 'k']",
    ),
    "body varies with a foreign axis": (
        lambda: a_sum(reads=(read("x", variable("w")),), monoid=vector_sum()),
        "component acc of v depends on axes ['w'] through the body",
    ),
    "empty argmax": (
        lambda: a_sum(reduce=dims(k=0), body=(arg(0), iota("k")), monoid=ARGMAX),
        "node 'y': argmax of nothing: the reduce dims [k:0] are empty",
    ),
    "top-k of too few": (
        lambda: a_sum(body=(arg(0), iota("k")), monoid=top_k(5)),
        "top_k_5 of 4 elements: [k:4] has fewer than 5",
    ),
    "top-k in a product": (
        lambda: a_sum(body=(arg(0), arg(0), iota("k")), monoid=product(MAX, top_k(5))),
        "fewer than 5",
    ),
    "coordinate above": (
        lambda: a_sum(reads=(read("x", I0 + K0 + 4),)),
        "node 'y': reads[0].view.coords[0] = i + k + 4 ranges over [4, 8], but dim 0 of 'x' has "
        "extent 8: guard the read with a fill",
    ),
    "coordinate below": (lambda: a_map(reads=(read("x", I0 - 1),)), "ranges over [-1, 6]"),
    "guard too wide": (
        lambda: a_map(reads=(read("x", I0 - 1, **guarded(I0 - 1, -1, 8)),)),
        "ranges over [-1, 6]",
    ),
    "where too wide": (
        lambda: a_sum(
            point=dims(i=8), reduce=dims(k=8), where=(I0 - K0 + 1,), reads=(read("x", I0 - K0),)
        ),
        "ranges over [-1, 7]",
    ),
    "guard over gathered values does not shield": (
        lambda: with_index(read("x", I0 + 1, **gather("idx", I0), **guarded(AT, 0, 7))),
        "reads[0].view.coords[0] = i + 1 ranges over [1, 8]",
    ),
    "fact": (lambda: replace(a_map(), facts=(Fact("n", 3, 2),)), "maximum 2 is below 3"),
    "multiple": (lambda: replace(a_map(), facts=(Fact("n", 0, None, 0),)), "multiple 0"),
    "two facts": (lambda: replace(a_map(), facts=(Fact("n"), Fact("n"))), "named 'n'"),
    "index constant": (lambda: a_map(body=(index(2**64),)), "index constant beyond 2^63"),
    "real constant": (lambda: a_map(body=(real(1 << 20_000),)), "a constant of 20001 bits"),
    "many dims": (
        lambda: a_map(point=dims(i=8, **{f"d{n}": 1 for n in range(MAX_DIMS)})),
        "65 dims and axes",
    ),
}


@pytest.mark.parametrize("name", ILLEGAL)
def test_an_illegal_graph_is_refused(name: str) -> None:
    make, message = ILLEGAL[name]
    with pytest.raises(GraphError, match=re.escape(message)):
        validate(make())


def test_too_many_nodes_are_refused_at_once():
    g = a_map()
    with pytest.raises(GraphError, match="more than 10000 nodes"):
        validate(replace(g, nodes=g.nodes * (MAX_NODES + 1)))


def test_gathers_nested_too_deep_are_refused():
    view = View((I0,))
    for _ in range(9):
        view = View((AT,), (), None, (Read(Ref("idx"), view),))
    with pytest.raises(GraphError, match="gathers nest over 8"):
        validate(with_index(Read(Ref("x"), view)))


def test_a_deep_body_is_checked_without_recursion():
    body = arg(0)
    for _ in range(50_000):
        body = apply("neg", body)
    validate(a_map(body=(body,)))
    with pytest.raises(GraphError, match="uses arg 7"):
        validate(a_map(body=(apply("add", body, arg(7)),)))


def test_a_long_chain_of_nodes_is_checked_quickly():
    first = a_map().nodes[0]
    nodes = [replace(first, name="n0")]
    for n in range(1, 5000):
        nodes.append(replace(first, name=f"n{n}", reads=(read(f"n{n - 1}", I0, output="value"),)))
    validate(Graph((X,), tuple(nodes), (Output("y", Ref("n4999", "value")),)))
