"""G08: a scan keeps its operands' order, both ways, at every length (triton#2359)."""

from __future__ import annotations

import numpy as np
import pytest

import tang.frontend as tg
from tang.interpreter import fast, fast_interpret, interpret

LENGTHS = (1, 2, 63, 64, 65, 127, 128, 129, 1025)


@pytest.fixture(autouse=True)
def no_node_is_too_small(monkeypatch):
    monkeypatch.setattr(fast, "_SMALL", 0)


def scan(n, reverse):
    """h[t] = a[t]·h[t∓1] + b[t] from 0."""
    t, s = tg.dims(t=n), tg.dims(s=n)
    a, b = tg.input("a", (n,)), tg.input("b", (n,))
    if reverse:
        steps = tg.affine_scan(a[n - 1 - s], b[n - 1 - s], over=s, where=[s <= n - 1 - t])
    else:
        steps = tg.affine_scan(a[s], b[s], over=s, where=[s <= t])
    return tg.Graph(tg.compute("h", t, steps))


def serial(a, b):
    h, out = 0.0, []
    for x, y in zip(a, b, strict=True):
        h = x * h + y
        out.append(h)
    return np.array(out)


@pytest.mark.parametrize("evaluate", [interpret, fast_interpret])
def test_the_reported_case_has_its_right_values(evaluate):
    inputs = {"a": np.array([2.0, 3, 0.5]), "b": np.array([1.0, 1, 4])}
    assert evaluate(scan(3, reverse=False), inputs)["h"].tolist() == [1, 4, 6]
    assert evaluate(scan(3, reverse=True), inputs)["h"].tolist() == [27, 13, 4]


@pytest.mark.parametrize("n", LENGTHS)
def test_every_length_equals_a_serial_loop(n):
    generator = np.random.default_rng(n)
    a, b = generator.uniform(-1, 1, n), generator.normal(size=n)
    for reverse, expected in ((False, serial(a, b)), (True, serial(a[::-1], b[::-1])[::-1])):
        graph = scan(n, reverse)
        found = interpret(graph, {"a": a, "b": b})["h"]
        assert found.tobytes() == expected.tobytes()
        quick = fast_interpret(graph, {"a": a, "b": b})["h"]
        np.testing.assert_allclose(quick, expected, 1e-12, 1e-12)
