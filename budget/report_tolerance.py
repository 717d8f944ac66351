"""The tolerance that a test of a kernel should use, derived instead of guessed.

Defines `tolerances_of` and `kernel_for`. Relies on certificates by shape and by range, and on
bounds of every element for given inputs. It compares nothing: `tang.testing` does.

A preset stands for a kernel of these formats that adds up sums in any order: with n terms the
sequential sum has the largest bound of all orders, so every reduction is taken as one. A schedule
that was written down is taken as it is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tang.budget.data_bounds import element_bounds
from tang.budget.emulation import folded
from tang.budget.precision import applied
from tang.budget.report_case import work_of
from tang.budget.report_cures import storage_of
from tang.budget.report_inputs import Ranges
from tang.budget.report_samples import Setting, setting_of, stored_inputs
from tang.budget.report_terms import terms_of
from tang.budget.tolerance import (
    Tolerance,
    allowed_by,
    largest_of,
    of_numbers,
)
from tang.emulator import certify, shape_bound
from tang.emulator.any_order import any_order
from tang.errors import BudgetError
from tang.ir.bind import bind
from tang.ir.expr import REAL
from tang.ir.graph import Graph, Output
from tang.ir.monoids import ALL, ANY, ARGMAX, ARGMIN, COUNT, MAX, MIN, SUM, product
from tang.ir.view import Ref
from tang.kernel.ir import F64
from tang.kernel.schedule import Schedule, name_of

Array = npt.NDArray[Any]
F64Array = npt.NDArray[np.float64]

WORK: Final = 2**24
"""Points and steps up to which data are replayed although a bound for more inputs says enough."""
FREELY, FOLDS, WRITTEN = (
    "sums in any order",
    "sums in any order, other folds element after element",
    "in the order of the schedule",
)
"""Of which orders a bound of data speaks."""


def tolerances_of(
    graph: Graph,
    precision: object = "f32",
    *,
    sizes: Mapping[str, int] | None = None,
    inputs: Sequence[Mapping[str, Array]] = (),
    ranges: Ranges | None = None,
    math: str = "portable",
) -> tuple[Tolerance, ...]:
    """A tolerance per output of a program, the most general kind that says something.

    sizes   of symbolic extents
    inputs  sets of data: reals are rounded to the storage format of inputs first; T, ranges and
            bounds of every element are taken from them
    ranges  of real inputs, for the kind "range"; without them those of the data
    math    "portable" functions, or a language whose own ones the kernel uses
    A kind that allows more than the largest value of the data says nothing, and the next is tried.
    Raises BudgetError for unknown functions.
    """
    any_order(math)
    bound = bind(graph, dict(sizes or {})) if graph.symbols else graph
    made, schedule = kernel_for(precision, bound)
    settings = [setting_of(made, stored_inputs(made, schedule, data)) for data in inputs]
    spans = dict(ranges or {}) or _spans(made, settings)
    maker = _Maker(made, schedule, settings, spans, bool(ranges), not is_written(precision), math)
    return tuple(maker.of(o) for o in made.outputs)


def kernel_for(precision: object, graph: Graph) -> tuple[Graph, Schedule]:
    """The program and the formats of a kernel; of a preset with every sum in the worst order.

    The program is another one where there are scales, or formats of single inputs: it takes its
    inputs wide, and divides, rounds and multiplies them itself.
    """
    made, found = applied(precision, graph)
    return made, found if is_written(precision) else folded(found)


def is_written(precision: object) -> bool:
    """Whether a precision is a schedule, with orders of its sums, and no preset."""
    written = isinstance(precision, Schedule | Mapping) or "{" in str(precision)
    return written or str(precision).endswith(".json")


def _spans(graph: Graph, settings: Sequence[Setting]) -> dict[str, tuple[float, float]]:
    """The ranges of finite real inputs in the data."""
    found: dict[str, tuple[float, float]] = {}
    for i in graph.inputs:
        arrays = [np.asarray(s.exact[Ref(i.name)]) for s in settings if i.sort is REAL]
        if arrays and all(a.size and np.isfinite(a).all() for a in arrays):
            found[i.name] = min(float(a.min()) for a in arrays), max(float(a.max()) for a in arrays)
    return found


@dataclass(eq=False)
class _Maker:
    """stated: whether `spans` came from the caller;  free: whether sums may have any order."""

    graph: Graph
    schedule: Schedule
    settings: list[Setting]
    spans: Mapping[str, tuple[float, float]]
    stated: bool
    free: bool
    math: str

    def of(self, output: Output) -> Tolerance:
        if self.graph.sort(output.ref) is not REAL:
            why = ("indices and bools are exact",)
            return Tolerance(output.name, "exact", "equality", derivation=why)
        shape = self._judged(self._shape(output), output)
        if shape.ok:
            return self._tightened(shape, output)
        ranged = self._range(output) if self.spans else None
        if ranged is not None and (self.stated or not self.settings):
            ranged = self._judged(ranged, output)
            if ranged.ok:
                return self._tightened(ranged, output)
        if self.settings:
            return self._data(output, [t for t in (shape, ranged) if t is not None])
        reasons = (*shape.derivation, *(ranged.derivation if ranged else ()))
        lines = (*reasons, "give inputs or ranges")
        return Tolerance(output.name, shape.format, "none", derivation=lines)

    # --- kinds ------------------------------------------------------------------------------------

    def _blank(self, output: Output, *why: str) -> Tolerance:
        return Tolerance(
            output.name, name_of(self.schedule.of(output.ref.node).storage), "none",
            derivation=why, value=self._value(output),
            smallest=math.ldexp(1.0, storage_of(self.schedule, output.ref).emin),
        )  # fmt: skip

    def _shape(self, output: Output) -> Tolerance:
        try:
            found = shape_bound(self.graph, self.schedule, {}, output.name, math=self.math)
        except BudgetError as e:
            return self._blank(output, f"by shape: {e}")
        if found.vacuous:
            reason = found.reason or "its bound is larger than the values"
            return self._blank(output, f"by shape: {reason}")
        pure, size = found.terms == "|x|", found.c * found.u
        exact = not size and not found.tau
        moved = ("exact: elements are chosen or moved, and none is computed",)
        made = replace(
            self._blank(output), kind="shape", rtol=size if pure else 0.0,
            scale=0.0 if pure else size, atol=found.tau,
            largest=float("nan") if pure else self._largest(output),
            derivation=found.derivation or (moved if exact else ()),
        )  # fmt: skip
        return self._compared(made)

    def _range(self, output: Output) -> Tolerance:
        try:
            made = certify(self.graph, self.schedule, {}, self.spans, math=self.math)
        except BudgetError as e:
            return self._blank(output, f"by ranges: {e}")
        found = made.bound(output.ref.node, output.ref.output)
        if found.vacuous:
            reason = found.reason or "its bound is larger than the values"
            return self._blank(output, f"by ranges: {reason}")
        listed = ", ".join(f"{n} in {lo:.3g}:{hi:.3g}" for n, (lo, hi) in self.spans.items())
        lines = (
            f"by ranges: at most {found.error:.3g} for {listed}, "
            f"with values in {found.lo:.3g}:{found.hi:.3g}",
        )
        return self._compared(
            replace(self._blank(output), kind="range", atol=found.error, derivation=lines)
        )

    def _compared(self, found: Tolerance) -> Tolerance:
        """Twice what holds against exact results, for a kernel that computes in f64.

        The f64 results that it is compared with are as far from these; of a coarser kernel that is
        beyond the digits of its bound.
        """
        chosen = self.schedule.by_name(self.graph).values()
        wide = any(F64 in (s.accumulate, s.partial) for s in chosen)
        if not wide or not (found.rtol or found.scale or found.atol):
            return found
        return replace(
            found, rtol=2 * found.rtol, scale=2 * found.scale, atol=2 * found.atol,
            derivation=(*found.derivation, "and as much for the f64 results to compare with"),
        )  # fmt: skip

    def _data(self, output: Output, others: Sequence[Tolerance]) -> Tolerance:
        """What the data and all that holds for more inputs allow together."""
        exact = [s.exact[output.ref] for s in self.settings]
        reasons = tuple(line for t in others for line in t.derivation)
        if all(e.size and not np.isfinite(e).any() for e in exact):
            return self._blank(output, *reasons, "by data: no element is a number in f64")
        bounds = [self._least(k, output, others) for k in range(len(self.settings))]
        unknown = sum(int(np.isinf(b).sum()) for b in bounds)
        if unknown:
            total = sum(b.size for b in bounds)
            why = f"by data: the running bound of {unknown} of {total} elements is infinite"
            return self._blank(output, *reasons, why)
        most = _most(bounds)
        line = f"by data: at most {most:.3g} on the inputs at hand, {self.order}"
        found = replace(
            self._blank(output), kind="data", atol=most, tight=most, order=self.order,
            derivation=(*reasons, line), bound=bounds[0],
        )  # fmt: skip
        return self._judged(found, output)

    def _tightened(self, found: Tolerance, output: Output) -> Tolerance:
        """With the bounds of the data too, where these take no long time."""
        if not self.settings or len(self.settings) * work_of(self.graph) > WORK:
            return found
        bounds = [self._least(k, output, [found]) for k in range(len(self.settings))]
        line = f"by data: at most {_most(bounds):.3g} on the inputs at hand, {self.order}"
        exact = not (found.rtol or found.scale or found.atol)
        return replace(
            found, tight=_most(bounds), order=self.order, bound=bounds[0],
            derivation=found.derivation if exact else (*found.derivation, line),
        )  # fmt: skip

    def _judged(self, found: Tolerance, output: Output) -> Tolerance:
        """With a word of it where it allows more than the largest value of the data."""
        if found.kind == "none" or not self.settings:
            return found
        most = found.tight
        if found.kind != "data":
            most = _most([self._allowed(k, output, found) for k in range(len(self.settings))])
        if not found.says_nothing(most, found.value):
            return found
        why = f"{most:.3g} is larger than the largest value, {found.value:.3g}: it says nothing"
        if found.kind == "shape":  # where its T is not shown, its parts are of no interest
            return replace(found, vacuous=True, derivation=(f"by shape: {why}",))
        return replace(found, vacuous=True, derivation=(*found.derivation, why))

    # --- elements ---------------------------------------------------------------------------------

    @cached_property
    def order(self) -> str:
        """Of which orders of summation bounds of data speak."""
        if not self.free and self.math == "portable":
            return WRITTEN
        plain = all(_in_any_order(n.monoid) for n in self.graph.nodes)
        return FREELY if plain else FOLDS

    @cached_property
    def _bounds(self) -> list[Mapping[Ref, F64Array]]:
        refs = [o.ref for o in self.graph.outputs]
        return [
            element_bounds(s, self.schedule, refs, free=self.free, math=self.math)
            for s in self.settings
        ]

    def _least(self, k: int, output: Output, others: Sequence[Tolerance]) -> F64Array:
        """The least that is known to hold of every element of a set of inputs."""
        found = self._bounds[k].get(output.ref, np.asarray(np.inf))
        for t in others:
            if t.kind != "none":
                found = np.fmin(found, self._allowed(k, output, t))
        return of_numbers(found, self.settings[k].exact[output.ref])

    def _allowed(self, k: int, output: Output, t: Tolerance) -> F64Array:
        terms = self._terms[k][output.ref] if t.scale else None
        return allowed_by(t, self.settings[k].exact[output.ref], terms)

    @cached_property
    def _terms(self) -> list[Mapping[Ref, Array]]:
        return [terms_of(s.graph, s.exact, through=True) for s in self.settings]

    def _largest(self, output: Output) -> float:
        """The largest T on the inputs at hand, where it is a number."""
        found = [t[output.ref][np.isfinite(t[output.ref])] for t in self._terms]
        return max((float(np.max(t, initial=0.0)) for t in found), default=float("nan"))

    def _value(self, output: Output) -> float:
        """The largest |f64| on the inputs at hand, of numbers."""
        found = [largest_of(s.exact[output.ref]) for s in self.settings]
        return max(found, default=float("nan"))


def _in_any_order(monoid: object) -> bool:
    """Whether bounds of a fold speak of every order."""
    if monoid is None or monoid in (SUM, MAX, MIN, COUNT, ANY, ALL, ARGMAX, ARGMIN):
        return True
    return any(monoid == product(*[SUM] * n) for n in range(2, 9))


def _most(bounds: Sequence[Array]) -> float:
    return max((float(np.max(b, initial=0.0)) for b in bounds), default=float("nan"))
