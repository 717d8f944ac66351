"""Bounds: the range of an affine form over the points of a comprehension.

Defines `form_range`, exact for small domains and sound for all, and `magnitude`, which bounds
every partial sum. Relies on concrete forms (bind first) and Python integers, so nothing here can
overflow. It does not know gathered values: a form that needs them has no range.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from math import floor, prod
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tang.errors import GraphError
from tang.ir.view import Affine

ENUMERATED: Final = 1 << 16
"""Coupled domains of at most so many points are enumerated, so their range is exact."""
ROUNDS: Final = 8
"""Rounds of interval propagation and of descent; each round is sound."""
STEPS: Final = 256
"""At most so many steps are tried in a round of descent."""

Box = dict[str, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class _Form:
    """Σ coefficient · variable + const in plain integers."""

    terms: Mapping[str, int]
    const: int

    def range(self, box: Box) -> tuple[int, int]:
        """The exact range over a box of independent variables."""
        ends = [(c * box[v][0], c * box[v][1]) for v, c in self.terms.items()]
        return self.const + sum(map(min, ends)), self.const + sum(map(max, ends))

    def part(self, variables: Iterable[str]) -> _Form:
        """The terms in these variables, without the constant."""
        return _Form({v: self.terms[v] for v in variables if v in self.terms}, 0)


def form_range(
    form: Affine, dims: Mapping[str, int], where: Sequence[Affine] = ()
) -> tuple[int, int] | None:
    """The smallest and largest value over 0 ≤ v < dims[v] where every form of `where` is ≥ 0.

    None when no point is left. The range never excludes a value that occurs; it is exact when
    each group of coupled variables has at most ENUMERATED points after propagation. Otherwise an
    empty domain may go unnoticed and the range may be too wide.
    """
    if any(n <= 0 for n in dims.values()):
        return None
    target = _plain(form, dims)
    constraints = [_plain(w, dims) for w in where]
    box = _propagate({v: (0, n - 1) for v, n in dims.items()}, constraints)
    if box is None:
        return None
    groups = _groups([w for w in constraints if w.terms])
    free = target.terms.keys() - {v for g in groups for v in g.variables}
    lo, hi = target.part(free).range(box)
    for group in groups:
        found = _group_range(target.part(group.variables), group.constraints, box)
        if found is None:
            return None
        lo, hi = lo + found[0], hi + found[1]
    return lo + target.const, hi + target.const


def magnitude(form: Affine, dims: Mapping[str, int]) -> int:
    """A bound on the absolute value of every term and partial sum, in any order of adding."""
    plain = _plain(form, dims)
    spans = (abs(c) * max(dims[v] - 1, 0) for v, c in plain.terms.items())
    return abs(plain.const) + sum(spans)


def _plain(form: Affine, dims: Mapping[str, int]) -> _Form:
    unknown = sorted(form.variables - dims.keys())
    if unknown:
        raise GraphError(f"{form} has no range: {', '.join(unknown)} are not among {list(dims)}")
    return _Form({v: c.constant for v, c in form.terms}, form.const.constant)


def _propagate(box: Box, constraints: Sequence[_Form]) -> Box | None:
    """Shrink the box by what each constraint implies for each of its variables."""
    for _ in range(ROUNDS):
        before = dict(box)
        for w in constraints:
            if w.range(box)[1] < 0:
                return None
            _tighten(box, w)
        if any(lo > hi for lo, hi in box.values()):
            return None
        if box == before:
            break
    return box


def _tighten(box: Box, w: _Form) -> None:
    top = w.range(box)[1]
    for v, c in w.terms.items():
        lo, hi = box[v]
        slack = top - max(c * lo, c * hi)  # the largest value of everything but v
        if c > 0:
            lo = max(lo, -(slack // c))  # v ≥ ⌈−slack / c⌉
        else:
            hi = min(hi, slack // -c)
        box[v] = (lo, hi)
        if lo > hi:
            return
        top = slack + max(c * lo, c * hi)


@dataclass(frozen=True, slots=True)
class _Group:
    """Constraints that share variables, directly or through each other."""

    variables: frozenset[str]
    constraints: tuple[_Form, ...]


def _groups(constraints: Sequence[_Form]) -> list[_Group]:
    groups: list[_Group] = []
    for w in constraints:
        mine = frozenset(w.terms)
        touching = [g for g in groups if g.variables & mine]
        rest = [g for g in groups if not g.variables & mine]
        joined = mine.union(*(g.variables for g in touching))
        together = tuple(c for g in touching for c in g.constraints)
        groups = [*rest, _Group(joined, (*together, w))]
    return groups


def _group_range(target: _Form, constraints: Sequence[_Form], box: Box) -> tuple[int, int] | None:
    variables = sorted({v for w in constraints for v in w.terms})
    points = prod(box[v][1] - box[v][0] + 1 for v in variables)
    if points <= ENUMERATED and _fits([target, *constraints], box):
        return _enumerate(target, constraints, {v: box[v] for v in variables})
    if not target.terms:
        return 0, 0
    negated = _Form({v: -c for v, c in target.terms.items()}, 0)
    return -_upper(negated, constraints, box), _upper(target, constraints, box)


def _fits(forms: Sequence[_Form], box: Box) -> bool:
    """Whether every partial sum of every form fits 64-bit integers."""
    sums = (
        abs(f.const) + sum(abs(c) * max(map(abs, box[v])) for v, c in f.terms.items())
        for f in forms
    )
    return max(sums) < 1 << 62


def _enumerate(target: _Form, constraints: Sequence[_Form], box: Box) -> tuple[int, int] | None:
    varying = {v: (lo, hi) for v, (lo, hi) in box.items() if lo < hi}  # at most 16 variables
    axes = [np.arange(lo, hi + 1, dtype=np.int64) for lo, hi in varying.values()]
    grid: dict[str, NDArray[np.int64] | np.int64]
    grid = dict(zip(varying, np.meshgrid(*axes, indexing="ij", sparse=True), strict=True))
    grid.update({v: np.int64(lo) for v, (lo, hi) in box.items() if lo == hi})
    shape = tuple(len(a) for a in axes)
    alive = np.ones(shape, dtype=np.bool_)
    for w in constraints:
        alive &= _values(w, grid, shape) >= 0
    values = _values(target, grid, shape)[alive]
    return (int(values.min()), int(values.max())) if values.size else None


def _values(
    form: _Form, grid: Mapping[str, NDArray[np.int64] | np.int64], shape: tuple[int, ...]
) -> NDArray[np.int64]:
    total = np.full(shape, form.const, dtype=np.int64)
    for v, c in form.terms.items():
        total += np.int64(c) * grid[v]
    return total


def _upper(target: _Form, constraints: Sequence[_Form], box: Box) -> int:
    """An upper bound of target: descend on λ ≥ 0 in max over the box of target + Σ λ·w.

    Adding λ·w ≥ 0 only raises target on the domain, so every λ gives a bound. The function of
    each λ is convex and piecewise linear with its corners where a coefficient vanishes. Moves
    along a plateau are allowed, so that chains a ≥ b ≥ c combine; the rounds end them.
    """
    current = {v: Fraction(c) for v, c in target.terms.items()}
    const = Fraction(target.const)
    best = const + _peak(current, box)
    others = list(constraints)
    for _ in range(2 * ROUNDS):
        steps = islice((s for w in others for s in _steps(current, w)), STEPS)
        moves = [
            (_moved_peak(current, const, w, k, box), n, w, k) for n, (w, k) in enumerate(steps)
        ]
        if not moves:
            break
        peak, _, w, k = min(moves, key=lambda m: m[:2])
        if peak > best:
            break
        others = [u for u in constraints if u is not w]
        best, current, const = peak, _moved(current, w, k), const + k * w.const
    return floor(best)


def _steps(current: Mapping[str, Fraction], w: _Form) -> list[tuple[_Form, Fraction]]:
    ratios = {-current.get(v, Fraction(0)) / c for v, c in w.terms.items()}
    return [(w, k) for k in sorted(ratios) if k > 0]


def _moved(current: Mapping[str, Fraction], w: _Form, k: Fraction) -> dict[str, Fraction]:
    names = {**current, **w.terms}
    return {v: current.get(v, Fraction(0)) + k * w.terms.get(v, 0) for v in names}


def _moved_peak(
    current: Mapping[str, Fraction], const: Fraction, w: _Form, k: Fraction, box: Box
) -> Fraction:
    return const + k * w.const + _peak(_moved(current, w, k), box)


def _peak(terms: Mapping[str, Fraction], box: Box) -> Fraction:
    ends = (max(c * box[v][0], c * box[v][1]) for v, c in terms.items())
    return sum(ends, start=Fraction(0))
