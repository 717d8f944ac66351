"""Arguments on which the accuracy of builtin functions is measured: one fixed set per function.

Defines `arguments_of`. Relies on NumPy alone, with one seed. Each set has specials, the borders of
regimes (overflow, quadrants, powers of two, thresholds of odd functions), arguments whose results
lie near midpoints of the format, and random ones of all sizes; it is no proof about the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tang.device.storage import AnyArray
from tang.kernel.ir import F16, F64, Type

Kind = Any
"""A scalar type of NumPy."""

COUNT: Final = 2**14
"""Arguments per function and format; pairs of a function of two."""

_POOL: Final = 2**15
_TIES: Final = 2**11
_NEAR: Final = np.arange(-3, 4)
_CLIP: Final = {"sin": 2.0**40, "cos": 2.0**40}

F64_FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "exp2": np.exp2, "log2": np.log2, "sin": np.sin, "exp": np.exp, "log": np.log,
    "tanh": np.tanh, "cos": np.cos,
    "atan2": np.arctan2, "erf": lambda x: np.vectorize(math.erf, otypes=[np.float64])(x),
}  # fmt: skip
"""The functions in f64, to place arguments and to weigh results; no reference."""


@cache
def arguments_of(op: str, type_: Type) -> tuple[AnyArray, ...]:
    """COUNT arguments of a function in a format (computed dtype), the same at every call."""
    kind = _kind(type_)
    rng = np.random.default_rng(23)
    with np.errstate(all="ignore"):
        if op == "atan2":
            return _pairs(kind, rng)
        fixed = np.unique(np.concatenate([_specials(kind), _borders(op, kind)]).astype(kind))
        made = np.concatenate([_specials(kind), fixed, _ties(op, kind, rng)])
        rest = _random(op, kind, rng, max(COUNT - made.size, 0))
        return (np.concatenate([made, rest])[:COUNT].astype(kind),)


def _kind(type_: Type) -> Kind:
    return np.float64 if type_ is F64 else np.float16 if type_ is F16 else np.float32


def _specials(kind: Kind) -> AnyArray:
    """Zeros, infinities, NaN, the ends of the normal and subnormal numbers, one and its like."""
    info = np.finfo(kind)
    tiny, least, top = float(info.tiny), float(info.smallest_subnormal), float(info.max)
    sizes = [0.0, 1.0, 0.5, 2.0, 1.5, 3.0, 10.0, tiny, least, top, tiny - least, tiny / 2, tiny * 2]
    values = np.array([*sizes, math.inf])
    return np.concatenate([values, -values, [math.nan]]).astype(kind)


def _around(centres: npt.ArrayLike, kind: Kind) -> AnyArray:
    """Each centre and its neighbours in the format, with both signs."""
    found = np.asarray(centres, np.float64).astype(kind)
    found = found[np.isfinite(found)]
    step = np.spacing(np.abs(found))[:, None] * _NEAR.astype(kind)[None]
    near = (found[:, None] + step).reshape(-1)
    return np.concatenate([near, -near])


def _borders(op: str, kind: Kind) -> AnyArray:
    """Where implementations of a function change their way, or its results change theirs."""
    info = np.finfo(kind)
    low, high = math.log2(float(info.smallest_subnormal)), float(info.maxexp)
    turns = np.arange(int(low) - 2, int(high) + 2)
    powers = np.ldexp(1.0, np.clip(turns, -1073, 1023))
    if op == "exp2":
        return _around([*turns[:: max(1, turns.size // 300)], *(turns[-40:] + 0.5), 0.5, low], kind)
    if op == "exp":
        return _around(turns[:: max(1, turns.size // 300)] * math.log(2), kind)
    if op in ("log", "log2"):
        around_one = 1 + np.ldexp(1.0, -np.arange(1, info.nmant + 1))
        return _around([*powers[:: max(1, powers.size // 200)], *around_one, math.sqrt(0.5)], kind)
    if op in ("sin", "cos"):
        quarters = np.arange(1, 200) * (math.pi / 4)
        return _around([*quarters, *powers[:: max(1, powers.size // 200)]], kind)
    thresholds = [0.55, 0.625, 0.84375, 0.9375, 1.25, 1 / 0.35, 3.9375, 6.0, 8.0, 9.011, 20.0]
    return _around([*thresholds, *powers[:: max(1, powers.size // 200)]], kind)


def _random(op: str, kind: Kind, rng: np.random.Generator, count: int) -> AnyArray:
    """A third of any bits, a third of middle sizes, a third where the function changes."""
    size = np.dtype(kind).itemsize
    bits = np.frombuffer(rng.bytes(size * count), kind)
    signs = np.where(rng.integers(0, 2, count) == 1, 1.0, -1.0)
    middle = signs * np.exp2(rng.uniform(-12, 12, count))
    span = float(np.finfo(kind).maxexp) * (math.log(2) if op == "exp" else 1.0)
    wide = rng.uniform(-1.1 * span, 1.1 * span, count)
    if op in ("log", "log2"):
        middle, wide = np.abs(middle), 1 + rng.uniform(-0.5, 1, count)
    if op in ("tanh", "erf"):
        wide = rng.uniform(-5, 5, count)
    if op in ("sin", "cos"):
        wide = rng.uniform(-2 * math.pi, 2 * math.pi, count)
    third = np.arange(count) % 3
    return np.asarray(np.where(third == 0, bits.astype(np.float64),
                               np.where(third == 1, middle, wide)).astype(kind))  # fmt: skip


def _ties(op: str, kind: Kind, rng: np.random.Generator) -> AnyArray:
    """Of many random arguments those whose results are nearest to midpoints of the format.

    None for f64, whose midpoints f64 cannot see.
    """
    if kind is np.float64:
        return np.zeros(0, kind)
    pool = _random(op, kind, rng, _POOL)
    result = F64_FUNCTIONS[op](pool.astype(np.float64))
    return pool[np.argsort(_from_midpoint(result, kind), kind="stable")[:_TIES]]


def _from_midpoint(result: AnyArray, kind: Kind) -> AnyArray:
    """How far a real is from the nearest midpoint, in units of the format's last place."""
    info = np.finfo(kind)
    usable = np.isfinite(result) & (np.abs(result) > float(info.tiny))
    usable &= np.abs(result) < float(info.max)
    mantissa = np.frexp(np.where(usable, result, 1.0))[0]
    part = np.abs(np.ldexp(mantissa, info.nmant + 1)) % 1.0
    return np.asarray(np.where(usable & (part != 0), np.abs(part - 0.5), 1.0))


