"""The ladder: programs through every rung, on their own or in batches.

Defines `verify` and `verify_batch`. Relies on the rungs, each of which has one suspect, and on
the devices. A suspect that raises is a finding of its rung; a caller's mistake is a GraphError.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

import numpy.typing as npt

from tang.device.base import Device, Outcome
from tang.emit import UnsupportedError, supports
from tang.emulator.budget import ErrorBudget
from tang.emulator.replay import Replay
from tang.errors import DeviceError, FormatError, GraphError, LimitError, ScheduleError
from tang.interpreter import interpret
from tang.ir.graph import Graph, require_graph
from tang.kernel.ir import Kernel
from tang.kernel.schedule import Schedule
from tang.verify.backends import open_backend
from tang.verify.derive import Derivation, derive
from tang.verify.follow import Terms, native_terms, replay_on, terms_of, unsteady_in
from tang.verify.inputs import random_inputs
from tang.verify.native import accuracies, check_native, native_subject
from tang.verify.places import check_places
from tang.verify.promoted import check_promoted
from tang.verify.report import Finding, Report, RungResult
from tang.verify.rung_emit import Trial, check_emit, jobs_of, trials
from tang.verify.rung_expand import check_expand
from tang.verify.rung_lower import Lowered, check_lower
from tang.verify.rung_round import check_round
from tang.verify.subject import Accepted, Subject, Task, accept, derived
from tang.verify.subject import lowered as prepared
from tang.verify.verdict import Rung, Verdict

Array = npt.NDArray[Any]
T = TypeVar("T")


def verify(
    graph: Graph,
    inputs: Mapping[str, Array] | None = None,
    backends: Sequence[str] = ("c",),
    seed: int = 0,
    *,
    schedule: Schedule | None = None,
    budget: ErrorBudget | None = None,
    sizes: Mapping[str, int] | None = None,
    name: str = "graph",
    math: Literal["portable", "native"] = "portable",
    rules: Iterable[str] | None = None,
    strict: bool = False,
) -> Report:
    """Check a program rung by rung, as `tang.compile` compiles it.

    inputs    arrays by name; None draws them from `seed`, symbolic extents from `sizes`
    backends  where kernels run ("c"); an empty sequence stops at the rungs that need no device
    rules     what the program is rewritten by first: None takes the pipeline, () leaves it as it is
    strict    rewriting keeps NaN and infinities exactly
    schedule  None takes `schedule_auto`; it names nodes of the rewritten program
    budget    what the rung `round` must stay within; None: the derived bound alone
    math      "native" keeps each language's own functions, which replay asks the device for
    Raises GraphError for a malformed program, inputs or sizes, DeviceError for an unknown backend.
    """
    unknown = sorted((sizes or {}).keys() - require_graph(graph).symbols)
    if unknown:
        known = ", ".join(sorted(graph.symbols)) or "none"
        raise GraphError(f"sizes: no extent is named {unknown[0]!r}: one of {known}")
    data = random_inputs(graph, sizes or {}, seed) if inputs is None else inputs
    chosen = Derivation(rules=None if rules is None else tuple(rules), strict=strict)
    task = Task(
        graph=graph,
        inputs=data,
        schedule=None if schedule is None else lambda _: schedule,
        derivation=None if chosen.rules == () else chosen,
        budget=budget,
        name=name,
        math=math,
    )
    return _verified([task], {name: open_backend(name, quick=False) for name in backends})[0]


def verify_batch(tasks: Sequence[Task], backends: Sequence[str] = ("c",)) -> list[Report]:
    """One report per task, in order; the kernels of all tasks are compiled and run together.

    Compilers do not optimise here, which takes most of their time and changes no bits.
    """
    return _verified(tasks, {name: open_backend(name) for name in backends})


def climbs_of(tasks: Sequence[Task]) -> list[Climb]:
    """Every rung that needs no device; `emitted_on` goes on from there, as often as wanted."""
    return [_climb(task) for task in tasks]


def emitted_on(climbs: Sequence[Climb], backend: str) -> list[Report]:
    """The reports of the rung `emit` alone, on one backend, kernels compiled as in a batch."""
    apart = [c.apart() for c in climbs]
    _emit(apart, backend, open_backend(backend))
    return [_report(c) for c in apart]


def _verified(tasks: Sequence[Task], devices: Mapping[str, Device]) -> list[Report]:
    climbs = [_climb(task) for task in tasks]
    if any(c.native for c in climbs):
        for device in devices.values():
            accuracies(device)  # here, since balls have one precision for all threads
    if devices:
        _emit_everywhere(climbs, devices)
    for c in climbs:
        if c.native and not devices:
            reason = "native functions belong to a device, and none was given"
            c.results.append(RungResult(Rung.EXPAND, unsupported=reason))
    return [_report(c) for c in climbs]


def _emit_everywhere(climbs: Sequence[_Climb], devices: Mapping[str, Device]) -> None:
    """The rung `emit` on all devices at once: while one compiles, another one's results are read.

    Each device has a process and a thread of its own; results are noted in the devices' order.
    """
    apart = [[c.apart() for c in climbs] for _ in devices]
    with ThreadPoolExecutor(len(devices)) as pool:
        list(pool.map(_emit, apart, devices, devices.values()))
    for column in apart:
        for climb, on_device in zip(climbs, column, strict=True):
            climb.results.extend(on_device.results)
            climb.findings.extend(on_device.findings)


@dataclass(slots=True, eq=False)
class _Climb:
    """How far one task has come."""

    task: Task
    results: list[RungResult] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    trials: list[Trial] = field(default_factory=list)
    subject: Subject | None = None
    lowered: Replay | None = None
    made: Graph | None = None

    @property
    def native(self) -> bool:
        """Whether functions are the device's and the task came far enough to ask it."""
        return self.task.math == "native" and self.subject is not None

    def apart(self) -> _Climb:
        """The same place, with records of its own."""
        return _Climb(self.task, trials=self.trials, subject=self.subject, lowered=self.lowered)

    def note(self, result: RungResult, findings: Sequence[Finding]) -> None:
        self.results.append(result)
        self.findings.extend(findings)

    def attempt(self, rung: Rung, suspect: Callable[[], T], backend: str = "") -> T | None:
        """What the suspect returns; None when it raised, which is then on record."""
        try:
            return suspect()
        except (FormatError, LimitError, ScheduleError) as e:
            self.results.append(RungResult(rung, backend, unsupported=str(e)))
        except Exception as e:  # noqa: BLE001 — a suspect that raises anything at all is a finding
            self.findings.append(_raised(rung, e, backend))
        return None


