"""The tolerance that a test of a kernel should use, derived instead of guessed.

Defines `tolerances_of` and `kernel_for`. Relies on certificates by shape and by range, and on what
`known_data` knows of every element for given inputs. It compares nothing: `tang.testing` does.

A preset stands for a kernel of these formats that adds up sums in any order: with n terms the
sequential sum has the largest bound of all orders, so every reduction is taken as one. A schedule
that was written down is taken as it is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tang.budget.emulation import folded
from tang.budget.functions_said import default_math, functions_said
from tang.budget.known_data import Known, Spans
from tang.budget.precision import applied
from tang.budget.report_inputs import Ranges, checked_ranges
from tang.budget.report_samples import setting_of, stored_inputs
from tang.budget.tolerance import Tolerance, blind_share, says_nothing
from tang.emulator import shape_bound
from tang.emulator.certify_functions import checked_math
from tang.errors import BudgetError
from tang.ir.bind import bind, infer_sizes, known_sizes
from tang.ir.expr import REAL
from tang.ir.graph import Graph, Output
from tang.ir.validate import validate
from tang.kernel.schedule import Schedule, name_of, storage_of
from tang.verify.subject import checked_inputs

Array = npt.NDArray[Any]

WORK: Final = 2**24
"""Points and steps up to which data are replayed although a bound for more inputs says enough."""


def tolerances_of(
    graph: Graph,
    precision: object = "f32",
    *,
    sizes: Mapping[str, int] | None = None,
    inputs: Sequence[Mapping[str, Array]] = (),
    ranges: Ranges | None = None,
    math: str | None = None,
) -> tuple[Tolerance, ...]:
    """A tolerance per output of a program, the most general kind that says something.

    sizes   of symbolic extents
    inputs  sets of data: reals are rounded to the storage format of inputs first; T, ranges and
            bounds of every element are taken from them
    ranges  of real inputs, for the kind "range"; without them those of the data
    math    whose functions the kernel has: "portable" ones, those of "any" library or of a
            language; None takes "any" for a preset and "portable" for a schedule
    A kind that lets zeros pass, or allows more than the largest value of the data, says nothing:
    the next is tried. So it is where the data may leave a format, which bounds by shape leave out.
    Raises BudgetError for unknown functions.
    """
    validate(graph)
    written = is_written(precision)
    whose = checked_math(default_math(written) if math is None else math)
    stated = checked_ranges(graph, {} if ranges is None else ranges)
    given = known_sizes(graph, {} if sizes is None else sizes)
    bound = bind(graph, given) if graph.symbols else graph
    made, schedule = kernel_for(precision, bound)
    data = (stored_inputs(made, schedule, arrays) for arrays in _sets(bound, inputs))
    settings = [setting_of(made, arrays) for arrays in data]
    known = Known(made, schedule, settings, not written, whose)
    maker = _Maker(known, stated or known.spans, bool(stated))
    return tuple(maker.said(o, maker.of(o)) for o in made.outputs)


def _sets(graph: Graph, inputs: object) -> list[dict[str, Array]]:
    """Sets of data, each of arrays for all inputs in their shapes; else a TangError."""
    if isinstance(inputs, Mapping | str) or not isinstance(inputs, Iterable):
        raise BudgetError(
            f"inputs are a sequence of sets of data, not {type(inputs).__name__}: give "
            "[{name: array, …}], or leave them out"
        )
    sets = [checked_inputs(graph, data) for data in inputs]
    for arrays in sets:
        infer_sizes(graph, {n: a.shape for n, a in arrays.items()})
    return sets


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


@dataclass(eq=False)
class _Maker:
    """spans  ranges of inputs, of the caller (`stated`) or of the data;  known  of the data."""

    known: Known
    spans: Spans
    stated: bool

    def __post_init__(self) -> None:
        self.graph, self.schedule, self.math = (
            self.known.graph, self.known.schedule, self.known.math,
        )  # fmt: skip
        self.data = bool(self.known.settings)

    def of(self, output: Output) -> Tolerance:
        if any(i.name == output.ref.node for i in self.graph.inputs):
            return self._given(output)
        if self.graph.sort(output.ref) is not REAL:
            return self._decided(output)
        shape = self._judged(self._within(self._shape(output), output), output)
        if shape.ok:
            return self._tightened(shape, output)
        ranged = self._range(output) if self.spans else None
        if ranged is not None and (self.stated or not self.data):
            ranged = self._judged(ranged, output)
            if ranged.ok:
                return self._tightened(ranged, output)
        if self.data:
            return self._data(output, [t for t in (shape, ranged) if t is not None])
        reasons = (*shape.derivation, *(ranged.derivation if ranged else ()))
        return self._blank(output, *reasons, "give inputs or ranges")

    def said(self, output: Output, found: Tolerance) -> Tolerance:
        """With a line about the functions that it speaks of."""
        if found.kind == "equality":
            return found
        lines = functions_said(self.graph, self.schedule, output.ref, self.math)
        return replace(found, derivation=(*found.derivation, *lines))

    # --- for more inputs than those at hand -------------------------------------------------------

    def _blank(self, output: Output, *why: str) -> Tolerance:
        return Tolerance(
            output.name, name_of(self.schedule.of(output.ref.node).storage), "none",
            derivation=why, value=self.known.value(output.ref),
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
            largest=float("nan") if pure else self.known.largest(output.ref),
            derivation=found.derivation or (moved if exact else ()),
        )  # fmt: skip
        return self._compared(made)

    def _within(self, shape: Tolerance, output: Output) -> Tolerance:
        """A bound by shape, where the data leave no format: of overflow it knows nothing."""
        found = None if shape.kind == "none" else self.known.beyond(output.ref)
        if found is None:
            return shape
        name = name_of(self.schedule.of(found.node).storage)
        why = f"by shape: it leaves overflow out, and on these inputs {found.node} may leave {name}"
        return self._blank(output, why)

    def _range(self, output: Output) -> Tolerance:
        try:
            made = self.known.certified(self.spans)
        except BudgetError as e:
            return self._blank(output, f"by ranges: {e}")
        found = made.bound(output.ref.node, output.ref.output)
        if found.vacuous:
            reason = found.reason or "its bound is larger than the values"
            return self._blank(output, f"by ranges: {reason}")
        lines = (
            f"by ranges: at most {found.error:.3g} for {_listed(self.spans)}, "
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
        if not self.known.wide or not (found.rtol or found.scale or found.atol):
            return found
        return replace(
            found, rtol=2 * found.rtol, scale=2 * found.scale, atol=2 * found.atol,
            derivation=(*found.derivation, "and as much for the f64 results to compare with"),
        )  # fmt: skip

    # --- for the data -----------------------------------------------------------------------------

    def _given(self, output: Output) -> Tolerance:
        """Of an input that is an output as it was stored."""
        if self.graph.sort(output.ref) is REAL:
            why = "exact: an input as it is stored"
            return replace(self._blank(output, why), kind="shape")
        why = "no inexact number decides it"
        return Tolerance(output.name, "exact", "equality", derivation=(why,))

    def _decided(self, output: Output) -> Tolerance:
        """Of indices and bools: equality, where nothing inexact decides them."""
        blank = Tolerance(output.name, "exact", "none")
        finite = not self.data or self.known.finite
        if finite and self._decides_exactly(output, {}):
            return replace(blank, kind="equality", derivation=("no inexact number decides it",))
        if finite and self.spans and self._decides_exactly(output, self.spans):
            kind = "range" if self.stated or not self.data else "data"
            why = f"no inexact number decides it for {_listed(self.spans)}"
            return replace(blank, kind=kind, derivation=(why,))
        if not self.data:
            said = ("inexact numbers decide it, perhaps near a border", "give inputs")
            return replace(blank, derivation=said)
        line = "inexact numbers decide it, on these inputs away from their borders"
        found = replace(blank, kind="data", derivation=(line,))
        return self._of_known(output, blank, self.known.least(output.ref, ()), found)

    def _decides_exactly(self, output: Output, spans: Spans) -> bool:
        """Whether so for all inputs within ranges, else within those of their formats."""
        try:
            made = self.known.certified(spans)
        except BudgetError:
            return False
        return made.bound(output.ref.node, output.ref.output).error == 0

    def _data(self, output: Output, others: Sequence[Tolerance]) -> Tolerance:
        """What the data and all that holds for more inputs allow together."""
        reasons = tuple(line for t in others for line in t.derivation)
        bounds = self.known.least(output.ref, others)
        line = self._line(bounds)
        if not any(np.isfinite(e).any() for e in self.known.exact(output.ref)):
            line = f"by data: no element is a number, {self.known.order}"
        blank = self._blank(output, *reasons)
        found = replace(blank, kind="data", atol=_most(bounds), derivation=(*reasons, line))
        return self._judged(self._of_known(output, blank, bounds, found), output, bounds)

    def _tightened(self, found: Tolerance, output: Output) -> Tolerance:
        """With the bounds of the data too, where there is room and they take no long time."""
        numbers = all(np.isfinite(e).all() for e in self.known.exact(output.ref))
        exact = not (found.rtol or found.scale or found.atol)
        if not self.data or (numbers and (exact or self.known.work > WORK)):
            return found
        bounds = self.known.least(output.ref, [found])
        more = () if exact else (self._line(bounds),)
        both = replace(found, derivation=(*found.derivation, *more))
        return self._of_known(output, self._blank(output, *found.derivation), bounds, both)

    def _line(self, bounds: Sequence[Array]) -> str:
        return f"by data: at most {_most(bounds):.3g} on the inputs at hand, {self.known.order}"

    def _of_known(
        self, output: Output, blank: Tolerance, bounds: Sequence[Array], found: Tolerance
    ) -> Tolerance:
        """What was found, with the bounds of every element; nothing, where one has none."""
        unknown = sum(int(np.isinf(b).sum()) for b in bounds)
        kept = replace(
            blank if unknown else found,
            tight=_most(bounds), order=self.known.order, bound=bounds[0], unknown=unknown,
            blind=blind_share(bounds, self.known.exact(output.ref)),
        )  # fmt: skip
        if not unknown:
            return kept
        total = sum(b.size for b in bounds)
        why = (
            f"by data: {unknown} of {total} elements have no bound: within it another kernel may "
            "decide otherwise, overflow or leave the domain of a function"
        )
        return replace(kept, derivation=(*kept.derivation, why))

    def _judged(
        self, found: Tolerance, output: Output, bounds: Sequence[Array] | None = None
    ) -> Tolerance:
        """With a word of it where it says nothing of the data."""
        if found.kind == "none" or not self.data:
            return found
        allowed = self.known.allowed(output.ref, found) if bounds is None else bounds
        if not says_nothing(allowed, self.known.exact(output.ref), found.smallest):
            return found
        told = replace(found, tight=_most(allowed)).vacuity("")
        if found.kind == "shape":  # where its T is not shown, its parts are of no interest
            return replace(found, vacuous=True, derivation=(f"by shape: {told}: it says nothing",))
        lines = (*found.derivation, f"{told}: it says nothing")
        return replace(found, vacuous=True, derivation=lines)


def _listed(spans: Spans) -> str:
    return ", ".join(f"{n} in {lo:.3g}:{hi:.3g}" for n, (lo, hi) in spans.items())


def _most(bounds: Sequence[Array]) -> float:
    return max((float(np.max(b, initial=0.0)) for b in bounds), default=float("nan"))
