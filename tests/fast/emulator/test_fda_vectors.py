"""The vectors that separate hypotheses about tensor cores, with the answers of an H200.

Each vector has an answer of its own under the wrong hypothesis, which is stated beside it.
"""

import numpy as np
import pytest

from tang.emulator.fda import fda, fda_bits
from tang.ir.tensorcore import ATOMS

WIDE = [("sm_90", i, f) for i in ("mma", "wgmma") for f in ("f16", "bf16", "tf32")]
IDS = {"ids": "-".join}


def terms(atom, *pairs):
    """One instruction's factors, zeros after the pairs."""
    a, b = np.zeros((2, atom.k))
    for i, pair in enumerate(pairs):
        a[i], b[i] = pair
    return a, b


def ask(key, *pairs, c=0.0):
    atom = ATOMS[key]
    return float(fda(*terms(atom, *pairs), c, atom))


def power(n):
    return 2.0**n


def halves(n):
    """2ⁿ as a product of two powers that every format has."""
    return power(n // 2), power(n - n // 2)


@pytest.mark.parametrize("key", WIDE, **IDS)
def test_25_bits_below_the_largest_exponent_are_kept(key):
    kept = [j for j in range(10, 27) if ask(key, (1, 1), (-1, 1), halves(-j)) == power(-j)]
    assert kept == list(range(10, 26))


@pytest.mark.parametrize("format", ["e4m3fn", "e5m2"])
def test_13_bits_are_kept_by_fp8_wgmma(format):
    key = ("sm_90", "wgmma", format)
    low = [j for j in range(8, 13) if ask(key, (1, 1), (-1, 1), halves(-j)) == power(-j)]
    assert low == list(range(8, 13))
    assert ask(key, (1, 1), (-1, 1), c=power(-13)) == power(-13)
    assert ask(key, (1, 1), (-1, 1), c=power(-14)) == 0.0


@pytest.mark.parametrize("key", WIDE, **IDS)
def test_results_are_rounded_towards_zero(key):
    assert ask(key, (1, 1), halves(-24), halves(-25)) == 1.0  # to nearest: 1 + 2⁻²³
    below = [(-x, y) for x, y in (halves(-24), halves(-25))]
    assert ask(key, (-1, 1), *below) == -1.0


@pytest.mark.parametrize("key", WIDE, **IDS)
def test_all_terms_of_an_instruction_are_one_block(key):
    atom = ATOMS[key]
    big = (power(13), power(12)) if key[2] == "f16" else halves(25)
    for i in range(1, atom.k):
        pairs = [(1.0, 1.0)] * atom.k
        pairs[0], pairs[i] = big, (-big[0], big[1])
        assert ask(key, *pairs) == atom.k - 2  # every one is kept beside 2²⁵, whatever its place
        pairs[0], pairs[i] = (big[0] * 2, big[1]), (-big[0] * 2, big[1])
        assert ask(key, *pairs) == 0.0  # and none beside 2²⁶


def test_two_blocks_of_eight_on_older_chips():
    key = ("sm_80", "mma", "f16")
    pairs = [(1.0, 1.0)] * 16
    pairs[0], pairs[1] = (power(13), power(12)), (-power(13), power(12))
    assert ask(key, *pairs) == 8.0  # the first block keeps 24 bits; the second one is unharmed


@pytest.mark.parametrize("key", [k for k in WIDE if k[2] == "bf16"], **IDS)
def test_the_exponent_of_alignment_has_a_floor(key):
    units = []
    for k in range(1, 8):
        up, down = power(-77) * (1 + power(-k)), power(-77) * (1 - power(-k))
        units.append(ask(key, *[(power(-76), up), (power(-76), down)] * 8) / power(-149))
    assert units == [1, 1, 1, 1, 1, 0, 0]  # floor −133; with −126 already smaller k would be lost


@pytest.mark.parametrize("instruction", ["mma", "wgmma"])
def test_the_floor_of_f16_results_is_higher(instruction):
    key = ("sm_90", instruction, "f16", "f16")
    found = []
    for q in range(26, 49):
        x = min(q // 2, 24)
        found.append(ask(key, (power(-12), power(-13)), (power(-x), power(x - q))) * power(24))
    assert found == [1.0] * 21 + [0.0] * 2  # kept to 2⁻⁴⁶: floor −21


@pytest.mark.parametrize("key", [k for k in WIDE if k[2] != "f16"], **IDS)
def test_exponents_of_zeros_and_of_large_products(key):
    assert ask(key, (0.0, power(127)), (power(-30), 1.0)) == power(-30)
    big = power(127)
    assert ask(key, (big, big), (-big, big), c=1.0) == 0.0  # neither NaN nor 1
    assert ask(key, (power(64), power(64))) == np.inf
    assert ask(key, (power(64), power(64)), (-big, 1.0)) == power(127)
    largest = 3.4028234663852886e38
    assert ask(key, (power(103), 1.0), c=largest) == largest
    assert ask(key, (power(104), 1.0), c=largest) == np.inf


@pytest.mark.parametrize("format", ["e4m3fn", "e5m2"])
def test_fp8_wgmma_cuts_its_accumulator_and_fp8_mma_does_not(format):
    one = 1 + power(-14)
    assert ask(("sm_90", "wgmma", format), c=one) == 1.0
    assert ask(("sm_90", "mma", format), c=one) == one
    atom = ATOMS["sm_90", "wgmma", format]
    zeros = np.zeros(32)
    assert fda_bits(zeros, zeros, 3.4028234663852886e38, atom) == 0x7F7FFC00


@pytest.mark.parametrize("instruction", ["mma", "wgmma"])
def test_tf32_operands_are_truncated_and_a_hidden_nan_is_an_infinity(instruction):
    atom = ATOMS["sm_90", instruction, "tf32"]
    a = np.zeros(8, np.float32)
    a[0] = np.float32(1 + 2.0**-10 + 2.0**-11 + 2.0**-23)
    ones = np.ones(8, np.float32)
    assert fda(a, ones, 0.0, atom) == 1 + 2.0**-10  # to nearest: 1 + 2⁻⁹
    a.view(np.uint32)[0] = 0x7F800001
    assert fda_bits(a, ones, 0.0, atom) == 0x7F800000
    a.view(np.uint32)[0] = 0x7FC00000
    assert fda_bits(a, ones, 0.0, atom) == 0x7FFFFFFF


@pytest.mark.parametrize("key", [k for k in ATOMS if k[2] != "f64"], **IDS)
def test_a_zero_has_no_sign(key):
    for a, c in ((-1.0, -0.0), (0.0, -0.0)):
        pairs = [(a, 0.0 if a else -0.0)] * ATOMS[key].k
        atom = ATOMS[key]
        assert fda_bits(*terms(atom, *pairs), c, atom) == 0


def test_results_in_f16_are_to_nearest_and_overflow_past_65504():
    key = ("sm_90", "wgmma", "f16", "f16")
    assert ask(key, (1, 1), halves(-11), halves(-20)) == 1 + power(-10)
    assert ask(key, (65504.0, 1.0), (15.9921875, 1.0)) == 65504.0
    assert ask(key, (65504.0, 1.0), (16.0, 1.0)) == np.inf


def test_subnormal_operands_and_results_are_kept():
    key = ("sm_90", "wgmma", "bf16")
    assert ask(key, (power(-133), 1.0)) == power(-133)
    assert ask(key, (power(-75), power(-74))) == power(-149)
    assert ask(key, (power(-75), power(-75))) == 0.0
    assert ask(("sm_90", "wgmma", "f16"), (power(-24), power(-24))) == power(-48)


@pytest.mark.parametrize(
    ("key", "kept"),
    [
        (("sm_90", "mma", "f16", "f16"), range(26, 40)),
        (("sm_90", "wgmma", "f16", "f16"), range(26, 40)),
        (("sm_90", "wgmma", "e5m2", "f16"), range(26, 28)),
    ],
    ids=["mma-f16", "wgmma-f16", "wgmma-e5m2"],
)
def test_an_addend_in_f16_has_at_least_the_exponent_of_a_normal_number(key, kept):
    """2⁻²³ + 2⁻²⁵ is a tie; a tiny product breaks it as long as it is kept beside 2⁻¹⁴."""
    least = -16 if key[2] == "e5m2" else -24
    found = []
    for q in range(26, 1 - 2 * least):
        x = max(-(q // 2), least)
        tie = (power(-12), power(-13))
        if ask(key, tie, (power(x), power(-q - x)), c=power(-23)) != power(-23):
            found.append(q)
    assert found == list(kept)


def test_nan_of_an_f64_instruction_is_that_of_b_then_of_the_addend_then_of_a():
    atom = ATOMS["sm_90", "mma", "f64"]
    nans = (np.arange(1, 4, dtype=np.uint64) + np.uint64(0x7FF0000000000000)).view(np.float64)
    quiet = 0x7FF8000000000000
    for present, payload in ((7, 2), (5, 3), (1, 1), (3, 2), (6, 2)):
        a, b, c = (np.where(present >> i & 1, nans[i], 1.0) for i in range(3))
        bits = fda_bits(np.array([a, 2.0]), np.array([b, 3.0]), c, atom)
        assert int(bits) == quiet + payload
    made = fda_bits(np.array([np.inf]), np.array([0.0]), 1.0, atom)
    assert int(made) == 0xFFF8000000000000
    infinite = fda_bits(np.array([-(2.0**1023)]), np.array([2.0**1023]), np.inf, atom)
    assert int(infinite) == 0x7FF0000000000000  # a finite product does not cancel it