Climb = _Climb
"""How far one task has come, for callers that only pass it on."""


def _climb(task: Task) -> _Climb:
    """All rungs that need no device."""
    climb = _Climb(task)
    accepted = accept(task)
    if task.derivation is not None:
        graph = _derived_graph(climb, accepted, task.derivation)
        if graph is None:
            return climb
        climb.made = graph
        climb.task = derived(task, graph)
        accepted = accept(climb.task)
    subject = climb.attempt(Rung.LOWER, lambda: prepared(accepted))
    meant = subject is not None and _means_something(climb, subject)
    lowered = _lower(climb, subject) if subject is not None and meant else None
    if subject is None or lowered is None or lowered.findings:
        return climb
    if task.math == "native":
        climb.subject, climb.lowered = subject, lowered.replayed
        return climb
    expanded = _expand(climb, subject)
    if expanded is None:
        return climb
    climb.subject, climb.lowered = subject, lowered.replayed
    if _rounds_rightly(climb, subject, lowered.replayed, expanded):
        climb.trials = trials(subject, expanded)
    return climb


def _rounds_rightly(climb: _Climb, subject: Subject, lowered: Replay, expanded: Replay) -> bool:
    """The rung `round`; whether the plan's numbers are those that its schedule means.

    What is only further from f64 than a budget allows goes on to devices.
    """
    rounded = climb.attempt(Rung.ROUND, lambda: check_round(subject, lowered, expanded))
    if rounded is None:
        return False
    promoted = climb.attempt(Rung.ROUND, lambda: check_promoted(subject)) or []
    climb.note(rounded[0], [*rounded[1], *promoted])
    return all(f.verdict is not Verdict.WRONG for f in (*rounded[1], *promoted))


