"""P09: f32 → bf16 was truncated instead of rounded, and some NaNs became infinite."""

import ml_dtypes
import numpy as np
import pytest

from tang.emulator.rounding import bf16_round, bf16_to_bits, round_to

LOW = (0x0000, 0x0001, 0x7FFF, 0x8000, 0x8001, 0xFFFF)
VECTORS = {0x3F808000: 0x3F80, 0x3F808001: 0x3F81, 0x3F818000: 0x3F82, 0x7F7FFFFF: 0x7F80}


@pytest.mark.parametrize("bits", VECTORS)
def test_the_reported_vectors_round_to_nearest_even(bits):
    x = np.array([bits], np.uint32).view(np.float32)
    assert bf16_to_bits(bf16_round(x))[0] == VECTORS[bits]


@pytest.mark.parametrize("bits", [0x7F800001, 0x7FFFFFFF, 0xFF800001])
def test_a_nan_with_a_low_payload_stays_nan(bits):
    x = np.array([bits], np.uint32).view(np.float32)
    assert np.isnan(bf16_round(x)).all()
    assert np.isnan(round_to(x, "bf16")).all()


def test_the_reported_decimal_rounds_up():
    assert round_to(np.float32(0.2691408770), "bf16") == 0.26953125


@pytest.mark.parametrize("low", LOW)
def test_every_upper_half_agrees_with_ml_dtypes(low):
    x = ((np.arange(2**16, dtype=np.uint32) << 16) | np.uint32(low)).view(np.float32)
    with np.errstate(all="ignore"):
        got, expected = bf16_round(x), x.astype(ml_dtypes.bfloat16).astype(np.float32)
    nan = np.isnan(x)
    assert (np.isnan(got) == nan).all()
    assert (got.view(np.uint32) == expected.view(np.uint32))[~nan].all()
