"""Affine reads as strided windows, without index arrays.

Defines `window`. Relies on views and NumPy's strides; a guard on source coordinates becomes a
padded copy. It reports what it cannot do with None, and then the definition reads instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import as_strided

from tang.interpreter.arithmetic import Array
from tang.ir.view import Affine, Interval, View, is_gathered

Box = Mapping[str, tuple[int, int]]
"""Half-open range of every dim and static axis."""


@dataclass(frozen=True, slots=True)
class _Line:
    """One source coordinate over a box: its first value, its least and greatest, its steps."""

    first: int
    low: int
    high: int
    steps: Mapping[str, int]


def window(source: Array, view: View, fill: Array | None, slots: Sequence[str], box: Box) -> (
    Array | None
):  # fmt: skip
    """What the view reads over a non-empty box, one axis per slot (extent 1 where constant).

    None when it has gathers, leaves its source without a guard, or is guarded by other forms than
    source coordinates.
    """
    if view.gathers or any(stop <= start for start, stop in box.values()):
        return None
    if any(is_gathered(c) for c in view.coords):
        return None
    lines = [_line(c, box) for c in view.coords]
    limits = _limits(source, view, lines, box)
    if limits is None:
        return None
    starts = [line.first for line in lines]
    inside = zip(lines, limits, strict=True)
    if not all(lo <= line.low and line.high < hi for line, (lo, hi) in inside):
        source = _padded(source, fill, lines, limits)
        starts = [line.first - line.low for line in lines]
    return _strided(source, starts, lines, slots, box)


def _line(form: Affine, box: Box) -> _Line:
    steps = {v: c.constant for v, c in form.terms}
    first = form.const.constant + sum(c * box[v][0] for v, c in steps.items())
    reach = [c * (box[v][1] - box[v][0] - 1) for v, c in steps.items()]
    low = first + sum(r for r in reach if r < 0)
    return _Line(first, low, first + sum(r for r in reach if r > 0), steps)


def _limits(
    source: Array, view: View, lines: Sequence[_Line], box: Box
) -> list[tuple[int, int]] | None:
    """Per source dim the coordinates that are read and not filled; None when not of that kind."""
    limits = [(0, n) for n in source.shape]
    guarded = [False] * len(limits)
    for condition in view.guard:
        if _always(condition, box):
            continue
        if condition.form not in view.coords:
            return None
        d = view.coords.index(condition.form)
        lo, hi = condition.lo.constant, condition.hi.constant
        if lo < 0 or hi > source.shape[d]:
            return None
        limits[d] = (max(lo, limits[d][0]), min(hi, limits[d][1]))
        guarded[d] = True
    for line, n, g in zip(lines, source.shape, guarded, strict=True):
        if not g and (line.low < 0 or line.high >= n):
            return None
    return limits


def _always(condition: Interval, box: Box) -> bool:
    if is_gathered(condition.form):
        return False
    line = _line(condition.form, box)
    return condition.lo.constant <= line.low and line.high < condition.hi.constant


def _padded(
    source: Array,
    fill: Array | None,
    lines: Sequence[_Line],
    limits: Sequence[tuple[int, int]],
) -> Array:
    """The part of the source from low to high in each dim, the fill outside the limits."""
    shape = [line.high - line.low + 1 for line in lines]
    out = np.full(shape, fill, source.dtype)
    here, there = [], []
    for line, (lo, hi) in zip(lines, limits, strict=True):
        start, stop = max(lo, line.low), min(hi, line.high + 1)
        stop = max(start, stop)
        here.append(slice(start - line.low, stop - line.low) if stop > start else slice(0, 0))
        there.append(slice(start, stop) if stop > start else slice(0, 0))
    out[tuple(here)] = source[tuple(there)]
    return out


def _strided(
    source: Array, starts: Sequence[int], lines: Sequence[_Line], slots: Sequence[str], box: Box
) -> Array:
    strides = [
        sum(line.steps.get(s, 0) * b for line, b in zip(lines, source.strides, strict=True))
        for s in slots
    ]
    used = {v for line in lines for v in line.steps}
    shape = [box[s][1] - box[s][0] if s in used else 1 for s in slots]
    corner = source[tuple(slice(s, s + 1) for s in starts)]
    return as_strided(corner, shape, strides, writeable=False)