def _derived_graph(climb: _Climb, accepted: Accepted, derivation: Derivation) -> Graph | None:
    """The rung `rewrite`: what the derivation makes of the program, None when it is at fault."""
    interpret(accepted.bound, accepted.arrays)  # the caller's program must mean something
    done = climb.attempt(
        Rung.REWRITE, lambda: derive(climb.task.graph, accepted.arrays, derivation)
    )
    if done is None:
        return None
    climb.results.extend(done.results)
    climb.findings.extend(done.findings)
    return done.graph


def _means_something(climb: _Climb, subject: Subject) -> bool:
    """Whether the interpreter can run the program on these data.

    A GraphError (a gather out of range, say) is the caller's and raised; indices beyond 64 bits
    are on record as unsupported.
    """
    try:
        subject.reference  # noqa: B018 — evaluated once, here, and kept
    except LimitError as e:
        climb.results.append(RungResult(Rung.LOWER, unsupported=str(e)))
        return False
    return True


def _lower(climb: _Climb, subject: Subject) -> Lowered | None:
    lowered = climb.attempt(Rung.LOWER, lambda: check_lower(subject))
    if lowered is None:
        return None
    climb.note(lowered.result, lowered.findings)
    if lowered.findings:
        return lowered
    placed = climb.attempt(Rung.LOWER, lambda: check_places(subject))
    if placed is None:
        return None
    climb.results.extend(placed.results)
    climb.findings.extend(placed.findings)
    return None if placed.findings else lowered


def _expand(climb: _Climb, subject: Subject) -> Replay | None:
    done = climb.attempt(Rung.EXPAND, lambda: check_expand(subject))
    if done is None:
        return None
    result, findings, replayed = done
    climb.note(result, findings)
    return None if findings else replayed


def _emit(climbs: Sequence[_Climb], name: str, device: Device) -> None:
    """The rung `emit` on one device for every task that came so far."""
    ready = _on_terms([c for c in climbs if c.trials], name, device)
    ready += [c for c in climbs if c.native and _follow_native(c, name, device)]
    for climb, outcomes in zip(ready, _run_all(ready, name, device), strict=True):
        if outcomes is not None:
            result, findings = check_emit(climb.trials, outcomes, name)
            climb.note(result, findings)


def _on_terms(climbs: Sequence[_Climb], name: str, device: Device) -> list[_Climb]:
    """The tasks that can be judged on a device, with what its profile says they must write."""
    try:
        terms = terms_of(device)
    except DeviceError as e:
        for c in climbs:
            c.results.append(RungResult(Rung.EMIT, name, unsupported=str(e)))
        return []
    if terms is None:
        return list(climbs)
    return [c for c in climbs if not _can_say(c, device.language) or _follow(c, name, terms)]


def _follow(climb: _Climb, name: str, terms: Terms) -> bool:
    """Replay a task as a device computes it, and judge its rounding there; whether that worked."""
    subject, lowered = climb.subject, climb.lowered
    if subject is None or lowered is None:
        return False
    reason = unsteady_in((t.launch.kernel for t in climb.trials), terms)
    if reason:
        climb.results.append(RungResult(Rung.EMIT, name, unsupported=reason))
        return False
    replayed = climb.attempt(Rung.EMIT, lambda: replay_on(subject, terms), name)
    if replayed is None:
        return False
    climb.trials = trials(subject, replayed)
    _note_on(climb, name, Rung.ROUND, lambda: check_round(subject, lowered, replayed))
    return True


def _follow_native(climb: _Climb, name: str, device: Device) -> bool:
    """Replay a task with the device's own functions, and judge these; whether that worked."""
    lowered, before, language = climb.lowered, climb.subject, device.language
    if before is None or lowered is None:
        return False
    subject = climb.attempt(Rung.EXPAND, lambda: native_subject(before, language), name)
    terms = climb.attempt(Rung.EMIT, lambda: native_terms(device), name)
    if subject is None or terms is None:
        return False
    kernels = [step.kernel for step in subject.packed.launches]
    reasons = [supports(k, language) for k in kernels]
    reason = next((r for r in reasons if r is not None), None) or unsteady_in(kernels, terms)
    if reason:
        climb.results.append(RungResult(Rung.EMIT, name, unsupported=reason))
        return False
    known = accuracies(device)
    done = climb.attempt(Rung.EXPAND, lambda: check_native(subject, terms, language, known), name)
    if done is None:
        return False
    result, findings, replayed = done
    climb.note(replace(result, backend=name), [replace(f, backend=name) for f in findings])
    climb.trials = trials(subject, replayed)
    _note_on(climb, name, Rung.ROUND, lambda: check_round(subject, lowered, replayed))
    return True


