"""Fused multiply-add with one rounding, in the formats of kernels.

Defines `fma32`, `fma64` and `fma_small`; `emulator/rounder_fma.py` takes every format. Relies on
error-free transformations in f64 and on exact rationals where those could over- or underflow. It
rounds to nearest even only.

A plain f64 evaluation of an f32 fma misrounds near ties, too rarely for random tests to see.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from tang.emulator.rounding import round_fraction, round_to

Array = npt.NDArray[Any]


def fma32(a: Array, b: Array, c: Array) -> Array:
    """a·b + c for f32, rounded once.

    The product is exact in f64. The rounded f64 sum decides correctly unless it sits on a midpoint
    of two f32 numbers, whose 28 low bits are zero: only those lanes take the odd rounding.
    """
    p = np.multiply(a, b, dtype=np.float64)
    s = p + c
    result = s.astype(np.float32)
    suspicious = (s.view(np.int64) & 0x0FFFFFFF) == 0
    if suspicious.any():
        return odd_sum(p, np.asarray(c, np.float64), s).astype(np.float32)[()]
    return result


def fma_small(a: Array, b: Array, c: Array, name: str) -> Array:
    """a·b + c for f16 (as float16) or bf16 (as f32), rounded once."""
    p = np.multiply(a, b, dtype=np.float64)
    wide = np.asarray(c, np.float64)
    s = odd_sum(p, wide, p + wide)
    if name == "f16":
        return round_to(s, "f16").astype(np.float16)[()]
    return round_to(s, "bf16").astype(np.float32)[()]


def odd_sum(p: Array, c: Array, s: Array) -> Array:
    """The sum p + c rounded to odd, given s = RN(p + c)."""
    p, c, s = np.atleast_1d(p), np.atleast_1d(c), np.atleast_1d(s)
    back = s - p
    error = (p - (s - back)) + (c - back)
    inexact = np.isfinite(s) & (error != 0)
    even = (s.view(np.int64) & 1) == 0
    towards = np.nextafter(s, np.where(error > 0, np.inf, -np.inf))
    result = np.where(inexact & even, towards, s)
    return result if result.size > 1 else result[0]


def fma64(a: Array, b: Array, c: Array) -> Array:
    """a·b + c for f64, rounded once.

    Source: Boldo and Melquiond 2008, algorithm Fmadd: RN(th + RO(tl + ul)). Lanes whose exponents
    could overflow or underflow the transformations are computed with rationals.
    """
    uniform = not (np.ndim(a) or np.ndim(b) or np.ndim(c))
    a, b, c = np.broadcast_arrays(*(np.atleast_1d(np.asarray(x, np.float64)) for x in (a, b, c)))
    finite = np.isfinite(a) & np.isfinite(b)
    plain = np.where(finite & np.isinf(c), c, a * b + c)  # a finite product never cancels it
    result = _fma64_safe(a, b, c, plain)
    risky = finite & np.isfinite(c) & ~is_safe(a, b, c)
    for i in np.flatnonzero(risky):
        result[i] = _fma_rational(float(a[i]), float(b[i]), float(c[i]), float(plain[i]))
    return result[0] if uniform else result


def is_safe(a: Array, b: Array, c: Array) -> Array:
    """Where no step of the transformations of a·b + c can over- or underflow."""
    product = np.abs(a) * np.abs(b)
    sizes = (np.abs(a) < 2.0**500) & (np.abs(b) < 2.0**500) & (np.abs(c) < 2.0**900)
    zero = (a == 0) | (b == 0)
    fine_c = (c == 0) | (np.abs(c) > 2.0**-700)
    normal = (product > 2.0**-700) & (product < 2.0**900)
    return np.asarray(sizes & (zero | (normal & fine_c)))


def _fma64_safe(a: Array, b: Array, c: Array, plain: Array) -> Array:
    p, e = two_product(a, b)
    uh, ul = two_sum(c, e)
    th, tl = two_sum(p, uh)
    low = odd_sum(tl, ul, tl + ul)
    fused = th + low
    exact_zero = (p + c == 0) & (e == 0)
    return np.where(np.isfinite(plain) & ~exact_zero, fused, plain)


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """The rounded sum and its error (Knuth)."""
    s = a + b
    back = s - a
    return s, (a - (s - back)) + (b - back)


def two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """The rounded product and its error (Dekker, Veltkamp)."""
    p = a * b
    (ah, al), (bh, bl) = _split(a), _split(b)
    return p, ((ah * bh - p) + ah * bl + al * bh) + al * bl


def _split(a: Array) -> tuple[Array, Array]:
    scaled = a * 134217729.0  # 2^27 + 1, Veltkamp
    high = scaled - (scaled - a)
    return high, a - high


def _fma_rational(a: float, b: float, c: float, plain: float) -> float:
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        # an exact zero takes IEEE's sign; the plain product may have underflowed to it
        return plain if Fraction(a) * Fraction(b) == 0 else 0.0
    rounded = round_fraction(exact, "f64")
    return rounded if rounded != 0 else (0.0 if exact > 0 else -0.0)
