"""Operations of the domain `any order` that need not be rounded correctly.

Defines `claimed`. Relies on the claims of `certify_functions`. It knows nothing of sums.

What is claimed counts in ulps of the format that computes, of narrow ones too. Such a result may be
a product: x·(1/y), log2(x)·ln 2, x·rsqrt(x), (E − 1)·(1/(E + 1)); a compiler contracts it as any
other. x·(1/y) keeps the claims of x/y only where 1/y is a normal number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tang.emulator.bounds import Own, function_rounding, rounding
from tang.emulator.certify_functions import Functions, Promise
from tang.emulator.machine import Value
from tang.emulator.summed import Summed, around, tie
from tang.ir.format import Format, format_named
from tang.kernel.ir import MATH, Type

_PRODUCTS: Final = ("div", "sqrt", "log", "log2", "sigmoid", "tanh")
"""What other libraries than tang's may compute as a product in the end."""
_BY_RECIPROCALS: Final = ("any", "wgsl", "glsl")
"""Functions whose quotients are promised for some divisors only."""
_F32_UNIT: Final = 2.0**-24


def claimed(
    functions: Functions, op: str, type_: Type, inner: Callable[..., Any]
) -> Callable[..., Summed]:
    """An operation by what is claimed of it, for every argument by itself.

    One of N + per·|x| ulps: as an ulp is at most 2u of the result, that may be larger by the factor
    exp(2u·per·|x|) before it is off by N ulps more.
    """
    target = format_named(type_.value)
    per, most = functions.growth(op, type_.value)
    unit = 2 * float(target.unit_roundoff)
    product = functions.math != "portable" and op in _PRODUCTS

    def apply(*operands: Any) -> Summed:  # noqa: ANN401
        done = inner(*operands)
        own, more, limit = _rounding_of(functions, op, type_, target, operands)
        growth: Any = 1.0
        if per:
            (x,) = operands
            size = np.minimum(np.abs(x.shadow) + x.bound, most) * per
            own, growth = (own[0], own[1] + size * unit, own[2]), np.exp(size * unit)
        bound = around(op, operands, done.value, done.shadow, own, limit, growth) + more
        if np.isinf(limit):
            bound = unless_beyond(target, done.value, done.shadow, bound)
        if op in _UNSURE:
            unsure = _UNSURE[op](functions.math, target, done.value, operands)
            bound = np.where(unsure, np.inf, bound)[()]
        return Summed(done.value, done.shadow, bound, product=product)

    return apply


def unless_beyond(target: Format, value: Value, shadow: Value, bound: Value) -> Value:
    """The bound of a function, infinite where a result within it may overflow."""
    over = (np.abs(shadow) + bound > float(target.largest)) & np.isfinite(value)
    return np.where(over, np.inf, bound)[()] if over.any() else bound


def _rounding_of(
    functions: Functions, op: str, type_: Type, target: Format, operands: tuple[Any, ...]
) -> tuple[Own, float, float]:
    """What an operation is off by at the argument 0, as a rounding and as a number.

    Also from where on it overflows; infinite of those that need not be rounded correctly.
    """
    promises = _promises(functions, op, type_, operands)
    if not promises:
        return rounding(op, target), 0.0, tie(target)
    ulps = max((c.value for c, kind in promises if kind == "ulp"), default=0.5)
    more = max((c.value for c, kind in promises if kind == "absolute"), default=0.0)
    return function_rounding(ulps, target), more, np.inf


def _promises(
    functions: Functions, op: str, type_: Type, operands: tuple[Any, ...]
) -> tuple[Promise, ...]:
    """What is claimed of an operation that need not be rounded correctly; () of the others."""
    if op in MATH:
        return functions.claims(op, type_.value, tuple(map(_reach, operands)), grown=False)
    found = {"div": functions.division, "sqrt": functions.root}.get(op)
    claim = None if found is None else found(type_.value)
    return () if claim is None else (claim,)


def _reach(x: Any) -> tuple[float, float]:  # noqa: ANN401
    """The least and the greatest that operands may be, of those that are numbers."""
    lo, hi = np.asarray(x.shadow - x.bound), np.asarray(x.shadow + x.bound)
    known = np.isfinite(lo) & np.isfinite(hi)
    if not known.any():
        return 0.0, 0.0
    return float(lo[known].min()), float(hi[known].max())


# --- arguments of which nothing is known ----------------------------------------------------------


def _is_zero(x: Any) -> Value:  # noqa: ANN401
    """Where a value is an exact zero, whose sign another kernel may choose: zeros are unsigned.

    |−0| is −0 as it is printed and +0 by fabs, max(−0, +0) is either, and a sum of −0 is +0 from
    the identity on and −0 from its first term on.
    """
    return (x.shadow == 0) & (x.bound == 0)


def _quotient(math: str, target: Format, value: Value, operands: tuple[Any, ...]) -> Value:
    y = operands[1]
    unsure = _is_zero(y) & ~np.isnan(value)
    if math not in _BY_RECIPROCALS:
        return unsure
    size, e = np.abs(y.shadow), y.bound
    least = 2.0**-target.emax if math == "any" else 2.0**target.emin
    rough = (size + e > 2.0**-target.emin) | (size - e < least)
    exact = (e == 0) & ((size == 0) | np.isinf(size))
    return unsure | (rough & ~exact & np.isfinite(value))


def _angle(math: str, target: Format, value: Value, operands: tuple[Any, ...]) -> Value:
    y, x = operands
    across = (_is_zero(y) & (x.shadow < 0)) | (_is_zero(x) & (y.shadow == 0))
    return across & ~np.isnan(value)


_UNSURE: Final[dict[str, Callable[..., Value]]] = {"div": _quotient, "atan2": _angle}
