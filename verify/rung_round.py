"""The rung `round`: formats against f64 under the same decisions, within the error budget.

Suspect: the precision schedule. Relies on replay in the domain "shadow", where every lane carries
its value in formats, the f64 value under replay's own decisions and a running error bound. It
cannot see faults that formats and f64 share: those belong to the rungs below.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tang.device.storage import unpack
from tang.emulator.budget import ErrorBudget, enough, tolerance
from tang.emulator.records import Decision
from tang.emulator.replay import Replay
from tang.ir.format import Format
from tang.kernel.plan import Buffer, Launch
from tang.verify.compare import bit_equal, describe
from tang.verify.report import Finding, RungResult
from tang.verify.rounded import format_of, rounding_findings
from tang.verify.subject import Subject, written
from tang.verify.verdict import Rung, Verdict

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Planes:
    """A buffer of floats: value in formats, f64 shadow, bound between them, doubtful elements."""

    value: Array
    shadow: Array
    bound: Array
    taint: Mask

    @property
    def usable(self) -> Mask:
        """Finite on both sides and free of decision flips."""
        return np.isfinite(self.value) & np.isfinite(self.shadow) & ~self.taint


def check_round(
    subject: Subject, lowered: Replay, shadow: Replay
) -> tuple[RungResult, list[Finding]]:
    """Error, bound and budget of every float buffer, and every decision that flipped.

    lowered  the abstract plan in f64;  shadow  the expanded plan in the domain "shadow"
    """
    findings = [_flip(d) for d in shadow.decisions if not d.admissible]
    tally = _Tally()
    for launch in subject.expanded.launches:
        for name in written(launch):
            if name in shadow.planes and name in lowered.planes:
                planes = planes_of(shadow, subject.expanded.buffer(name))
                tally.add(planes)
                findings += _check_buffer(subject, launch, name, planes, lowered)
    findings += rounding_findings(subject, shadow)
    flips = sum(d.count for d in shadow.decisions if d.admissible)
    result = RungResult(
        Rung.ROUND, "", tally.elements, tally.exact, 0, tally.skipped, note=tally.note(flips)
    )
    return result, findings


def planes_of(shadow: Replay, buffer: Buffer) -> Planes:
    """What a replay in the domain "shadow" knows of a float buffer."""
    p = shadow.planes[buffer.name]
    value = unpack(p["value"], buffer.type).astype(np.float64)
    return Planes(value, p["shadow"], p["bound"], np.asarray(p["taint"], np.bool_))


def _check_buffer(
    subject: Subject, launch: Launch, name: str, planes: Planes, lowered: Replay
) -> list[Finding]:
    buffer = subject.expanded.buffer(name)
    checks = (
        _shadow_is_the_program(planes, lowered.planes[name]["value"]),
        _bound_holds(planes),
        _budget_holds(subject.task.budget, planes, format_of(buffer)),
    )
    kernel = launch.kernel
    node = kernel.origin if buffer.ref is None else buffer.ref.node
    return [
        Finding(
            Rung.ROUND, verdict, f"{name}: {message}", kernel.name, node,
            detail=detail, origin=origin,
        )
        for check in checks if check is not None
        for verdict, message, detail, origin in (check,)
    ]  # fmt: skip


_Failure = tuple[Verdict, str, str, str]


def _shadow_is_the_program(planes: Planes, plain: Array) -> _Failure | None:
    """Where no decision flipped, the shadow is the f64 replay of rung `lower`, bit for bit."""
    equal = bit_equal(planes.shadow, np.asarray(plain, np.float64)) | planes.taint
    if equal.all():
        return None
    detail = describe(planes.shadow, np.asarray(plain), equal, ("shadow", "f64"))
    return Verdict.WRONG, "the shadow left the program without a flip", detail, "shadow"


def bound_fails(planes: Planes) -> Mask:
    """Elements without a decision flip that are further from f64 than their bound.

    Where value and f64 are not both finite, nor both the same, no finite bound is right.
    """
    with np.errstate(all="ignore"):
        same = (planes.value == planes.shadow) | (np.isnan(planes.value) & np.isnan(planes.shadow))
        near = same | (np.abs(planes.value - planes.shadow) <= planes.bound)
        return np.asarray(~(near | (planes.bound == np.inf) | planes.taint))


def _bound_holds(planes: Planes) -> _Failure | None:
    over = bound_fails(planes)
    if not over.any():
        return None
    worst = _worst(planes, over)
    detail = describe(planes.value, planes.shadow, ~over, ("formats", "f64"), worst)
    return Verdict.OVER_BUDGET, "error exceeds its derived bound", detail, "bound"


def _budget_holds(budget: ErrorBudget | None, planes: Planes, format_: Format) -> _Failure | None:
    if budget is None:
        return None
    lost = np.isfinite(planes.shadow) & ~np.isfinite(planes.value) & ~planes.taint
    if lost.any():
        detail = describe(planes.value, planes.shadow, ~lost, ("formats", "f64"))
        return Verdict.OVER_BUDGET, "overflow: f64 is finite, the format is not", detail, "overflow"
    allowed = tolerance(planes.shadow, budget, format_)
    with np.errstate(all="ignore"):
        over = planes.usable & ~(np.abs(planes.value - planes.shadow) <= allowed)
    if enough(~over, budget):
        return None
    detail = describe(planes.value, planes.shadow, ~over, ("formats", "f64"), _worst(planes, over))
    return Verdict.OVER_BUDGET, f"error exceeds {budget}", detail, "budget"


def _worst(planes: Planes, over: Mask) -> str:
    first = np.flatnonzero(over)[0]
    error = abs(np.ravel(planes.value)[first] - np.ravel(planes.shadow)[first])
    return f"error there {error:.3g}, bound {np.ravel(planes.bound)[first]:.3g}"


def _flip(d: Decision) -> Finding:
    return Finding(
        Rung.ROUND,
        Verdict.OVER_BUDGET,
        f"{d.op} decides against f64 beyond rounding: {d.left!r} and {d.right!r} are further apart "
        f"than their errors together ({d.bound:.3g})",
        kernel=d.kernel,
        node=d.origin,
        detail=f"at {d.path}, thread {d.thread}, {d.count} in all",
        origin="decision",
    )


class _Tally:
    """Counts, and the largest value, error and bound, for the report."""

    def __init__(self) -> None:
        self.elements = self.exact = self.skipped = 0
        self.largest = self.error = self.bound = self.ratio = 0.0

    def add(self, planes: Planes) -> None:
        usable = planes.usable
        self.elements += usable.size
        self.skipped += int(usable.size - usable.sum())
        error = np.abs(planes.value[usable] - planes.shadow[usable])
        bound = planes.bound[usable]
        self.exact += int((error == 0).sum())
        if error.size:
            self.largest = max(self.largest, float(np.abs(planes.shadow[usable]).max()))
            self.error = max(self.error, float(error.max()))
            self.bound = max(self.bound, float(bound.max()))
            inexact = error > 0
            if inexact.any():
                self.ratio = max(self.ratio, float((error[inexact] / bound[inexact]).max()))

    def note(self, flips: int) -> str:
        text = (
            f"error {self.error:.3g}, bound {self.bound:.3g}, largest value {self.largest:.3g}, "
            f"at most {self.ratio:.0%} of a bound used"
        )
        return text + (f", {flips} admissible decision flips" if flips else "")
