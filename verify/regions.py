"""Regions: which elements of a tensor are wrong, in words.

Defines `Shape`, `Region` and `region_of`. Relies on NumPy alone. It looks at no values: what the
wrong elements hold is `provenance`'s business.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Mask = npt.NDArray[np.bool_]
Array = npt.NDArray[Any]


class Shape(enum.Enum):
    """How the wrong elements lie."""

    WHOLE = "whole"
    TAIL = "tail"
    HEAD = "head"
    SLICE = "slice"
    EDGE = "edge"
    EVERY = "every"
    RUN = "run"
    PART = "part"


@dataclass(frozen=True, slots=True)
class Region:
    """Wrong elements: how they lie, the first and one past the last of them in C order, words.

    words  completes "… hold(s) zeros" and "right but for …"
    """

    shape: Shape
    start: int
    stop: int
    words: str


def region_of(bad: Mask) -> Region:
    """The region of the wrong elements of a tensor, of which there is at least one."""
    flat = np.ravel(bad)
    at = np.flatnonzero(flat)
    start, stop, size = int(at[0]), int(at[-1]) + 1, flat.size
    filled = len(at) >= 0.75 * (stop - start)

    def region(shape: Shape, words: str) -> Region:
        return Region(shape, start, stop, words)

    if len(at) >= 0.9 * size:
        return region(Shape.WHOLE, "the whole buffer" if flat.all() else "nearly the whole buffer")
    layered = _slice(bad) or _edge(bad)
    if layered is not None and bad.ndim != 1:
        return region(*layered)
    if filled and stop == size:
        return region(Shape.TAIL, f"the last {_count(stop - start)} of {size}")
    if filled and start == 0:
        return region(Shape.HEAD, f"the first {_count(stop)} of {size}")
    if filled and len(at) > 1:
        return region(Shape.RUN, f"elements {start} to {stop - 1} of {size}")
    period = _period(at, size)
    if period:
        return region(Shape.EVERY, f"every {_ordinal(period)} element from {start} on")
    return region(Shape.PART, f"{_count(len(at))} of {size}")


def _slice(bad: Mask) -> tuple[Shape, str] | None:
    """All wrong elements at one index of one axis, most of which are wrong."""
    for axis in range(bad.ndim):
        others = tuple(a for a in range(bad.ndim) if a != axis)
        layers = np.flatnonzero(bad.any(axis=others))
        if len(layers) == 1 and bad.shape[axis] > 2:
            index = int(layers[0])
            whole = np.take(bad, index, axis=axis)
            if whole.size > 1 and whole.mean() >= 0.75:
                return Shape.SLICE, f"{_layer(bad.ndim, axis)} {index} of {bad.shape[axis]}"
    return None


def _edge(bad: Mask) -> tuple[Shape, str] | None:
    """All wrong elements at the last or the first indices of one axis, most of which are wrong."""
    for axis in range(bad.ndim):
        others = tuple(a for a in range(bad.ndim) if a != axis)
        layers = np.flatnonzero(bad.any(axis=others))
        lo, hi, size = int(layers[0]), int(layers[-1]) + 1, bad.shape[axis]
        part = np.take(bad, range(lo, hi), axis=axis)
        if hi - lo < size and part.mean() >= 0.75 and (lo == 0 or hi == size):
            end = "last" if hi == size else "first"
            name = _layer(bad.ndim, axis)
            return Shape.EDGE, f"the {end} {hi - lo} of {size} {name}s"
    return None


def _layer(ndim: int, axis: int) -> str:
    if ndim == 2:
        return ("row", "column")[axis]
    return f"axis-{axis} slice"


def _period(at: Array, size: int) -> int:
    """The common distance of at least three wrong elements that go on to the end; else 0."""
    steps = np.diff(at)
    if len(at) < 3 or not (steps == steps[0]).all():
        return 0
    step = int(steps[0])
    return step if step > 1 and at[0] < step and at[-1] + step >= size else 0


def _count(n: int) -> str:
    return f"{n} element" if n == 1 else f"{n} elements"


def _ordinal(n: int) -> str:
    return {2: "second", 3: "third"}.get(n, f"{n}th")
