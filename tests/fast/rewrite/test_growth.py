"""Rewriting takes time linear in the size of the program."""

from __future__ import annotations

import cProfile
import pstats
from functools import reduce

import pytest
from enriched import STRUCTURAL

import tang as tg
from tang.autodiff import grad
from tang.ir.expr import REAL, apply, arg, walk
from tang.models.transformer import TransformerSizes, transformer
from tang.rewrite import rewrite
from tang.rewrite.normal import MAX_PARTS, Ring, factors, order, summands


def calls(layers: int) -> int:
    """Function calls of a rewrite: unlike seconds, the same on a busy machine."""
    graph = transformer(layers, TransformerSizes())
    profile = cProfile.Profile()
    profile.enable()
    rewrite(graph, STRUCTURAL)
    profile.disable()
    return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]


def test_twice_the_layers_take_at_most_2_2_times_the_work():
    calls(1)
    assert calls(6) <= 2.2 * calls(3)


def squared(x, times):
    return reduce(lambda y, _: y * y, range(times), x)


def product(x, length):
    return reduce(lambda y, k: y * (x + float(k)), range(length), x)


def total(x, length):
    return reduce(lambda y, k: y + tg.exp(x * float(k)), range(length), x)


def nested(x, depth):
    return reduce(lambda y, _: tg.tanh(y) * x, range(depth), x)


def doubled(x, depth):
    return reduce(lambda y, _: tg.exp(y) + y * y, range(depth), x)


def quotients(x, depth):
    return reduce(lambda y, _: 1.0 / (y + x), range(depth), x)


def body_calls(form, size: int) -> int:
    """Function calls of rewriting a sum over a body of that size, and its gradient."""
    i, j = tg.dims("i j")
    graph = tg.Graph(y=tg.compute("y", (), tg.sum(form(tg.input("x", (4, 8))[i, j], size), (i, j))))
    profile = cProfile.Profile()
    profile.enable()
    rewrite(graph)
    rewrite(grad(graph, "y", ["x"]))
    profile.disable()
    return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("form", "size"),
    [
        (squared, MAX_PARTS),
        (product, 40),
        (total, 40),
        (nested, 20),
        (doubled, 40),
        (quotients, 40),
    ],
)
def test_bodies_of_four_times_the_size_take_less_than_eight_times_the_work(form, size):
    body_calls(form, 4)
    assert body_calls(form, 4 * size) < 8 * body_calls(form, size)  # quadratic: sixteen times


def chain(op, length):
    return reduce(lambda e, k: apply(op, e, arg(k, REAL)), range(1, length), arg(0, REAL))


@pytest.mark.parametrize(("op", "parts"), [("mul", factors), ("add", summands)])
def test_long_chains_are_taken_apart_up_to_a_limit_and_whole_below_it(op, parts):
    assert parts(chain(op, 100)) == [arg(k, REAL) for k in range(100)]
    found = parts(chain(op, 2000))
    assert len(found) == MAX_PARTS
    assert reduce(lambda a, b: apply(op, a, b), found) is chain(op, 2000)


@pytest.mark.parametrize("op", ["mul", "add"])
def test_a_sum_or_product_beyond_all_limits_has_a_normal_form(op):
    ring = Ring()
    e = chain(op, 3000)
    assert ring.same(e, apply(op, chain(op, 2999), arg(2999, REAL)))
    assert not ring.same(e, chain(op, 2999))
    assert ring.same(chain(op, 40), reduce(lambda a, b: apply(op, b, a), map(_leaf, range(40))))


def _leaf(k):
    return arg(k, REAL)


def test_orders_are_bounded_texts_that_tell_all_expressions_apart():
    deep = chain("mul", 300)
    for _ in range(40):
        deep = apply("add", apply("mul", deep, deep), deep)
    texts = [order(e) for e in walk(deep)]
    assert len(set(texts)) == len(texts)
    assert max(map(len, texts)) < 400


def layered_calls(width: int) -> int:
    """Function calls of looking for moments in four layers of maps, each of which reads all below:
    width² edges, width⁴ paths."""
    x = tg.input("x", (4,))
    layer = [tg.elementwise(lambda e, k=k: e * float(k + 2), x) for k in range(width)]
    for _ in range(3):
        layer = [
            tg.elementwise(lambda *e, k=k: sum(e[1:], e[0] * e[k]) * 0.5, *layer)
            for k in range(width)
        ]
    graph = tg.Graph(**{f"y{k}": node for k, node in enumerate(layer)})
    profile = cProfile.Profile()
    profile.enable()
    rewrite(graph, ["welford"])
    profile.disable()
    return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]


def test_layers_of_maps_take_less_than_eight_times_the_work_for_four_times_the_edges():
    layered_calls(2)
    assert layered_calls(16) < 8 * layered_calls(8)
