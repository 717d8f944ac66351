"""Gradients of random affine reads, guarded and conditioned, fit dual numbers."""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg
from tang.ir.expr import apply, arg, real
from tang.ir.extent import poly
from tang.ir.graph import Comprehension, Dim, Graph, Input, Output
from tang.ir.monoids import MAX, SUM
from tang.ir.view import Interval, Read, Ref, View, constant, variable
from tang.verify.gradient import check_gradient, with_scalar_loss


def draw_view(rng, dims):
    """A view with coefficients in −4 … 4, guarded so that it stays in its source."""
    shape = [int(rng.integers(1, 9)) for _ in range(int(rng.integers(1, 4)))]
    coords, guard = [], []
    for size in shape:
        form = constant(int(rng.integers(-4, 6)))
        for d in dims:
            if rng.random() < 0.5:
                form = form + variable(d.name, int(rng.integers(-4, 5)))
        low = int(rng.integers(0, 2)) if rng.random() < 0.3 else 0
        coords.append(form)
        guard.append(Interval(form, poly(low), poly(size)))
    return shape, View(tuple(coords), tuple(guard), real(int(rng.integers(0, 3))))


def draw_program(rng):
    """sin(x[view]) · w[dims], as a map or under sum or max, and data."""
    count = int(rng.integers(1, 5))
    dims = tuple(Dim("abcd"[n], poly(int(rng.integers(1, 6)))) for n in range(count))
    points = int(rng.integers(0, count + 1))
    shape, view = draw_view(rng, dims)
    where = ()
    if points < count and rng.random() < 0.3:
        slope = int(rng.choice([1, -1, 2]))
        where = (variable("a", slope) - variable(dims[-1].name) + int(rng.integers(0, 4)),)
    reads = (
        Read(Ref("x"), view),
        Read(Ref("w"), View(tuple(variable(d.name) for d in dims))),
    )
    body = (apply("mul", apply("sin", arg(0)), arg(1)),)
    if points == count:
        node = Comprehension("y", dims, reads, body, outputs=("value",))
    else:
        monoid = SUM if rng.random() < 0.8 else MAX
        node = Comprehension("y", dims[:points], reads, body, dims[points:], where, monoid)
    inputs = (Input("x", tuple(map(poly, shape))), Input("w", tuple(d.extent for d in dims)))
    graph = Graph(inputs, (node,), (Output("out", Ref("y", "value")),))
    sizes = [d.extent.constant for d in dims]
    return graph, {"x": rng.normal(size=shape), "w": rng.normal(size=sizes)}


@pytest.mark.parametrize("seed", range(60))
def test_the_gradient_of_a_random_affine_read_fits_dual_numbers(seed):
    graph, data = draw_program(np.random.default_rng(seed))
    assert check_gradient(graph, "out", ["x", "w"], data) is None


@pytest.mark.parametrize("seed", range(100, 112))
def test_the_second_derivative_of_a_random_affine_read_fits_dual_numbers(seed):
    graph, data = draw_program(np.random.default_rng(seed))
    first = tg.grad(with_scalar_loss(graph, "out"), "out", ["x", "w"])
    assert check_gradient(first, "d_x", ["x", "w"], data) is None


def test_three_dims_that_no_stride_separates_are_still_summed_rightly():
    p, r, t = (tg.dim(n, 4) for n in "prt")
    x, w = tg.input("x", (60,)), tg.input("w", (4, 4, 4))
    y = tg.compute("y", (), tg.sum(x[4 * p + 6 * r + 9 * t] * w[p, r, t], over=[p, r, t]))
    rng = np.random.default_rng(0)
    data = {"x": rng.normal(size=60), "w": rng.normal(size=(4, 4, 4))}
    assert check_gradient(tg.Graph(out=y), "out", ["x", "w"], data) is None


def computed_gathers(x, *indices):
    n = tg.dim("n", 60)
    made = [tg.compute(f"index{k}", n, f(n)) for k, f in enumerate(indices)]
    return tg.Graph(out=tg.compute("y", n, tg.sin(x[tuple(m[n] for m in made)])))


def test_gathers_of_computed_indices_are_solved_not_gated():
    x = tg.input("x", (5, 12))
    graph = computed_gathers(x, lambda n: n // 12, lambda n: n % 12)
    data = {"x": np.random.default_rng(0).normal(size=(5, 12))}
    assert check_gradient(graph, "out", ["x"], data) is None
    made = tg.grad(with_scalar_loss(graph, "out"), "out", ["x"])
    assert max(np.prod([d.extent.constant for d in n.dims]) for n in made.nodes) == 60


def test_nested_quotients_are_summed_rightly():
    x = tg.input("x", (5, 4, 3))
    graph = computed_gathers(x, lambda n: n // 12, lambda n: (n % 12) // 3, lambda n: n % 3)
    data = {"x": np.random.default_rng(0).normal(size=(5, 4, 3))}
    assert check_gradient(graph, "out", ["x"], data) is None
