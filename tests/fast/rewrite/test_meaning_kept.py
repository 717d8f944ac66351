"""What rewriting must leave alone: names that look like constants, empty folds, lost digits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tang as tg
from tang.interpreter import interpret
from tang.ir.expr import INDEX, apply, arg, index, iota, real
from tang.ir.extent import poly
from tang.ir.graph import Comprehension, Dim, Graph, Input, Output
from tang.ir.view import Read, Ref, View, variable
from tang.kernel.lower import lower
from tang.rewrite import RULES, rewrite
from tang.schedule import schedule_auto
from tang.verify.rewriting import check_rewrite


def counted(dim: str, body, sort=INDEX) -> Graph:
    """A map over five points of a dim of that name; arg(0) is an index read there."""
    read = Read(Ref("ix"), View((variable(dim),)))
    node = Comprehension("y", (Dim(dim, poly(5)),), (read,), (body,), outputs=("value",))
    return Graph((Input("ix", (poly(5),), INDEX),), (node,), (Output("y", Ref("y", "value")),))


@pytest.mark.parametrize("name", ["nan", "inf", "-inf", "-0.0", "ln2", "$0", "log2e"])
@pytest.mark.parametrize("strict", [False, True])
def test_a_dim_may_be_named_like_a_constant(name, strict):
    below = apply("select", apply("lt", iota(name), index(3)), real(1), real(0))
    above = apply("select", apply("lt", index(3), iota(name)), real(1), real(0))
    data = {"ix": np.array([4, 3, 2, 1, 0])}
    for body in (
        below,
        above,
        apply("add", iota(name), arg(0, INDEX)),
        apply("add", arg(0, INDEX), apply("neg", iota(name))),
        apply("mul", iota(name), arg(0, INDEX)),
    ):
        graph = counted(name, body)
        done = rewrite(graph, strict=strict)
        left, right = interpret(graph, data)["y"], interpret(done.graph, data)["y"]
        np.testing.assert_array_equal(left, right)


def test_a_difference_that_tells_infinities_is_no_zero():
    x = tg.input("x", (3,))
    i = tg.dim("i", 3)
    graph = tg.Graph(y=tg.compute("y", [i], x[i] - x[i]))
    data = {"x": np.array([1.0, np.inf, np.nan])}
    found = interpret(rewrite(graph).graph, data)["y"]
    np.testing.assert_array_equal(found, [0.0, np.nan, np.nan])


def test_what_rounding_loses_is_not_rewritten_away():
    a, b = tg.input("a", (3,)), tg.input("b", (3,))
    i = tg.dim("i", 3)
    graph = tg.Graph(r=tg.compute("r", [i], b[i] - ((a[i] + b[i]) - a[i])))
    assert not rewrite(graph).trace


def test_a_spread_of_nothing_is_zero_and_no_variance():
    x, t, i = tg.input("x", (4,)), tg.dim("t", 5), tg.dim("i", 4)
    n = tg.compute("n", [t], tg.sum(1.0, over=i, where=[i < t]))
    m = tg.compute("m", [t], tg.sum(x[i], over=i, where=[i < t]) / n[t])
    spread = tg.sum((x[i] - m[t]) * (x[i] - m[t]) / n[t], over=i, where=[i < t])
    graph = tg.Graph(y=tg.compute("y", [t], spread))
    data = {"x": np.arange(4.0)}
    left, right = interpret(graph, data)["y"], interpret(rewrite(graph).graph, data)["y"]
    assert left[0] == 0.0
    np.testing.assert_allclose(left, right, rtol=1e-12)


def test_dims_that_are_read_at_gathered_places_are_not_merged():
    x, at = tg.input("x", (3, 4)), tg.input("at", (2,), "index")
    i, j, k = tg.dim("i", 3), tg.dim("j", 4), tg.dim("k", 2)
    copy = tg.compute("copy", [i, j], tg.exp(x[i, j]))
    graph = tg.Graph(y=tg.compute("y", [i, k], copy[i, at[k]]), copy=copy)
    assert not rewrite(graph, ["merge-dims"]).trace


def masked_attention() -> Graph:
    q, k, v = tg.input("q", (3, 2)), tg.input("k", (4, 2)), tg.input("v", (4, 2))
    mask = tg.input("mask", (3, 4), "bool")
    return tg.Graph(o=tg.attention(q, k, v, mask=mask))


def test_a_faulty_softmax_rule_is_caught_behind_a_mask(monkeypatch):
    rng = np.random.default_rng(0)
    data = {n: rng.normal(size=s) for n, s in (("q", (3, 2)), ("k", (4, 2)), ("v", (4, 2)))}
    data["mask"] = np.array([[1, 1, 0, 1], [0, 1, 1, 1], [1, 0, 0, 0]], bool)
    assert not check_rewrite(masked_attention(), data).findings
    row = RULES["stabilize-softmax"]

    def doubled(program, node):
        edit = row.find(program, node)
        if edit is None:
            return None
        new = tuple(
            replace(n, body=(apply("mul", real(2), n.body[0]), *n.body[1:]))
            if n.monoid is not None and len(n.body) > 1
            else n
            for n in edit.insert
        )
        return replace(edit, insert=new)

    monkeypatch.setitem(RULES, "stabilize-softmax", replace(row, find=doubled))
    found = check_rewrite(masked_attention(), data).findings
    assert [f.origin for f in found] == ["rule stabilize-softmax"]


def outside(read) -> Graph:
    """Twelve numbers as a table of four rows, read by `read` at an index that leaves the table."""
    at, y = tg.input("at", (4,), "index"), tg.input("y", (12,))
    a, b, k = tg.dim("a", 4), tg.dim("b", 3), tg.dim("k", 4)
    table = tg.compute("table", [a, b], y[3 * a + b])
    return tg.Graph(o=tg.compute("o", [k], read(table, at[k])))


@pytest.mark.parametrize("strict", [False, True])
def test_an_index_out_of_range_stays_out_of_range(strict):
    data = {"y": np.arange(12, dtype=np.float32), "at": np.array([0, 1, 3, 2])}
    graph = outside(lambda table, at: table[0, at])
    for rules in ((), None):
        found = tg.compile(graph, rules=rules, strict=strict)(data)["o"]
        np.testing.assert_array_equal(found, [0, 1, np.nan, 2])


def test_an_index_into_a_copy_with_the_same_ends_is_composed():
    at, y = tg.input("at", (2,), "index"), tg.input("y", (5, 3))
    i, j, k = tg.dim("i", 5), tg.dim("j", 3), tg.dim("k", 2)
    turned = tg.compute("turned", [j, i], y[i, j])
    graph = tg.Graph(o=tg.compute("o", [k, j], turned[j, at[k]]))
    assert len(rewrite(graph).graph.nodes) == 1


@pytest.mark.parametrize("kind", ["causal", "mask", "plain"])
@pytest.mark.parametrize("length", [4096, "seq"])
def test_the_backward_of_attention_stores_nothing_of_length_times_length(kind, length):
    q, k, v = (tg.input(n, (2, length, 64)) for n in "qkv")
    h, t, e = tg.dims("h t e")
    mask = tg.input("mask", (length, length), "bool") if kind == "mask" else None
    out = tg.attention(q, k, v, causal=kind == "causal", mask=mask)
    loss = tg.compute("L", (), tg.sum(out[h, t, e] * out[h, t, e], over=(h, t, e)))
    made = rewrite(tg.grad(tg.Graph(L=loss), "L", ["q", "k", "v"])).graph
    buffers = lower(made, schedule_auto(made)).buffers
    big = [b.name for b in buffers if [str(p) for p in b.shape].count(str(length)) > 1]
    assert big == (["mask"] if kind == "mask" else [])
