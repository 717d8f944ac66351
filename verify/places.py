"""Places against bits: inlined nodes and epilogues compute what kernels of their own would store.

Defines `check_places`, a part of the rung `lower`: the plan and the plan of the same schedule with
every node in a kernel of its own, both replayed in formats, agree bit for bit in every buffer that
both have. Relies on replay. It sees lost roundings, which f64 arithmetic does not, and nothing of
what both plans share; where they differ, the other plan's own roundings are judged first, and where
it is beyond a limit it compares nothing, and says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tang.emulator.replay import Replay, replay
from tang.errors import LimitError
from tang.kernel.lower import lower
from tang.kernel.plan import Plan
from tang.kernel.schedule import Schedule
from tang.verify.compare import describe, memory_equal
from tang.verify.promoted import check_promoted
from tang.verify.report import Finding, RungResult
from tang.verify.rounded import plan_findings
from tang.verify.subject import Subject, scheduled, written
from tang.verify.verdict import Rung, Verdict


@dataclass(frozen=True, slots=True)
class Placed:
    """The first buffer whose bits depend on places, or why nothing could be compared."""

    findings: tuple[Finding, ...] = ()
    unsupported: str = ""

    @property
    def results(self) -> tuple[RungResult, ...]:
        """What the rung has to say besides: a comparison that was not made."""
        return (RungResult(Rung.LOWER, unsupported=self.unsupported),) if self.unsupported else ()


def check_places(subject: Subject) -> Placed:
    """Compare the plan with that of the same schedule without inlined nodes and epilogues."""
    schedule = scheduled(subject.task)
    if all(s.place == "materialise" for _, s in schedule.nodes):
        return Placed()
    try:
        plain = lower(subject.task.graph, everywhere_stored(schedule))
        left = replay(plain, subject.stored, sizes=subject.sizes, sanitize=False)
    except (LimitError, MemoryError) as e:  # a tensor that only inlining avoids
        text = "inlined nodes and epilogues are not compared with kernels of their own"
        return Placed(unsupported=f"{text}: {e}")
    found = _differing(subject, plain, left)
    return Placed(_of_the_plain(subject, plain) or found) if found else Placed()


def _of_the_plain(subject: Subject, plain: Plan) -> tuple[Finding, ...]:
    """What the rung `round` says of the other plan: where that is at fault, places are not."""
    task = replace(subject.task, schedule=everywhere_stored(scheduled(subject.task)))
    stored = replace(subject, task=task, plan=plain, expanded=plain)
    return tuple(plan_findings(stored) or check_promoted(stored))


def _differing(subject: Subject, plain: Plan, left: Replay) -> tuple[Finding, ...]:
    """The finding on the first buffer of both plans that does not agree."""
    right = replay(subject.plan, subject.stored, sizes=subject.sizes, sanitize=False)
    names = {b.ref: b.name for b in plain.buffers if b.ref is not None}
    for launch in subject.plan.launches:
        for name in written(launch):
            ref = subject.plan.buffer(name).ref
            if ref is None or ref not in names:
                continue
            a, b = left.buffers[names[ref]], right.buffers[name]
            equal = memory_equal(a, b, subject.plan.buffer(name).type)
            if not equal.all():
                detail = describe(a, b, equal, ("stored", "placed"))
                return (_finding(subject.plan, name, detail, launch.kernel.name),)
    return ()


def everywhere_stored(schedule: Schedule) -> Schedule:
    """The schedule with every node in a kernel of its own."""
    nodes = tuple((n, replace(s, place="materialise")) for n, s in schedule.nodes)
    return replace(schedule, nodes=nodes)


def _finding(plan: Plan, name: str, detail: str, kernel: str) -> Finding:
    ref = plan.buffer(name).ref
    return Finding(
        Rung.LOWER,
        Verdict.WRONG,
        f"buffer {name} ({ref}) depends on which nodes are inlined or epilogues",
        kernel=kernel,
        node=ref.node if ref is not None else "",
        detail=detail,
        origin="places",
    )
