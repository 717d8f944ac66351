"""Native maths: the rung `expand` where functions are the device's own.

Defines `native_subject`, `check_native` and `promised`. Suspect: the name and variant of a builtin
in emitted text, and the device's library. Relies on the device's answers to single calls, on what
languages document and on measured accuracies. It cannot see a builtin that is as good as its
language promises yet not the one that was meant.

Replay asks the device for each call (`NativeFunctions`), so that the rung `emit` stays exact; here
each of those answers is held against the true function at its own argument.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tang.device.base import Device
from tang.device.profiling import measured
from tang.emit.unit import builtins_of
from tang.emulator.abstract import F64_MATH
from tang.emulator.machine import Builtin
from tang.emulator.replay import Replay, replay
from tang.errors import DeviceError
from tang.ir.format import format_named
from tang.kernel.accuracy import DOCUMENTED, Accuracy, Documented
from tang.kernel.expand import expand_math
from tang.kernel.ir import Function
from tang.verify.follow import Terms
from tang.verify.report import Finding, RungResult
from tang.verify.rung_expand import (
    CallCheck,
    call_errors,
    exactly_near,
    packed_findings,
    structure_findings,
    unit_of,
)
from tang.verify.sanitizer import sanitizer_findings
from tang.verify.subject import Subject
from tang.verify.verdict import Rung, Verdict

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]

_ROUNDED: Final = 0.5
"""Documents count from the correctly rounded result, or leave it open."""
_UNSURE: Final = {"f32": 0.0, "f64": 1.5}
"""Ulps by which errors against f64 may be off: closer calls are decided in balls."""


def native_subject(subject: Subject, language: str) -> Subject:
    """The subject with a language's builtins, and portable functions where it has none."""
    return replace(subject, expanded=expand_math(subject.plan, builtins_of(language)))


def accuracies(device: Device) -> Mapping[str, Accuracy]:
    """By row what was measured of a device's builtins; empty where a probe did not end."""
    try:
        return {f.row: f for f in measured(device).functions}
    except DeviceError:
        return {}


def check_native(
    subject: Subject, terms: Terms, language: str, known: Mapping[str, Accuracy]
) -> tuple[RungResult, list[Finding], Replay]:
    """Every call against its bound; the replay, which has the device's values, goes to `emit`."""
    calls = NativeCheck(DOCUMENTED[language], known)
    replayed = replay(
        subject.expanded,
        subject.stored,
        domain="shadow",
        sizes=subject.sizes,
        observer=calls.observe,
        profile=terms.profile,
        native=terms.native,
    )
    findings = sanitizer_findings(replayed.findings, subject.expanded, Rung.EXPAND)
    findings += packed_findings(
        subject, replayed, calls.observe_portable, profile=terms.profile, native=terms.native
    )
    findings += [*calls.findings, *calls.portable.findings]
    if subject.expanded is not subject.plan:
        findings += structure_findings(subject)
    elements = calls.elements + calls.portable.elements
    note = calls.note if elements else "no functions"
    return RungResult(Rung.EXPAND, elements=elements, note=note), findings, replayed


SAFE: Final = 2.0**-102
"""Arguments and results of portable functions from here on: their terms, down to an ulp, are normal
numbers, which no device flushes."""


