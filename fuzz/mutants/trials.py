"""Trials: one mutant on one backend, in a process that shares the clean part of the campaign.

Defines `Ask`, `Trial` and `serve`, the handler of a child that draws cases once, climbs the ladder
once up to replay, and forks a process per trial in which the mutant is planted. Relies on the
ladder: a mutant of an emitter or a device cannot change draws, references or replays, one of a rule
or of autodiff is searched for on its own rung (`rule_trials`), and for any other one the whole
ladder is climbed again from the derived programs. It helps no verdict and chooses no mutant.
"""

from __future__ import annotations

import functools
import os
import pickle
import select
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from types import CodeType
from typing import Any, Final, NoReturn

from tang.fuzz.case import Case, draw_batch
from tang.fuzz.derivations import derived_program
from tang.fuzz.formats import Formats
from tang.fuzz.mutants.apply import Mutant, apply_mutant
from tang.fuzz.mutants.blame import emitted, harmed
from tang.fuzz.mutants.catalogue import DERIVING, mutant_named, rules_of
from tang.fuzz.mutants.rule_trials import Clean, replaced_code, search
from tang.kernel.profile import Profile
from tang.verify import Finding, Report, Rung, Task, Verdict, verify_batch
from tang.verify.backends import open_backend
from tang.verify.ladder import Climb, climbs_of, emitted_on

_STAGES: Final = (16, 50, 100)
"""Draws that are known before a process is forked; from the last one on, so many more each."""
_BATCHES: Final = (2, 4, 10)
"""Sizes of the first batches, and of all that follow: most mutants show at once."""
_SLOW: Final = 30.0
"""Seconds that a draw may take in a forked process, and four times that to start."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A question for the child: does this mutant show on this backend within so many draws?"""

    mutant: str
    backend: str
    seed: int
    formats: Formats
    examples: int


@dataclass(frozen=True, slots=True)
class Trial:
    """A mutant on a backend: the draw that found it (None: not found) and what was said of it.

    origin  what the finding was bucketed by: on the rung `rewrite` the rule that was named
    named   whether a kernel was named that the mutant harms, or the rule that it breaks; true on
            rungs that run no kernel
    """

    mutant: Mutant
    seed: int
    backend: str
    draw: int | None = None
    blamed: str = ""
    verdict: str = ""
    kernel: str = ""
    named: bool = False
    origin: str = ""

    @property
    def caught(self) -> bool:
        """Whether it was found."""
        return self.draw is not None

    @property
    def exact(self) -> bool:
        """Found on the right rung, with a right verdict and a kernel that it harms."""
        right = self.verdict in {v.value for v in self.mutant.verdicts}
        rung = self.blamed == self.mutant.rung.value
        return self.caught and rung and self.named and (right or self.mutant.rung != Rung.EMIT)


@dataclass(frozen=True, slots=True)
class Hit:
    """The first finding of a trial: its draw, and the texts of the draw's kernels there."""

    index: int
    finding: Finding
    texts: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Known:
    """The clean part of one campaign, as far as it has been drawn."""

    seed: int
    formats: Formats
    drawn: list[Case] = field(default_factory=list)
    clean: Clean = field(default_factory=lambda: Clean(_watched(), forget))
    cases: list[Case] = field(default_factory=list)
    climbs: list[Climb] = field(default_factory=list)
    profiles: dict[str, Profile] = field(default_factory=dict)

    def draw(self, count: int) -> None:
        """Know so many draws."""
        missing = count - len(self.drawn)
        self.drawn += draw_batch(self.seed, max(missing, 0), len(self.drawn), self.formats)

    def derive(self, count: int) -> None:
        """Know so many draws, and what their recipes do."""
        self.draw(count)
        self.clean.grow(self.drawn[:count])

    def grow(self, count: int, climb: bool) -> None:
        """Know so many derived programs, and their references if wanted."""
        self.draw(count)
        self.cases += [_derived(c) for c in self.drawn[len(self.cases) : count]]
        if climb:
            self.climbs += climbs_of([_task(c) for c in self.cases[len(self.climbs) : count]])

    def profile(self, backend: str) -> None:
        """Know the profile of a device that opens its driver to find it, if need be by itself."""
        if backend not in self.profiles:
            found = _asked(lambda: open_backend(backend).profile, backend)
            if isinstance(found, Profile):
                self.profiles[backend] = found


