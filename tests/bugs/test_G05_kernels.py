"""G05, kernels: extrema start from no element of the data; counts do not wrap.

pytorch#191499, pytorch#125318.
"""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg

LENGTHS = (7, 8, 15, 16, 17, 18, 33)
SPLITS = (1, 2, 5)


def extrema():
    x = tg.input("x", ("n",))
    return tg.Graph(max=tg.max(x), min=tg.min(x), at=tg.argmax(x), low=tg.argmin(x))


@pytest.mark.parametrize("split", SPLITS)
def test_extrema_of_one_sign_are_elements_of_the_data(split, compiled):
    run = compiled(extrema(), split=split)
    for n in LENGTHS:
        for dtype in (np.uint8, np.int8, np.int32):
            for sign in (1,) if dtype is np.uint8 else (1, -1):
                data = (sign * (np.arange(n) % 5 + 3)).astype(dtype)
                found = run({"x": data})
                assert (found["max"], found["min"]) == (data.max(), data.min())
                assert (found["at"], found["low"]) == (data.argmax(), data.argmin())


@pytest.mark.parametrize("split", SPLITS)
def test_counts_and_running_sums_of_indices_do_not_wrap(split, compiled):
    b, i = tg.input("b", (300,), "bool"), tg.input("i", (300,), "index")
    k, t = tg.dims(k=300), tg.dims(t=300)
    graph = tg.Graph(
        count=tg.count(b),
        running=tg.compute("running", t, tg.count(b[k], k, [k <= t])),
        total=tg.compute("total", (), tg.sum(i[k], k)),
    )
    found = compiled(graph, split=split)({"b": np.ones(300, bool), "i": np.ones(300, np.uint8)})
    assert found["count"] == found["total"] == 300
    assert found["running"].tolist() == list(range(1, 301))


def test_every_rung_agrees(verified):
    verified([(extrema(), {"x": s * (np.arange(17.0) % 5 + 3)}) for s in (1, -1)], SPLITS)
