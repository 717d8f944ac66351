"""Builtin functions of a device: their results one call at a time, and how good they are.

Defines `NativeFunctions`, which replay asks, and `measured_functions`. Relies on probe kernels
with one operation per element, compiled as any other kernel of the device, and on the reference
in balls. It judges nothing: documented bounds are applied by the rung `expand`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from tang.device.arguments import arguments_of
from tang.device.base import Compiled, Device, Ran
from tang.device.probe import NativeRows
from tang.device.probe_kernels import Probe, compilable, job_of, load, probe_of
from tang.device.reference import Truth, error_by_mpmath, errors_of, truth_of
from tang.device.storage import AnyArray, dtype_of
from tang.emit.unit import supports
from tang.errors import DeviceError, TangBugError
from tang.ir.format import Format, format_named
from tang.kernel import ir as k
from tang.kernel.accuracy import FUNCTIONS, Accuracy

VERSION: Final = 2
"""Of the measurement: what was measured by another version is measured anew."""

_DEADLINE: Final = 60.0
_KEPT: Final = 2**20
_FAR: Final = 2.0**-11
_WORDS: Final = {np.dtype(np.float32): np.uint32, np.dtype(np.float64): np.uint64}


class NativeFunctions:
    """Asks a device: native(op, type, operands) for functions of MATH, and for rows of SUBJECT.

    Operands are flat arrays of one size in f32 or f64. What was asked once is remembered.
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        self._rows = NativeRows(device)
        self._compiled: dict[tuple[str, k.Type], Compiled] = {}
        self._known: dict[tuple[str, k.Type], tuple[AnyArray, AnyArray]] = {}

    def __call__(self, op: str, type_: k.Type, operands: tuple[Any, ...]) -> AnyArray:
        """The device's results; raises DeviceError unless it ran."""
        if op not in k.MATH:
            return self._rows(op, type_, operands)
        keys = _keys(operands)
        if keys is None:
            return self._asked(op, type_, operands)
        wanted, first, places = np.unique(keys, return_index=True, return_inverse=True)
        known, values = self._known.get((op, type_), (wanted[:0], np.empty(0, dtype_of(type_))))
        new = ~np.isin(wanted, known, assume_unique=True)
        if new.any():
            fresh = self._asked(op, type_, tuple(x[first[new]] for x in operands))
            known, values = _merged(known, values, wanted[new], fresh)
            if known.size <= _KEPT:
                self._known[op, type_] = known, values
        found: AnyArray = values[np.searchsorted(known, wanted)][places.reshape(-1)]
        return found

    def _asked(self, op: str, type_: k.Type, operands: Sequence[AnyArray]) -> AnyArray:
        count = operands[0].size
        if not count:
            return np.empty(0, dtype_of(type_))
        job = job_of(self._of(op, type_), _named(operands), type_)
        (outcome,) = self._device.run([job], _DEADLINE)
        if not isinstance(outcome, Ran):
            raise DeviceError(f"{self._device.name} did not give {type_.value} {op}: {outcome}")
        return outcome.memories[-1].data

    def _of(self, op: str, type_: k.Type) -> Compiled:
        if (op, type_) not in self._compiled:
            (self._compiled[op, type_],) = self._device.compile([_probe(op, type_).kernel])
        return self._compiled[op, type_]


def _named(operands: Sequence[AnyArray]) -> dict[str, AnyArray]:
    """One, two or three operands as a probe takes them."""
    return {n: operands[min(i, len(operands) - 1)] for i, n in enumerate("abc")}


def _keys(operands: Sequence[AnyArray]) -> AnyArray | None:
    """One integer per element that stands for its operands' bits; None for pairs of f64."""
    words = [np.ascontiguousarray(x).view(_WORDS[x.dtype]) for x in operands]
    if len(words) == 1:
        return words[0]
    if words[0].dtype != np.uint32:
        return None
    return np.asarray(words[0].astype(np.uint64) << np.uint64(32) | words[1])


def _merged(
    keys: AnyArray, values: AnyArray, more: AnyArray, their: AnyArray
) -> tuple[AnyArray, AnyArray]:
    """Both tables as one in order of keys."""
    every = np.concatenate([keys, more])
    order = np.argsort(every, kind="stable")
    return every[order], np.concatenate([values, their])[order]


def _probe(op: str, type_: k.Type) -> Probe:
    """The kernel of one builtin."""
    value = k.Op(type_, op, tuple(load(n, type_) for n in "abc"[: k.MATH[op]]))
    return probe_of(f"{type_.value} {op}", value, type_, True)


# --- accuracy -------------------------------------------------------------------------------------


def function_probes(language: str) -> list[Probe]:
    """A probe per builtin and format that the language can say."""
    found = [_probe(op, t) for t in (k.F32, k.F64, k.F16) for op in FUNCTIONS]
    return [p for p in found if supports(p.kernel, language) is None]


