"""Workers of a campaign: draw, check, count, shrink; each in a process of its own.

Defines the tasks and their answers, and `serve`, the handler that a child runs. Relies on the check
for verdicts. It writes no files and keeps nothing between tasks but open backends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tang.fuzz.case import Case, draw_batch, draw_case
from tang.fuzz.check import Every, is_foreign, make_check
from tang.fuzz.coverage import Coverage
from tang.fuzz.formats import Formats, formats_of
from tang.fuzz.kernels import kernel_texts
from tang.fuzz.mutants import apply_mutant, mutant_named
from tang.fuzz.mutants.blame import emitted
from tang.fuzz.shrink import shrink
from tang.verify import Finding, Report, Rung, Verdict


@dataclass(frozen=True, slots=True)
class Setup:
    """What a worker needs to know once."""

    backends: tuple[str, ...]
    seed: int
    seconds: float = 20.0
    mutant: str = ""
    formats: Formats | None = None
    shrink_calls: int = 300
    shrink_seconds: float = 60.0

    @property
    def drawn(self) -> Formats:
        """What draws may ask for."""
        return self.formats or formats_of(self.backends)


@dataclass(frozen=True, slots=True)
class Batch:
    """Draw and check cases start … start + count − 1."""

    start: int
    count: int


@dataclass(frozen=True, slots=True)
class Shrink:
    """Make the case of that index small, as long as it shows a fault of that kind."""

    index: int
    finding: Finding


@dataclass(frozen=True, slots=True)
class Hit:
    """A finding and the draw that showed it; where a mutant is planted, its kernels' texts."""

    index: int
    finding: Finding
    texts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Batched:
    """The answer to a batch."""

    coverage: Coverage
    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class Shrunk:
    """The answer to a shrink: the case, its report, and the text of every kernel."""

    case: Case
    finding: Finding
    text: str
    kernels: dict[str, str]


def serve(setup: Setup) -> Callable[[Batch | Shrink], Batched | Shrunk]:
    """The child's handler."""
    if setup.mutant:
        apply_mutant(mutant_named(setup.mutant))
    check = make_check(setup.backends, setup.seconds)

    def answer(task: Batch | Shrink) -> Batched | Shrunk:
        if isinstance(task, Batch):
            return _run_batch(setup, check, task)
        return _run_shrink(setup, check, task)

    return answer


def _run_batch(setup: Setup, check: Every, task: Batch) -> Batched:
    cases = draw_batch(setup.seed, task.count, task.start, setup.drawn)
    reports = check.check(cases)
    coverage = Coverage(formats=setup.drawn)
    hits = []
    for case, report in zip(cases, reports, strict=True):
        coverage.add(case, report)
        coverage.outcomes.update(_outcomes(setup, report))
        hits += [Hit(case.index, f, _texts(setup, case, f)) for f in report.findings]
    return Batched(coverage, tuple(hits))


def _texts(setup: Setup, case: Case, finding: Finding) -> dict[str, str]:
    """What a planted mutant makes of the case's kernels."""
    return emitted(case, finding.backend) if setup.mutant and finding.backend else {}


def _outcomes(setup: Setup, report: Report) -> set[tuple[str, str]]:
    """(backend, verdict) pairs of one case; rungs that need no backend count as "replay"."""
    found = {(f.backend or "replay", f.verdict.value) for f in report.findings}
    for r in report.results:
        if r.unsupported:
            found.add((r.backend or "replay", Verdict.UNSUPPORTED.value))
        if r.undecided:
            found.add((r.backend or "replay", Verdict.UNDECIDED.value))
    spoiled = {backend for backend, _ in found}
    ladder = not setup.backends or not all(is_foreign(b) for b in setup.backends)
    names = (*(("replay",) if ladder else ()), *setup.backends)
    return found | {(n, Verdict.PASS.value) for n in names if not {n, "replay"} & spoiled}


def _run_shrink(setup: Setup, check: Every, task: Shrink) -> Shrunk:
    kind = kind_of(task.finding)
    case = draw_case(setup.seed, task.index, setup.drawn)

    def fails(candidate: Case) -> bool:
        return any(kind_of(f) == kind for f in check.check([candidate])[0].findings)

    small = shrink(case, fails, setup.shrink_calls, setup.shrink_seconds)
    report = check.check([small])[0]
    finding = next((f for f in report.findings if kind_of(f) == kind), task.finding)
    return Shrunk(small, finding, report.to_text(), kernel_texts(small))


def kind_of(finding: Finding) -> tuple[str, ...]:
    """What must stay the same while a case shrinks: rung, verdict, backend.

    A wrong answer of a foreign backend stays wrong in its values, or in its type.
    """
    kind = (finding.rung.value, finding.verdict.value, finding.backend)
    if finding.rung is Rung.BACKEND and finding.verdict is Verdict.WRONG:
        return (*kind, finding.origin)
    return kind
