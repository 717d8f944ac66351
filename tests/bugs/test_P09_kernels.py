"""P09, kernels: f32 is rounded to the nearest bf16, ties to even, and NaN stays NaN.

universal#1133, dotnet/runtime#130583, tt-metal#19882.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np

import tang as tg
from tang import api
from tang.kernel.ir import BF16
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.verify import verify

VECTORS = {
    0x3F808000: 0x3F80, 0x3F808001: 0x3F81, 0x3F818000: 0x3F82, 0x7F7FFFFF: 0x7F80,
    0x7F800001: None, 0x7FFFFFFF: None, 0xFF800001: None,
}  # fmt: skip
STORE = Schedule(nodes=(("y", NodeSchedule(storage=BF16)),))


def identity():
    i = tg.dims("i")
    return tg.Graph(y=tg.compute("y", i, tg.input("x", ("n",))[i]))


def words(found):
    return found.view(np.uint32) >> 16


def test_the_reported_vectors_round_to_nearest_even(host):
    run = api.compile(identity(), schedule=STORE, device=host)
    x = np.array(list(VECTORS), np.uint32).view(np.float32)
    found = run({"x": x})["y"]
    for value, word, want in zip(found, words(found), VECTORS.values(), strict=True):
        assert np.isnan(value) if want is None else word == want
    assert run({"x": np.array([0.2691408770], np.float32)})["y"].tolist() == [0.26953125]


def test_every_upper_half_agrees_with_ml_dtypes(host):
    run = api.compile(identity(), schedule=STORE, device=host)
    for low in (0x0000, 0x0001, 0x7FFF, 0x8000, 0x8001, 0xFFFF):
        x = ((np.arange(2**16, dtype=np.uint32) << 16) | np.uint32(low)).view(np.float32)
        with np.errstate(all="ignore"):
            want = x.astype(ml_dtypes.bfloat16).view(np.uint16)
        found = run({"x": x})["y"]
        nan = np.isnan(x)
        assert (np.isnan(found) == nan).all()
        assert (words(found) == want)[~nan].all()


def test_every_rung_agrees():
    x = np.array(list(VECTORS)[:4], np.uint32).view(np.float32)
    report = verify(identity(), {"x": x}, rules=(), schedule=STORE)
    assert report.ok, report.to_text()
