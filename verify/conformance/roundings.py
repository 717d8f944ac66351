"""Roundings to narrow formats and their codes: all f16 numbers, ties and ends, all codes.

Defines `rounding_cases`, and the numbers at which roundings go wrong first. Relies on the portable
functions as functions of the kernel IR: that they are right is the rung `expand`, that devices
compute what they say is checked here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tang.emulator.narrow import numbers
from tang.ir.format import Format, custom_format
from tang.kernel import ir as k
from tang.kernel.expand.rounding import decoder, encoder, rounder
from tang.kernel.narrow import (
    E2M1,
    E4M3FN,
    NARROW,
    ROUNDINGS,
    TF32,
    Conversion,
    is_coded,
    overflows,
)
from tang.verify.conformance.case import Case, elementwise, load

Array = npt.NDArray[Any]

OWN: Final = custom_format("own", p=3, emin=-3, largest=20, specials="fn")
"""A format as users may have: its largest number ends no binade."""

_FROM_F64: Final = (TF32, E4M3FN, E2M1)
"""Before these roundings an f64 becomes an f32 in one and the same way."""

_SPECIALS: Final = (0.0, 1e-45, 1e-38, 2.0**-126, float.fromhex("0x1.fffffep+127"), np.inf)


def rounding_cases() -> Iterator[Case]:
    """Per format its roundings of f32 and of f64, and encoding and decoding."""
    for f in (*NARROW.values(), OWN):
        usual, *others = conversions(f)
        yield _roundings(f"f32 to {f.name}", k.F32, [usual], hard_values(f))
        yield _roundings(f"f32 to {f.name} in other ways", k.F32, others, hard_values(f)[::-16])
        if is_coded(f):
            yield _codes(f)
    for f in _FROM_F64:
        yield _roundings(f"f64 to {f.name}", k.F64, conversions(f), hard_wide_values(f)[::40])


def conversions(format_: Format) -> list[Conversion]:
    """Every way of rounding to a format, the usual one first."""
    return [Conversion(format_, r, o) for r in ROUNDINGS for o in overflows(format_)]


def _roundings(name: str, source: k.Type, ways: Sequence[Conversion], x: Array) -> Case:
    made = tuple(rounder(c, source) for c in ways)
    rows = {f.implements: k.Call(k.F32, f.name, (load("x", source),)) for f in made}
    return elementwise(name, rows, {"x": x}, {"x": source}, made)


def _codes(format_: Format) -> Case:
    """Every byte decoded; and decoded, encoded and decoded again."""
    decode, encode = decoder(format_), encoder(format_)
    value = k.Call(k.F32, decode.name, (load("x", k.U8),))
    again = k.Call(k.F32, decode.name, (k.Call(k.U8, encode.name, (value,)),))
    rows: dict[str, k.Expr] = {"decode": value, "decode, encode, decode": again}
    data, types = {"x": np.arange(256, dtype=np.uint8)}, {"x": k.U8}
    return elementwise(f"codes of {format_.name}", rows, data, types, (decode, encode))


# --- numbers --------------------------------------------------------------------------------------


@cache
def hard_values(format_: Format) -> Array:
    """f32: every f16, midpoints of the format with their neighbours, ends, both signs, NaN."""
    top = float(format_.largest)
    step = 2.0 ** (format_.emax + 1 - format_.p)
    ends = [top, top + step / 4, top + step / 2, top + step * 0.75, top + step, top * 4]
    up, down = np.float32(np.inf), np.float32(0)
    with np.errstate(all="ignore"):
        halves = np.arange(2**16, dtype=np.uint16).view(np.float16).astype(np.float32)
        near = np.concatenate([_midpoints(format_), ends, _SPECIALS]).astype(np.float32)
        sizes = np.concatenate([near, np.nextafter(near, up), np.nextafter(near, down)])
    return np.concatenate([halves, sizes, -sizes, np.array([np.nan], np.float32)])


def _midpoints(format_: Format) -> Array:
    """Between neighbours: all of formats with codes, else some of every binade."""
    if is_coded(format_):
        found = np.unique(np.abs(numbers(format_).astype(np.float64)))
        found = found[np.isfinite(found)]
        return np.asarray((found[1:] + found[:-1]) / 2)
    rng = np.random.default_rng(7)
    exponents = np.arange(-150, 128)
    whole = rng.integers(2 ** (format_.p - 1), 2**format_.p, (8, exponents.size))
    steps = np.maximum(exponents, format_.emin) - format_.p + 1
    return np.asarray(np.ldexp(whole + 0.5, steps).reshape(-1))


@cache
def hard_wide_values(format_: Format) -> Array:
    """f64: the same, and numbers that f32 would first round to a tie, or past the end."""
    with np.errstate(all="ignore"):
        base = hard_values(format_).astype(np.float64)
        moved = [base * (1 + s * 2.0**-n) for s in (-1, 1) for n in (26, 40, 52)]
        far = [base * 2.0**s for s in (-200, 200)]
    ends = [1e300, -1e300, 5e-324, -5e-324, 2.0**128 * (1 - 2.0**-53), 2.0**128]
    return np.concatenate([base, *moved, *far, ends])
