"""Judging runs: what a foreign kernel did to memory, against what it may do.

Defines `Run`, `REPEATS` and `judge`. Relies on the criterion for values and on provenance for
reasons. It runs nothing: whoever has memories before and after, with guard zones, can be judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tang.device.base import (
    GUARD_BYTES,
    Crash,
    Memory,
    Outcome,
    OutOfMemory,
    Ran,
    Timeout,
)
from tang.device.storage import Poison, poison_word, poisoned
from tang.emulator.budget import ErrorBudget
from tang.kernel.ir import Type
from tang.verify.compare import bit_equal, describe, memory_equal
from tang.verify.foreign.binding import Buffer, Slot
from tang.verify.foreign.cases import Case
from tang.verify.foreign.criterion import Fault, check_values
from tang.verify.foreign.memory import covered, filled, values, view
from tang.verify.provenance import explain
from tang.verify.regions import region_of
from tang.verify.verdict import Verdict

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]

REPEATS: Final = (Poison.NAN, Poison.FINITE, Poison.NAN, Poison.FINITE)
"""Every case runs so often, outputs and guard zones full of these."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What one case showed."""

    faults: tuple[Fault, ...]
    elements: int = 0
    exact: int = 0
    undecided: int = 0


def judge(case: Case, outcomes: Sequence[Outcome], budget: ErrorBudget | None) -> Judged:
    """Judge the runs of one case, one per entry of REPEATS."""
    broken = [f for f in map(_broken, outcomes) if f is not None]
    if broken:
        return Judged((broken[0],))
    ran = [r for r in outcomes if isinstance(r, Ran)]
    faults = list(_strays(case, ran))
    elements = exact = undecided = 0
    for position, buffer in enumerate(case.launch.buffers):
        for slot in buffer.slots:
            if not slot.result:
                continue
            views = [view(_flat(r.memories[position]), slot) for r in ran]
            fault = _unwritten(case, buffer, slot, views) or _unstable(slot, views, buffer.type)
            if fault is not None:
                faults.append(fault)
                continue
            sort = case.graph.sort(case.ref(slot.result))
            found = check_values(case, slot.result, values(views[0], buffer.type, sort), budget)
            elements += found.elements
            exact += found.exact
            undecided += found.undecided
            faults += [found.fault] if found.fault is not None else []
    return Judged(tuple(faults), elements, exact, undecided)


def _flat(memory: Memory) -> Array:
    return memory.data.reshape(-1)


def _broken(outcome: Outcome) -> Fault | None:
    match outcome:
        case Crash(reason):
            return Fault(Verdict.CRASH, f"the kernel crashed: {reason}")
        case OutOfMemory(reason):
            return Fault(Verdict.CRASH, f"the kernel ran out of memory: {reason}")
        case Timeout(seconds):
            return Fault(Verdict.TIMEOUT, f"the kernel ran longer than {seconds:g} s")
        case Ran():
            return None


# --- writes where none may be ---------------------------------------------------------------------


def _strays(case: Case, runs: Sequence[Ran]) -> Iterator[Fault]:
    """At most one fault per buffer: guard zones first, then what the kernel may not change."""
    for position, buffer in enumerate(case.launch.buffers):
        for run, poison in zip(runs, REPEATS, strict=True):
            fault = _stray(case, buffer, run.memories[position], poison)
            if fault is not None:
                yield fault
                break


def _stray(case: Case, buffer: Buffer, memory: Memory, poison: Poison) -> Fault | None:
    word = poison_word(buffer.type, poison)
    if not memory.intact(word):
        return Fault(
            Verdict.STRAY_WRITE,
            f"wrote past {_beyond(memory, word)} of {buffer.name}",
            buffer.name,
        )
    before, after = filled(buffer, case.inputs, poison), _flat(memory)
    free = covered(buffer, True) if buffer.slots else np.ones(buffer.elements, np.bool_)
    changed = ~_same_bytes(before, after) & ~(free & buffer.writable)
    if not changed.any():
        return None
    mine = next((s for s in buffer.slots if view(changed, s).any()), None)
    if mine is None:
        words = f"wrote between the elements of {buffer.name}: {region_of(changed).words}"
        return Fault(Verdict.STRAY_WRITE, words, buffer.name)
    return _changed_input(case, buffer, mine, view(before, mine), view(after, mine))


def _changed_input(case: Case, buffer: Buffer, slot: Slot, before: Array, after: Array) -> Fault:
    equal = bit_equal(np.ascontiguousarray(before), np.ascontiguousarray(after))
    known = [k for k in case.known() if k.name != slot.source]
    found = explain(np.ascontiguousarray(after), np.ascontiguousarray(before), buffer.type,
                    known=known)  # fmt: skip
    why = "" if found is None else f" ({found.sentence})"
    return Fault(
        Verdict.STRAY_WRITE,
        f"changed its input {slot.source}{why}",
        slot.source,
        "" if found is None else found.cause.value,
        describe(before, after, equal, ("before", "after")),
    )


def _beyond(memory: Memory, word: bytes) -> str:
    """Which end, and how far the writes went."""
    zone = word * (GUARD_BYTES // len(word))
    if memory.after != zone:
        far = max(i for i, (a, b) in enumerate(zip(memory.after, zone, strict=True)) if a != b)
        return f"the end (by {far // len(word) + 1} elements or more)"
    near = min(i for i, (a, b) in enumerate(zip(memory.before, zone, strict=True)) if a != b)
    return f"the start (by {(GUARD_BYTES - near - 1) // len(word) + 1} elements or more)"


def _same_bytes(a: Array, b: Array) -> Mask:
    if not a.size:
        return np.ones(0, np.bool_)
    size = a.dtype.itemsize
    raw = [np.ascontiguousarray(x).view(np.uint8).reshape(-1, size) for x in (a, b)]
    return np.asarray((raw[0] == raw[1]).all(axis=1))


# --- outputs --------------------------------------------------------------------------------------


def _unwritten(case: Case, buffer: Buffer, slot: Slot, views: Sequence[Array]) -> Fault | None:
    """Elements that hold each run's own poison, or what was there before an in-out launch."""
    if slot.source:
        return None
    left = np.ones(slot.shape, np.bool_)
    for got, poison in zip(views, REPEATS, strict=True):
        fresh = poisoned(buffer.type, slot.shape, poison)
        left &= _same_bytes(np.ravel(got), np.ravel(fresh)).reshape(slot.shape)
    if not left.any():
        return None
    words = f"{region_of(left).words}: still poison, never written"
    detail = f"with {case.text()}" if case.sizes else ""
    return Fault(Verdict.UNWRITTEN, f"output {slot.result}: {words}", slot.result, "poison", detail)


def _unstable(slot: Slot, views: Sequence[Array], element: Type) -> Fault | None:
    """Runs on equal inputs that differ."""
    whole = [np.ascontiguousarray(v) for v in views]
    for a, b, how in ((0, 2, "two runs"), (1, 3, "two runs"), (0, 1, "what memory held before")):
        agree = memory_equal(whole[a], whole[b], element)
        if not agree.all():
            detail = describe(whole[a], whole[b], agree, ("one run", "another run"))
            words = f"output {slot.result} differs between two runs"
            if how != "two runs":
                words = f"output {slot.result} depends on what memory held before the launch"
            return Fault(Verdict.NONDETERMINISTIC, words, slot.result, "", detail)
    return None