def _pairs(kind: Kind, rng: np.random.Generator) -> tuple[AnyArray, AnyArray]:
    """Pairs for atan2: specials with each other, ratios near one, of all sizes, any bits."""
    special = _specials(kind)
    first, second = np.meshgrid(special, special)
    left = (COUNT - first.size) // 4
    signs = np.where(rng.integers(0, 2, (2, 4 * left)) == 1, 1.0, -1.0)
    limit = min(20, np.finfo(kind).maxexp - 4)
    size = np.exp2(rng.uniform(-limit / 2, limit / 2, 4 * left))
    ratio = np.concatenate([
        1 + rng.integers(-64, 64, left) * float(np.finfo(kind).eps),
        np.exp2(rng.uniform(-2, 2, left)),
        np.exp2(rng.uniform(-limit / 2, limit / 2, left)),
        np.exp2(rng.uniform(-limit, limit, left)),
    ])  # fmt: skip
    y = np.concatenate([first.reshape(-1), (signs[0] * size * ratio).astype(kind)])
    x = np.concatenate([second.reshape(-1), (signs[1] * size).astype(kind)])
    padding = COUNT - y.size
    bits = _random("atan2", kind, rng, 2 * padding)
    return np.concatenate([y, bits[:padding]]), np.concatenate([x, bits[padding:]])