def serve() -> Callable[[Ask], dict[str, Any]]:
    """The child's handler: the fields of a Trial but for its mutant."""
    known: dict[tuple[int, Formats], _Known] = {}

    def answer(ask: Ask) -> dict[str, Any]:
        part = known.setdefault((ask.seed, ask.formats), _Known(ask.seed, ask.formats))
        return _answer(ask, part)

    return answer


def trial_of(ask: Ask, answer: Mapping[str, Any]) -> Trial:
    """The trial that an answer describes."""
    return Trial(mutant_named(ask.mutant), ask.seed, ask.backend, **answer)


def is_late(mutant: Mutant) -> bool:
    """Whether a mutant can change nothing before kernels are emitted."""
    return all(p.startswith(("tang.emit", "tang.device")) for p in mutant.paths)


def _answer(ask: Ask, known: _Known) -> dict[str, Any]:
    mutant = mutant_named(ask.mutant)
    done, hit = 0, None
    for stage in _stages(ask.examples):
        if mutant.rung is Rung.REWRITE:
            known.derive(stage)
            hit = _forked_derivations(mutant, known, done, stage)
        else:
            known.grow(stage, is_late(mutant))
            known.profile(ask.backend)
            hit = _forked(mutant, ask.backend, known, done, stage)
        if hit is not None:
            return _described(mutant, known, hit)
        done = stage
    return {}


def _stages(examples: int) -> list[int]:
    ends = [*_STAGES, *range(2 * _STAGES[-1], examples + _STAGES[-1], _STAGES[-1])]
    return list(dict.fromkeys(min(n, examples) for n in ends))


def _described(mutant: Mutant, known: _Known, hit: Hit) -> dict[str, Any]:
    finding = hit.finding
    named = finding.rung is not Rung.EMIT
    if mutant.rung is Rung.REWRITE:
        named = finding.origin.removeprefix("rule ") in rules_of(mutant)
    if not named and finding.kernel:
        case = known.cases[hit.index]
        named = finding.kernel in harmed(mutant, case, finding.backend, hit.texts)
    return {
        "draw": hit.index + 1,
        "blamed": finding.rung.value,
        "verdict": finding.verdict.value,
        "kernel": finding.kernel,
        "named": named,
        "origin": finding.origin,
    }


# --- the forked process ---------------------------------------------------------------------------


def _forked(mutant: Mutant, backend: str, known: _Known, start: int, stop: int) -> Hit | None:
    """The first finding in draws start … stop − 1 with the mutant planted, in a fresh process."""

    def search() -> Hit | None:
        forget()
        apply_mutant(mutant)
        _give_profile(known, backend)
        return _search(mutant, backend, known, start, stop)

    found = _asked(search, backend, _SLOW * (stop - start + 4))
    if found is None or isinstance(found, Hit):
        return found
    return Hit(start, Finding(mutant.rung, Verdict.CRASH, str(found), backend=backend))


def _forked_derivations(mutant: Mutant, known: _Known, start: int, stop: int) -> Hit | None:
    """The same for a mutant of a rule or of autodiff; no device is opened."""

    code = replaced_code(mutant)

    def look() -> Hit | None:
        forget()
        apply_mutant(mutant)
        found = search(known.drawn, known.clean, code, start, stop)
        return None if found is None else Hit(found[0], replace(found[1], detail=""))

    answer = _asked(look, None, _SLOW * (stop - start + 4))
    if answer is None or isinstance(answer, Hit):
        return answer
    return Hit(start, Finding(mutant.rung, Verdict.CRASH, str(answer)))