class NativeCheck:
    """Observes every call of a builtin, and those of portable functions that stand in for one."""

    def __init__(self, documented: Documented, known: Mapping[str, Accuracy]) -> None:
        self.elements = 0
        self.unjudged = 0
        self.portable = CallCheck()
        self._documented = documented
        self._known = known
        self._found: dict[tuple[str, str], Finding] = {}
        self._worst: dict[str, tuple[float, float]] = {}

    @property
    def findings(self) -> list[Finding]:
        """The first wrong call of each function in each kernel."""
        return list(self._found.values())

    @property
    def note(self) -> str:
        """Of each function the largest error, the bound of that call, and the profile's figure.

        The bound decides the verdict; the profile says what was once measured over many arguments.
        """
        parts = [
            f"{name} at most {error:.3g} ulp off (allowed there: {bound:.3g}{self._measured(name)})"
            for name, (error, bound) in sorted(self._worst.items())
        ]
        parts += [self.portable.note] if self.portable.note else []
        return ", ".join([*parts, f"{self.unjudged} calls of which nothing is promised"])

    def _measured(self, name: str) -> str:
        found = self._known.get(name)
        return f"; worst in the device's profile: {found.ulp:.3g}" if found else ""

    def observe(self, function: Function | Builtin, args: tuple[Any, ...], result: Any) -> None:  # noqa: ANN401
        """Check one call over all lanes that made it."""
        if not isinstance(function, Builtin):
            self.observe_portable(function, args, result)
            return
        wide = np.broadcast_arrays(*(np.atleast_1d(np.asarray(a, np.float64)) for a in args))
        got = np.broadcast_to(np.atleast_1d(np.asarray(result, np.float64)), wide[0].shape)
        op, format_ = function.implements, function.type.value
        errors = call_errors(op, wide, got, format_)
        ulps = promised(self._documented, function, wide, self._known)
        judged = np.isfinite(ulps)
        self.elements += int(judged.sum())
        self.unjudged += int((~judged).sum())
        wrong = judged & ~(errors <= ulps - _UNSURE[format_])
        some = [a[wrong] for a in wide]
        wrong[wrong] = ~exactly_near(op, some, got[wrong], ulps[wrong], format_)
        fine = judged & ~wrong
        self._note(f"{format_} {op}", errors[fine], ulps[fine])
        if wrong.any() and (function.kernel, op) not in self._found:
            finding = _finding(function, wide, got, (errors, ulps), wrong, self._documented)
            self._found[function.kernel, op] = finding

    def observe_portable(
        self,
        function: Function | Builtin,
        args: tuple[Any, ...],
        result: Any,  # noqa: ANN401
    ) -> None:
        """Check a portable function by its claim, which holds where nothing is flushed to zero.

        Calls of builtins pass.
        """
        if self._documented.ieee:
            self.portable.observe(function, args, result)
            return
        wide = np.broadcast_arrays(*(np.atleast_1d(np.asarray(a)) for a in (*args, result)))
        least = np.min([np.where(a == 0, 1.0, np.abs(a)) for a in wide], axis=0)
        normal = ~(least < SAFE)
        self.unjudged += int((~normal).sum())
        *some, got = (a[normal] for a in wide)
        if got.size:
            self.portable.observe(function, tuple(some), got)

    def _note(self, name: str, errors: Array, bounds: Array) -> None:
        if errors.size:
            at = int(np.argmax(errors))
            here = (float(errors[at]), float(bounds[at]))
            self._worst[name] = max(self._worst.get(name, here), here)


def promised(
    documented: Documented,
    builtin: Builtin,
    args: Sequence[Array],
    known: Mapping[str, Accuracy],
) -> npt.NDArray[np.float64]:
    """How many ulps each call may be off; infinite where nothing is promised of it.

    What no document covers may be off by twice the most that was measured, and one ulp.
    """
    op, format_ = builtin.implements, builtin.type.value
    form = format_named(format_)
    with np.errstate(all="ignore"):
        true = np.asarray(F64_MATH[op](*args), np.float64)
    unit = unit_of(true, format_)
    ulps = np.full(true.shape, np.inf)
    for claim in documented.claims(op, builtin.type):
        inside = np.isinf(ulps)
        for a in args:
            size = a if claim.signed else np.abs(a)
            inside &= ~((size < claim.low) | (size > claim.high))
        with np.errstate(all="ignore"):
            here = claim.ulp + _ROUNDED + claim.absolute / unit
            here = here + (claim.per * np.abs(args[0]) if claim.per else 0.0)
        ulps = np.where(inside, here, ulps)
    ulps = _with_measured(ulps, known.get(f"{format_} {op}"), args)
    if documented.ieee:
        return np.asarray(np.where(np.isnan(ulps), np.inf, ulps))
    tiny = 2.0**form.emin
    promised_of = np.isfinite(true)
    for a in args:
        promised_of &= np.isfinite(a) & ((np.abs(a) >= tiny) | (a == 0))
    return np.asarray(np.where(promised_of, ulps + tiny / unit, np.inf))


def _with_measured(ulps: Array, found: Accuracy | None, args: Sequence[Array]) -> Array:
    """Twice what was measured, where no document says anything and it was measured."""
    if found is None:
        return ulps
    covered = np.isinf(ulps)
    for a in args:
        covered &= np.abs(a) <= found.reach
        covered &= np.isfinite(a) & (a != 0)
    return np.where(covered, 2 * found.ulp + 1.0, ulps)


def _finding(
    builtin: Builtin,
    args: Sequence[Array],
    got: Array,
    distances: tuple[Array, Array],
    wrong: Mask,
    documented: Documented,
) -> Finding:
    first = int(np.flatnonzero(wrong)[0])
    op, (errors, ulps) = builtin.implements, distances
    at = ", ".join(f"{float(a[first])!r} ({float(a[first]).hex()})" for a in args)
    value = float(got[first])
    with np.errstate(all="ignore"):
        true = float(np.asarray(F64_MATH[op](*(a[first] for a in args))))
    detail = (
        f"{op}({at}) = {value!r} ({value.hex()}) on the device, truly {true!r}: "
        f"{errors[first]:.3g} ulp of {builtin.type.value}, allowed {ulps[first]:.3g}; "
        f"{int(wrong.sum())} such calls\n{documented.source}"
    )
    return Finding(
        Rung.EXPAND,
        Verdict.WRONG,
        f"what stands for {op} in the text is further from it than the language allows",
        kernel=builtin.kernel,
        node=builtin.origin,
        detail=detail,
        origin=f"builtin {op}",
    )


__all__ = ["NativeCheck", "accuracies", "check_native", "native_subject", "promised"]
