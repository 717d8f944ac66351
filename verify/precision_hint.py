"""Whether errors look like those of a shorter format: a hint, with no theorem behind it.

Defines `shorter_format`. Relies on the definition of the IR run with every operation rounded to a
format, in lexicographic order. It decides nothing alone: callers ask once a bound is broken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tang.emulator.rounding import round_to
from tang.interpreter.arithmetic import Arithmetic
from tang.interpreter.definition import evaluate
from tang.interpreter.f64 import F64
from tang.ir.expr import REAL
from tang.ir.graph import Graph

Array = npt.NDArray[Any]

SHORTER: Final = {"f64": ("f32", "f16", "bf16"), "f32": ("f16", "bf16"), "f16": ("bf16",)}
"""By format: those that a kernel may compute or round in instead, the longest first."""
_ROUNDED: Final = (
    "add", "mul", "recip", "sqrt", "sin", "atan2", "exp2", "log2", "erf",
)  # fmt: skip
_FACTOR: Final = 4.0
"""How much larger than in the simulation errors may be: orders of summation differ. Much smaller
ones have another cause, since tree sums save no more than a square root."""


def shorter_format(
    graph: Graph, inputs: Mapping[str, Array], output: str, got: Array, want: Array, format: str
) -> str:
    """The longest format below `format` that accounts for the errors of an output; "" if none.

    Compared are the largest and the root mean square error with those of a simulation. Errors in
    a few elements alone are no matter of format.
    """
    error = np.abs(got - want)
    if not error.size or not np.isfinite(error).all() or np.mean(error > 0) < 0.5:
        return ""
    for short in SHORTER.get(format, ()):
        simulated = np.abs(evaluate(graph, inputs, _rounding(short))[output] - want)
        if not np.isfinite(simulated).all():
            continue
        ratio = _rms(error) / max(_rms(simulated), 1e-300)
        close = 1 / _FACTOR**2 <= ratio <= _FACTOR
        if close and error.max() <= _FACTOR * simulated.max() and _unbiased(error, want):
            return short
    return ""


def _unbiased(error: Array, want: Array) -> bool:
    """Whether no results are lost altogether: errors stay below the size of the results."""
    return bool(_rms(error) < 0.5 * _rms(want))


def _rms(x: Array) -> float:
    return float(np.sqrt(np.mean(np.square(x.astype(np.float64)))))


@lru_cache(maxsize=8)
def _rounding(format: str) -> Arithmetic:
    """f64 arithmetic in which every inexact operation rounds to the format."""

    def rounded(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *operands: round_to(function(*operands), format)

    ops = {
        key: rounded(f) if key[0] in _ROUNDED and key[1] is REAL else f
        for key, f in F64.ops.items()
    }
    return replace(F64, name=f"every operation in {format}", ops=ops)
