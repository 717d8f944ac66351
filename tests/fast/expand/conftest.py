"""What the tests of portable maths share: evaluation by replay, references, errors in ulps."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from tang.emulator.functions import call_function
from tang.kernel.expand import portable
from tang.kernel.ir import Function

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]

REFERENCES: dict[str, Callable[..., F64]] = {
    "exp2": np.exp2,
    "log2": np.log2,
    "sin": np.sin,
    "cos": np.cos,
    "atan2": np.arctan2,
    "erf": np.vectorize(math.erf, otypes=[np.float64]),
    "exp": np.exp,
    "log": np.log,
    "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
}
NEAR = (0.0, 2.0**-126, 0.5, 0.625, 0.785398, 0.9375, 1.0, 3.9375, 9.0, 10.0, 17.3, 87.3, 88.7228)
NEAR += (103.97, 126.0, 128.0, 149.0, 150.0, 160.0, 2.0**24, 3.4028235e38)


def from_bits(*bits: int) -> F32:
    """The f32 numbers with these bits."""
    return np.array(bits, dtype=np.uint32).view(np.float32)


def neighbours(value: float, count: int = 64) -> F32:
    """The f32 numbers within `count` steps of ±value."""
    middle = int(np.float32(value).view(np.uint32))
    steps = np.arange(max(0, middle - count), min(0x7F800001, middle + count))
    positive = steps.astype(np.uint32).view(np.float32)
    return np.concatenate([positive, -positive])


def arguments(seed: int, count: int) -> F32:
    """Random bits, uniform numbers at four scales, and every number next to a boundary."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 2**32, count, dtype=np.uint32).view(np.float32)
    scaled = [rng.uniform(-s, s, count // 4).astype(np.float32) for s in (1.0, 4.0, 20.0, 160.0)]
    return np.concatenate([bits, *scaled, *(neighbours(v) for v in NEAR)])


def reference(op: str, *args: F32) -> F64:
    """The function in f64."""
    with np.errstate(all="ignore"):
        return REFERENCES[op](*(a.astype(np.float64) for a in args))


def replay(function: Function, *args: F32) -> F32:
    """The function as replay executes it."""
    return np.asarray(call_function(function, args)).astype(np.float32)


def errors(got: F32, want: F64) -> F64:
    """|got − want| in ulps of want; infinite for a wrong NaN, infinity, overflow or zero sign."""
    with np.errstate(all="ignore"):
        exponent = np.maximum(np.frexp(want)[1] - 1, -126)
        error = np.abs(got.astype(np.float64) - want) / np.ldexp(1.0, exponent - 23)
        rounded = want.astype(np.float32)
    edge = np.isinf(rounded) | np.isinf(got)
    error = np.where(edge, np.where(got == rounded, 0.0, np.inf), error)
    zero = (got == 0) | (want == 0)
    error = np.where(zero & (np.signbit(got) != np.signbit(want)), np.inf, error)
    nan = np.isnan(got) | np.isnan(want)
    return np.where(nan, np.where(np.isnan(got) & np.isnan(want), 0.0, np.inf), error)


class Maths:
    """The helpers above, for tests that cannot import this file."""

    portable = staticmethod(portable)
    from_bits = staticmethod(from_bits)
    arguments = staticmethod(arguments)
    reference = staticmethod(reference)
    replay = staticmethod(replay)
    errors = staticmethod(errors)


@pytest.fixture(scope="session")
def maths() -> Maths:
    """Evaluation by replay, references and errors."""
    return Maths()
