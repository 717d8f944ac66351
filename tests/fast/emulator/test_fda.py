"""Tensor-core models against exact rationals, C against NumPy, and faults that must show."""

import sys
from fractions import Fraction

import numpy as np
import pytest
from exact_dots import dot
from exact_rounding import same

from tang.emulator import fda_c, round_to
from tang.emulator.fda import fda, fda_bits, fda_numpy, prepare
from tang.emulator.formats_codes import decode
from tang.emulator.rounder_build import load
from tang.errors import FormatError
from tang.ir.format import ALL_FORMATS
from tang.ir.tensorcore import ATOMS, atom_named

TRUNCATED = {"-".join(k): a for k, a in ATOMS.items() if a.fraction is not None}


def numbers(name, shape, seed, regime):
    """Random numbers of a format: of like size, of any size, or any bits; some zeros."""
    rng = np.random.default_rng(seed)
    target = ALL_FORMATS[name]
    if regime == "bits":
        width = 19 if name == "tf32" else target.bits
        x = decode(rng.integers(0, 2**width, shape, np.uint32), target)
        return np.where(np.isnan(x) | (rng.random(shape) < 0.9), np.where(np.isfinite(x), x, 0), x)
    low, high = (-3, 4) if regime == "near" else (target.emin - target.p, target.emax + 1)
    if target.emax > 100 and regime == "wide":
        low, high = -80, -60  # products about the floor
    x = np.ldexp(rng.random(shape) + 0.5, rng.integers(low, high, shape))
    x = round_to(x * rng.choice([-1.0, 1.0], shape), target, overflow="saturate")
    return np.where(rng.random(shape) < 0.1, 0.0, x)


def problem(atom, count, seed, regime, chain=2):
    """Operands with cancelling pairs, and addends of the register's format."""
    a = numbers(atom.operands, (count, chain * atom.k), seed, regime)
    b = numbers(atom.operands, (count, chain * atom.k), seed + 1, regime)
    a[::3, 1::2], b[::3, 1::2] = -a[::3, ::2], b[::3, ::2]
    c = numbers(atom.result, count, seed + 2, "near" if regime == "wide" else regime)
    c = np.where(np.random.default_rng(seed).random(count) < 0.3, 0.0, c)
    if regime == "wide" and atom.result == "f32":
        c = np.ldexp(c, -145)
    return a, b, round_to(c, atom.result)


def mismatches(found, given, atom, **faults):
    """How many results differ from the exact reference, or from a faulty one."""
    with np.errstate(all="ignore"):
        wanted = [dot(*row, atom, **faults) for row in zip(*given, strict=True)]
    return sum(not same(x, y) for x, y in zip(found.tolist(), wanted, strict=True))


@pytest.mark.parametrize("regime", ["near", "wide", "bits"])
@pytest.mark.parametrize("name", TRUNCATED)
def test_the_model_is_what_exact_rationals_give(name, regime):
    atom = TRUNCATED[name]
    given = problem(atom, 12, 40, regime)
    assert mismatches(fda(*given, atom), given, atom) == 0


@pytest.mark.parametrize("regime", ["near", "wide", "bits"])
@pytest.mark.parametrize("name", TRUNCATED)
def test_c_and_numpy_agree_bit_for_bit(name, regime):
    library = load(fda_c.TEXT)
    if library is None:
        pytest.skip("no C compiler on this host")
    atom = TRUNCATED[name]
    assert fda_c.suits(atom)
    a, b, c = problem(atom, 300, 7, regime, chain=3)
    work = prepare(a, b, c, atom)
    plain, fast = fda_numpy(work, atom), fda_c.run(work, atom, library)
    nan = np.isnan(plain) & np.isnan(fast)
    assert (nan | (plain.view(np.int64) == fast.view(np.int64))).all()
    if regime != "bits":
        assert np.isfinite(plain).any()


FAULTS = {
    "one bit more": {"fraction": 1},
    "one bit less": {"fraction": -1},
    "nothing truncated": {"exact": True},
    "to nearest": {"rounding": "rne"},
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f.replace(" ", "-"))
@pytest.mark.parametrize("name", ["sm_90-wgmma-bf16", "sm_90-wgmma-e4m3fn", "sm_80-mma-tf32"])
def test_a_wrong_width_or_rounding_is_seen(name, fault):
    atom = TRUNCATED[name]
    given = problem(atom, 60, 3, "near")
    found = fda(*given, atom)
    assert mismatches(found, given, atom) == 0
    assert mismatches(found, given, atom, **FAULTS[fault]) > 0


