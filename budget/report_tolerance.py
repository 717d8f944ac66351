"""The tolerance that a test of a kernel should use, derived instead of guessed.

Defines `Tolerance`, `tolerances_of` and `allowed_by`. Relies on certificates by shape and by range,
and, where these say nothing, on the running bound of given inputs. It compares nothing:
`tang.testing` does.

A preset stands for a kernel of these formats that sums in any order: with n terms the sequential
sum has the largest bound of all orders, so every reduction is taken as one. A schedule that was
written down is taken as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tang.budget.emulation import folded
from tang.budget.precision import applied
from tang.budget.report_inputs import Ranges
from tang.budget.report_samples import Setting, measure, setting_of
from tang.budget.report_terms import terms_of
from tang.emulator import certify, shape_bound
from tang.errors import BudgetError
from tang.ir.bind import bind
from tang.ir.expr import REAL
from tang.ir.graph import Graph, Output
from tang.kernel.schedule import Schedule, name_of

Array = npt.NDArray[Any]

KINDS: Final = ("equality", "shape", "range", "data", "none")
_SCOPE: Final = {
    "shape": "for all inputs that overflow nowhere",
    "range": "for all inputs in these ranges",
    "data": "for these inputs, in this order of sums",
}


@dataclass(frozen=True, slots=True)
class Tolerance:
    """|actual − f64| ≤ rtol·|f64| + scale·T + atol for one output; equality for indices and bools.

    kind        "equality"; "shape": for all inputs that overflow nowhere; "range": for all inputs
                within ranges; "data": for the inputs that were given; "none": nothing is known
    scale       c·u;  largest  T on the inputs at hand, NaN without any
    derivation  how it came about, line by line
    bound       of kind "data": what is allowed, element by element
    """

    output: str
    format: str
    kind: str
    rtol: float = 0.0
    scale: float = 0.0
    atol: float = 0.0
    largest: float = float("nan")
    derivation: tuple[str, ...] = ()
    bound: Array | None = field(default=None, repr=False, compare=False)

    @property
    def plain(self) -> float:
        """atol for tests that know no T: the tolerance at the largest T of the inputs at hand."""
        return self.atol + (self.scale * self.largest if self.scale else 0.0)

    @property
    def scope(self) -> str:
        """Of which inputs it speaks; "" where that is no question."""
        return _SCOPE.get(self.kind, "")

    def formula(self) -> str:
        """What is allowed, in a line."""
        if self.kind == "equality":
            return "actual == expected"
        if self.kind == "none":
            return "no tolerance can be derived"
        parts = [f"{self.rtol:.3g} |f64|"] if self.rtol else []
        parts += [f"{self.scale:.3g} T"] if self.scale else []
        parts += [f"{self.atol:.3g}"] if self.atol or not parts else []
        return "|actual - f64| <= " + " + ".join(parts)

    def to_data(self) -> dict[str, object]:
        """The tolerance as JSON takes it."""
        names = ("output", "format", "kind", "rtol", "scale", "atol", "largest", "plain")
        found: dict[str, object] = {n: getattr(self, n) for n in names}
        shown = {
            k: v if not isinstance(v, float) or np.isfinite(v) else str(v) for k, v in found.items()
        }
        return {**shown, "formula": self.formula(), "derivation": list(self.derivation)}


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

    sizes   of symbolic extents;  inputs  sets of data, from which T, ranges and bounds are taken
    ranges  of real inputs, for the kind "range"; without them those of the data
    math    "portable" functions, or a language whose own ones the kernel uses
    """
    bound = bind(graph, dict(sizes or {})) if graph.symbols else graph
    made, schedule = kernel_for(precision, bound)
    settings = [setting_of(made, data) for data in inputs]
    spans = dict(ranges or {}) or _spans(made, inputs)
    maker = _Maker(made, schedule, settings, spans, math)
    return tuple(maker.of(o) for o in made.outputs)


def kernel_for(precision: object, graph: Graph) -> tuple[Graph, Schedule]:
    """The program and the formats of a kernel; of a preset with every sum in the worst order.

    The program is another one where there are scales, or formats of single inputs: it takes its
    inputs wide, and divides, rounds and multiplies them itself.
    """
    made, found = applied(precision, graph)
    written = isinstance(precision, Schedule | Mapping) or "{" in str(precision)
    return made, found if written or str(precision).endswith(".json") else folded(found)


