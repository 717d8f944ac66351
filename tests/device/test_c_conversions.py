"""Conversions and bit casts of emitted C agree with ml_dtypes, NumPy and exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from tang.emit.literal import round_to
from tang.ir.format import FORMATS
from tang.kernel import ir as k

pytestmark = pytest.mark.filterwarnings(  # ml_dtypes signals on NaN where NumPy is silent
    "ignore:invalid value encountered:RuntimeWarning"
)

DTYPES = {
    k.BOOL: np.uint8, k.U8: np.uint8, k.I32: np.int32, k.U32: np.uint32, k.I64: np.int64,
    k.F16: np.float16, k.BF16: ml_dtypes.bfloat16, k.F32: np.float32, k.F64: np.float64,
}  # fmt: skip
NARROW = (k.F16, k.BF16)


def element(name, t):
    return k.Load(t, name, k.Var(k.I64, "global_id"))


def convert(a, b):
    return {"c": k.Convert(b, element("a", a))}


def storage(x):
    return x.view(np.uint16) if x.dtype == ml_dtypes.bfloat16 else x


def float_bits(x):
    """Bits as integers with every NaN made one."""
    nan = np.isnan(x)
    return np.where(nan, -1, x.view(f"u{x.dtype.itemsize}").astype(np.int64))


def corners():
    """f32 bit patterns: every upper half word with the lower halves at which rounding turns."""
    high = np.arange(2**16, dtype=np.uint32) << 16
    low = np.array([0, 1, 0x0FFF, 0x1000, 0x1001, 0x7FFF, 0x8000, 0x8001, 0xFFFF], np.uint32)
    return (high[:, None] | low).ravel().view(np.float32)


@pytest.mark.parametrize("t", NARROW, ids=lambda t: t.value)
def test_narrowing_f32_rounds_to_nearest_even(t, evaluate):
    x = corners()
    with np.errstate(over="ignore", invalid="ignore"):
        want = x.astype(DTYPES[t])
    got = evaluate(convert(k.F32, t), a=x)["c"].view(DTYPES[t])
    assert (float_bits(got) == float_bits(want)).all()


@pytest.mark.parametrize("t", NARROW, ids=lambda t: t.value)
def test_widening_a_16_bit_format_is_exact_for_every_value(t, evaluate):
    x = np.arange(2**16, dtype=np.uint16)
    got = evaluate(convert(t, k.F32), a=x)["c"]
    assert (float_bits(got) == float_bits(x.view(DTYPES[t]).astype(np.float32))).all()


@pytest.mark.parametrize("t", NARROW, ids=lambda t: t.value)
def test_narrowing_f64_rounds_once(t, evaluate):
    rng = np.random.default_rng(5)
    form = FORMATS[t.value]
    near = rng.integers(0, 2**16, 2000).astype(np.uint16).view(DTYPES[t]).astype(np.float64)
    near = near[np.isfinite(near)]
    tie = near + np.abs(near) * 2.0**-form.p
    x = np.concatenate([tie, tie * (1 + 2.0**-40), tie * (1 - 2.0**-40), near, [1e-310, -1e300]])
    x = x[np.abs(x) < float(form.largest)]
    got = evaluate(convert(k.F64, t), a=x)["c"].view(DTYPES[t]).astype(np.float64)
    want = [float(round_to(Fraction(v), form)) for v in x]
    assert got.tolist() == want


@pytest.mark.parametrize("t", NARROW, ids=lambda t: t.value)
def test_specials_of_f64_stay_special_when_narrowed(t, evaluate):
    x = np.array([np.inf, -np.inf, np.nan, 1e300, -1e300, -0.0, 1e-320, -1e-320])
    got = evaluate(convert(k.F64, t), a=x)["c"].view(DTYPES[t]).astype(float)
    assert str(got.tolist()) == "[inf, -inf, nan, inf, -inf, -0.0, 0.0, -0.0]"


def test_f64_to_f32_rounds_once(evaluate):
    rng = np.random.default_rng(6)
    x = np.ldexp(rng.uniform(-1, 1, 5000), rng.integers(-160, 130, 5000))
    with np.errstate(over="ignore"):
        want = x.astype(np.float32)
    assert (evaluate(convert(k.F64, k.F32), a=x)["c"].view(np.uint32) == want.view(np.uint32)).all()


@pytest.mark.parametrize("b", [k.F16, k.BF16, k.F32, k.F64], ids=lambda t: t.value)
@pytest.mark.parametrize("a", [k.I32, k.U32, k.I64, k.U8], ids=lambda t: t.value)
def test_integers_become_floats_with_one_rounding(a, b, evaluate):
    rng = np.random.default_rng(8)
    info = np.iinfo(DTYPES[a])
    powers = [2**i + d for i in range(info.bits) for d in (-1, 0, 1, 2 ** max(i - 9, 0))]
    ints = [n for p in powers for n in (p, -p) if info.min <= n <= info.max]
    ints += rng.integers(info.min, info.max, 1000, endpoint=True).tolist()
    form = FORMATS[b.value]
    ints = [n for n in ints if abs(n) <= form.largest]
    got = evaluate(convert(a, b), a=np.array(ints, DTYPES[a]))["c"].view(DTYPES[b])
    want = [float(round_to(Fraction(n), form)) for n in ints]
    assert got.astype(np.float64).tolist() == want


@pytest.mark.parametrize("b", [k.U8, k.I32, k.U32, k.I64], ids=lambda t: t.value)
@pytest.mark.parametrize("a", [k.F16, k.BF16, k.F32, k.F64], ids=lambda t: t.value)
def test_whole_floats_become_integers(a, b, evaluate):
    x = np.array([0.0, -0.0, 1, 2, 100, 128], DTYPES[a])
    got = evaluate(convert(a, b), a=storage(x))["c"]
    assert got.tolist() == [0, 0, 1, 2, 100, 128]


def test_bools_become_numbers_and_numbers_bools(evaluate):
    flags = np.array([0, 1], np.uint8)
    for t in (k.U8, k.I32, k.I64, k.F32, k.F64, k.F16):
        got = evaluate(convert(k.BOOL, t), a=flags)["c"].view(DTYPES[t])
        assert got.astype(float).tolist() == [0, 1], t
    floats = np.array([0.0, -0.0, 0.5, np.nan], np.float32)
    assert evaluate(convert(k.F32, k.BOOL), a=floats)["c"].tolist() == [0, 0, 1, 1]


PAIRS = [
    (k.F32, k.U32), (k.U32, k.F32), (k.F32, k.I32), (k.I32, k.F32), (k.F64, k.I64),
    (k.I64, k.F64), (k.I32, k.U32), (k.U32, k.I32),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b"), PAIRS, ids=lambda t: t.value)
def test_a_bit_cast_keeps_every_bit(a, b, evaluate):
    rng = np.random.default_rng(9)
    bits = rng.integers(0, 256, 4096 * a.bytes, dtype=np.uint8)
    bits = bits[: a.bytes * 4096]
    x = bits.view(DTYPES[a])
    got = evaluate({"c": k.Bitcast(b, element("a", a))}, a=x)["c"]
    assert got.tobytes() == x.tobytes()


def test_the_halves_share_bits_too(evaluate):
    x = np.arange(2**16, dtype=np.uint16)
    got = evaluate({"c": k.Bitcast(k.BF16, element("a", k.F16))}, a=x)["c"]
    numbers = ~np.isnan(x.view(np.float16)) & ~np.isnan(x.view(ml_dtypes.bfloat16))
    assert (got[numbers] == x[numbers]).all()
