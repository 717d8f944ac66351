"""The suite on a device: every case compiled, run twice with poisons, compared bit for bit.

Defines `conformance_cases` and `run_conformance`. Relies on the judge of the rung `emit`. A kernel
that a language refuses is a finding unless the suite's own list of gaps names the reason.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from tang.device.base import Compiled, Device, Outcome, Ran
from tang.emit.dialect import UnsupportedError
from tang.emit.unit import emit
from tang.emit.words import refuse_wide_integers
from tang.errors import DeviceError, LimitError
from tang.kernel.ir import Kernel
from tang.verify.compare import memory_equal
from tang.verify.conformance.case import Case
from tang.verify.conformance.gaps import gaps_of
from tang.verify.conformance.operations import operation_cases
from tang.verify.conformance.programs import program_cases
from tang.verify.conformance.roundings import rounding_cases
from tang.verify.conformance.statements import statement_cases
from tang.verify.follow import Terms, terms_of, trials_on, unsteady_in
from tang.verify.report import Finding, Report, RungResult
from tang.verify.rung_emit import Trial, check_emit, jobs_of
from tang.verify.verdict import Rung, Verdict

BATCH: Final = 24
"""Cases that are compiled together."""

DEADLINE: Final = 60.0


@functools.cache
def conformance_cases() -> tuple[Case, ...]:
    """Every case of the suite, in a fixed order; names are unique."""
    return (*operation_cases(), *statement_cases(), *rounding_cases(), *program_cases())


def run_conformance(
    device: Device, cases: Sequence[Case] | None = None, on: Terms | None = None
) -> Report:
    """Run cases (all by default) on a device; `ok` means that it conforms.

    on  the terms to follow; None: those of the device's own profile

    The report has a finding for every case that differs, crashes, or is refused without a
    reason in `GAPS`. Raises nothing that the device or the emitter raise: that is a finding.
    """
    chosen = conformance_cases() if cases is None else tuple(cases)
    findings: list[Finding] = []
    runnable, excused = [], []
    try:
        terms = terms_of(device) if on is None else on
    except DeviceError as e:
        result = RungResult(Rung.EMIT, device.name, unsupported=str(e))
        return Report(f"conformance of {device.name}", (result,))
    for case in chosen:
        reason, allowed = _refusal(case, device, terms)
        if not reason:
            runnable.append(case if terms is None else _followed(case, terms))
        elif allowed:
            excused.append(f"{case.name}: {allowed}")
        else:
            findings.append(_finding(device, case, Verdict.UNSUPPORTED, reason))
    ran = [r for batch in _batches(runnable) for r in _run_batch(batch, device)]
    findings += [f for _, found in ran for f in found]
    elements = sum(r.elements for r, _ in ran)
    exact = sum(r.exact for r, _ in ran)
    good = len(chosen) - len({f.kernel for f in findings}) - len(excused)
    note = f"{good} of {len(chosen)} cases"
    note += f", {len(excused)} that the language cannot say" if excused else ""
    result = RungResult(Rung.EMIT, device.name, elements, exact, note=note)
    return Report(f"conformance of {device.name}", (result,), tuple(findings))


def _followed(case: Case, terms: Terms) -> Case:
    """The case with the bits that the device's profile says."""
    return replace(case, trials=trials_on(case.trials, terms))


def _refusal(case: Case, device: Device, terms: Terms | None) -> tuple[str, str]:
    """Why the language or the device refuses a case, and what excuses it; "" where none does."""
    for kernel in case.kernels:
        reason = refused(kernel, device.language)
        if reason:
            return reason, "; ".join(gaps_of(kernel, device.language))
        lacks = _lacks(kernel, device)
        if lacks:
            return lacks, "the device has integers of 32 bits"
    unsteady = unsteady_in(case.kernels, terms)
    return unsteady, unsteady


def _lacks(kernel: Kernel, device: Device) -> str:
    """Why a device with 32-bit integers cannot run a kernel."""
    if device.limits.index_bits == 32:
        try:
            refuse_wide_integers(kernel, device.name)
        except LimitError as e:
            return str(e)
    return ""


def refused(kernel: Kernel, language: str) -> str:
    """The emitter's reason for not saying a kernel; "" when it says it."""
    try:
        emit(kernel, language)
    except (UnsupportedError, LimitError) as e:
        return str(e)
    except Exception as e:  # noqa: BLE001 — an emitter that raises anything else is at fault
        return f"{type(e).__name__}: {e}"
    return ""


def _batches(cases: Sequence[Case]) -> Iterator[Sequence[Case]]:
    for start in range(0, len(cases), BATCH):
        yield cases[start : start + BATCH]


_Result = tuple[RungResult, list[Finding]]


def _run_batch(cases: Sequence[Case], device: Device) -> list[_Result]:
    """Results of cases; compiled together, or in halves when the device refuses them."""
    try:
        compiled = device.compile([kernel for c in cases for kernel in c.kernels])
        outcomes = _outcomes(cases, compiled, device)
    except Exception as e:  # noqa: BLE001 — compiler or device failed on somebody's kernel
        if len(cases) == 1:
            reason = f"{type(e).__name__}: {e}"
            return [(RungResult(Rung.EMIT), [_finding(device, cases[0], Verdict.WRONG, reason)])]
    else:
        return [_judged(c, o, device) for c, o in zip(cases, outcomes, strict=True)]
    half = len(cases) // 2
    return [*_run_batch(cases[:half], device), *_run_batch(cases[half:], device)]


_Outcomes = list[Sequence[Outcome]]


def _outcomes(
    cases: Sequence[Case], compiled: Sequence[Compiled], device: Device
) -> list[_Outcomes]:
    """Per case and trial its two runs."""
    by_kernel = {id(c.kernel): c for c in compiled}
    pairs = [jobs_of(t, by_kernel[id(t.launch.kernel)]) for c in cases for t in c.trials]
    flat = iter(device.run([j for pair in pairs for j in pair], DEADLINE))
    grouped = iter([[next(flat) for _ in pair] for pair in pairs])
    return [[next(grouped) for _ in c.trials] for c in cases]


def _judged(case: Case, outcomes: _Outcomes, device: Device) -> _Result:
    result, findings = check_emit(case.trials, outcomes, device.name)
    named = []
    for f in findings:
        parts = _wrong_parts(case, outcomes) if f.verdict is Verdict.WRONG else ""
        message = f"{case.name}{parts}: {f.message}"
        named.append(replace(f, message=message, kernel=case.name, origin=case.name))
    return result, named


def _wrong_parts(case: Case, outcomes: _Outcomes) -> str:
    """The parts of the last output in which the first run differs from replay."""
    if len(case.trials) != 1 or not case.parts:
        return ""
    run, trial = outcomes[0][0], case.trials[0]
    if not isinstance(run, Ran):
        return ""
    equal = _last_equal(trial, run).reshape(len(case.parts), -1)
    wrong = [p for p, row in zip(case.parts, equal, strict=True) if not row.all()]
    return f" ({', '.join(wrong)})" if wrong else ""


def _last_equal(trial: Trial, run: Ran) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    expected = trial.expected[-1]
    data = run.memories[-1].data
    if expected is None:
        return np.ones(data.shape, np.bool_)
    element = trial.launch.kernel.params[-1].type
    return memory_equal(expected, data.reshape(expected.shape), element)


def _finding(device: Device, case: Case, verdict: Verdict, reason: str) -> Finding:
    return Finding(
        Rung.EMIT, verdict, f"{case.name}: {reason}", case.name, "conformance", device.name,
        origin=case.name,
    )  # fmt: skip
