"""What gradients cost: points visited, buffers of quadratic size, time in the size of a program."""

from __future__ import annotations

import cProfile
import pstats
from math import prod

import pytest

import tang as tg
from tang.autodiff import gradient
from tang.ir.bind import bind
from tang.ir.expr import REAL


def visits(node):
    """Point × reduce iterations of a node."""
    return prod(d.extent.constant for d in node.dims)


def loss_of(tensor):
    """Σ tensor², so that its cotangent is a tensor like it."""
    dims = [tg.dim(f"w{n}") for n in range(tensor.rank)]
    at = tuple(dims)
    return tg.compute("loss", (), tg.sum(tensor[at] * tensor[at], over=dims))


def costs(tensor):
    """Visits of the forward program, and of the dearest node that its gradient adds."""
    graph = tg.Graph(L=loss_of(tensor))
    made = tg.grad(graph, "L", [i.name for i in graph.inputs if i.sort is REAL])
    forward = {n.name for n in graph.nodes}
    added = {n.name: visits(n) for n in made.nodes if n.name not in forward}
    return max(visits(n) for n in graph.nodes), max(added.values())


SIZE = 28
IMAGE = tg.input("x", (1, 2, SIZE, SIZE))
KERNEL = tg.input("w", (3, 2, 3, 3))
CONVOLUTIONS = {
    "plain": {},
    "padded": {"padding": 1},
    "strided": {"stride": 2, "padding": 1},
    "stride 3": {"stride": 3},
    "dilated": {"dilation": 2, "padding": 2},
    "strided and dilated by 2": {"stride": 2, "dilation": 2},
    "stride 2, dilation 3": {"stride": 2, "dilation": 3, "padding": 3},
    "stride 3, dilation 2": {"stride": 3, "dilation": 2, "padding": 2},
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_a_convolution_gradient_visits_a_small_multiple_of_what_it_does(name):
    forward, backward = costs(tg.conv2d(IMAGE, KERNEL, **CONVOLUTIONS[name]))
    assert backward <= (7 / 3) * forward  # 3 taps in rounds of 2 are 4, in each of two axes: 16/9


TRANSPOSED = {
    "plain": {},
    "strided": {"stride": 2, "padding": 1},
    "dilated": {"dilation": 2},
    "strided and dilated": {"stride": 2, "dilation": 3},
}


@pytest.mark.parametrize("name", TRANSPOSED)
def test_a_transposed_convolution_gradient_visits_about_what_it_does(name):
    kernel = tg.input("w", (2, 3, 3, 3))
    forward, backward = costs(tg.conv_transpose2d(IMAGE, kernel, **TRANSPOSED[name]))
    assert backward <= 3 * forward


RESHAPES = {
    "split": lambda x: tg.split_axis(x, 1, 32),
    "merge": lambda x: tg.merge_axes(x, 0),
    "strided slice": lambda x: tg.slice(x, 1, 0, 128, 4),
    "flip": lambda x: tg.flip(x, 1),
    "concatenate": lambda x: tg.concatenate([x, x], axis=1),
    "transpose": tg.transpose,
}


@pytest.mark.parametrize("name", RESHAPES)
def test_a_rearrangement_gradient_visits_every_element_a_few_times(name):
    x = tg.input("x", (64, 128))
    _, backward = costs(RESHAPES[name](x))
    assert backward <= 2 * 64 * 128


def test_only_a_gather_by_data_is_gated():
    table, index = tg.input("e", (50, 8)), tg.input("n", (20,), "index")
    _, backward = costs(tg.embedding(table, index))
    assert backward == 50 * 8 * 20


LENGTH, DEPTH = 96, 8


def attention_gradient(form):
    q, k, v = (tg.input(n, (LENGTH, DEPTH)) for n in "qkv")
    t, s, d, e = tg.dims("t s d e")
    if form == "naive":
        out = tg.attention(q, k, v, causal=True)
    else:
        scores = tg.compute("scores", (t, s), tg.sum(q[t, d] * k[s, d], over=d) * 0.25)
        out = tg.compute(
            "out", (t, e), tg.online_softmax(scores[t, s], v[s, e], over=s, where=[s <= t])
        )
    return tg.grad(tg.Graph(L=loss_of(out)), "L", ["q", "k", "v"])


def quadratic(graph):
    """Nodes of size length × length."""
    found = []
    for n in graph.nodes:
        shape = [d.extent.constant for d in n.point]
        if shape.count(LENGTH) >= 2:
            found.append(n)
    return found


@pytest.mark.parametrize("form", ["naive", "online"])
def test_whatever_is_length_by_length_in_attention_backward_is_cheap_to_recompute(form):
    graph = attention_gradient(form)
    large = quadratic(graph)
    assert large
    for node in large:
        assert prod(d.extent.constant for d in node.reduce) <= DEPTH
        assert all(not read.view.gathers for read in node.reads)
    outputs = {o.ref.node for o in graph.outputs}
    assert not outputs & {n.name for n in large}


def test_length_by_length_nodes_are_read_where_they_are_computed():
    graph = attention_gradient("online")
    large = {n.name: n for n in quadratic(graph)}
    for node in graph.nodes:
        for read in node.reads:
            if read.source.node in large:
                assert all(len(c.terms) <= 1 and not c.const.terms for c in read.view.coords)


def layers(count):
    """A chain of small layers."""
    h = tg.input("h", (8,))
    for n in range(count):
        w = tg.input(f"w{n}", (8, 8))
        i, j = tg.dims("i j")
        z = tg.compute(f"z{n}", i, tg.sum(w[i, j] * h[j], over=j))
        h = tg.softmax(tg.compute(f"a{n}", i, z[i] * tg.sigmoid(z[i])))
    return tg.Graph(L=loss_of(h))


def calls(count):
    """Function calls made while differentiating: time without the machine's noise."""
    graph = layers(count)
    wrt = [i.name for i in graph.inputs]
    profile = cProfile.Profile()
    profile.runcall(tg.grad, graph, "L", wrt)
    return pstats.Stats(profile).total_calls


def test_work_grows_linearly_with_the_number_of_layers():
    calls(6)
    assert calls(24) <= 2.2 * calls(12)


def test_the_number_of_nodes_grows_linearly_and_the_program_stays_small():
    counts = [len(tg.grad(layers(n), "L", ["h"]).nodes) for n in (6, 12, 24)]
    assert counts[2] - counts[1] == 2 * (counts[1] - counts[0])


def test_a_symbolic_length_keeps_solved_forms():
    x, w = tg.input("x", (1, 2, "n")), tg.input("w", (3, 2, 3))
    made = tg.grad(tg.Graph(L=loss_of(tg.conv1d(x, w, padding=1))), "L", ["x", "w"])
    bound = bind(made, {"n": 64})
    assert max(visits(n) for n in bound.nodes) <= 2 * 64 * 2 * 3 * 3


def test_nodes_that_no_gradient_needs_are_gone():
    x, y = tg.input("x", (4,)), tg.input("y", (4,))
    i = tg.dim("i")
    unused = tg.compute("unused", i, tg.sin(y[i]))
    graph = tg.Graph(L=loss_of(x), other=unused)
    made = gradient(graph, "L", ["x"]).graph
    assert "unused" not in {n.name for n in made.nodes}
    assert [o.name for o in made.outputs] == ["L", "d_x"]
