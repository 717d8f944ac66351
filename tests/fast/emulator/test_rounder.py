"""The rounder against ml_dtypes, gfloat and exact rationals; NumPy against C; planted faults."""

from fractions import Fraction

import gfloat
import gfloat.formats as g
import ml_dtypes
import numpy as np
import pytest
from exact_rounding import reference, same
from gfloat import RoundMode

from tang.emulator import FORMATS, rounder_c
from tang.emulator.formats_codes import decode
from tang.emulator.rounder import round_array, rounder
from tang.emulator.rounder_build import load
from tang.emulator.rounding import OVERFLOWS, ROUNDINGS, round_rational, round_to
from tang.ir.format import custom_format

RNG = np.random.default_rng(5)
CUSTOM = (
    custom_format("p5", p=5, emin=-3, largest=22),
    custom_format("p2", p=2, emin=-1, largest=12, specials="fnuz"),
    custom_format("p40", p=40, emin=-200, largest=2.0**200),
    custom_format("wide", p=9, emin=-1022, largest=2.0**1023),
    custom_format("p52", p=52, emin=-30, largest=2.0**40),
    custom_format("p53", p=53, emin=-40, largest=2.0**60),
    custom_format("f32", p=24, emin=-20, largest=2.0**30),  # a name that another format has
)
EVERY = {n: f for n, f in FORMATS.items() if n != "e8m0"}
EVERY |= {f"own {f.name}": f for f in CUSTOM}
SMALL = {
    "f16": (np.float16, g.format_info_binary16, "inf"),
    "bf16": (ml_dtypes.bfloat16, g.format_info_bfloat16, "inf"),
    "e5m2": (ml_dtypes.float8_e5m2, g.format_info_ocp_e5m2, "inf"),
    "e4m3fn": (ml_dtypes.float8_e4m3fn, g.format_info_ocp_e4m3, "nan"),
    "e3m2": (ml_dtypes.float6_e3m2fn, g.format_info_ocp_e3m2, "saturate"),
    "e2m3": (ml_dtypes.float6_e2m3fn, g.format_info_ocp_e2m3, "saturate"),
    "e2m1": (ml_dtypes.float4_e2m1fn, g.format_info_ocp_e2m1, "saturate"),
}
MODES = {"rne": RoundMode.TiesToEven, "rz": RoundMode.TowardZero, "rna": RoundMode.TiesToAway}


def overflows(target):
    """The overflow rules that a format has."""
    return [
        o for o in OVERFLOWS if {"inf": target.has_infinity, "nan": target.has_nan}.get(o, True)
    ]


def agree(a, b):
    """Equal everywhere, zeros by sign, all NaNs alike."""
    nan = np.isnan(a) & np.isnan(b)
    return bool((nan | (a.view(np.int64) == b.view(np.int64))).all())


def critical(target, dtype=np.float64):
    """Every number of a narrow format, every midpoint, their neighbours in `dtype`, and beyond."""
    x = decode(np.arange(2**target.bits, dtype=np.uint32), target)
    x = np.unique(x[np.isfinite(x)])
    top = float(target.largest)
    more = np.array([top * f for f in (1 + 1 / 16, 1.25, 1.5, 2, 2.5, 4)])
    step = top - float(np.sort(x)[-2])
    more = np.concatenate([more, [top + step / 2, top + step]])
    x = np.concatenate([x, (x[1:] + x[:-1]) / 2, more, -more, [0.0, -0.0]])
    x = x[np.abs(x) < np.finfo(dtype).max].astype(dtype)
    return np.concatenate([x, np.nextafter(x, dtype(np.inf)), np.nextafter(x, dtype(-np.inf))])


def near_ties(target, count=40):
    """Numbers, midpoints and what lies an f64 step beside them, of every size; and the ends."""
    low, high = max(target.emin - target.p - 2, -1073), min(target.emax + 2, 1023)
    exponent = RNG.integers(low, high, count)
    ends = [target.emin, target.emin - 1, target.emin - target.p, target.emax, target.emax + 1]
    exponent[: len(ends)] = np.clip(ends, low, high)
    half = RNG.integers(2**target.p, 2 ** (target.p + 1), count).astype(np.float64)
    x = np.ldexp(half, exponent - target.p)
    x = np.concatenate([x, [float(target.largest), float(target.quantum) / 2, 0.0]])
    with np.errstate(over="ignore"):
        x = np.concatenate([x, np.nextafter(x, np.inf), np.nextafter(x, -np.inf)])
    return np.concatenate([x, -x, [np.inf, -np.inf]])


@pytest.mark.parametrize("name", SMALL)
def test_every_number_and_midpoint_agrees_with_ml_dtypes_from_f32(name):
    dtype, _, overflow = SMALL[name]
    x = critical(FORMATS[name], np.float32)
    with np.errstate(all="ignore"):
        expected = x.astype(dtype).astype(np.float64)
    assert agree(round_to(x, name, "rne", overflow), expected)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", SMALL)
def test_every_number_and_midpoint_agrees_with_gfloat_from_f64(name, mode):
    _, info, overflow = SMALL[name]
    x = critical(FORMATS[name])
    assert agree(
        round_to(x, name, mode, "saturate"), gfloat.round_ndarray(info, x, MODES[mode], sat=True)
    )
    if overflow != "saturate" and mode != "rz":  # where gfloat follows IEEE: largest, not infinity
        expected = gfloat.round_ndarray(info, x, MODES[mode])
        assert agree(round_to(x, name, mode, overflow), expected)


