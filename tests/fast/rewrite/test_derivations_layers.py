"""The default rules derive what layers need: fused attention, implicit GEMM, paged caches, SwiGLU.

Defines layers as a user would write them. Relies on the frontend and the checked engine. Shapes of
what is left are asserted, never names.
"""

from __future__ import annotations

import math
from itertools import product

import pytest
from derivation_checks import derive, monoids_of

import tang as tg
from tang.ir.graph import Graph
from tang.rewrite import rewrite


def largest(graph: Graph) -> int:
    """Elements of the largest result."""
    return max(math.prod(d.extent.constant for d in n.point) for n in graph.nodes)


@pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
def test_attention_of_symbolic_length_is_flash_by_default(causal: bool) -> None:
    q, k, v = (tg.input(n, (2, "seq", 3)) for n in "qkv")
    t = tg.attention(q, k, v, causal=causal, scale=0.5)
    found = derive(tg.Graph(o=t), sizes={"seq": 4})
    assert [m for m in monoids_of(found.graph) if m != "map"] == ["sum", "online_softmax"]


def test_softmax_before_the_product_is_flash_when_rows_have_an_element() -> None:
    b, t, s, e = tg.dim("b", 2), tg.dim("t", "seq"), tg.dim("s", "seq"), tg.dim("e", 3)
    x, v = tg.input("x", (2, "seq", "seq")), tg.input("v", (2, "seq", 3))
    mask = tg.input("mask", ("seq", "seq"), "bool")
    masked = tg.compute("masked", [b, t, s], tg.select(mask[t, s], x[b, t, s], -math.inf))
    p = tg.softmax(masked)
    o = tg.compute("o", [b, t, e], tg.sum(p[b, t, s] * v[b, s, e], s))
    found = derive(tg.Graph(o=o), sizes={"seq": 4})
    assert "online_softmax" in monoids_of(found.graph)
    assert not {"sum", "max"} & set(monoids_of(found.graph))


@pytest.mark.parametrize(
    ("stride", "dilation", "padding"),
    [*product((1, 2), (1, 2), (0, 1))],
    ids=lambda n: str(n),
)
def test_a_convolution_has_no_im2col_buffer(stride: int, dilation: int, padding: int) -> None:
    """It is one reduction over channels and taps that reads x through its views."""
    x, w = tg.input("x", (1, 3, 7, 7)), tg.input("w", (4, 3, 3, 3))
    y = tg.conv2d(x, w, stride=stride, dilation=dilation, padding=padding)
    found = derive(tg.Graph(y=tg.relu(y)))
    sums = [n for n in found.graph.nodes if n.monoid is not None]
    assert len(sums) == 1
    assert {r.source.node for r in sums[0].reads} == {"x", "w"}
    assert largest(found.graph) == math.prod(e.constant for e in y.shape)


def test_a_transposed_convolution_has_no_buffer_with_zeros_between() -> None:
    x, w = tg.input("x", (1, 3, 4, 4)), tg.input("w", (3, 2, 3, 3))
    y = tg.conv_transpose2d(x, w, stride=2, padding=1)
    found = derive(tg.Graph(y=y))
    assert largest(found.graph) <= 2 * math.prod(e.constant for e in y.shape)


def test_a_paged_cache_is_read_through_its_table() -> None:
    """Pages of 2 positions: keys and values are gathered where they are used, never copied."""
    pages, table = tg.input("pages", (6, 2, 3)), tg.input("table", (4,), "index")
    q, w = tg.input("q", (3,)), tg.input("values", (6, 2, 3))
    n, r, d, e = tg.dim("n", 4), tg.dim("r", 2), tg.dim("d", 3), tg.dim("e", 3)
    keys = tg.compute("keys", [n, r, d], pages[table[n], r, d])
    values = tg.compute("values_of", [n, r, e], w[table[n], r, e])
    score = tg.compute("score", [n, r], tg.sum(q[d] * keys[n, r, d], d))
    m = tg.compute("m", [], tg.max(score[n, r], [n, r]))
    weight = tg.exp(score[n, r] - m[()])
    o = tg.sum(weight * values[n, r, e], [n, r]) / tg.sum(weight, [n, r])
    found = derive(tg.Graph(o=tg.compute("o", e, o)))
    folds = [node for node in found.graph.nodes if node.monoid is not None]
    assert [node.monoid.name for node in folds if node.monoid] == ["sum", "online_softmax"]
    assert all(any(r.view.gathers for r in node.reads) for node in folds)
    assert largest(found.graph) == 8


def test_gate_and_up_of_swiglu_are_one_reduction() -> None:
    x, g, u = tg.input("x", (4, 3)), tg.input("g", (3, 5)), tg.input("u", (3, 5))
    b, f, d = tg.dim("b", 4), tg.dim("f", 5), tg.dim("d", 3)
    gate = tg.compute("gate", [b, f], tg.sum(x[b, d] * g[d, f], d))
    up = tg.compute("up", [b, f], tg.sum(x[b, d] * u[d, f], d))
    h = tg.compute("h", [b, f], tg.silu(gate[b, f]) * up[b, f])
    found = derive(tg.Graph(h=h))
    folds = [n for n in found.graph.nodes if n.monoid is not None]
    assert len(folds) == 1
    assert folds[0].monoid is not None
    assert len(folds[0].monoid.components) == 2


def test_a_row_major_reshape_is_a_view() -> None:
    x, w = tg.input("x", (4, 6)), tg.input("w", (3, 2))
    t, h, d = tg.dim("t", 4), tg.dim("h", 3), tg.dim("d", 2)
    heads = tg.compute("heads", [t, h, d], x[t, 2 * h + d])
    o = tg.compute("o", [t], tg.sum(heads[t, h, d] * w[h, d], [h, d]))
    found = derive(tg.Graph(o=o))
    assert [m for m in monoids_of(found.graph) if m != "map"] == ["sum"]
    assert len(found.graph.nodes) == 1


def test_two_layers_share_no_rule_by_name() -> None:
    """Renaming every node and dim changes no step of the derivation but the names in it."""
    q, k, v = (tg.input(n, (4, 3)) for n in "qkv")
    one = rewrite(tg.Graph(o=tg.attention(q, k, v)))
    other = rewrite(tg.Graph(o=tg.attention(q, k, v, name="relu")))
    assert [s.rule for s in one.trace] == [s.rule for s in other.trace]
