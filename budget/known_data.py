"""What is known of every element of a program's results on sets of data at hand.

Defines `Known`, which computes each of its parts once, when it is asked. Relies on f64 results, on
T, on bounds by replay and on certificates for ranges. It derives no tolerance.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tang.budget.data_bounds import Bounds, element_bounds
from tang.budget.overflow import beyond, fits_by_ranges, fits_by_terms
from tang.budget.report_case import work_of
from tang.budget.report_samples import Setting
from tang.budget.report_terms import terms_of
from tang.budget.tolerance import Tolerance, allowed_by, largest_of
from tang.emulator import Certificate, certify
from tang.errors import BudgetError
from tang.ir.expr import REAL, Expr, walk
from tang.ir.graph import Graph
from tang.ir.monoid import Monoid
from tang.ir.monoids import ALL, ANY, ARGMAX, ARGMIN, COUNT, MAX, MIN, is_plain_sum
from tang.ir.view import Ref
from tang.kernel.ir import F64
from tang.kernel.lower.recognise import recognise
from tang.kernel.schedule import Schedule

Array = npt.NDArray[Any]
F64Array = npt.NDArray[np.float64]
Spans = Mapping[str, tuple[float, float]]

FREELY, FOLDS, WRITTEN = (
    "sums in any order",
    "sums in any order, other folds element after element",
    "in the order of the schedule",
)
"""Of which orders a bound of data speaks."""
_SURE, _DIGITS = 1 + 2.0**-10, 2.0**-50
"""Of a difference of two bounds: its higher orders, and their rounding."""


@dataclass(eq=False)
class Known:
    """graph and schedule as of `kernel_for`, and the data as they are stored, with f64 results.

    free  whether sums may have any order, or the schedule's alone;  math  whose functions these are
    """

    graph: Graph
    schedule: Schedule
    settings: Sequence[Setting]
    free: bool
    math: str
    _certificates: dict[object, Certificate] = field(default_factory=dict, init=False, repr=False)

    @property
    def work(self) -> int:
        """Points and steps of all sets."""
        return len(self.settings) * work_of(self.graph)

    @cached_property
    def wide(self) -> bool:
        """Whether a node computes in f64, as the results that it is compared with."""
        chosen = self.schedule.by_name(self.graph).values()
        return any(F64 in (s.accumulate, s.partial) for s in chosen)

    @cached_property
    def order(self) -> str:
        """Of which orders of summation `bounds` speak."""
        if not self.free:
            return WRITTEN
        return FREELY if all(_in_any_order(n.monoid) for n in self.graph.nodes) else FOLDS

    # --- values -----------------------------------------------------------------------------------

    def exact(self, ref: Ref) -> list[Array]:
        """The f64 results of every set."""
        return [s.exact[ref] for s in self.settings]

    def value(self, ref: Ref) -> float:
        """The largest |f64| of numbers; NaN without data."""
        return max((largest_of(e) for e in self.exact(ref)), default=float("nan"))

    @cached_property
    def terms(self) -> list[Mapping[Ref, Array]]:
        """T of every tensor."""
        return [terms_of(s.graph, s.exact, through=True) for s in self.settings]

    def largest(self, ref: Ref) -> float:
        """The largest T, where it is a number; NaN without data."""
        found = [t[ref][np.isfinite(t[ref])] for t in self.terms]
        return max((float(np.max(t, initial=0.0)) for t in found), default=float("nan"))

    @cached_property
    def spans(self) -> dict[str, tuple[float, float]]:
        """The ranges of the real inputs all of whose elements are finite."""
        found: dict[str, tuple[float, float]] = {}
        for i in self.graph.inputs:
            arrays = [np.asarray(e) for e in self.exact(Ref(i.name)) if i.sort is REAL]
            if arrays and all(a.size and np.isfinite(a).all() for a in arrays):
                found[i.name] = (
                    min(float(a.min()) for a in arrays),
                    max(float(a.max()) for a in arrays),
                )
        return found

    @property
    def finite(self) -> bool:
        """Whether all real inputs have finite elements, and no others."""
        return {i.name for i in self.graph.inputs if i.sort is REAL} <= self.spans.keys()

    # --- bounds -----------------------------------------------------------------------------------

    @cached_property
    def bounds(self) -> list[Bounds]:
        """By replay, of the kernel's own orders."""
        return [self._replayed(s, self.free) for s in self.settings]

    @cached_property
    def _anyhow(self) -> list[Bounds]:
        """By replay, for sums in any order."""
        if self.free or self.math != "portable":
            return self.bounds
        return [self._replayed(s, True) for s in self.settings]

    def _replayed(self, setting: Setting, free: bool, *, printed: bool = True) -> Bounds:
        return element_bounds(setting, self.schedule, free=free, math=self.math, printed=printed)

    @cached_property
    def _printed(self) -> list[Bounds]:
        """What f64 results are off by as functions are printed: nothing without such forms.

        It is what that adds to the bounds by replay. That of exp and sigmoid is a relative one,
        beyond the digits of bounds of narrower formats than f64.
        """
        forms = ("cos", "tanh", "exp", "sigmoid") if self.wide else ("cos", "tanh")
        if not any(_has_form(e, forms) for n in self.graph.nodes for e in n.body):
            return [{} for _ in self.settings]
        exact = [self._replayed(s, self.free, printed=False) for s in self.settings]
        pairs = zip(self.bounds, exact, strict=True)
        return [{r: _more(b, plain[r]) for r, b in found.items()} for found, plain in pairs]

    def allowed(self, ref: Ref, t: Tolerance) -> list[F64Array]:
        """What a tolerance for more inputs than these allows of every element."""
        terms = [m[ref] for m in self.terms] if t.scale else [None for _ in self.settings]
        pairs = zip(self.exact(ref), terms, strict=True)
        return [allowed_by(t, e, own) for e, own in pairs]

    def least(self, ref: Ref, others: Sequence[Tolerance]) -> list[F64Array]:
        """The least that is known to hold of every element, infinite where nothing is.

        What is no number in f64 must be the same, or is unknown: only replay tells. So it is where
        a bound by shape holds for all inputs but those that overflow, or whose 1/y does.
        """
        found = [b[ref] for b in self.bounds]
        for t in others:
            if t.kind != "none":
                own = [o.get(ref, 0.0) for o in self._printed]
                parts = zip(found, self.allowed(ref, t), own, self.exact(ref), strict=True)
                found = [
                    np.where(
                        np.isfinite(e) & (np.isfinite(b) | (t.kind != "shape")),
                        np.fmin(b, a + o),
                        b,
                    )
                    for b, a, o, e in parts
                ]
        return found

    # --- overflow ---------------------------------------------------------------------------------

    def beyond(self, ref: Ref) -> Ref | None:
        """A tensor that a result is made of and that may leave its format on the data."""
        if not self.settings or self._fits(ref):
            return None
        pairs = zip(self.settings, self._anyhow, strict=True)
        found = (beyond(self.graph, self.schedule, s.exact, b, ref) for s, b in pairs)
        return next((r for r in found if r is not None), None)

    def _fits(self, ref: Ref) -> bool:
        """Whether it is known without replay that no tensor leaves its format."""
        try:
            if self.finite and fits_by_ranges(self.graph, self.certified(self.spans), ref):
                return True
            shape = self.certified(None)
        except BudgetError:
            return False
        return all(fits_by_terms(self.graph, self.schedule, shape, t, ref) for t in self.terms)

    def certified(self, spans: Spans | None) -> Certificate:
        """For all inputs within ranges, by shape for None; made once. Raises BudgetError."""
        key = None if spans is None else tuple(sorted(spans.items()))
        if key not in self._certificates:
            self._certificates[key] = certify(self.graph, self.schedule, {}, spans, math=self.math)
        return self._certificates[key]


def _has_form(e: Expr, names: Collection[str]) -> bool:
    """Whether an expression has a function that is printed as a form of others."""
    found = (recognise(part) for part in walk(e))
    return any(f is not None and f[0] in names for f in found)


def _more(bound: F64Array, exact: F64Array) -> F64Array:
    """By how much a bound is larger, where both are known."""
    known = np.isfinite(bound) & np.isfinite(exact)
    with np.errstate(all="ignore"):
        return np.asarray(np.where(known, (bound - exact) * _SURE + bound * _DIGITS, 0.0))


def _in_any_order(monoid: Monoid | None) -> bool:
    """Whether bounds of a fold speak of every order."""
    if monoid is None or monoid in (MAX, MIN, COUNT, ANY, ALL, ARGMAX, ARGMIN):
        return True
    return is_plain_sum(monoid)
