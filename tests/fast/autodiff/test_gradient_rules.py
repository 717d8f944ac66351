"""Gradients of every operation, view and monoid fit dual numbers."""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg
from tang.fuzz.case import draw_case
from tang.ir.expr import REAL
from tang.ir.monoids import AFFINE_SCAN, PROD, SUM, WELFORD
from tang.verify.gradient import check_gradient

RNG = np.random.default_rng(7)
NORMAL = RNG.normal(size=(4, 6))
DISTINCT = RNG.permutation(24).reshape(4, 6) * 0.25 - 2.0
WITH_ZEROS = np.where(DISTINCT > 2.0, 0.0, NORMAL)
X = tg.input("x", (4, 6))
i, j, k, s = tg.dims("i j k s")
M, J = tg.dim("m", 2), tg.dim("j", 6)


def finding(tensor, **inputs):
    """What check_gradient says about the gradient in every real input."""
    graph = tg.Graph(out=tensor)
    wrt = [a.name for a in graph.inputs if a.sort is REAL]
    return check_gradient(graph, "out", wrt, inputs)


def each(f):
    return lambda: tg.compute("y", (i, j), f(X[i, j]))


FUNCTIONS = {
    "recip": each(lambda x: 1.0 / (x * x + 1.0)),
    "sqrt": each(lambda x: tg.sqrt(x * x + 0.5)),
    "sin": each(lambda x: tg.sin(x) * tg.cos(x)),
    "atan2": each(lambda x: tg.atan2(x + 0.3, x * x + 0.1)),
    "exp2": each(tg.exp2),
    "log2": each(lambda x: tg.log2(x * x + 1.0)),
    "exp": each(tg.exp),
    "log": each(lambda x: tg.log(x * x + 0.1)),
    "erf": each(tg.erf),
    "floor": each(lambda x: tg.floor(x) + x),
    "isnan": each(lambda x: tg.select(tg.isnan(x), 1.0, x * x)),
    "select": each(lambda x: tg.select(x < 0.0, x * x, 3.0 * x)),
    "abs": each(tg.abs),
    "tanh": each(tg.tanh),
    "sigmoid": each(tg.sigmoid),
    "gelu": lambda: tg.gelu(X),
    "silu": lambda: tg.silu(X),
    "relu": lambda: tg.relu(X),
    "clip": lambda: tg.clip(X, -0.5, 0.75),
    "coordinate": each(lambda x: x * tg.real(i) + tg.real(j)),
    "maximum": each(lambda x: tg.maximum(x, x * x)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_gradient_of_a_function_fits_dual_numbers(name):
    assert finding(FUNCTIONS[name](), x=NORMAL) is None


REDUCTIONS = {
    "sum": (lambda: tg.sum(X, axis=1), NORMAL),
    "mean": (lambda: tg.mean(X, axis=0), NORMAL),
    "var": (lambda: tg.var(X, axis=1), NORMAL),
    "var of a sample": (lambda: tg.var(X, axis=1, ddof=1), NORMAL),
    "prod": (lambda: tg.prod(X, axis=1), NORMAL),
    "prod with zeros": (lambda: tg.prod(X, axis=1), WITH_ZEROS),
    "max": (lambda: tg.max(X, axis=1), DISTINCT),
    "max over two axes": (lambda: tg.max(X, axis=(0, 1)), DISTINCT),
    "max of ties": (lambda: tg.max(X, axis=1), np.ones((4, 6))),
    "min": (lambda: tg.min(X, axis=0), DISTINCT),
    "min of ties": (lambda: tg.min(X, axis=0), np.zeros((4, 6))),
    "logsumexp": (lambda: tg.logsumexp(X, axis=1), NORMAL),
    "softmax": (lambda: tg.softmax(X), NORMAL),
    "log_softmax": (lambda: tg.log_softmax(X), NORMAL),
    "layer_norm": (lambda: tg.layer_norm(X), NORMAL),
    "rms_norm": (lambda: tg.rms_norm(X), NORMAL),
    "cumsum": (lambda: tg.cumsum(X, axis=1), NORMAL),
    "top_k": (lambda: tg.top_k(X, 3)[0], DISTINCT),
    "top_k of ties": (lambda: tg.top_k(X, 3)[0], np.ones((4, 6))),
    "value of argmax": (
        lambda: tg.compute("m", i, tg.argmax(X[i, j], over=j).output("value")), DISTINCT,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REDUCTIONS)
def test_the_gradient_of_a_reduction_fits_dual_numbers(name):
    make, data = REDUCTIONS[name]
    assert finding(make(), x=data) is None


def states_of(kind):
    """A product of several components of the state, so that each has a cotangent."""
    folded = {
        "softmax": tg.compute("f", (i, k), tg.online_softmax(X[i, j], X[k, j], over=j)),
        "logsumexp": tg.compute("f", i, tg.logsumexp(X[i, j], over=j)),
        "welford": tg.compute("f", i, tg.welford(X[i, j], over=j)),
    }[kind]
    names = {"softmax": "m l acc", "logsumexp": "m l", "welford": "mean m2"}[kind].split()
    parts = [folded.output(n) for n in names]
    value = parts[0][i] * tg.sin(parts[1][i])
    if kind == "softmax":
        value = tg.sum(value * parts[2][i, k], over=k)
    return tg.compute("y", i, value)


@pytest.mark.parametrize("kind", ["softmax", "logsumexp", "welford"])
def test_the_gradient_through_raw_states_fits_dual_numbers(kind):
    assert finding(states_of(kind), x=NORMAL) is None


VIEWS = {
    "transpose": lambda: tg.transpose(X),
    "flip": lambda: tg.flip(X, 1),
    "strided slice": lambda: tg.slice(X, 1, 1, 6, 2),
    "every third backwards": lambda: tg.compute("y", (i, M), X[i, 5 - 3 * M]),
    "split": lambda: tg.split_axis(X, 1, 3),
    "merge": lambda: tg.merge_axes(X, 0),
    "concatenate": lambda: tg.concatenate([X, X], axis=1),
    "broadcast": lambda: tg.broadcast_to(X, (3, 4, 6)),
    "constant coordinate": lambda: tg.compute("y", j, X[2, j] * X[0, j]),
    "fill with a value": lambda: tg.compute("y", (i, J), tg.exp(X.at(i, J + 2, fill=0.75))),
}


@pytest.mark.parametrize("name", VIEWS)
def test_the_gradient_of_a_view_fits_dual_numbers(name):
    assert finding(VIEWS[name](), x=NORMAL) is None


def test_the_gradient_of_a_diagonal_fits_dual_numbers():
    square = tg.input("q", (5, 5))
    y = tg.compute("y", i, square[i, i] * square[i, 3])
    assert finding(y, q=RNG.normal(size=(5, 5))) is None


def test_readers_of_one_element_are_summed_and_what_a_gather_leaves_out_gets_nothing():
    table, index = tg.input("e", (5, 3)), tg.input("n", (7,), "index")
    inside = {"e": RNG.normal(size=(5, 3)), "n": np.array([0, 2, 2, 4, 1, 0, 3])}
    beyond = {**inside, "n": np.array([0, 2, 2, 9, 1, -3, 3])}
    assert finding(tg.embedding(table, index), **inside) is None
    assert finding(tg.compute("g", (i, j), table.at(index[i], j, fill=7)), **beyond) is None


def test_a_paged_gather_with_an_affine_coordinate_fits_dual_numbers():
    pages, table = tg.input("p", (12,)), tg.input("t", (3,), "index")
    r = tg.dim("r", 4)
    y = tg.compute("y", (i, r), tg.sin(pages[4 * table[i] + r]))
    assert finding(y, p=RNG.normal(size=12), t=np.array([2, 0, 2])) is None


SCANS = {
    "in scan form": lambda a, b, time: tg.affine_scan(a[s], b[s, j], over=s, where=[s <= time]),
    "up to the end": lambda a, b, time: tg.affine_scan(a[s], b[s, j], over=s) * tg.real(time),
    "with a window": lambda a, b, time: tg.affine_scan(
        a[s], b[s, j], over=s, where=[s <= time, s >= time - 2]
    ),
}


@pytest.mark.parametrize("name", SCANS)
def test_the_gradient_of_an_affine_scan_fits_dual_numbers(name):
    a, b, time = tg.input("a", (6,)), tg.input("b", (6, 2)), tg.dim("t", 6)
    h = tg.compute("h", (time, j), SCANS[name](a, b, time))
    assert finding(h, a=RNG.normal(size=6), b=RNG.normal(size=(6, 2))) is None


def test_a_scan_in_scan_form_is_differentiated_by_one_scan_backwards():
    a, b, time = tg.input("a", (6,)), tg.input("b", (6,)), tg.dim("t", 6)
    h = tg.compute("h", time, tg.affine_scan(a[s], b[s], over=s, where=[s <= time]))
    made = tg.grad(tg.Graph(L=tg.sum(h)), "L", ["a", "b"])
    scans = [n for n in made.nodes if n.monoid == AFFINE_SCAN]
    assert [n.name for n in scans] == ["h", "d_h_scan"]


def test_user_monoids_and_products_go_through_prefix_and_suffix_states():
    from tang.ir.expr import arg
    from tang.ir.extent import poly
    from tang.ir.graph import Comprehension, Dim, Graph, Input, Output
    from tang.ir.monoids import product
    from tang.ir.view import Read, Ref, View, variable

    view = View((variable("i"), variable("r")))
    reads = (Read(Ref("x"), view),)
    monoid = product(PROD, AFFINE_SCAN, SUM, WELFORD)
    body = (arg(0),) * 5
    dims = (Dim("i", poly(4)),), (Dim("r", poly(6)),)
    node = Comprehension("n", dims[0], reads, body, dims[1], (), monoid)
    outputs = [Output(c.name, Ref("n", c.name)) for c in monoid.outputs]
    graph = Graph((Input("x", (poly(4), poly(6))),), (node,), tuple(outputs))
    for o in outputs:
        assert check_gradient(graph, o.name, ["x"], {"x": NORMAL}) is None


@pytest.mark.parametrize("index", range(24))
def test_gradients_of_drawn_programs_fit_dual_numbers(index):
    case = draw_case(5, index)
    wrt = [a.name for a in case.graph.inputs if a.sort is REAL]
    for output in case.graph.outputs:
        if wrt and case.graph.sort(output.ref) is REAL:
            assert check_gradient(case.graph, output.name, wrt, case.inputs) is None
