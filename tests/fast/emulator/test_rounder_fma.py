"""Fused multiply-add of every format against exact rationals, where two roundings would show."""

from fractions import Fraction

import numpy as np
import pytest
from exact_rounding import reference, same

from tang.emulator import FORMATS, fma, round_to
from tang.emulator.formats_codes import decode
from tang.errors import FormatError
from tang.ir.format import custom_format

RNG = np.random.default_rng(3)
CUSTOM = (
    custom_format("p30", p=30, emin=-100, largest=2.0**100),
    custom_format("p53", p=53, emin=-40, largest=2.0**60),
    custom_format("p51", p=51, emin=-300, largest=2.0**300),
)
EVERY = {**{n: f for n, f in FORMATS.items() if n != "e8m0"}, **{f.name: f for f in CUSTOM}}


def operands(target, count=120):
    """Products on midpoints, cancellations, far addends and the ends of the range."""
    p, low, high = target.p, max(target.emin, -300), min(target.emax, 300)
    m = RNG.integers(2 ** (p - 1), 2**p, (3, count)).astype(np.float64)
    exponent = RNG.integers(low // 2, max(high // 2, low // 2 + 1), (3, count))
    a, b, c = np.ldexp(m, exponent - (p - 1)) * RNG.choice([-1.0, 1.0], (3, count))
    size = np.frexp(a * b)[1]
    near = np.ldexp(m[2], size - p - RNG.integers(-1, p + 3, count))  # about where it matters
    c = np.where(RNG.random(count) < 0.6, near * np.sign(c), c)
    c = np.where(RNG.random(count) < 0.2, -a * b, c)
    top, least = float(target.largest), float(target.quantum)
    a[:3], b[:3], c[:3] = (top, least, top), (top, least, 1.0), (top, least, -top)
    with np.errstate(all="ignore"):
        return [round_to(v, target, overflow="saturate") for v in (a, b, c)]


def odd_significands(target, count=300):
    """a·b exactly on a midpoint of the format and c tiny: c alone decides."""
    widths = ((target.p + 2) // 2, (target.p + 3) // 2)
    m = np.array([RNG.integers(2 ** (w - 2), 2 ** (w - 1), count) * 2 + 1 for w in widths])
    exact = [int(x) * int(y) for x, y in m.T]
    keep = [e.bit_length() == target.p + 1 for e in exact]
    a, b = m[:, keep].astype(np.float64)
    c = np.ldexp(RNG.choice([-1.0, 1.0], a.size), max(target.emin, -90))
    return a, b, c


def check(candidate, target, given, mode, overflow):
    """How many results differ from the exact ones."""
    wrong = 0
    with np.errstate(all="ignore"):
        got = candidate(*given)
    for x, y, z, found in zip(*(v.tolist() for v in (*given, got)), strict=True):
        exact = Fraction(x) * Fraction(y) + Fraction(z)
        if exact:
            wrong += not same(found, reference(exact, target, mode, overflow))
        else:
            wrong += found != 0
    return wrong


@pytest.mark.parametrize("mode", ["rne", "rz", "rna"])
@pytest.mark.parametrize("name", EVERY)
def test_fma_is_rounded_once(name, mode):
    target = EVERY[name]
    for given in (operands(target), odd_significands(target)):
        candidate = lambda a, b, c: fma(a, b, c, target, mode, "saturate")  # noqa: E731
        assert check(candidate, target, given, mode, "saturate") == 0


@pytest.mark.parametrize("name", ["f16", "bf16", "f32", "f64", "p30", "e5m2"])
def test_two_roundings_are_seen(name):
    target = EVERY[name]
    given = odd_significands(target)
    twice = {
        "product rounded": lambda a, b, c: round_to(round_to(a * b, target) + c, target),
        "sum in f64": lambda a, b, c: round_to(a * b + c, target),
    }
    if name in ("f16", "e5m2"):  # so narrow that f64 holds the sum
        del twice["sum in f64"]
    for planted in twice.values():
        assert check(planted, target, given, "rne", "inf") > 0, name


def test_every_fma_of_two_bits_is_right():
    target = FORMATS["e2m1"]
    x = decode(np.arange(16, dtype=np.uint8), target)
    given = [v.reshape(-1) for v in np.meshgrid(x, x, x)]
    candidate = lambda a, b, c: fma(a, b, c, target, "rne", "saturate")  # noqa: E731
    assert check(candidate, target, given, "rne", "saturate") == 0


def test_special_operands_follow_ieee():
    inf, nan = np.inf, np.nan
    a, b = np.array([inf, 0.0, 1.0, -0.0, inf, 2.0]), np.array([0.0, 5.0, inf, 1.0, 1.0, -1.0])
    c = np.array([1.0, -0.0, -inf, -0.0, 1.0, 2.0])
    expected = np.array([nan, 0.0, nan, -0.0, inf, 0.0])
    for target in EVERY.values():
        if target.has_infinity:
            for mode in ("rne", "rz"):
                got = fma(a, b, c, target, mode)
                assert all(same(x, y) for x, y in zip(got, expected, strict=True)), target.name


def test_stochastic_fma_is_refused_only_where_it_would_be_inexact():
    got = fma(np.full(4000, 3.0), 1 / 3, 2.0**-13, "f16", "stochastic", seed=4)
    assert set(got) <= {1.0, 1 + 2.0**-10}
    with pytest.raises(FormatError, match="at most 51 bits"):
        fma(1.0, 1.0, 1.0, "f64", "stochastic", seed=4)
