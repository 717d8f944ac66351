"""Codes of narrow formats against ml_dtypes and gfloat, for every code; bad input."""

import gfloat
import gfloat.formats as g
import ml_dtypes
import numpy as np
import pytest

from tang.emulator import FORMATS, round_to
from tang.emulator.formats_codes import decode, encode, infinity_code, largest_code, nan_code
from tang.errors import FormatError
from tang.ir.format import any_format, custom_format

TYPES = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "e5m2": ml_dtypes.float8_e5m2,
    "e4m3fn": ml_dtypes.float8_e4m3fn,
    "e3m2": ml_dtypes.float6_e3m2fn,
    "e2m3": ml_dtypes.float6_e2m3fn,
    "e2m1": ml_dtypes.float4_e2m1fn,
    "e8m0": ml_dtypes.float8_e8m0fnu,
}
INFOS = {
    "f16": g.format_info_binary16, "bf16": g.format_info_bfloat16, "e5m2": g.format_info_ocp_e5m2,
    "e4m3fn": g.format_info_ocp_e4m3, "e3m2": g.format_info_ocp_e3m2,
    "e2m3": g.format_info_ocp_e2m3, "e2m1": g.format_info_ocp_e2m1, "e8m0": g.format_info_ocp_e8m0,
}  # fmt: skip
FNUZ = {
    "e4m3fnuz": (custom_format("e4m3fnuz", p=4, emin=-7, largest=240, specials="fnuz"),
                 ml_dtypes.float8_e4m3fnuz),
    "e5m2fnuz": (custom_format("e5m2fnuz", p=3, emin=-15, largest=57344, specials="fnuz"),
                 ml_dtypes.float8_e5m2fnuz),
}  # fmt: skip


def every_code(target):
    dtype = np.uint8 if target.bits <= 8 else np.uint16
    return np.arange(2**target.bits, dtype=np.uint32).astype(dtype)


def agree(a, b):
    nan = np.isnan(a) & np.isnan(b)
    return bool((nan | (a.view(np.int64) == b.view(np.int64))).all())


@pytest.mark.parametrize("name", TYPES)
def test_every_code_means_what_ml_dtypes_says(name):
    codes = every_code(FORMATS[name])
    with np.errstate(all="ignore"):
        assert agree(decode(codes, name), codes.view(TYPES[name]).astype(np.float64))


@pytest.mark.parametrize("name", INFOS)
def test_every_code_means_what_gfloat_says(name):
    codes = every_code(FORMATS[name])
    assert agree(decode(codes, name), gfloat.decode_ndarray(INFOS[name], codes.astype(np.int64)))


@pytest.mark.parametrize("name", FNUZ)
def test_a_custom_format_gives_the_codes_of_amd(name):
    target, dtype = FNUZ[name]
    codes = every_code(target)
    assert agree(decode(codes, target), codes.view(dtype).astype(np.float64))
    x = decode(codes, target)
    middle = np.unique(x[np.isfinite(x)])
    middle = ((middle[1:] + middle[:-1]) / 2).astype(np.float32)
    around = np.concatenate([middle, np.nextafter(middle, np.float32(9e9))])
    assert agree(round_to(around, target, "rne", "nan"), around.astype(dtype).astype(np.float64))


@pytest.mark.parametrize("name", TYPES)
def test_every_number_is_encoded_as_its_code(name):
    target = FORMATS[name]
    codes = every_code(target)
    x = decode(codes, target)
    known = ~np.isnan(x)
    assert (encode(x[known], name) == codes[known]).all()
    if target.has_nan:
        assert encode(np.nan, name) == nan_code(target)


@pytest.mark.parametrize("name", ["f32", "tf32", "fp22"])
def test_wider_formats_have_codes_too(name):
    bits = np.random.default_rng(0).integers(0, 2**32, 50_000, np.uint32)
    shift = np.uint32(32 - FORMATS[name].bits)
    bits = (bits >> shift) << shift
    with np.errstate(invalid="ignore"):
        x = bits.view(np.float32).astype(np.float64)
    assert agree(decode(bits >> shift, name), x)
    known = ~np.isnan(x)
    assert (encode(x[known], name) == bits[known] >> shift).all()


def test_the_codes_of_the_ends_are_those_of_the_specifications():
    codes = {n: (largest_code(f), infinity_code(f), nan_code(f)) for n, f in FORMATS.items()}
    assert codes["f16"] == (0x7BFF, 0x7C00, 0x7E00)
    assert codes["bf16"] == (0x7F7F, 0x7F80, 0x7FC0)
    assert codes["e5m2"] == (0x7B, 0x7C, 0x7E)
    assert codes["e4m3fn"] == (0x7E, None, 0x7F)
    assert codes["e2m1"] == (7, None, None)
    assert codes["e8m0"] == (254, None, 255)