def _note_on(
    climb: _Climb,
    name: str,
    rung: Rung,
    check: Callable[[], tuple[RungResult, list[Finding]]],
) -> None:
    """Note what a rung says of one backend."""
    done = climb.attempt(rung, check, name)
    if done is not None:
        result, findings = done
        climb.note(replace(result, backend=name), [replace(f, backend=name) for f in findings])


_Outcomes = list[Sequence[Outcome]]


def _run_all(climbs: Sequence[_Climb], name: str, device: Device) -> list[_Outcomes | None]:
    """Outcomes of every trial of every task; together, or one by one when a batch is refused."""
    if not climbs:
        return []
    try:
        return list(_run(climbs, device))
    except Exception as e:  # noqa: BLE001 — emitter or compiler failed on somebody's kernel
        if len(climbs) == 1:
            _refused(climbs[0], name, device, e)
            return [None]
        if isinstance(e, UnsupportedError | LimitError):
            able = [_can_say(c, device.language) for c in climbs]
            if any(able) and not all(able):
                return _run_apart(climbs, able, name, device)
    half = len(climbs) // 2
    return [*_run_all(climbs[:half], name, device), *_run_all(climbs[half:], name, device)]


def _can_say(climb: _Climb, language: str) -> bool:
    return all(supports(t.launch.kernel, language) is None for t in climb.trials)


def _run_apart(
    climbs: Sequence[_Climb], able: Sequence[bool], name: str, device: Device
) -> list[_Outcomes | None]:
    """Outcomes of the tasks that the language can say, together, and of the others."""
    together = _run_all([c for c, yes in zip(climbs, able, strict=True) if yes], name, device)
    rest = iter(together)
    return [
        next(rest) if yes else _run_all([c], name, device)[0]
        for c, yes in zip(climbs, able, strict=True)
    ]


def _refused(climb: _Climb, name: str, device: Device, error: Exception) -> None:
    if isinstance(error, FormatError | LimitError | UnsupportedError):
        climb.results.append(RungResult(Rung.EMIT, name, unsupported=str(error)))
        return
    finding = _raised(Rung.EMIT, error, name)
    kernel = _first_refused(climb, device)
    if kernel is not None:
        finding = replace(finding, kernel=kernel.name, node=kernel.origin)
    climb.findings.append(finding)


def _first_refused(climb: _Climb, device: Device) -> Kernel | None:
    """The first kernel that the device refuses together with those before it."""
    for count in range(1, len(climb.trials) + 1):
        part = climb.apart()
        part.trials = climb.trials[:count]
        try:
            _run([part], device)
        except Exception:  # noqa: BLE001 — whatever it is, it is on record for the whole task
            return climb.trials[count - 1].launch.kernel
    return None


def _run(climbs: Sequence[_Climb], device: Device) -> list[_Outcomes]:
    tests = [t for c in climbs for t in c.trials]
    compiled = device.compile([t.launch.kernel for t in tests])
    jobs = [jobs_of(t, k) for t, k in zip(tests, compiled, strict=True)]
    flat = iter(device.run([j for pair in jobs for j in pair]))
    outcomes = iter([[next(flat) for _ in pair] for pair in jobs])
    return [[next(outcomes) for _ in c.trials] for c in climbs]


def _raised(rung: Rung, error: Exception, backend: str) -> Finding:
    kind = type(error).__name__
    verdict = Verdict.UNSUPPORTED if isinstance(error, NotImplementedError) else Verdict.WRONG
    what = "the compiler refused the text" if isinstance(error, DeviceError) else "raised"
    message = f"{what}: {kind}: {error}"
    return Finding(rung, verdict, message, backend=backend, origin=f"raised {kind}")


def _report(climb: _Climb) -> Report:
    order = {rung: n for n, rung in enumerate(Rung)}
    return Report(
        climb.task.name,
        tuple(sorted(climb.results, key=lambda r: order[r.rung])),
        tuple(sorted(climb.findings, key=lambda f: order[f.rung])),
        derived=climb.made,
    )