def _watched() -> frozenset[CodeType | None]:
    """What mutants of rules and autodiff replace."""
    return frozenset(map(replaced_code, DERIVING))


def forget() -> None:
    """Empty every cache of tang's functions: what they hold was made without the mutant."""
    for name, module in list(sys.modules.items()):
        if module is not None and (name == "tang" or name.startswith("tang.")):
            for value in list(vars(module).values()):
                if callable(getattr(value, "cache_clear", None)):
                    value.cache_clear()


def _give_profile(known: _Known, backend: str) -> None:
    """Spare a device the work of finding its profile, where it would keep what it finds."""
    device = open_backend(backend)
    kept = vars(type(device)).get("profile")
    if backend in known.profiles and isinstance(kept, functools.cached_property):
        vars(device)["profile"] = known.profiles[backend]


def _asked(question: Callable[[], Any], backend: str | None, seconds: float = 600.0) -> Any:  # noqa: ANN401 - any answer
    """What a question gives in a forked process; a text where that failed, died or hung."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _answer_and_end(question, backend, writing)
    os.close(writing)
    try:
        return _received(reading, seconds)
    finally:
        os.close(reading)
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _answer_and_end(question: Callable[[], Any], backend: str | None, writing: int) -> NoReturn:
    """Never returns: the answer, or an exception as a text, goes through the pipe."""
    try:
        found = question()
        if backend is not None:
            open_backend(backend).close()
    except BaseException as e:  # noqa: BLE001 — a forked process must not go on as its parent
        found = f"the checking process ended: {type(e).__name__}: {e}"
    with os.fdopen(writing, "wb") as pipe:
        pickle.dump(found, pipe)
    os._exit(0)


def _received(reading: int, seconds: float) -> Any:  # noqa: ANN401 - any answer
    """What the forked process sent."""
    deadline, data = time.monotonic() + seconds, b""
    while True:
        left = deadline - time.monotonic()
        ready, _, _ = select.select([reading], [], [], max(left, 0.0))
        if not ready:
            return f"the checking process did not answer in {seconds:g} s"
        piece = os.read(reading, 2**16)
        if not piece:
            break
        data += piece
    return pickle.loads(data) if data else "the checking process died"  # noqa: S301 - our child's


def _search(mutant: Mutant, backend: str, known: _Known, start: int, stop: int) -> Hit | None:
    """Batches of growing size, until one has a finding; the draw with the lowest index counts."""
    at = start
    for size in _sizes(start):
        if at >= stop:
            return None
        end = min(at + size, stop)
        for index, report in enumerate(_reports(mutant, backend, known, at, end), at):
            if report.findings:
                return _hit(known.cases[index], index, report.findings[0])
        at = end
    return None


def _sizes(start: int) -> Sequence[int]:
    first = () if start else _BATCHES
    return (*first, *[_BATCHES[-1]] * 10_000)


def _reports(mutant: Mutant, backend: str, known: _Known, at: int, end: int) -> list[Report]:
    if is_late(mutant):
        return emitted_on(known.climbs[at:end], backend)
    return verify_batch([_task(c) for c in known.cases[at:end]], (backend,))


def _hit(case: Case, index: int, finding: Finding) -> Hit:
    texts = emitted(case, finding.backend) if finding.backend else {}
    return Hit(index, replace(finding, detail=""), texts)


def _task(case: Case) -> Task:
    return Task(graph=case.graph, inputs=case.inputs, schedule=case.schedule, name=case.name)


def _derived(case: Case) -> Case:
    """The program that the campaign lowers for a case, with its schedule."""
    if case.recipe is None:
        return case
    try:
        graph, schedule, _ = derived_program(case.graph, case.recipe, case.formats)
    except Exception:  # noqa: BLE001 - a campaign would end at the rung `rewrite`, with a finding
        return replace(case, recipe=None)
    return replace(case, graph=graph, schedule=schedule, recipe=None)
