"""Hypotheses: what a row of operations gives where a device treats subnormals in its own way.

Defines `Hypothesis`, `HYPOTHESES`, the steps of IEEE and the comparison of results. Relies on
NumPy's IEEE arithmetic alone, and shares nothing with the emulator, which follows what the probes
find. It runs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tang.device.storage import AnyArray, dtype_of
from tang.kernel import ir as k

Value = Any
Step = Callable[..., Any]
FAR: Final = 8.0
"""Units in the last place by which a quotient or root of normal numbers may be off."""


def _flushed(x: Value) -> Value:
    """Subnormals of f32 or f64 as zeros of their sign."""
    value = np.asarray(x)
    small = np.abs(value) < np.finfo(value.dtype).tiny
    return np.where(small, np.copysign(value.dtype.type(0), value), value)


STEPS: Final[dict[str, Step]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "neg": np.negative, "div": np.divide,
    "sqrt": np.sqrt, "floor": np.floor, "lt": np.less, "le": np.less_equal, "eq": np.equal,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """How a row treats subnormals; `early` as in `Profile`."""

    reads: bool = False
    flushes: bool = False
    early: bool = False

    def of(self, step: Step, op: str) -> Step:
        """The step as a device would take it."""

        def taken(*operands: Value) -> Value:
            given = tuple(_flushed(x) for x in operands) if self.reads else operands
            result = step(*given)
            if self.early and op in _EARLY:
                tiny = _tiny(op, given, np.asarray(result))
                result = np.where(tiny, np.copysign(result.dtype.type(0), result), result)
            return _flushed(result) if self.flushes else result

        return taken


HYPOTHESES: Final = (
    Hypothesis(),
    Hypothesis(reads=True, flushes=True),
    Hypothesis(reads=True),
    Hypothesis(flushes=True),
    Hypothesis(reads=True, flushes=True, early=True),
    Hypothesis(flushes=True, early=True),
)
_EARLY: Final = ("mul", "div", "convert")


def _tiny(op: str, operands: Sequence[Any], result: AnyArray) -> AnyArray:
    """Where a result is below the smallest normal number if exponents had no end."""
    if result.dtype == np.float32:
        given = [np.asarray(x, np.float64) for x in operands]
        wide = given[0] if op == "convert" else np.asarray(STEPS[op](*given))
        return np.asarray(np.abs(wide) < 2.0**-126 * (1 - 2.0**-25))
    if op == "convert":
        return np.zeros(result.shape, np.bool_)
    (a, p), (b, q) = (np.frexp(x) for x in operands)
    mantissa, exponent = np.frexp(STEPS[op](a, b))
    total = exponent + (p - q if op == "div" else p + q)
    return np.asarray(np.isfinite(mantissa) & (total <= -1022))


def same_bits(a: AnyArray, b: AnyArray) -> AnyArray:
    """Where two arrays of floats or truth values agree to the bit, or are both NaN."""
    if a.dtype.kind != "f":
        return np.asarray(a.astype(np.int64) == b.astype(np.int64))
    word = np.uint32 if a.dtype.itemsize == 4 else np.uint64
    if a.dtype.itemsize == 2:
        word = np.uint16  # type: ignore[assignment]
    same = np.ascontiguousarray(a).view(word) == np.ascontiguousarray(b.astype(a.dtype)).view(word)
    return np.asarray(same | (np.isnan(a) & np.isnan(b)))


def numbers_of(t: k.Type) -> Callable[[AnyArray], AnyArray]:
    """Memory as numbers: bf16 words as f32."""
    if t is k.BF16:
        return lambda x: (x.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return lambda x: x


def as_numbers(x: AnyArray, t: k.Type) -> AnyArray:
    """A result of a type as numbers that can be compared."""
    return numbers_of(t)(x) if t is k.BF16 and x.dtype == np.uint16 else x


def converted(t: k.Type) -> Step:
    def convert(x: Value) -> Value:
        if t is not k.BF16:
            return np.asarray(x).astype(dtype_of(t))
        return _to_bf16(np.asarray(x))

    return convert


def _to_bf16(x: AnyArray) -> AnyArray:
    """Reals to nearest even to bf16, as f32; f64 goes through f32 rounded to odd."""
    narrow = x.astype(np.float32)
    if x.dtype == np.float64:
        bits = narrow.view(np.uint32)
        inexact = (narrow.astype(np.float64) != x) & np.isfinite(x)
        beyond = inexact & (np.abs(narrow.astype(np.float64)) > np.abs(x))
        bits = np.where(beyond, bits - np.uint32(1), bits) | inexact.astype(np.uint32)
        narrow = np.ascontiguousarray(bits).view(np.float32)
    bits = narrow.view(np.uint32)
    odd = (bits >> np.uint32(16)) & np.uint32(1)
    rounded = ((bits + np.uint32(0x7FFF) + odd) & np.uint32(0xFFFF0000)).view(np.float32)
    return np.asarray(np.where(np.isnan(x), np.float32(np.nan), rounded))


def widened(x: Value) -> Value:
    return np.asarray(x, np.float64 if np.asarray(x).dtype == np.float32 else np.longdouble)


def exact_fma(a: AnyArray, b: AnyArray, c: AnyArray) -> AnyArray:
    """Where one rounding of a·b + c is what the wide format gives: product and sum are exact."""
    p, z = widened(a) * widened(b), widened(c)
    s = p + z
    back = s - p
    exact = ((p - (s - back)) + (z - back) == 0) & np.isfinite(s)
    if a.dtype == np.float64:  # a product of two doubles takes more than 64 bits
        short = np.abs(np.frexp(a)[0] * 2**26) % 1 == 0
        exact &= short & (np.abs(np.frexp(b)[0] * 2**26) % 1 == 0)
    return np.asarray(exact)


def is_near(got: AnyArray, step: Step, used: Sequence[AnyArray]) -> bool:
    """Whether results of normal operands with normal results are a few ulps from IEEE's."""
    info = np.finfo(got.dtype)
    with np.errstate(all="ignore"):
        ieee = np.asarray(step(*used))
        middle = (info.tiny * 2.0**4 < np.abs(ieee)) & (np.abs(ieee) < info.max / 2.0**4)
        for x in used:
            middle &= (info.tiny * 2.0**8 < np.abs(x)) & (np.abs(x) < info.max / 2.0**8)
        error = np.abs(got.astype(np.longdouble) - ieee) / np.spacing(np.abs(ieee))
    return bool((error[middle] <= FAR).all())


def flattened(operands: Sequence[Any]) -> tuple[AnyArray, ...]:
    arrays = np.broadcast_arrays(*(np.asarray(x) for x in operands))
    return tuple(np.ascontiguousarray(a).reshape(-1) for a in arrays)
