"""The rung `lower`: the program in f64 against its plan in f64 arithmetic with abstract maths.

Suspect: schedule and lowering. Relies on the interpreter, on replay in the domain "measured", and
on balls where the screen of DESIGN §1.1 settles nothing. It cannot see faults of formats, of
portable maths or of emitted text, which are other rungs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tang.emulator.domains import balls as ball_domain
from tang.emulator.replay import Replay, replay
from tang.interpreter import Balls, Decision, Measured, compare, decide
from tang.interpreter.arithmetic import Mask
from tang.interpreter.equality import scale_of
from tang.interpreter.measured import without_error
from tang.ir.expr import Sort
from tang.kernel.plan import Launch
from tang.verify.compare import describe
from tang.verify.report import Finding, RungResult
from tang.verify.sanitizer import sanitizer_findings
from tang.verify.subject import Subject, written
from tang.verify.verdict import Rung, Verdict


@dataclass(frozen=True, slots=True)
class Lowered:
    """The rung's result, its findings, and the replay for rungs above."""

    result: RungResult
    findings: tuple[Finding, ...]
    replayed: Replay


def check_lower(subject: Subject) -> Lowered:
    """Compare every buffer that holds a tensor, in program order, up to the first fault."""
    plan = subject.plan
    right = replay(plan, subject.stored, domain="measured", sizes=subject.sizes)
    sides = _Sides(subject, right)
    elements = skipped = undecided = 0
    findings = sanitizer_findings(right.findings, plan, Rung.LOWER)
    for launch in plan.launches:
        for name in written(launch):
            if name not in subject.reference or findings:
                continue
            decisions, ignored = sides.decisions(name)
            elements += decisions.size
            skipped += int(ignored.sum())
            undecided += int((decisions == Decision.UNDECIDED).sum())
            if (decisions == Decision.DIFFERENT).any():
                findings.append(sides.finding(launch, name, decisions != Decision.DIFFERENT))
    result = RungResult(Rung.LOWER, "", elements, 0, undecided, skipped)
    return Lowered(result, tuple(findings), right)


class _Sides:
    """Both sides of the rung, in f64 with errors and, on demand, in balls."""

    def __init__(self, subject: Subject, right: Replay) -> None:
        self.subject = subject
        self.right = right
        self.lenient = splits_a_lenient_monoid(subject)
        self.left_balls = functools.cache(self._reference_balls)
        self.right_balls = functools.cache(self._replay_balls)
        self.screened = functools.cache(self._screened)

    def decisions(self, name: str) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.int8]], Mask]:
        """EQUAL, DIFFERENT or UNDECIDED per element, and which elements were skipped."""
        pending, ignored = self.screened(name)
        sides = (self._side(self.left_balls, name), self._side(self.right_balls, name))
        scale = scale_of(self.subject.reference[name])
        return np.asarray(decide(*sides, pending, scale), np.int8), ignored

    def _screened(self, name: str) -> tuple[Mask, Mask]:
        """What the screen leaves to balls, and which elements are skipped."""
        left, right = self.subject.reference[name], self.measured(name)
        ignored = np.zeros(left.shape, np.bool_)
        if self.lenient and np.asarray(left.value).dtype.kind == "f":
            ignored = ~(np.isfinite(left.value) & np.isfinite(right.value))
        return np.asarray(~(compare(left, right) | ignored)), ignored

    @functools.cached_property
    def pending(self) -> frozenset[str]:
        """Buffers with elements that the screen leaves to balls; they are evaluated together."""
        reference = self.subject.reference
        same = (n for n in reference if reference[n].shape == self.measured(n).shape)
        return frozenset(n for n in same if self.screened(n)[0].any())

    def measured(self, name: str) -> Measured:
        """The replayed buffer with its error."""
        planes = self.right.planes.get(name)
        if planes is None:
            return without_error(_exact(self.subject, name, self.right.buffers[name]))
        return Measured(planes["value"], planes["err"])

    def finding(self, launch: Launch, name: str, equal: Mask) -> Finding:
        left, right = self.subject.reference[name], self.measured(name)
        buffer = self.subject.plan.buffer(name)
        a, b = np.asarray(left.value), np.asarray(right.value)
        worst = f"forward errors there: {_at(left.err, equal)} and {_at(right.err, equal)}"
        detail = describe(a, b.astype(a.dtype), equal, ("interpreter", "plan"), worst)
        return Finding(
            Rung.LOWER,
            Verdict.WRONG,
            f"buffer {name} ({buffer.ref}) is not what the program means",
            kernel=launch.kernel.name,
            node=launch.kernel.origin if buffer.ref is None else buffer.ref.node,
            detail=detail,
            origin=f"kernel role {launch.kernel.role}",
        )

    @staticmethod
    def _side(source: Callable[[int], dict[str, Balls]], name: str) -> Callable[[int], Balls]:
        return lambda prec: source(prec)[name]

    def _reference_balls(self, prec: int) -> dict[str, Balls]:
        return self.subject.reference_balls(prec, self.pending)

    def _replay_balls(self, prec: int) -> dict[str, Balls]:
        s, domain = self.subject, ball_domain(prec)
        plan = s.plan_of(self.pending)
        done = replay(plan, s.stored, domain=domain, sizes=s.sizes, sanitize=False)
        return {n: Balls(done.buffers[n], _sort(s, n)) for n in self.pending}


def _exact(subject: Subject, name: str, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A buffer of indices or bools as the interpreter would hold it."""
    return array != 0 if _sort(subject, name) is Sort.BOOL else array


def _sort(subject: Subject, name: str) -> Sort:
    return subject.plan.buffer(name).sort


def _at(err: object, equal: Mask) -> str:
    return f"{np.ravel(np.broadcast_to(np.asarray(err), equal.shape))[~np.ravel(equal)][0]:.3g}"


def splits_a_lenient_monoid(subject: Subject) -> bool:
    """Whether a monoid whose laws hold over finite values only is folded in chunks or runs."""
    nodes, schedule = subject.task.graph.nodes, subject.schedule
    chosen = [(n, schedule.of(n.name)) for n in nodes]
    split = [n for n, s in chosen if s.split > 1 or s.lanes > 1 or s.promote]
    return any(n.monoid is not None and not n.monoid.strict for n in split)
