"""Maps and copies are read through guards, fills and gathers without a change of value."""

from __future__ import annotations

import numpy as np
import pytest
from derivation_checks import agree, draw
from structural_examples import (
    I0,
    J,
    N,
    R,
    X,
    add,
    between,
    dims,
    folded,
    graph,
    mapped,
    mul,
    read,
    vector,
)

from tang.errors import GraphError
from tang.interpreter import interpret
from tang.ir.expr import INDEX, apply, arg, extent, index, iota, named, real
from tang.ir.extent import poly
from tang.ir.graph import Input
from tang.ir.monoids import ARGMAX, MAX, top_k
from tang.ir.view import constant, variable
from tang.rewrite import rewrite
from tang.rewrite.substitution import renamed
from tang.verify.rewriting import checker

G = variable("@0")


def through(before, rule, steps=1, sizes=(1, 2, 5), data=None):
    """The graph after the rule, equal to the one before on all kinds of data."""
    done = rewrite(before, [rule], strict=True, check=checker())
    assert [s.rule for s in done.trace] == [rule] * steps
    for seed, n in enumerate(sizes):
        for kind in ("dyadic", "special"):
            given = draw(before, seed, kind, dict.fromkeys(before.symbols, n))
            given = given | (data(n) if data else {})
            assert agree(before, done.graph, given, strict=True)
    return done.graph


def test_one_is_added_inside_the_guard_only():
    plus = mapped("a", N, [read("x", I0)], add(arg(0), real(1)))
    left = read("a.u", I0 - 1, fill=real(0), guard=[between(I0 - 1, 0, "n")])
    after = through(graph([X], [plus, mapped("b", N, [left], arg(0))], "b.u"), "substitute-maps")
    assert interpret(after, {"x": np.zeros(3)})["out0"].tolist() == [0, 1, 1]
    assert after.nodes[-1].body[0].op == "select"


def test_a_body_that_keeps_the_fill_needs_no_select():
    double = mapped("a", N, [read("x", I0)], mul(arg(0), real(2)))
    left = read("a.u", I0 - 1, fill=real(0), guard=[between(I0 - 1, 0, "n")])
    after = through(graph([X], [double, mapped("b", N, [left], arg(0))], "b.u"), "substitute-maps")
    assert after.nodes[-1].body[0].op == "mul"
    assert after.nodes[-1].reads[0].view.fill is real(0)


def test_the_guards_of_the_map_stay_inside():
    inner = read("x", I0 - 1, fill=real(5), guard=[between(I0 - 1, 0, "n")])
    a = mapped("a", N, [inner], apply("neg", arg(0)))
    outer = read("a.u", I0 - 1, fill=real(7), guard=[between(I0 - 1, 0, "n")])
    after = through(graph([X], [a, mapped("b", N, [outer], arg(0))], "b.u"), "substitute-maps")
    assert interpret(after, {"x": np.ones(4)})["out0"].tolist() == [7, -5, -1, -1]


def test_coordinates_and_extents_of_the_map_become_those_of_the_reader():
    body = apply("to_real", add(mul(iota("i"), extent("i")), index(1)))
    a = mapped("a", N, [read("x", I0)], add(arg(0), body))
    b = mapped("b", dims(k="n"), [read("a.u", constant("n") - 1 - variable("k"))], arg(0))
    through(graph([X], [a, b], "b.u"), "substitute-maps")


def test_an_extent_without_a_name_in_the_reader_stops_the_rule():
    a = mapped("a", N, [read("x", I0)], add(arg(0), apply("to_real", extent("i"))))
    b = mapped("b", dims(k=1), [read("a.u", constant(0), fill=real(1),
               guard=[between(constant(0), 0, "n")])], arg(0))  # fmt: skip
    assert rewrite(graph([X], [a, b], "b.u"), ["substitute-maps"]).trace == ()


def test_a_map_read_at_gathered_places_without_a_guard_is_left_alone():
    """Out of range the read is no value; what the map computes there might be one."""
    a = mapped("a", N, [read("x", I0)], add(arg(0), apply("to_real", iota("i"))))
    b = mapped("b", dims(j=4), [read("a.u", G, gathers=[read("t", J)])], arg(0))
    before = graph([X, vector("t", 4, sort=INDEX)], [a, b], "b.u")
    assert rewrite(before, ["substitute-maps"]).trace == ()


