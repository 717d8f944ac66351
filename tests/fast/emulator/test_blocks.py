"""Blocks against the text of the specifications, element by element."""

import math

import ml_dtypes
import numpy as np
import pytest

from tang.emulator import FORMATS
from tang.emulator.blocks import quantize_blocks
from tang.emulator.formats_codes import encode
from tang.errors import FormatError
from tang.ir.format import BLOCK_FORMATS

RNG = np.random.default_rng(8)
MX = [n for n, f in BLOCK_FORMATS.items() if not f.tensor_scale]
TYPES = {
    "e4m3fn": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2,
    "e3m2": ml_dtypes.float6_e3m2fn, "e2m3": ml_dtypes.float6_e2m3fn,
    "e2m1": ml_dtypes.float4_e2m1fn,
}  # fmt: skip


def data(*shape):
    """f32 numbers of very different sizes."""
    x = RNG.standard_normal(shape) * np.exp2(RNG.integers(-40, 40, (*shape[:-1], 1)))
    return x.astype(np.float32).astype(np.float64)


def mx_by_the_book(block, layout):
    """One block as OCP Microscaling 1.0 section 6.3 says, rounded by ml_dtypes."""
    element = FORMATS[layout.element]
    amax = max(abs(v) for v in block)
    exponent = math.frexp(amax)[1] - 1 - element.emax if amax else -127
    scale = 2.0 ** max(-127, min(127, exponent))
    top = float(element.largest)
    scaled = np.clip(np.float32([v / scale for v in block]), -top, top)
    return scale, scaled.astype(TYPES[layout.element]).astype(np.float64)


@pytest.mark.parametrize("name", MX)
def test_mx_blocks_are_those_of_the_specification(name):
    layout = BLOCK_FORMATS[name]
    x = data(6, 70)
    found = quantize_blocks(x, name)
    assert found.scales.shape == (6, 3)
    for row in range(6):
        for i in range(3):
            block = slice(32 * i, 32 * i + 32)
            scale, elements = mx_by_the_book(x[row, block], layout)
            assert found.scales[row, i] == scale
            assert (found.elements[row, block] == elements).all()
            assert (found.values()[row, block] == elements * scale).all()
    encode(found.elements, layout.element)
    encode(found.scales, layout.scale)


def test_the_largest_element_of_a_block_may_lose_a_quarter():
    found = quantize_blocks([7.99, 1.0], "mxfp4")  # 7.99 saturates at 6
    assert found.scales.tolist() == [1.0]
    assert found.values().tolist() == [6.0, 1.0]


def test_blocks_of_zeros_and_of_special_values():
    x = np.zeros((3, 32))
    x[1, 3], x[2, 4] = np.nan, np.inf
    found = quantize_blocks(x, "mxfp6-e2m3")
    assert found.scales[0, 0] == 2.0**-127
    assert np.isnan(found.scales[1:]).all()
    assert (found.values()[0] == 0).all()
    assert np.isnan(found.values()[1:]).all()


def nvfp4_by_the_book(x):
    """Transformer Engine's steps in scalar f32: values of the blocks."""
    f = np.float32
    whole = max(abs(f(v)) for v in x.reshape(-1))
    encode_all = f(448 * 6) / whole
    decode_all = f(1) / encode_all
    out = np.zeros(x.shape)
    for i in range(0, x.shape[-1], 16):
        for row, line in enumerate(x):
            block = line[i : i + 16].astype(f)
            scale = np.minimum(abs(block).max() / f(6) * encode_all, f(448))
            scale = f(scale.astype(ml_dtypes.float8_e4m3fn))
            inverse = np.minimum(f(1) / (scale * decode_all), np.finfo(f).max)
            scaled = np.clip(block * inverse, f(-6), f(6)).astype(ml_dtypes.float4_e2m1fn)
            out[row, i : i + 16] = scaled.astype(np.float64) * float(scale) * float(decode_all)
    return out


def test_nvfp4_is_what_the_reference_quantiser_does():
    x = (RNG.standard_normal((5, 72)) * RNG.choice([1e-3, 1, 30], (5, 1))).astype(np.float32)
    x[0, :16] *= np.float32(1e-9)  # its scale underflows
    with np.errstate(all="ignore"):
        expected = nvfp4_by_the_book(x)
    found = quantize_blocks(x, "nvfp4")
    assert (found.values() == expected).all()
    encode(found.elements, "e2m1")
    encode(found.scales, "e4m3fn")
    assert found.tensor_scale == float(np.float32(found.tensor_scale))


def test_nvfp4_needs_finite_data_and_takes_zeros():
    assert (quantize_blocks(np.zeros(20), "nvfp4").values() == 0).all()
    with pytest.raises(FormatError, match="finite"):
        quantize_blocks([1.0, np.inf], "nvfp4")


def test_blocks_lie_along_any_axis_and_empty_data_stays_empty():
    x = data(40, 3)
    across = quantize_blocks(x, "mxfp8-e4m3", axis=0)
    along = quantize_blocks(x.T, "mxfp8-e4m3")
    assert (across.values() == along.values().T).all()
    assert quantize_blocks(np.zeros((2, 0)), "mxfp4").values().shape == (2, 0)


def test_elements_can_be_rounded_stochastically():
    x = np.full(3200, 1.3)
    x[::32] = 4.0
    found = quantize_blocks(x, "mxfp4", rounding="stochastic", seed=2).values()
    rest = np.delete(found, np.arange(0, 3200, 32))
    assert set(rest) == {1.0, 1.5}
    assert abs(rest.mean() - 1.3) < 0.02


def test_unknown_blocks_and_scalars_are_refused():
    with pytest.raises(FormatError, match="unknown block format 'mxfp9'"):
        quantize_blocks([1.0], "mxfp9")
    with pytest.raises(FormatError, match="axis of blocks"):
        quantize_blocks(1.0, "mxfp4")
