"""G01, kernels: masked rows are what was declared in every form, split and length.

pytorch#103963, iree#24175, mlx#2395, mlx#1467.
"""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg

LENGTHS = (1, 31, 32, 33, 127, 128, 129, 1023, 1025)
FORMS = ("direct", "stabilised", "online")


def program():
    """softmax(s) @ v in three forms, and the form that is 0 where nothing is left."""
    i, j = tg.dims("i j")
    s, v = tg.input("s", ("r", "n")), tg.input("v", ("n",))
    e = tg.exp(s[i, j])
    return tg.Graph(
        direct=tg.compute("direct", i, tg.sum(e / tg.sum(e, j) * v[j], j)),
        stabilised=tg.matmul(tg.softmax(s), v),
        online=tg.compute("online", i, tg.online_softmax(s[i, j], v[j], over=j)),
        masked=tg.matmul(tg.masked_softmax(s), v),
    )


def data(n):
    """An open row, a masked one, and one that is open at its end alone."""
    s = np.full((3, n), -np.inf)
    s[0], s[2, -1] = 0, 1
    return {"s": s, "v": np.ones(n)}


@pytest.mark.parametrize("split", [1, 2, 40])
def test_a_masked_row_is_what_was_declared_at_every_length(split, compiled):
    run = compiled(program(), split=split)
    for n in LENGTHS:
        found = run(data(n))
        for name in FORMS:
            np.testing.assert_allclose(found[name], [1, np.nan, 1], 1e-5, err_msg=f"{name} {n}")
        np.testing.assert_allclose(found["masked"], [1, 0, 1], 1e-5)
        assert found["masked"][1] == 0


def test_every_rung_agrees(verified):
    verified([(program(), data(n)) for n in (1, 9)], splits=(1, 2))