def test_a_guard_over_gathered_values_becomes_a_condition():
    a = mapped("a", N, [read("x", I0)], add(arg(0), real(1)))
    outer = read("a.u", G, fill=real(9), guard=[between(G, 0, "n")], gathers=[read("t", J)])
    b = mapped("b", dims(j="n"), [outer], arg(0))
    before = graph([X, vector("t", "n", sort=INDEX)], [a, b], "b.u")
    through(before, "substitute-maps", data=lambda n: {"t": np.array([-1, 0, n, 2**30, 1])[:n]})


def test_gathers_of_the_map_are_guarded_by_what_guarded_the_map():
    """Outside, the index of the inner gather would itself be read out of range."""
    a = mapped("a", N, [read("x", G, gathers=[read("s", I0)])], apply("neg", arg(0)))
    outer = read("a.u", G, fill=real(9), guard=[between(G, 0, "n")], gathers=[read("t", J)])
    b = mapped("b", dims(j="n"), [outer], arg(0))
    inputs = [X, vector("t", "n", sort=INDEX), vector("s", "n", sort=INDEX)]
    before = graph(inputs, [a, b], "b.u")

    def data(n):
        return {"t": np.array([-1, 0, n, 77, 1])[:n], "s": np.arange(n)[::-1]}

    through(before, "substitute-maps", data=data)


def test_nested_gathers_keep_their_numbers():
    nested = read("s", G, gathers=[read("r", I0)])
    a = mapped("a", N, [read("x", G, gathers=[nested])], arg(0))
    b = mapped("b", dims(j=4), [read("a.u", G, gathers=[read("t", J)])], arg(0))
    inputs = [X, *(vector(s, "n", sort=INDEX) for s in "rs"), vector("t", 4, sort=INDEX)]

    def data(n):
        return {"r": np.arange(n)[::-1], "s": (np.arange(n) * 2) % n, "t": np.arange(4) % n}

    through(graph(inputs, [a, b], "b.u"), "compose-views", data=data)


def test_two_fills_do_not_become_one():
    inner = read("x", I0 - 1, fill=real(5), guard=[between(I0 - 1, 0, "n")])
    a = mapped("a", N, [inner], arg(0))
    outer = read("a.u", I0 - 1, fill=real(7), guard=[between(I0 - 1, 0, "n")])
    before = graph([X], [a, mapped("b", N, [outer], arg(0))], "b.u")
    assert rewrite(before, ["compose-views"]).trace == ()
    through(before, "substitute-maps")


def test_two_fills_become_one_where_the_inner_is_never_seen():
    inner = read("x", I0, fill=real(5), guard=[between(I0, 0, "n")])
    a = mapped("a", dims(i=poly("n") + 2), [inner], arg(0))
    outer = read("a.u", I0, fill=real(7), guard=[between(I0, 0, "n")])
    b = mapped("b", dims(i=poly("n") + 3), [outer], arg(0))
    after = through(graph([X], [a, b], "b.u"), "compose-views")
    assert after.nodes[-1].reads[0].view.fill is real(7)


def test_a_copy_is_read_through_inside_a_reduction():
    turned = mapped("a", dims(i=3, j="n"), [read("x", J, I0)], arg(0))
    total = folded("b", (), dims(p="n", r=3), [read("a.u", R, variable("p"))], arg(0), monoid=MAX)
    after = through(graph([vector("x", "n", 3)], [turned, total], "b.value"), "compose-views")
    assert after.nodes[-1].reads[0].source.node == "x"


def test_a_reshape_by_a_quotient_is_a_view():
    """Read at 4h + e, the gathered quotient of a flat index by 4 is h."""
    flat = dims(f=poly("n") * 4)
    quotient = mapped("q", flat, [], apply("floordiv", iota("f"), index(4)))
    at = variable("f") - G.scale(4)
    merged = mapped("m", flat, [read("x", G, at, gathers=[read("q.u", variable("f"))])], arg(0))
    reader = mapped("b", dims(i="n", j=4), [read("m.u", I0.scale(4) + J)], apply("neg", arg(0)))
    done = rewrite(graph([vector("x", "n", 4)], [quotient, merged, reader], "b.u"),
                   ["compose-views"], check=checker())  # fmt: skip
    view = done.graph.nodes[-1].reads[0].view
    assert view.coords == (I0, J)
    assert not view.gathers


def test_an_expensive_map_is_not_evaluated_for_every_column():
    gelu = mapped("a", dims(i=64, j=64), [read("x", I0, J)], apply("erf", arg(0)))
    reads = [read("a.u", I0, R), read("y", variable("k"), R)]
    product = folded("b", dims(i=64, k=64), dims(r=64), reads, mul(arg(0), arg(1)))
    before = graph([vector("x", 64, 64), vector("y", 64, 64)], [gelu, product], "b.value")
    assert rewrite(before, ["substitute-maps"]).trace == ()


