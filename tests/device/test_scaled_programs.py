"""Programs with scales go through every rung on the host, and compute what was emulated."""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg
from tang.budget import applied, emulate
from tang.verify import verify

RNG = np.random.default_rng(12)
DATA = {
    "x": RNG.standard_normal((8, 64)).astype(np.float32)
    * np.exp2(np.arange(-16.0, 16.0, 4))[:, None],
    "w": RNG.standard_normal((64, 32)).astype(np.float32),
}
SCALES = {
    "mx": ("e4m3fn", {"per": "block", "block": 32, "format": "e8m0"}),
    "rows": ("e4m3fn", {"per": "row"}),
    "tensor": ("e5m2", {"per": "tensor"}),
    "fp4": ("e2m1", {"per": "block", "block": 16, "format": "e8m0"}),
}
LARGEST = {"mx": 0.1, "rows": 0.1, "tensor": 1.0, "fp4": 0.6}
"""Of an error, over the largest element of its row; a tensor's scale loses most rows."""


@pytest.mark.parametrize("name", SCALES)
def test_scaled_operands_and_results_pass_the_ladder(name):
    storage, scale = SCALES[name]
    row = {"storage": storage, "scale": scale}
    precision = {"version": 1, "inputs": {"x": row, "w": row}, "nodes": {"h": row}}
    h = tg.matmul(tg.input("x", (8, 64)), tg.input("w", (64, 32)), name="h")
    graph = tg.Graph(y=tg.relu(h), h=h)
    made, schedule = applied(precision, graph)
    found = verify(made, DATA, ("c",), schedule=schedule, rules=())
    assert found.ok, found.to_text()
    got = tg.compile(made, schedule=schedule, rules=())(DATA)
    want = emulate(graph, DATA, precision, rules=())
    assert all(np.array_equal(got[n], want[n]) for n in ("y", "h"))
    error = np.abs(got["h"] - DATA["x"].astype(np.float64) @ DATA["w"]).max(1)
    assert (error < LARGEST[name] * np.abs(got["h"]).max(1)).all()
