"""The rung `emit`: what the device wrote against replay, kernel by kernel, bit for bit.

Suspect: emitter text, vendor compiler, driver. Every launch runs on replay's own state of its
buffers, which is the device's state as long as they agree; all jobs of many subjects go to the
device together. Outputs are poisoned twice, guard zones and inputs are checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tang.device.base import (
    Compiled,
    Crash,
    Job,
    Memory,
    Outcome,
    OutOfMemory,
    Ran,
    Timeout,
)
from tang.device.storage import Poison, dtype_of, poison_word, poisoned
from tang.emulator.replay import Replay
from tang.kernel.ir import Type
from tang.kernel.plan import Launch, Plan
from tang.verify.compare import bit_equal, describe, memory_equal
from tang.verify.provenance import Known, explain
from tang.verify.report import Finding, RungResult
from tang.verify.rung_expand import in_memory
from tang.verify.subject import Subject, written
from tang.verify.verdict import Rung, Verdict

Array = npt.NDArray[Any]
POISONS: Final = (Poison.NAN, Poison.FINITE)


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """One launch of one subject: where it comes from and what replay says it must write."""

    launch: Launch
    before: tuple[Array, ...]
    expected: tuple[Array | None, ...]
    scalars: tuple[int, ...]
    groups: int


def trials(subject: Subject, replayed: Replay) -> list[Trial]:
    """Every launch that has threads; `expected` is None for buffers it may not change."""
    plan, sizes = subject.packed, subject.sizes
    found = []
    for launch in plan.launches:
        groups = -(-launch.threads.evaluate(sizes) // launch.kernel.workgroup)
        if groups > 0:
            found.append(_trial(launch, plan, replayed, subject, groups))
    return found


def _trial(launch: Launch, plan: Plan, replayed: Replay, subject: Subject, groups: int) -> Trial:
    outputs = set(written(launch))
    state = [_memory_form(plan, n, replayed.buffers[n]) for n in launch.buffers]
    return Trial(
        launch,
        tuple(state),
        tuple(a if n in outputs else None for n, a in zip(launch.buffers, state, strict=True)),
        tuple(p.evaluate(subject.sizes) for p in launch.scalars),
        groups,
    )


def _memory_form(plan: Plan, name: str, array: Array) -> Array:
    buffer = plan.buffer(name)
    held = in_memory(buffer, array)
    return np.ascontiguousarray(held).astype(dtype_of(buffer.type), copy=False)


def jobs_of(trial: Trial, compiled: Compiled) -> list[Job]:
    """The launch twice, its outputs and guard zones full of one poison, then of the other."""
    return [_job(trial, compiled, poison) for poison in POISONS]


def _job(trial: Trial, compiled: Compiled, poison: Poison) -> Job:
    types = [p.type for p in trial.launch.kernel.params]
    contents = zip(trial.before, trial.expected, types, strict=True)
    buffers = tuple(
        before if expected is None else poisoned(t, before.shape, poison)
        for before, expected, t in contents
    )
    return Job(compiled, buffers, trial.scalars, trial.groups, poison)


def check_emit(
    tests: Sequence[Trial], outcomes: Sequence[Sequence[Outcome]], backend: str
) -> tuple[RungResult, list[Finding]]:
    """Judge the outcomes of every trial of one subject; one finding per faulty launch."""
    findings = []
    elements = 0
    for place, (trial, runs) in enumerate(zip(tests, outcomes, strict=True)):
        elements += sum(a.size for a in trial.expected if a is not None)
        finding = _judge(trial, runs, tests[:place])
        if finding is not None:
            verdict, message, detail = finding
            kernel = trial.launch.kernel
            findings.append(
                Finding(
                    Rung.EMIT, verdict, message, kernel.name, kernel.origin, backend, detail,
                    origin=f"kernel role {kernel.role}",
                )
            )  # fmt: skip
    exact = elements if not findings else 0
    return RungResult(Rung.EMIT, backend, elements, exact), findings


_Judgement = tuple[Verdict, str, str]


def _judge(
    trial: Trial, runs: Sequence[Outcome], earlier: Sequence[Trial] = ()
) -> _Judgement | None:
    for run in runs:
        match run:
            case Crash(reason):
                return Verdict.CRASH, f"the kernel crashed: {reason}", ""
            case OutOfMemory(reason):
                return Verdict.CRASH, f"the kernel ran out of memory: {reason}", ""
            case Timeout(seconds):
                return Verdict.TIMEOUT, f"the kernel ran longer than {seconds:g} s", ""
    ran = [r for r in runs if isinstance(r, Ran)]
    for run, poison in zip(ran, POISONS, strict=True):
        stray = _stray(trial, run, poison)
        if stray is not None:
            return stray
    for position, expected in enumerate(trial.expected):
        if expected is not None:
            memories = [r.memories[position] for r in ran]
            wrong = _compare(trial, position, expected, memories, earlier)
            if wrong is not None:
                return wrong
    return None


def _stray(trial: Trial, run: Ran, poison: Poison) -> _Judgement | None:
    """A write outside the outputs: into a guard zone or into an input."""
    kernel = trial.launch.kernel
    for param, before, expected, memory in zip(
        kernel.params, trial.before, trial.expected, run.memories, strict=True
    ):
        if not memory.intact(poison_word(param.type, poison)):
            return Verdict.STRAY_WRITE, f"wrote past the ends of {param.name}", ""
        after = memory.data.reshape(before.shape)
        if expected is None and not np.array_equal(_bytes(before), _bytes(after)):
            equal = bit_equal(before, after)
            return (
                Verdict.STRAY_WRITE,
                f"changed its input {param.name}",
                describe(before, after, equal, ("before", "after")),
            )
    return None


def _compare(
    trial: Trial,
    position: int,
    expected: Array,
    memories: Sequence[Memory],
    earlier: Sequence[Trial],
) -> _Judgement | None:
    param = trial.launch.kernel.params[position]
    got = [m.data.reshape(expected.shape) for m in memories]
    equal = [memory_equal(expected, g, param.type) for g in got]
    if all(e.all() for e in equal):
        return None
    buffer = trial.launch.buffers[position]
    if _unwritten(expected, got, param.type).any():
        message = f"{buffer} still holds poison{_why(trial, position, got[1], earlier)}"
        return (
            Verdict.UNWRITTEN,
            message,
            describe(expected, got[1], equal[1], ("replay", "device")),
        )
    agree = memory_equal(got[0], got[1], param.type)
    if not agree.all():
        detail = describe(got[0], got[1], agree, ("first run", "second run"))
        return Verdict.NONDETERMINISTIC, f"{buffer} differs between two runs", detail
    detail = describe(expected, got[0], equal[0], ("replay", "device"))
    why = _why(trial, position, got[0], earlier)
    return Verdict.WRONG, f"{buffer} is not what the kernel IR says{why}", detail


def _why(trial: Trial, position: int, got: Array, earlier: Sequence[Trial]) -> str:
    """What a wrong buffer holds, to go on with a message; "" when nothing accounts for it."""
    expected = trial.expected[position]
    if expected is None:
        return ""
    element = trial.launch.kernel.params[position].type
    known = [k for at, k in enumerate(_known(trial, False)) if at != position]
    known += [
        k for t in earlier for k in _known(t, True) if k.name != trial.launch.buffers[position]
    ]
    found = explain(got, expected, element, known=known)
    return "" if found is None else f" ({found.sentence})"


def _known(trial: Trial, earlier: bool) -> list[Known]:
    """The buffers of a launch with their right contents."""
    launch, contents = trial.launch, zip(trial.before, trial.expected, strict=True)
    return [
        Known(name, param.type, before if expected is None else expected, earlier)
        for name, param, (before, expected) in zip(
            launch.buffers, launch.kernel.params, contents, strict=True
        )
    ]


def _unwritten(expected: Array, got: Sequence[Array], element: Type) -> npt.NDArray[np.bool_]:
    """Where both runs left their own poison and replay has something else."""
    left = [
        _bytes(g) == _bytes(poisoned(element, g.shape, poison))
        for g, poison in zip(got, POISONS, strict=True)
    ]
    size = expected.dtype.itemsize
    return np.asarray((left[0] & left[1]).reshape(-1, size).all(axis=1))


def _bytes(array: Array) -> npt.NDArray[np.uint8]:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)
