"""The criterion: whether the values of an output are acceptable, and why not.

Defines `Fault` and `check_values`. Relies on the enclosure of all honest results or on the
caller's error budget, and on provenance for the reason. It looks at values alone: guard zones,
poison and repetitions are judged in `judge`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tang.device.storage import pack
from tang.emulator.budget import ErrorBudget, accepts, within
from tang.emulator.rounding import round_to
from tang.ir.expr import Sort
from tang.kernel.ir import Type
from tang.verify.foreign.cases import Case
from tang.verify.freedom import Allowed, distances, show
from tang.verify.precision_hint import SHORTER, shorter_format
from tang.verify.provenance import Cause, Near, Provenance, explain, nearly
from tang.verify.verdict import Verdict

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]

_UNTELLING = (None, Cause.REGION, Cause.ROUNDED)
"""Causes that a shorter format explains better, if it does."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault of a kernel; `where` is the output or buffer concerned, `cause` of provenance."""

    verdict: Verdict
    message: str
    where: str = ""
    cause: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Values:
    """How the values of one output compare; `fault` is None when all are acceptable."""

    fault: Fault | None
    elements: int
    exact: int
    undecided: int


def check_values(case: Case, output: str, got: Array, budget: ErrorBudget | None) -> Values:
    """Judge an output, given as values: f64, int64 or bool."""
    want = case.reference[output]
    bounds = case.bounds[output] if budget is None else None
    if bounds is not None:
        fits, known = distances(got, bounds)
    else:
        fits = within(got, want, budget or ErrorBudget(), format=_format(case, output))
        known = np.ones(got.shape, np.bool_)
    same = np.asarray((got == want) | ((got != got) & (want != want)))
    undecided = int(np.sum(~known & ~same))
    forgiven = budget is not None and accepts(got, want, budget, format=_format(case, output))
    fault = None if fits.all() or forgiven else _fault(case, output, got, fits, budget)
    return Values(fault, got.size, int(same.sum()), undecided)


def _format(case: Case, output: str) -> str:
    t = case.place(output)[0].type
    return t.value if t.is_float else "f32"


def _fault(case: Case, output: str, got: Array, fits: Mask, budget: ErrorBudget | None) -> Fault:
    bad = ~fits
    found = reason(case, output, got, bad)
    cause = None if found is None else found.cause
    short = _shorter(case, output, got) if cause in _UNTELLING else ""
    over = bool(short) or cause is Cause.ROUNDED or _honest(case, output, got, budget)
    words = short or ("" if found is None else found.sentence)
    cause = Cause.ROUNDED if short else cause
    verdict = Verdict.OVER_BUDGET if over else Verdict.WRONG
    what = "beyond the error budget" if over else "wrong"
    message = f"output {output}: {int(bad.sum())} of {bad.size} elements are {what}"
    return Fault(
        verdict,
        f"{message} ({words})" if words else message,
        output,
        cause.value if cause is not None else "",
        both_sides(case, output, got, fits, budget),
    )


def reason(case: Case, output: str, got: Array, bad: Mask) -> Provenance | None:
    """What the wrong elements of an output hold, from values in its buffer's format."""
    t = case.place(output)[0].type
    memory = pack(got, t).reshape(got.shape)
    return explain(memory, case.right(output), t, known=case.known(output), near=_near(t), bad=bad)


def _near(t: Type) -> Near:
    """Copies are recognised up to the rounding of other evaluations."""
    relative = {Type.F64: 2.0**-30, Type.F32: 2.0**-12, Type.F16: 2.0**-7, Type.BF16: 2.0**-5}
    return nearly(relative.get(t, 0.0), 0.0)


def _shorter(case: Case, output: str, got: Array) -> str:
    """How a shorter format accounts for the errors, in words; "" if none does.

    That inputs were rounded is told for sure; that operations were, from the size of the errors.
    """
    if case.graph.sort(case.ref(output)) is not Sort.REAL:
        return ""
    short = _rounds_inputs(case, output, got)
    if short:
        return f"all are right for inputs rounded to {short}"
    want = case.reference[output]
    short = shorter_format(case.graph, case.inputs, output, got, want, case.compute)
    return f"errors are as large as those of an evaluation in {short}" if short else ""


def _rounds_inputs(case: Case, output: str, got: Array) -> str:
    """The format to which an evaluation that is honest otherwise rounds its inputs; "" if none."""
    for short in SHORTER.get(case.compute, ()):
        inputs = {n: round_to(a, short) if a.dtype.kind == "f" else a
                  for n, a in case.inputs.items()}  # fmt: skip
        if any((np.isfinite(a) != np.isfinite(inputs[n])).any() for n, a in case.inputs.items()):
            continue
        fits, known = distances(got, replace(case, inputs=inputs).bounds[output])
        if fits.all() and known.all():
            return short
    return ""


def _honest(case: Case, output: str, got: Array, budget: ErrorBudget | None) -> bool:
    """Whether only the caller's budget is broken, not the bound of honest evaluations."""
    if budget is None:
        return False
    fits, known = distances(got, case.bounds[output])
    return bool(fits.all() and known.all())


def both_sides(case: Case, output: str, got: Array, fits: Mask, budget: ErrorBudget | None) -> str:
    """Both sides up to the first wrong value, its distance to f64, the bound beside it."""
    want = case.reference[output]
    bounds: Allowed | None = case.bounds[output] if budget is None else None
    first = int(np.argmin(np.ravel(fits)))
    rule = f"criterion: {bounds.rule() if bounds is not None else budget}"
    lines = [*([f"with {case.text()}"] if case.sizes else []), rule]
    for at in range(max(0, first - 3), first + 1):
        place = [int(i) for i in np.unravel_index(at, got.shape)]
        may = f"  allowed {show(np.ravel(bounds.numbers)[at])}" if bounds is not None else ""
        mark = "  <- first wrong value" if at == first else ""
        one, other = np.ravel(got)[at], np.ravel(want)[at]
        lines.append(f"{place!s:<10} got {one!s:<24} f64 {other!s:<24}{may}{mark}")
    if got.dtype.kind == "f":
        gap = abs(float(np.ravel(got)[first]) - float(np.ravel(want)[first]))
        lines.append(f"distance to f64: {gap:.3g}")
    return "\n".join(lines)
