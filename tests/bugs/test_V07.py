"""V07: a reference that rounds twice (f64 → f32 → f16) is wrong next to ties."""

import numpy as np

from tang.emulator.rounding import round_to

X = 1 + 2.0**-11 + 2.0**-40


def test_f64_to_f16_rounds_once():
    assert round_to(X, "f16").astype(np.float16).view(np.uint16) == 0x3C01


def test_rounding_by_way_of_f32_would_be_wrong():
    twice = round_to(round_to(X, "f32"), "f16")
    assert twice.astype(np.float16).view(np.uint16) == 0x3C00
