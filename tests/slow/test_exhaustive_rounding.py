"""Every f32 number rounded to every narrow format, as ml_dtypes and NumPy do; every narrow fma.

About 70 seconds a format on one core. `-k NAME` takes one format.
"""

import gfloat
import gfloat.formats as g
import ml_dtypes
import numpy as np
import pytest

from tang.emulator import fma, round_to
from tang.emulator.formats_codes import decode
from tang.ir.format import ALL_FORMATS

TYPES = {
    "f16": (np.float16, "inf"),
    "bf16": (ml_dtypes.bfloat16, "inf"),
    "e5m2": (ml_dtypes.float8_e5m2, "inf"),
    "e4m3fn": (ml_dtypes.float8_e4m3fn, "nan"),
    "e3m2": (ml_dtypes.float6_e3m2fn, "saturate"),
    "e2m3": (ml_dtypes.float6_e2m3fn, "saturate"),
    "e2m1": (ml_dtypes.float4_e2m1fn, "saturate"),
}
INFOS = {
    "e4m3fn": g.format_info_ocp_e4m3,
    "e3m2": g.format_info_ocp_e3m2,
    "e2m3": g.format_info_ocp_e2m3,
    "e2m1": g.format_info_ocp_e2m1,
}
CHUNK = 2**18


@pytest.mark.parametrize("name", TYPES)
def test_every_f32_number_is_rounded_as_ml_dtypes_does(name):
    dtype, overflow = TYPES[name]
    wrong = count = 0
    for start in range(0, 2**32, CHUNK):
        x = np.arange(start, start + CHUNK, dtype=np.uint32).view(np.float32)
        x = x[~np.isnan(x)]
        with np.errstate(all="ignore"):
            wanted = x.astype(dtype).astype(np.float64)
        found = round_to(x, name, "rne", overflow)
        same = (found.view(np.int64) == wanted.view(np.int64)) | (
            np.isnan(found) & np.isnan(wanted)
        )
        wrong += int((~same).sum())
        count += x.size
    print(f"{name}: {wrong} of {count} differ")
    assert count == 2**32 - 2 * (2**23 - 1)
    assert wrong == 0


@pytest.mark.parametrize("name", INFOS)
def test_every_fma_of_a_narrow_format_is_rounded_once(name):
    numbers = decode(np.arange(2 ** ALL_FORMATS[name].bits, dtype=np.uint32), name)
    numbers = numbers[~np.isnan(numbers)]
    b, c = np.meshgrid(numbers, numbers)
    for a in numbers:
        exact = a * b + c  # at most 36 bits: f64 holds it
        wanted = gfloat.round_ndarray(INFOS[name], exact, sat=True)
        found = fma(a, b, c, name, "rne", "saturate")
        assert (found.view(np.int64) == wanted.view(np.int64)).all(), a