def test_scales_round_as_ml_dtypes_to_nearest_and_as_gfloat_towards_zero():
    x = np.ldexp(RNG.random(3000) + 1, RNG.integers(-126, 127, 3000)).astype(np.float32)
    x = np.concatenate([x, np.ldexp(np.float32(1.5), np.arange(-126, 126))]).astype(np.float32)
    wanted = x.astype(ml_dtypes.float8_e8m0fnu).astype(np.float64)
    assert agree(round_to(x, "e8m0", "rne", "nan"), wanted)
    towards = gfloat.round_ndarray(g.format_info_ocp_e8m0, x.astype(np.float64), MODES["rz"])
    assert agree(round_to(x, "e8m0", "rz", "nan"), towards)
    assert round_to([0.0, 2.0**-140], "e8m0", "rz", "saturate").tolist() == [2.0**-127] * 2


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", EVERY)
def test_near_ties_of_every_format_agree_with_exact_rationals(name, mode):
    target = EVERY[name]
    x = near_ties(target)
    for overflow in overflows(target):
        for ftz in (False, True):
            got = round_to(x, target, mode, overflow, ftz)
            for value, found in zip(x.tolist(), got.tolist(), strict=True):
                wanted = reference(value, target, mode, overflow, ftz)
                wanted = wanted if target.has_negative_zero or wanted else 0.0
                assert same(found, wanted), (value, found, wanted, overflow, ftz)


@pytest.mark.parametrize("mode", ROUNDINGS)
@pytest.mark.parametrize("name", EVERY)
def test_c_and_numpy_agree_bit_for_bit(name, mode):
    library = load(rounder_c.TEXT)
    if library is None:
        pytest.skip("no C compiler on this host")
    target = EVERY[name]
    bits = RNG.integers(0, 2**64, 30_000, np.uint64).view(np.float64)
    scaled = np.ldexp(RNG.standard_normal(20_000), RNG.integers(target.emin - 60, 140, 20_000))
    x = np.concatenate([near_ties(target), bits, scaled])
    for overflow in overflows(target):
        how = rounder(target, mode, overflow, overflow == "saturate", 11)
        if rounder_c.suits(how):
            with np.errstate(all="ignore"):
                plain = round_array(x, how, first=2**63)
                assert agree(rounder_c.round_array_c(x, how, 2**63, library), plain)
        else:
            assert target.p > 51 or name == "own wide"


@pytest.mark.parametrize("name", ["f16", "e4m3fn", "own p40"])
def test_stochastic_rounding_takes_each_neighbour_as_often_as_it_should(name):
    target = EVERY[name]
    low, high = 1.0, 1.0 + 2.0 ** (1 - target.p)
    for share in (0.0, 0.125, 0.5, 0.9375):
        x = np.full(40_000, low + share * (high - low))
        got = round_to(x, target, "stochastic", "saturate", seed=9)
        assert set(got) <= {low, high}
        assert abs((got == high).mean() - share) < 0.012  # 4.8 standard deviations
        assert agree(round_to(-x, target, "stochastic", "saturate", seed=9), -got)


def test_stochastic_rounding_depends_on_seed_and_position_alone():
    x = RNG.standard_normal((3, 10_000))
    whole = round_to(x, "bf16", "stochastic", seed=1)
    assert agree(whole, round_to(x, "bf16", "stochastic", seed=1))
    parts = [round_to(row, "bf16", "stochastic", seed=1, first=10_000 * i)
             for i, row in enumerate(x)]  # fmt: skip
    assert agree(whole, np.array(parts))
    assert not agree(whole, round_to(x, "bf16", "stochastic", seed=2))


def test_exact_rationals_round_as_the_definition_says():
    for target in EVERY.values():
        for mode in MODES:
            for _ in range(40):
                x = Fraction(int(RNG.integers(-(2**62), 2**62)), int(RNG.integers(1, 2**40)))
                x *= Fraction(2) ** int(RNG.integers(-50, 20))
                for overflow in overflows(target):
                    got = round_rational(x, target, mode, overflow)
                    assert same(got, reference(x, target, mode, overflow) + 0.0)


def test_without_a_compiler_large_arrays_are_rounded_in_numpy(monkeypatch):
    x = RNG.standard_normal(20_000)
    fast = round_to(x, "f16")
    monkeypatch.setattr("tang.emulator.rounding.load", lambda text: None)
    assert agree(round_to(x, "f16"), fast)
    assert load("#error no such text") is None


def _faults(candidate):
    """How many critical numbers of f16 a rounding gets wrong."""
    x = critical(FORMATS["f16"])
    with np.errstate(all="ignore"):
        found = np.asarray(candidate(x), np.float64)
    wanted = gfloat.round_ndarray(g.format_info_binary16, x)
    return int(((found != wanted) & ~(np.isnan(found) & np.isnan(wanted))).sum())


def test_planted_faults_of_rounding_are_seen():
    assert _faults(lambda x: round_to(x, "f16")) == 0
    planted = {
        "twice": lambda x: round_to(round_to(x, "f32"), "f16"),
        "twice, coarsely": lambda x: round_to(round_to(x, "fp22"), "f16"),
        "towards zero": lambda x: round_to(x, "f16", "rz"),
        "ties away": lambda x: round_to(x, "f16", "rna"),
        "saturates": lambda x: round_to(x, "f16", overflow="saturate"),
        "flushes": lambda x: round_to(x, "f16", ftz=True),
        "other format": lambda x: round_to(x, "bf16"),
    }
    assert {name: _faults(f) > 0 for name, f in planted.items()} == dict.fromkeys(planted, True)