def test_a_map_that_the_caller_wants_is_not_computed_again():
    a = mapped("a", N, [read("x", I0)], apply("neg", arg(0)))
    b = mapped("b", N, [read("a.u", I0)], apply("neg", arg(0)))
    assert rewrite(graph([X], [a, b], "a.u", "b.u"), ["substitute-maps"]).trace == ()


def test_a_chain_of_residuals_does_not_grow_without_bound():
    nodes, source = [], "x"
    for n in range(12):
        f = mapped(f"f{n}", N, [read(source, I0)], apply("erf", arg(0)))
        s = mapped(f"s{n}", N, [read(source, I0), read(f"f{n}.u", I0)], add(arg(0), arg(1)))
        nodes, source = [*nodes, f, s], f"s{n}.u"
    done = rewrite(graph([X], nodes, source), ["substitute-maps", "dead-node"])
    assert max(len(n.reads) for n in done.graph.nodes) <= 6


def test_a_map_of_no_dims_is_substituted():
    a = mapped("a", (), [read("x")], apply("neg", arg(0)))
    b = mapped("b", N, [read("a.u"), read("y", I0)], add(arg(0), arg(1)))
    through(graph([Input("x", ()), vector("y", "n")], [a, b], "b.u"), "substitute-maps")


def test_the_index_of_a_semigroup_stays_its_position():
    a = mapped("a", N, [read("x", I0)], apply("neg", arg(0)))
    b = folded("b", (), dims(r="n"), [read("a.u", R)], arg(0), iota("r"), monoid=ARGMAX)
    through(graph([X], [a, b], "b.index", "b.value"), "substitute-maps")


def test_infinite_fills_and_empty_extents_keep_their_meaning():
    a = mapped("a", N, [read("x", I0)], apply("exp2", arg(0)))
    outer = read("a.u", R, fill=named("-inf"), guard=[between(R, 0, "n")])
    b = folded("b", (), dims(r=poly("n") + 1), [outer], arg(0), monoid=MAX)
    through(graph([X], [a, b], "b.value"), "substitute-maps", sizes=(0, 1, 3))


def test_renaming_never_captures_a_dim():
    node = folded("b", dims(i=2), dims(r=3), [read("x", I0, R)], arg(0))
    with pytest.raises(GraphError, match="two dims one"):
        renamed(node, {"i": "r"})
    swapped = renamed(node, {"i": "r", "r": "i"})
    assert swapped.reads[0].view.coords == (R, I0)


def test_a_whole_copy_for_the_caller_is_the_original_under_its_name():
    total = folded("a", N, dims(r=3), [read("x", I0, R)], arg(0), monoid=MAX)
    near = mapped("m", N, [read("a.value", I0)], apply("neg", arg(0)))
    copy = mapped("b", N, [read("a.value", I0)], arg(0))
    before = graph([vector("x", "n", 3)], [total, near, copy], "b.u", "m.u")
    after = through(before, "compose-views")
    assert [n.name for n in after.nodes] == ["b", "m"]
    assert str(after.outputs[0].ref) == "b.value"


def test_a_copy_of_a_part_or_in_another_order_is_a_copy():
    total = folded("a", dims(i=2, j=2), dims(r=3), [read("x", I0, J, R)], arg(0), monoid=MAX)
    copy = mapped("b", dims(i=2, j=2), [read("a.value", J, I0)], arg(0))
    before = graph([vector("x", 2, 2, 3)], [total, copy], "b.u")
    assert rewrite(before, ["compose-views"]).trace == ()


def test_one_output_of_several_is_substituted_and_the_others_stay():
    a = mapped("a", N, [read("x", I0), read("y", I0)], apply("neg", arg(0)), apply("neg", arg(1)))
    b = mapped("b", N, [read("a.v", I0)], add(arg(0), real(1)))
    inputs = [X, vector("y", "n")]
    after = through(graph(inputs, [a, b], "b.u", "a.u"), "substitute-maps")
    assert [r.source.node for r in after.nodes[-1].reads] == ["y"]


def test_a_static_axis_reaches_into_the_map():
    """The element of rank k is read at k: the map's coordinate is that of the axis."""
    k = top_k(2)
    a = mapped("a", dims(i=2, j="n"), [read("x", I0, J)],
               add(arg(0), apply("to_real", iota("i"))))  # fmt: skip
    rank = variable("rank")
    b = folded("b", (), dims(r="n"), [read("a.u", rank, R)], arg(0), iota("r"), monoid=k)
    through(graph([vector("x", 2, "n")], [a, b], "b.values"), "substitute-maps", sizes=(2, 5))
