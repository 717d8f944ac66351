"""A03: the gradient of logsumexp over −inf and masked elements is finite (jax#6811)."""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg
from tang.interpreter import interpret

NOTHING = float("-inf")
FORMS = {
    "stock": lambda x: tg.logsumexp(x),
    "by hand": lambda x: _by_hand(x),
    "online softmax": lambda x: _online(x),
}


def _by_hand(x):
    i = tg.dim("i")
    top = tg.compute("top", (), tg.max(x[i], over=i))
    shift = tg.compute("shift", (), tg.select(top[()] == NOTHING, 0.0, top[()]))
    mass = tg.compute("mass", (), tg.sum(tg.exp(x[i] - shift[()]), over=i))
    empty = top[()] == NOTHING
    return tg.compute("lse", (), tg.select(empty, NOTHING, shift[()] + tg.log(mass[()])))


def _online(x):
    i = tg.dim("i")
    return tg.compute("mean", (), tg.online_softmax(x[i], tg.real(i) + 1.0, over=i))


def masked(form):
    i = tg.dim("i")
    x, mask = tg.input("x", (2,)), tg.input("m", (2,), "bool")
    kept = tg.compute("kept", i, tg.select(mask[i], x[i], NOTHING))
    return tg.Graph(L=FORMS[form](kept))


def gradient(form, x, mask):
    made = tg.grad(masked(form), "L", ["x"])
    return interpret(made, {"x": np.array(x), "m": np.array(mask)})["d_x"].tolist()


@pytest.mark.parametrize("form", ["stock", "by hand"])
def test_a_masked_element_takes_nothing_however_large_it_is(form):
    assert gradient(form, [0.0, 100.0], [True, False]) == [1.0, 0.0]
    assert gradient(form, [0.0, 1e300], [True, False]) == [1.0, 0.0]


@pytest.mark.parametrize("form", FORMS)
def test_a_row_of_nothing_has_a_gradient_of_zeros(form):
    assert gradient(form, [0.0, 100.0], [False, False]) == [0.0, 0.0]