def _spans(graph: Graph, inputs: Sequence[Mapping[str, Array]]) -> dict[str, tuple[float, float]]:
    """The ranges of finite real inputs in the data."""
    found: dict[str, tuple[float, float]] = {}
    for i in graph.inputs:
        arrays = [np.asarray(data[i.name], np.float64) for data in inputs if i.sort is REAL]
        if arrays and all(a.size and np.isfinite(a).all() for a in arrays):
            found[i.name] = min(float(a.min()) for a in arrays), max(float(a.max()) for a in arrays)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Maker:
    graph: Graph
    schedule: Schedule
    settings: list[Setting]
    spans: Mapping[str, tuple[float, float]]
    math: str

    def of(self, output: Output) -> Tolerance:
        name = output.name
        if self.graph.sort(output.ref) is not REAL:
            return Tolerance(name, "exact", "equality", derivation=("indices and bools are exact",))
        format_ = name_of(self.schedule.of(output.ref.node).storage)
        shape = self._shape(output, format_)
        if shape.kind != "none":
            return shape
        reasons = shape.derivation
        if self.spans:
            found = self._range(output, format_)
            if found.kind != "none":
                return found
            reasons += found.derivation
        if self.settings:
            return self._data(output, format_, reasons)
        return Tolerance(name, format_, "none", derivation=(*reasons, "give inputs or ranges"))

    def _shape(self, output: Output, format_: str) -> Tolerance:
        found = shape_bound(self.graph, self.schedule, {}, output.name, math=self.math)
        if found.vacuous:
            reason = found.reason or "its bound is larger than the values"
            return Tolerance(output.name, format_, "none", derivation=(f"by shape: {reason}",))
        pure = found.terms == "|x|"
        return Tolerance(
            output.name, format_, "shape",
            rtol=found.c * found.u if pure else 0.0, scale=0.0 if pure else found.c * found.u,
            atol=found.tau, largest=float("nan") if pure else self._largest(output),
            derivation=found.derivation,
        )  # fmt: skip

    def _largest(self, output: Output) -> float:
        """The largest T on the inputs at hand, where it is a number."""
        found = [t[np.isfinite(t)] for t in self.terms(output)]
        return max((float(np.max(t, initial=0.0)) for t in found), default=float("nan"))

    def terms(self, output: Output) -> list[Array]:
        """T of an output on each set of inputs."""
        return [terms_of(s.graph, s.exact, through=True)[output.ref] for s in self.settings]

    def _range(self, output: Output, format_: str) -> Tolerance:
        made = certify(self.graph, self.schedule, {}, self.spans, math=self.math)
        found = made.bound(output.ref.node, output.ref.output)
        if found.vacuous:
            why = f"by ranges: {found.reason or 'its bound is larger than the values'}"
            return Tolerance(output.name, format_, "none", derivation=(why,))
        listed = ", ".join(f"{n} in {lo:.3g}:{hi:.3g}" for n, (lo, hi) in self.spans.items())
        lines = (f"a certificate for {listed}", f"values in {found.lo:.3g}:{found.hi:.3g}")
        return Tolerance(output.name, format_, "range", atol=found.error, derivation=lines)

    def _data(self, output: Output, format_: str, reasons: tuple[str, ...]) -> Tolerance:
        bounds = []
        for setting in self.settings:
            sample = measure(setting, self.schedule, tiles=False).of(output.ref)
            bounds.append(np.zeros(0) if sample is None else sample.bound)
        most = max(float(np.max(b, initial=0.0)) for b in bounds)
        if not np.isfinite(most):
            why = "by data: a running bound is infinite"
            cure = "take a budget of your own, or formats that are finer, or fixed scales"
            return Tolerance(output.name, format_, "none", derivation=(*reasons, why, cure))
        lines = (*reasons, "by data: the running bound of these inputs, sums one by one in order")
        return Tolerance(output.name, format_, "data", atol=most, derivation=lines, bound=bounds[0])


def allowed_by(
    tolerance: Tolerance, expected: Array, terms: Array | None
) -> npt.NDArray[np.float64]:
    """What a tolerance allows at every element; BudgetError where it needs T and has none."""
    value = np.abs(np.asarray(expected, np.float64))
    if tolerance.kind == "data" and tolerance.bound is not None:
        return np.asarray(np.broadcast_to(tolerance.bound, value.shape), np.float64)
    if tolerance.scale and terms is None:
        raise BudgetError(
            f"the tolerance of {tolerance.output!r} is {tolerance.formula()}, where T is the sum "
            "of |terms|: pass inputs=, from which T is computed, or a budget="
        )
    with np.errstate(all="ignore"):
        allowed = tolerance.rtol * value + tolerance.atol
        if tolerance.scale and terms is not None:
            allowed = allowed + tolerance.scale * terms
        return np.asarray(np.where(np.isfinite(value), allowed, 0.0), np.float64)
