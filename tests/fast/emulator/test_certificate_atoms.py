"""Bounds of summation atoms: no sum is further off, random or adversarial."""

from fractions import Fraction

import numpy as np
import pytest

from tang.emulator import ATOMS, bound_of, evaluate, round_to
from tang.errors import FormatError
from tang.ir.format import any_format
from tang.ir.summation import Fda, Fma, Promote, Seq, Split, Tree, describe

RNG = np.random.default_rng(17)
DOTS = [ATOMS[k] for k in (
    ("sm_90", "wgmma", "bf16"), ("sm_90", "mma", "f16"), ("sm_90", "mma", "f16", "f16"),
    ("sm_90", "wgmma", "tf32"), ("sm_90", "wgmma", "e4m3fn"), ("sm_90", "mma", "e4m3fn"),
    ("sm_90", "mma", "e5m2"), ("sm_90", "mma", "f64"), ("sm_80", "mma", "bf16"),
    ("sm_70", "mma", "f16"), ("sm_89", "mma", "e4m3fn"), ("sm_100", "mma", "e4m3fn", "f16"),
)]  # fmt: skip
PLAIN = [
    Seq(),
    Tree(),
    Tree("halves"),
    Promote(16, Seq()),
    Split(4, Seq(), Tree()),
    Split(3, Tree(), Seq(), "cyclic"),
    Promote(16, Split(2, Seq())),
    Split(5, Seq(), Tree(), size=9),
]
FUSED = [Fma(), Promote(8, Fma()), Split(4, Fma(), Tree("halves"))]


def exact_sum(terms):
    """Σ and Σ|·| of rows, as rationals."""
    total = [sum(map(Fraction, row)) for row in terms]
    return total, [sum(abs(Fraction(x)) for x in row) for row in terms]


def judged(atom, n, arrays, format, **how):
    """The largest error over bound; each row must be within its bound."""
    given = arrays if len(arrays) == 2 else arrays[0]
    computed = evaluate(atom, given, format, **{k: v for k, v in how.items() if k != "factors"})
    if len(arrays) == 2:
        pairs = zip(arrays[0].tolist(), arrays[1].tolist(), strict=True)
        rows = [[Fraction(a) * Fraction(b) for a, b in zip(*p, strict=True)] for p in pairs]
    else:
        rows = arrays[0].tolist()
    bound = bound_of(atom, n, format, products=len(arrays) == 2, **how)
    worst = 0.0
    for c, x, t in zip(computed.tolist(), *exact_sum(rows), strict=True):
        if not np.isfinite(c):
            continue
        error = abs(Fraction(c) - x)
        allowed = Fraction(bound.relative) * t + Fraction(bound.absolute)
        assert error <= allowed, (describe(atom), format, float(error), float(allowed))
        worst = max(worst, float(error / allowed) if allowed else 0.0)
    return worst


def draws(n, format, rows=5):
    """Rows that are positive, of both signs, cancelling, wide in exponents, constant, tiny."""
    f = any_format(format)
    scale = min(1.0, float(f.largest) / (4 * n))
    tiny = 2.0 ** max(f.emin + 1, -1000)
    kinds = [
        RNG.random((rows, n)), RNG.standard_normal((rows, n)),
        RNG.choice([1.0, -1.0, 1 + 2.0 ** (1 - f.p), 0.75], (rows, n)),
        RNG.standard_normal((rows, n)) * 2.0 ** RNG.integers(-12, 1, (rows, n)),
        np.full((rows, n), 1 - 2.0**-f.p), RNG.standard_normal((rows, n)) * tiny / scale,
    ]  # fmt: skip
    return round_to(np.concatenate(kinds) * scale, format, overflow=_overflow(f))


def _overflow(f):
    return "inf" if f.has_infinity else "saturate"


@pytest.mark.parametrize("format", ["f64", "f32", "f16", "bf16", "e5m2", "tf32"])
@pytest.mark.parametrize("atom", [*PLAIN, *FUSED], ids=describe)
def test_no_sum_is_further_off_than_its_bound(atom, format):
    n = 37
    x = draws(n, format)
    if atom not in FUSED:
        judged(atom, n, (x,), format)
    worst = judged(atom, n, (x, draws(n, format)), format)
    assert worst < 1


@pytest.mark.parametrize("rounding", ["rz", "rna"])
def test_other_roundings_and_flushing_are_bounded_too(rounding):
    x, y = draws(23, "f16"), draws(23, "f16")
    for atom in (Seq(), Tree(), Fma()):
        judged(atom, 23, (x, y), "f16", rounding=rounding)
        judged(atom, 23, (x, y), "f16", ftz=True)


@pytest.mark.parametrize("model", DOTS, ids=lambda m: "-".join(m.key))
def test_no_chain_of_a_tensor_core_is_further_off_than_its_bound(model):
    n = 96
    a, b = draws(n, model.operands), draws(n, model.operands)
    largest = (float(np.abs(a).max()), float(np.abs(b).max()))
    judged(Fda(model), n, (a, b), model.result, factors=largest)
    judged(Promote(32, Fda(model)), n, (a, b), model.result)


@pytest.mark.parametrize("model", DOTS[:6], ids=lambda m: "-".join(m.key))
def test_a_long_positive_chain_uses_a_good_part_of_its_bound(model):
    n = 2048
    a = round_to(RNG.random((2, n)), model.operands, overflow=_overflow(any_format(model.operands)))
    b = round_to(RNG.random((2, n)), model.operands, overflow=_overflow(any_format(model.operands)))
    limit = 0.005 if model.result == "f32" else 0.0005
    assert judged(Fda(model), n, (a, b), model.result, factors=(1, 1)) > limit


def test_a_bound_of_one_bit_less_would_be_exceeded():
    """Positive terms whose sum loses half an ulp in every step."""
    n = 64
    x = np.full((1, n), 1.0)
    x[0, 1:] = 2.0**-11
    bound = bound_of(Seq(), n, "f16")
    error = float(x.sum()) - float(evaluate(Seq(), x, "f16")[0])
    assert error > bound.relative / n * float(x.sum())
    judged(Seq(), n, (x,), "f16")


def test_promotion_and_trees_are_bounded_by_less():
    n = 4096
    model = ATOMS["sm_90", "wgmma", "e4m3fn"]
    plain = bound_of(Fda(model), n, "f32", factors=(1, 1)).relative
    promoted = bound_of(Promote(128, Fda(model)), n, "f32", factors=(1, 1)).relative
    assert 0.5 < plain < 0.8
    assert 0.015 < promoted < 0.025
    assert bound_of(Tree(), n, "f32").relative < bound_of(Seq(), n, "f32").relative / 300
    assert bound_of(Seq(), 0, "f32").relative == 0


def test_what_cannot_be_evaluated_has_no_bound():
    with pytest.raises(FormatError, match="accumulates in f32"):
        bound_of(Fda(ATOMS["sm_90", "wgmma", "bf16"]), 8, "f16")
    with pytest.raises(FormatError, match="no bound for rounding"):
        bound_of(Seq(), 8, "f16", rounding="stochastic")
    with pytest.raises(FormatError, match="sums products"):
        bound_of(Fma(), 8, "f16", products=False)
    with pytest.raises(FormatError, match="0 terms or more"):
        bound_of(Seq(), -1, "f16")
