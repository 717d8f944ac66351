"""Siblings, dims, equal nodes, dead parts and factors at their edges."""

from __future__ import annotations

import numpy as np
import pytest
from derivation_checks import agree, draw
from structural_examples import (
    I0,
    J,
    N,
    P,
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

from tang.ir.expr import INDEX, apply, arg, extent, index, iota, named, real
from tang.ir.extent import poly
from tang.ir.graph import Fact, Input
from tang.ir.monoids import AFFINE_SCAN, ARGMAX, BUILTIN, MAX, SUM, WELFORD, product, top_k
from tang.ir.view import constant, variable
from tang.rewrite import rewrite
from tang.rewrite.factors import factors, joined
from tang.verify.rewriting import checker


def derived(before, rule, steps=1, sizes=(0, 1, 4), strict=True):
    """The graph after the rule, equal to the one before, with so many steps."""
    done = rewrite(before, [rule], strict, check=checker())
    assert [s.rule for s in done.trace] == [rule] * steps
    for seed, n in enumerate(sizes):
        for kind in ("dyadic", "random", *(["special"] if strict else [])):
            data = draw(before, seed, kind, dict.fromkeys(before.symbols, n))
            assert agree(before, done.graph, data, strict), (n, kind)
    return done.graph


VALUE = arg(0)


def rows(name, monoid=SUM, body=(VALUE,), where=()):
    """A reduction over the rows of x."""
    return folded(name, N, dims(r=3), [read("x", I0, R)], *body, monoid=monoid, where=where)


# --- siblings ------------------------------------------------------------------------------------


def test_three_reductions_over_one_loop_become_one_flat_product():
    x = vector("x", "n", 3)
    nodes = [rows("a"), rows("b", MAX), rows("c", WELFORD)]
    before = graph([x], nodes, "a.value", "b.value", "c.average", "c.variance", "c.n")
    after = derived(before, "merge-siblings", steps=2)
    assert [f.monoid for f in factors(after.nodes[0].monoid)] == [SUM, MAX, WELFORD]


def test_static_axes_are_renamed_with_their_monoid():
    x = vector("x", "n", 3)
    nodes = [rows("a", MAX), rows("b", top_k(2), (arg(0), iota("r"))),
             rows("c", top_k(2), (apply("neg", arg(0)), iota("r")))]  # fmt: skip
    before = graph([x], nodes[1:], "b.values", "b.indices", "c.indices")
    derived(before, "merge-siblings")


def test_a_semigroup_and_a_monoid_stay_apart():
    """Their product has no identity: an empty sum would be NaN."""
    before = graph([vector("x", "n", 3)], [rows("a"), rows("b", ARGMAX, (arg(0), iota("r")))],
                   "a.value", "b.index")  # fmt: skip
    assert rewrite(before, ["merge-siblings"]).trace == ()


def test_two_semigroups_merge_also_where_nothing_is_seen():
    none = [constant(-1) - R]
    nodes = [folded(n, (), dims(r="n"), [read("x", R)], b, iota("r"), monoid=ARGMAX, where=none)
             for n, b in (("a", arg(0)), ("b", apply("neg", arg(0))))]  # fmt: skip
    derived(graph([X], nodes, "a.index", "b.index"), "merge-siblings", sizes=(1, 4))


def test_other_conditions_keep_reductions_apart():
    x = vector("x", "n", 3)
    before = graph(
        [x], [rows("a", where=[I0 - R]), rows("b", where=[R - I0])], "a.value", "b.value"
    )
    assert rewrite(before, ["merge-siblings"]).trace == ()
    same = graph([x], [rows("a", where=[I0 - R]), rows("b", MAX, where=[I0 - R])],
                 "a.value", "b.value")  # fmt: skip
    derived(same, "merge-siblings")


def test_order_matters_to_a_scan_and_stays_apart_from_a_sum():
    x = vector("x", "n", 3)
    before = graph([x], [rows("a"), rows("b", AFFINE_SCAN, (arg(0), arg(0)))], "a.value", "b.value")
    assert rewrite(before, ["merge-siblings"]).trace == ()


def test_a_node_does_not_merge_with_what_it_needs():
    x = vector("x", "n", 3)
    mean = rows("a")
    spread = folded("b", N, dims(r=3), [read("x", I0, R), read("a.value", I0)],
                    add(arg(0), apply("neg", arg(1))))  # fmt: skip
    assert rewrite(graph([x], [mean, spread], "b.value"), ["merge-siblings"]).trace == ()
    between = mapped("m", N, [read("a.value", I0)], apply("neg", arg(0)))
    spread = folded("b", N, dims(r=3), [read("x", I0, R), read("m.u", I0)], add(arg(0), arg(1)))
    assert rewrite(graph([x], [mean, between, spread], "b.value"), ["merge-siblings"]).trace == ()


def test_gate_and_up_become_one_product_of_matrices_and_the_activation_stays():
    s = variable("s")
    gate = folded("g", N, dims(r=4), [read("x", I0, R), read("w", R)], mul(arg(0), arg(1)))
    bent = mapped("act", N, [read("g.value", I0)], apply("exp2", arg(0)))
    up = folded("u", dims(k="n"), dims(s=4), [read("x", variable("k"), s), read("v", s)],
                mul(arg(1), arg(0)))  # fmt: skip
    out = mapped("y", N, [read("act.u", I0), read("u.value", I0)], mul(arg(0), arg(1)))
    inputs = [vector("x", "n", 4), vector("w", 4), vector("v", 4)]
    after = derived(graph(inputs, [gate, bent, up, out], "y.u"), "merge-siblings")
    assert [n.name for n in after.nodes] == ["g", "act", "y"]


def test_maps_with_a_common_read_become_one_map_and_keep_both_outputs():
    a = mapped("a", N, [read("x", I0)], apply("neg", arg(0)))
    b = mapped("b", dims(j="n"), [read("x", J)], apply("exp2", arg(0)))
    after = derived(graph([X], [a, b], "a.u", "b.u"), "merge-siblings")
    assert after.nodes[0].outputs == ("u", "u_2")


def test_different_views_of_one_tensor_are_no_common_read():
    a = mapped("a", N, [read("x", I0)], apply("neg", arg(0)))
    b = mapped("b", N, [read("x", constant("n") - 1 - I0)], apply("neg", arg(0)))
    assert rewrite(graph([X], [a, b], "a.u", "b.u"), ["merge-siblings"]).trace == ()


# --- factors -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BUILTIN)
def test_a_builtin_monoid_is_one_factor_and_comes_back_from_products(name):
    m = BUILTIN[name]
    assert [f.monoid for f in factors(m)] == [m]
    found = factors(product(product(m, m), m))
    assert [f.monoid for f in found] == [m, m, m]
    assert joined(found)[0] == product(m, m, m)


def test_a_factor_keeps_what_the_product_promised():
    """A sum beside a semigroup has no identity: its empty fold is NaN, and stays NaN."""
    sum_alone = factors(product(SUM, ARGMAX))[0].monoid
    assert sum_alone.identity is None
    assert sum_alone.combine == SUM.combine
    assert not factors(product(MAX, AFFINE_SCAN))[0].monoid.commutative


def test_the_axes_of_a_factor_come_back():
    assert [f.monoid for f in factors(product(top_k(2), SUM))] == [top_k(2), SUM]


# --- dead parts, equal nodes ---------------------------------------------------------------------


def test_a_part_whose_state_is_read_stays():
    both = product(WELFORD, MAX, SUM)
    node = folded("a", N, dims(r=3), [read("x", I0, R)], arg(0), arg(0), apply("neg", arg(0)),
                  monoid=both)  # fmt: skip
    before = graph([vector("x", "n", 3)], [node], "a.p0_m2", "a.p2_value")
    after = derived(before, "dead-part")
    assert after.nodes[0].monoid == product(WELFORD, SUM)


def test_a_monoid_that_needs_all_its_components_stays_whole():
    node = folded("a", N, dims(r=3), [read("x", I0, R)], arg(0), iota("r"), monoid=ARGMAX)
    assert rewrite(graph([vector("x", "n", 3)], [node], "a.index"), ["dead-part"]).trace == ()


def test_equal_reductions_become_one_whatever_their_dims_are_called():
    a = folded("a", dims(i="n"), dims(r=3), [read("x", I0, R)], arg(0), where=[I0 - R])
    b = folded("b", dims(r="n"), dims(p=3), [read("x", R, P)], arg(0), where=[R - P])
    both = mapped("c", N, [read("a.value", I0), read("b.value", I0)], mul(arg(0), arg(1)))
    after = derived(graph([vector("x", "n", 3)], [a, b, both], "c.u"), "common-subexpression")
    assert [n.name for n in after.nodes] == ["a", "c"]


def test_another_condition_order_or_operand_is_not_equal():
    x = vector("x", "n", 3)
    for one, two in (
        (rows("a", where=[I0 - R]), rows("b", where=[R - I0])),
        (rows("a", MAX), rows("b", SUM)),
        (rows("a", body=(add(arg(0), real(1)),)), rows("b", body=(add(arg(0), real(2)),))),
    ):
        before = graph([x], [one, two], "a.value", "b.value")
        assert rewrite(before, ["common-subexpression"]).trace == ()


def test_a_map_is_found_inside_one_with_more_outputs():
    a = mapped("a", N, [read("x", I0)], apply("neg", arg(0)), apply("exp2", arg(0)))
    b = mapped("b", N, [read("x", I0)], apply("exp2", arg(0)))
    after = derived(graph([X], [a, b], "a.u", "b.u"), "common-subexpression")
    assert str(after.outputs[1].ref) == "a.v"


# --- dims ----------------------------------------------------------------------------------------


def test_reduce_dims_merge_in_order_also_for_a_scan():
    x = Input("x", (poly("n") * 3,))
    node = folded("a", (), dims(i="n", j=3), [read("x", I0.scale(3) + J)], arg(0), arg(0),
                  monoid=AFFINE_SCAN)  # fmt: skip
    done = rewrite(graph([x], [node], "a.value"), ["merge-dims"], check=checker())
    assert [str(d.extent) for d in done.graph.nodes[0].reduce] == ["3*n"]


def test_a_pair_whose_coordinate_is_used_alone_stays():
    x = Input("x", (poly("n") * 3,))
    node = folded("a", (), dims(i="n", j=3), [read("x", I0.scale(3) + J)],
                  mul(arg(0), apply("to_real", iota("j"))))  # fmt: skip
    assert rewrite(graph([x], [node], "a.value"), ["merge-dims"]).trace == ()
    other = folded("a", (), dims(i="n", j=3), [read("x", I0 + J.scale("n"))], arg(0))
    assert rewrite(graph([x], [other], "a.value"), ["merge-dims"]).trace == ()


def test_a_result_that_the_caller_wants_keeps_its_dims():
    x = Input("x", (poly("n") * 3,))
    node = mapped("a", dims(i="n", j=3), [read("x", I0.scale(3) + J)], apply("neg", arg(0)))
    assert rewrite(graph([x], [node], "a.u"), ["merge-dims"]).trace == ()


def test_gathers_of_a_reader_follow_the_merged_shape():
    x = Input("x", (poly("n") * 3,), INDEX)
    last = apply("neg", arg(0, INDEX))
    t = mapped("t", dims(i="n", j=3), [read("x", I0.scale(3) + J)], last)
    gather = read("t.u", J, I0, fill=index(0), guard=[between(I0, 0, 2)])
    b = mapped("b", dims(i=3, j="n"), [read("y", variable("@0"), gathers=[gather])], arg(0))
    before = graph([x, vector("y", 9)], [t, b], "b.u")
    done = rewrite(before, ["merge-dims"], check=checker())
    assert [s.node for s in done.trace] == ["t"]
    data = {"x": -np.arange(9), "y": np.arange(9.0)}
    assert agree(before, done.graph, data)


# --- factors of a sum ----------------------------------------------------------------------------


def test_a_singular_factor_stays_inside_a_fold_that_may_be_empty():
    """1/c is infinite at 0, and inf · 0 is not the empty sum."""
    body = mul(arg(0), apply("recip", arg(1)))
    node = folded("a", N, dims(r="m"), [read("x", R), read("c", I0)], body)
    inputs = [vector("x", "m"), vector("c", "n")]
    assert rewrite(graph(inputs, [node], "a.value"), ["hoist-invariant-factors"]).trace == ()
    known = graph(inputs, [node], "a.value", facts=(Fact("m", minimum=1),))
    derived(known, "hoist-invariant-factors", sizes=(1, 3), strict=False)


def test_a_factor_read_where_only_the_fold_may_read_stays():
    node = folded("a", (), dims(r="m"), [read("x", R), read("x", constant(0))], mul(arg(0), arg(1)))
    assert (
        rewrite(graph([vector("x", "m")], [node], "a.value"), ["hoist-invariant-factors"]).trace
        == ()
    )


def test_a_maximum_and_a_read_state_keep_their_factors():
    body = mul(arg(0), named("pi"))
    x = vector("x", "n", 3)
    for before in (
        graph([x], [rows("a", MAX, (body,))], "a.value"),
        graph([x], [rows("a", SUM, (body,))], "a.acc"),
    ):
        assert rewrite(before, ["hoist-invariant-factors"]).trace == ()


def test_a_mean_is_divided_behind_its_sum_where_the_extent_has_a_name():
    """The extent of the reduce dim is a number, the extent of a point dim, or it stays inside."""
    share = apply("recip", apply("to_real", extent("r")))
    facts = (Fact("n", minimum=1), Fact("m", minimum=1))
    for size, hoisted in (("n", True), (4, True), ("m", False)):
        node = folded("a", N, dims(r=size), [read("x", I0, R)], mul(arg(0), share))
        x = vector("x", "n", size)
        done = rewrite(
            graph([x], [node], "a.value", facts=facts), ["hoist-invariant-factors"], check=checker()
        )
        assert bool(done.trace) is hoisted
