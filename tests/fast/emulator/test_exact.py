"""Fused multiply-add against exact rationals, where a plain evaluation goes wrong."""

from fractions import Fraction

import numpy as np
import pytest

from tang.emulator import fma
from tang.emulator.exact import fma32, fma64, fma_small
from tang.emulator.rounding import round_fraction

RNG = np.random.default_rng(7)


def _check(got, a, b, c, name):
    for g, x, y, z in zip(got, a, b, c, strict=True):
        exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
        assert float(g) == round_fraction(exact, name), (x, y, z)


def _near_ties(count):
    """a·b on a midpoint of f32 and c far below f64's last bit, so that c alone decides."""
    a = RNG.integers(2**11, 2**12, count) * 2 + 1
    b = (RNG.integers(2**11, 2**12, count)) * 2 + 1
    product = a * b
    keep = (product >= 2**24) & (product < 2**25)
    a, b = a[keep], b[keep]
    c = np.ldexp(RNG.choice([-1.0, 1.0], a.size), RNG.integers(-60, -35, a.size))
    return a.astype(np.float32), b.astype(np.float32), c.astype(np.float32)


def test_f32_fma_is_exact_on_integers():
    a, b, c = (RNG.integers(-1000, 1000, 5000).astype(np.float32) for _ in range(3))
    assert (fma32(a, b, c) == a * b + c).all()


def test_f32_fma_decides_near_ties_where_a_plain_f64_sum_misrounds():
    a, b, c = _near_ties(6000)
    plain = (a.astype(np.float64) * b + c).astype(np.float32)
    assert (plain != fma32(a, b, c)).sum() > 100
    _check(fma32(a, b, c), a, b, c, "f32")


def test_f32_fma_decides_near_ties_among_subnormals():
    a = (RNG.integers(1, 2**10, 500) * 2 + 1).astype(np.float32) * np.float32(2.0**-75)
    b = np.full(500, np.float32(2.0**-75))
    c = np.ldexp(RNG.choice([-1.0, 0.0, 1.0], 500), -149).astype(np.float32)
    _check(fma32(a, b, c), a, b, c, "f32")


def test_f32_fma_over_all_exponents_matches_rationals():
    m = RNG.standard_normal((3, 3000))
    a, b, c = np.ldexp(m, RNG.integers(-70, 60, (3, 3000))).astype(np.float32)
    c[::2] = (-(a.astype(np.float64) * b)).astype(np.float32)[::2]  # cancellation
    _check(fma32(a, b, c), a, b, c, "f32")


@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_small_fma_matches_rationals(name):
    m = np.ldexp(RNG.standard_normal((3, 4000)), RNG.integers(-14, 8, (3, 4000)))
    if name == "f16":
        a, b, c = m.astype(np.float16)
    else:
        a, b, c = ((m.astype(np.float32).view(np.uint32) >> 16) << 16).view(np.float32)
    _check(fma_small(a, b, c, name), a, b, c, name)


def test_f64_fma_matches_rationals_near_cancellation_and_at_the_edges():
    a, b = RNG.standard_normal((2, 3000))
    c = -(a * b) * (1 + np.ldexp(RNG.integers(-3, 4, 3000).astype(np.float64), -52))
    _check(fma64(a, b, c), a, b, c, "f64")
    scale = RNG.integers(-1070, 1000, (3, 3000))
    a, b, c = np.ldexp(RNG.standard_normal((3, 3000)), scale)
    with np.errstate(all="ignore"):
        _check(fma64(a, b, c), a, b, c, "f64")


def test_f64_fma_decides_a_tie_that_dekker_alone_would_miss():
    a, b = np.array([1 + 2.0**-30]), np.array([1 + 2.0**-23])
    c = np.array([2.0**-120])
    _check(fma64(a, b, c), a, b, c, "f64")
    _check(fma64(a, b, -c), a, b, -c, "f64")


def test_special_values_follow_ieee():
    nan, inf = np.nan, np.inf
    a = np.array([inf, 0.0, 1.0, -0.0, 0.0, inf, 2.0**600])
    b = np.array([0.0, 5.0, inf, 1.0, -1.0, 1.0, 2.0**600])
    c = np.array([1.0, -0.0, -inf, -0.0, 0.0, 1.0, -1.0])
    expected = np.array([nan, 0.0, nan, -0.0, 0.0, inf, inf])
    with np.errstate(all="ignore"):
        for got in (fma64(a, b, c), fma32(*(x.astype(np.float32) for x in (a, b, c)))):
            assert (np.isnan(got) == np.isnan(expected)).all()
            real = ~np.isnan(expected)
            assert (got[real] == expected[real]).all()
            assert (np.signbit(got) == np.signbit(expected))[real].all()


def test_an_infinite_addend_wins_over_a_finite_product_that_overflows():
    big, inf = 2.0**1023, np.inf
    with np.errstate(all="ignore"):
        assert fma64(-big, big, inf) == inf
        several = fma64(np.array([big, 1.0]), np.array([big, 1.0]), -inf)
        assert several.tolist() == [-inf, -inf]
        assert np.isnan(fma64(inf, 1.0, -inf))
    for mode in ("rne", "rz", "rna"):
        assert fma(-big, big, inf, "f64", mode) == inf
