"""Edges: every rounding and coding of a plan at the arguments where such a function can go wrong.

Defines `edges_of`, those arguments, and `edge_calls`, what a plan's functions make of them. Relies
on replay of single functions. It judges nothing: the rung `expand` compares these calls as it does
those that the data of a program lead to, which hardly ever meet an edge.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from tang.emulator.functions import call_function
from tang.emulator.narrow import exact_function, numbers
from tang.ir.format import Format
from tang.kernel.ir import Function
from tang.kernel.narrow import coding_named, conversion_named
from tang.kernel.plan import Plan

Array = npt.NDArray[Any]


def edge_calls(plans: Iterable[Plan]) -> Iterator[tuple[Function, Array, Array]]:
    """(function, arguments, results) of every rounding and coding that plans hold."""
    launches = (launch for plan in plans for launch in plan.launches)
    for functions in dict.fromkeys(launch.kernel.functions for launch in launches):
        for function in functions:
            if exact_function(function.implements) is not None:
                yield function, edges_of(function.implements), _results(function, functions)


@lru_cache(maxsize=256)
def _results(function: Function, functions: tuple[Function, ...]) -> Array:
    """What the function makes of its edges; equal functions are asked once."""
    return call_function(function, (edges_of(function.implements),), functions=functions)


@cache
def edges_of(op: str) -> Array:
    """The edges of an operation: all codes or numbers of a coding, ties and ends of a rounding."""
    coding = coding_named(op)
    if coding is not None:
        found = numbers(coding[1])
        kept = found if coding[1].has_nan else found[~np.isnan(found)]
        return kept if coding[0] == "encode" else np.arange(len(found), dtype=np.uint8)
    conversion = conversion_named(op)
    return np.zeros(0, np.float32) if conversion is None else _of_format(conversion.format)


def _of_format(format_: Format) -> Array:
    """f32 values: in the first and last binades and around 1, numbers of the format, the halves and
    quarters between them, with what is next to each; beyond both ends; zeros, infinities, NaN."""
    ends = (format_.emin, format_.emax)
    exponents = {e + by for e in ends for by in range(-3, 3)} | {0, 1, format_.emin - format_.p}
    steps = 2 ** (format_.p - 1)
    near = {k for at in (0, steps // 2, steps) for k in range(at - 2, at + 3) if 0 <= k < steps}
    inside = {format_.emin - k for k in range(format_.p + 2)}
    sizes = {
        np.ldexp(1 + (k + part / 4) / steps, e)
        for e in exponents | inside
        for k in near
        for part in range(4)
    }
    top = np.finfo(np.float32)
    with np.errstate(all="ignore"):
        plain = np.array(sorted({*sizes, float(format_.largest), 0.0, float(top.max)}), np.float32)
        around = [np.nextafter(plain, np.float32(to)) for to in (0.0, np.inf)]
    positive = np.unique(np.concatenate([plain, *around]))
    return np.concatenate([positive, -positive, np.array([np.inf, -np.inf, np.nan], np.float32)])