def test_a_wrong_grouping_an_output_and_a_floor_are_seen():
    def differs(key, regime, **faults):
        atom = ATOMS[key]
        given = problem(atom, 150, 3, regime)
        return mismatches(fda(*given, atom), given, atom, **faults) > 0

    halves = (tuple(range(8)), tuple(range(8, 16)))
    assert differs(("sm_90", "wgmma", "bf16"), "near", groups=halves)
    assert differs(("sm_80", "mma", "bf16"), "near", groups=(tuple(range(16)),))
    assert differs(("sm_80", "mma", "bf16"), "near", groups=halves[::-1])
    assert differs(("sm_90", "wgmma", "e4m3fn"), "near", output="f32")
    assert differs(("sm_90", "mma", "e4m3fn"), "wide", groups=(tuple(range(32)),))
    atom = ATOMS["sm_90", "wgmma", "f16", "f16"]
    a, b = np.zeros((2, 1, 16))
    a[0, :2], b[0, :2] = (2.0**-12, 2.0**-22), (2.0**-13, 2.0**-23)
    given = (a, b, np.zeros(1))
    assert mismatches(fda(*given, atom), given, atom) == 0
    assert mismatches(fda(*given, atom), given, atom, floor=-14) == 1
    assert differs(("sm_90", "wgmma", "bf16"), "wide", floor=-126)


def test_f64_instructions_are_chains_of_fma():
    atom = ATOMS["sm_90", "mma", "f64"]
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((2, 5, 32))
    c = rng.standard_normal(5)
    found = fda(a, b, c, atom)
    for row, x, y, z in zip(found.tolist(), a.tolist(), b.tolist(), c.tolist(), strict=True):
        for p, q in zip(x, y, strict=True):
            z = float(Fraction(p) * Fraction(q) + Fraction(z))
        assert row == z


def test_leading_axes_broadcast_to_a_matrix_product():
    atom = atom_named("sm_90", "wgmma", "f16")
    rng = np.random.default_rng(2)
    a, b = round_to(rng.standard_normal((2, 40, 64)), "f16")
    whole = fda(a[:, None], b[None], 0.0, atom)  # large enough for C
    assert whole.shape == (40, 40)
    one = fda(a[3], b[5], 0.0, atom)
    assert one.shape == ()
    assert one == whole[3, 5]
    singly = [fda(x, y, 1.0, atom) for x, y in zip(a, b, strict=True)]
    assert (fda(a, b, np.ones(40), atom) == singly).all()


def test_without_a_compiler_large_products_are_computed_in_numpy(monkeypatch):
    atom = ATOMS["sm_90", "wgmma", "e4m3fn"]
    a, b = round_to(np.random.default_rng(4).standard_normal((2, 30, 96)), "e4m3fn", "rz", "nan")
    fast = fda(a[:, None], b[None], 0.0, atom)
    monkeypatch.setattr(sys.modules["tang.emulator.fda"], "load", lambda text: None)
    assert (fda(a[:, None], b[None], 0.0, atom) == fast).all()


def test_short_rows_are_padded_with_zeros_and_none_at_all_leave_c():
    atom = ATOMS["sm_90", "wgmma", "e4m3fn"]
    assert fda([1.0, 2.0], [1.0, 1.0], 0.5, atom) == 3.5
    assert (
        fda(np.zeros((3, 0)), np.zeros((3, 0)), 1 + 2.0**-14, atom).tolist() == [1 + 2.0**-14] * 3
    )
    assert fda(np.zeros((0, 32)), np.zeros((0, 32)), 1.0, atom).shape == (0,)


def test_bits_carry_the_one_nan_of_the_hardware():
    f32, f16 = ATOMS["sm_90", "wgmma", "f16"], ATOMS["sm_90", "wgmma", "f16", "f16"]
    assert fda_bits([np.nan], [1.0], 0.0, f32) == 0x7FFFFFFF
    assert fda_bits([[np.inf], [1.0]], [[0.0], [1.0]], 0.0, f16).tolist() == [0x7FFF, 0x3C00]
    assert fda_bits([1.0], [1.0], -1.0, f32) == 0


def test_operands_that_are_no_numbers_of_the_format_are_named():
    atom = ATOMS["sm_90", "wgmma", "e4m3fn"]
    with pytest.raises(FormatError, match=r"b\[0, 1\] = 1\.3 is no number of e4m3fn"):
        fda([[1.0, 2.0]], [[1.0, 1.3]], 0.0, atom)
    with pytest.raises(FormatError, match=r"a\[0\] = inf is no number of e4m3fn"):
        fda([np.inf], [1.0], 0.0, atom)
    with pytest.raises(FormatError, match=r"c\[\] = 0\.1 is no number of f32"):
        fda([1.0], [1.0], 0.1, atom)
    with pytest.raises(FormatError, match="one length"):
        fda([1.0], [1.0, 2.0], 0.0, atom)
    with pytest.raises(FormatError, match="broadcast"):
        fda(np.ones((2, 4)), np.ones((3, 4)), 0.0, atom)
    with pytest.raises(FormatError, match="sm_90 wgmma bf16"):
        atom_named("sm_90", "wgmma", "f32")


def test_every_entry_is_found_under_its_key_and_covers_its_terms():
    for key, atom in ATOMS.items():
        assert atom.key == key
        assert sorted(i for g in atom.groups for i in g) == list(range(atom.k))
        assert {atom.operands, atom.computed, atom.output, atom.result} <= set(ALL_FORMATS)
        assert atom.evidence