def measured_functions(device: Device, probes: Sequence[Probe]) -> tuple[Accuracy, ...]:
    """How far each builtin is from the truth over its fixed set of arguments.

    Builtins that the device refuses are left out. Raises DeviceError when a probe does not end.
    """
    able = compilable(device, probes)
    compiled = device.compile([p.kernel for p in able])
    jobs = []
    for p, c in zip(able, compiled, strict=True):
        operands = arguments_of(p.name.split()[1], p.source)
        jobs.append(job_of(c, _named(operands), p.source))
    found = []
    for p, outcome in zip(able, device.run(jobs, _DEADLINE), strict=True):
        if not isinstance(outcome, Ran):
            raise DeviceError(f"{device.name} did not give {p.name}: {outcome}")
        found.append(accuracy_of(p.name, p.source, outcome.memories[-1].data))
    return tuple(found)


def accuracy_of(row: str, type_: k.Type, got: AnyArray) -> Accuracy:
    """The accuracy of results for the fixed arguments of a function."""
    op, form = row.split()[1], format_named(type_.value)
    args = arguments_of(op, type_)
    truth = truth_of(op, args)
    errors = errors_of(truth, got, form)
    regimes = _regimes(args, truth, form)
    near = np.abs(truth.high) <= 1.0
    with np.errstate(all="ignore"):
        apart = np.abs(got.astype(np.float64) - truth.high)
    usable = regimes["normal"] & np.isfinite(errors)
    reach = _reach(args[0], apart, usable) if op in ("sin", "cos") else math.inf
    usable &= np.abs(args[0].astype(np.float64)) <= reach
    worst = int(np.argmax(np.where(usable, errors, -1.0)))
    at = tuple(float(x[worst]) for x in args)
    _check(op, at, float(got[worst]), float(errors[worst]), form)
    return Accuracy(
        row=row,
        ulp=float(f"{errors[worst]:.4g}"),
        at=at,
        absolute=float(f"{float(apart[usable & near].max(initial=0.0)):.3g}"),
        count=got.size,
        reach=reach,
        notes=tuple(_notes(op, args, got, errors, truth, regimes)),
    )


def _check(op: str, at: tuple[float, ...], got: float, error: float, form: Format) -> None:
    """Raise TangBugError where mpmath has another error than the balls: one of the two is wrong."""
    if not math.isfinite(got):
        return
    other = error_by_mpmath(op, at, got, form)
    if abs(error - other) > 1e-3 * max(1.0, error):
        raise TangBugError(f"{op} at {at}: {error} ulp by balls and {other} by mpmath")


def _regimes(args: Sequence[AnyArray], truth: Truth, form: Format) -> Mapping[str, AnyArray]:
    """Masks: normal arguments and results; subnormal arguments; subnormal results; specials."""
    tiny = math.ldexp(1.0, form.emin)
    wide = [np.abs(a.astype(np.float64)) for a in args]
    low = np.any([(a < tiny) & (a != 0) for a in wide], axis=0)
    size = np.abs(np.ldexp(truth.high, -truth.shift))
    small = (size < tiny) & (size != 0) & ~truth.plain
    plain = truth.plain
    return {
        "normal": ~plain & ~low & ~small,
        "arguments": ~plain & low & ~small,
        "results": ~plain & small & ~low,
        "specials": plain & ~low,
    }


def _reach(x: AnyArray, apart: AnyArray, usable: AnyArray) -> float:
    """The largest power of two up to which every absolute error is at most 2⁻¹¹."""
    size = np.abs(x.astype(np.float64))
    bad = usable & ~(apart <= _FAR)
    if not bad.any():
        return math.inf
    first = float(size[bad].min())
    return math.ldexp(1.0, math.frexp(first)[1] - 1) if first > 0 else 0.0


def _notes(
    op: str, args: Sequence[AnyArray], got: AnyArray, errors: AnyArray, truth: Truth,
    regimes: Mapping[str, AnyArray],
) -> list[str]:  # fmt: skip
    found = []
    zero = got.astype(np.float64) == 0
    lost = regimes["results"] & (errors > 1) & zero
    if lost.any():
        found.append("subnormal results become 0")
    wrong = regimes["arguments"] & ~(errors <= 64)
    if wrong.any():
        found.append(f"subnormal arguments are lost: {_example(op, args, got, wrong)}")
    over = regimes["normal"] & np.isinf(errors)
    if over.any():
        found.append(f"{int(over.sum())} finite results are not: {_example(op, args, got, over)}")
    special = regimes["specials"] & ~(errors <= 64)
    if special.any():
        total = int(regimes["specials"].sum())
        example = _example(op, args, got, special)
        found.append(f"{int(special.sum())} of {total} specials are wrong: {example}")
    return found


def _example(op: str, args: Sequence[AnyArray], got: AnyArray, where: AnyArray) -> str:
    first = int(np.flatnonzero(where)[0])
    at = ", ".join(f"{float(x[first]):.9g}" for x in args)
    return f"{op}({at}) = {float(got[first]):.9g}"


__all__ = ["NativeFunctions", "accuracy_of", "function_probes", "measured_functions"]
