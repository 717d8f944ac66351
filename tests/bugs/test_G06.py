"""G06: a pad does not commute with a function that moves its fill (tinygrad#1221, #2194)."""

from __future__ import annotations

import math

import numpy as np

import tang.frontend as tg
from tang.interpreter import fast, fast_interpret, interpret


def values(graph, inputs, monkeypatch):
    """The one output, the same from both evaluators."""
    monkeypatch.setattr(fast, "_SMALL", 0)
    (slow,), (quick,) = (f(graph, inputs).values() for f in (interpret, fast_interpret))
    np.testing.assert_array_equal(slow, quick)
    return slow.tolist()


def test_exp_of_a_pad_and_a_pad_of_exp_differ_at_the_edge(monkeypatch):
    i = tg.dims("i")
    x = tg.input("x", (2,))
    p, q = tg.dims(p=4), tg.dims(q=4)
    padded = tg.compute("padded", p, x.at(p - 1, fill=0))
    first = tg.Graph(tg.compute("out", i, tg.exp2(padded[i])))
    assert values(first, {"x": [1.0, 2.0]}, monkeypatch) == [1, 2, 4, 1]
    powers = tg.compute("powers", i, tg.exp2(x[i]))
    second = tg.Graph(tg.compute("out", q, powers.at(q - 1, fill=0)))
    assert values(second, {"x": [1.0, 2.0]}, monkeypatch) == [0, 2, 4, 0]


def test_a_reciprocal_behind_a_reshaped_pad_is_infinite_there(monkeypatch):
    x = tg.input("x", (2,))
    p = tg.dims(p=4)
    padded = tg.compute("padded", p, x.at(p - 1, fill=0))
    folded = tg.split_axis(padded, 0, 2)
    graph = tg.Graph(tg.recip(folded))
    found = values(graph, {"x": [2.0, 4.0]}, monkeypatch)
    assert found == [[math.inf, 0.5], [0.25, math.inf]]


def test_an_element_inside_a_pad_is_its_fill(monkeypatch):
    x = tg.input("x", (2,))
    p, o = tg.dims(p=3), tg.dims(o=1)
    padded = tg.compute("padded", p, x.at(p, fill=2))
    graph = tg.Graph(tg.compute("out", o, padded[o + 2]))
    assert values(graph, {"x": [5.0, 6.0]}, monkeypatch) == [2]
