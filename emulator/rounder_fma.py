"""Fused multiply-add with one rounding: any format, rounding and overflow.

Defines `fma`. Relies on error-free transformations in f64 and on rounding to odd, after which a
rounding to p ≤ 51 bits is a single rounding; on exact rationals where those could over- or
underflow. It does not ask whether the operands are numbers of the format.

Source: Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", IEEE TC 57 (2008);
Boldo and Muller, "Some functions computable with a fused-mac", ARITH 17 (2005), for the error.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tang.emulator.exact import fma64, is_safe, odd_sum, two_product, two_sum
from tang.emulator.rounding import as_f64, check_rounding, odd_float, round_rational, round_to
from tang.errors import FormatError
from tang.ir.format import FORMATS, Format, any_format

Array = npt.NDArray[Any]
F64Array = npt.NDArray[np.float64]

_MOST_BITS: Final = 51


def fma(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    c: npt.ArrayLike,
    format: str | Format,
    rounding: str = "rne",
    overflow: str = "inf",
    ftz: bool = False,
    *,
    seed: int | None = None,
    first: int = 0,
) -> F64Array:
    """The exact a·b + c rounded once to the format, elementwise; arguments as of `round_to`.

    Stochastic rounding sees the rest to 2^(p − 53) of a unit. In formats of more than 51 bits it is
    refused, and towards zero and ties away are computed one element at a time.
    """
    target = any_format(format)
    check_rounding(target, rounding, overflow, seed)
    arrays = np.broadcast_arrays(as_f64(a), as_f64(b), as_f64(c))
    x, y, z = (np.ascontiguousarray(v).reshape(-1) for v in arrays)
    if x.size == 0:
        return np.zeros(arrays[0].shape)
    with np.errstate(all="ignore"):
        wide = _wide(x, y, z, target, rounding, overflow)
        result = round_to(wide, target, rounding, overflow, ftz, seed=seed, first=first)
    return np.asarray(result).reshape(arrays[0].shape)


def _wide(
    a: F64Array, b: F64Array, c: F64Array, target: Format, rounding: str, overflow: str
) -> F64Array:
    """A number whose rounding to the target is that of a·b + c."""
    if target.p <= _MOST_BITS:
        if all((x.astype(np.float32) == x).all() for x in (a, b, c)):
            product = a * b  # exact: 2·24 bits
            return np.asarray(np.atleast_1d(odd_sum(product, c, product + c)))
        return odd_fma(a, b, c)
    if rounding == "rne" and target == FORMATS["f64"]:
        return np.atleast_1d(fma64(a, b, c))
    if rounding == "stochastic":
        raise FormatError(f"stochastic fma needs a format of at most 51 bits, not {target.name}")
    return _one_by_one(a, b, c, target, rounding, overflow)


def odd_fma(a: F64Array, b: F64Array, c: F64Array) -> F64Array:
    """a·b + c rounded to odd in f64."""
    near = np.atleast_1d(np.array(fma64(a, b, c)))
    high, low = two_product(a, b)
    inner, lost = two_sum(c, low)
    outer, rest = two_sum(high, inner)
    error = ((outer - near) + rest) + lost  # has the sign of a·b + c − near (Boldo and Muller)
    even = (near.view(np.int64) & 1) == 0
    towards = np.nextafter(near, np.where(error > 0, np.inf, -np.inf))
    result = np.where(np.isfinite(near) & (error != 0) & even, towards, near)
    finite = np.isfinite(a) & np.isfinite(b) & np.isfinite(c)
    for i in np.flatnonzero(finite & ~is_safe(a, b, c)):
        exact = Fraction(float(a[i])) * Fraction(float(b[i])) + Fraction(float(c[i]))
        result[i] = _signed(odd_float(exact), exact) if exact else near[i]
    return result


def _signed(rounded: float, exact: Fraction) -> float:
    """Rounding to odd never gives zero of a number that is not zero."""
    return rounded if rounded else (5e-324 if exact > 0 else -5e-324)


def _one_by_one(
    a: F64Array, b: F64Array, c: F64Array, target: Format, rounding: str, overflow: str
) -> F64Array:
    """Exact rationals; where something is not finite, or exactly zero, f64 says what IEEE does."""
    finite = np.isfinite(a) & np.isfinite(b)
    result = np.atleast_1d(np.where(finite & np.isinf(c), c, a * b + c))
    for i, (x, y, z) in enumerate(zip(a, b, c, strict=True)):
        if np.isfinite((x, y, z)).all():
            exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
            result[i] = _signed_zero(float(result[i]), exact, target, rounding, overflow)
    return result


def _signed_zero(
    plain: float, exact: Fraction, target: Format, rounding: str, overflow: str
) -> float:
    if exact == 0:
        return plain if plain == 0 else 0.0
    rounded = round_rational(exact, target, rounding, overflow)
    return rounded if rounded != 0 else (0.0 if exact > 0 else -0.0)
