"""G06, kernels: a pad does not commute with a function that moves its fill.

tinygrad#1221, tinygrad#5002, tinygrad#2194.
"""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg

DATA = {"x": np.array([1.0, 2.0])}


def program():
    """exp2 of a pad, a pad of exp2, 1/y behind a reshaped pad, an element inside a pad."""
    i, p, q, o = tg.dims("i"), tg.dims(p=4), tg.dims(q=4), tg.dims(o=1)
    x = tg.input("x", (2,))
    padded = tg.compute("padded", p, x.at(p - 1, fill=0))
    powers = tg.compute("powers", i, tg.exp2(x[i]))
    twos = tg.compute("twos", q, x.at(q, fill=2))
    return tg.Graph(
        function_of_pad=tg.compute("f", p, tg.exp2(padded[p])),
        pad_of_function=tg.compute("g", q, powers.at(q - 1, fill=0)),
        inverse=tg.recip(tg.split_axis(padded, 0, 2)),
        inside=tg.compute("inside", o, twos[o + 2]),
        total=tg.compute("total", (), tg.sum(tg.exp2(x.at(p - 1, fill=0)), p)),
    )


@pytest.mark.parametrize("split", [1, 2, 3])
def test_every_pad_keeps_its_own_fill(split, compiled):
    found = compiled(program(), split=split)(DATA)
    assert found["function_of_pad"].tolist() == [1, 2, 4, 1]
    assert found["pad_of_function"].tolist() == [0, 2, 4, 0]
    assert found["inverse"].tolist() == [[np.inf, 1], [0.5, np.inf]]
    assert found["inside"].tolist() == [2]
    assert found["total"] == 8


def test_every_rung_agrees(verified):
    verified([(program(), DATA)])