def test_what_is_no_number_of_the_format_is_named():
    with pytest.raises(FormatError, match=r"e4m3fn: element \[1, 0\] is 1\.3"):
        encode([[1.0, 2.0], [1.3, 3.0]], "e4m3fn")
    with pytest.raises(FormatError, match="e2m1: the value is nan"):
        encode(np.nan, "e2m1")
    with pytest.raises(FormatError, match=r"e8m0: the value is 0\.0"):
        encode(0.0, "e8m0")
    with pytest.raises(FormatError, match="0 … 15"):
        decode([16], "e2m1")
    with pytest.raises(FormatError, match="up to 32 bits, not f64"):
        encode(1.0, "f64")
    with pytest.raises(FormatError, match="integers"):
        decode([1.0], "f16")


def test_what_a_format_cannot_represent_is_an_error_that_says_what_to_pass():
    cases = {
        ("e4m3fn", "inf"): "no infinity.*overflow='nan' or 'saturate'",
        ("e2m1", "inf"): "no infinity.*overflow='saturate'",
        ("e2m1", "nan"): "no NaN.*overflow='saturate'",
        ("f16", "wrap"): "unknown overflow 'wrap'",
        ("mxfp4", "inf"): "format of blocks",
        ("e9m9", "inf"): "unknown format 'e9m9'",
    }
    for (name, overflow), message in cases.items():
        with pytest.raises(FormatError, match=message):
            round_to(1.0, name, overflow=overflow)
    with pytest.raises(FormatError, match=r"e2m1 has no NaN: element \[2\] is nan"):
        round_to([0.0, 1.0, np.nan], "e2m1", overflow="saturate")
    with pytest.raises(FormatError, match=r"e8m0 has no sign: element \[0\] is -1"):
        round_to([-1.0], "e8m0", overflow="nan")
    with pytest.raises(FormatError, match=r"no zero.*saturate"):
        round_to(0.0, "e8m0", overflow="nan")


def test_seeds_belong_to_stochastic_rounding_alone():
    with pytest.raises(FormatError, match="needs a seed"):
        round_to(1.0, "f16", "stochastic")
    with pytest.raises(FormatError, match="takes no seed"):
        round_to(1.0, "f16", "rz", seed=1)
    with pytest.raises(FormatError, match="2⁶⁴"):
        round_to(1.0, "f16", "stochastic", seed=-1)


def test_integers_that_f64_cannot_hold_are_not_rounded_twice():
    with pytest.raises(FormatError, match="more than 53 bits"):
        round_to(np.array([1, 2**53 + 1]), "f32")
    with pytest.raises(FormatError, match="more than 53 bits"):
        round_to(np.array([2**64 - 1], np.uint64), "f32")
    assert round_to(np.array([2**62, -(2**63)]), "f32").tolist() == [2.0**62, -(2.0**63)]


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"p": 0, "emin": 0, "largest": 1}, "p must be 1 … 53"),
        ({"p": 54, "emin": 0, "largest": 1}, "p must be 1 … 53"),
        ({"p": 3, "emin": 0, "largest": 9}, "more than 3 bits"),
        ({"p": 3, "emin": 5, "largest": 8}, "exponents 5 … 3"),
        ({"p": 3, "emin": -1023, "largest": 8}, "not all in f64"),
        ({"p": 3, "emin": 0, "largest": -8}, "must be positive"),
        ({"p": 1, "emin": 0, "largest": 8}, "tells NaN from infinity"),
        ({"p": 3, "emin": 0, "largest": 8, "specials": "odd"}, "unknown specials"),
        ({"p": 5.7, "emin": 0, "largest": 8}, "mine: p: expected an integer, not 5.7"),
        ({"p": True, "emin": 0, "largest": 8}, "mine: p: expected an integer, not True"),
        ({"p": 3, "emin": -3.5, "largest": 8}, "mine: emin: expected an integer, not -3.5"),
        ({"p": 3, "emin": 0, "largest": float("nan")}, "mine: largest: expected a finite"),
        ({"p": 3, "emin": 0, "largest": True}, "mine: largest: expected a finite number"),
    ],
    ids=lambda v: v.replace(" ", "-") if isinstance(v, str) else "parts",
)
def test_a_custom_format_that_does_not_fit_together_is_refused(parts, message):
    with pytest.raises(FormatError, match=message):
        custom_format("mine", **parts)
    assert any_format(custom_format("mine", p=3, emin=-2, largest=14)).bits == 6
