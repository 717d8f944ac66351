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
from tang.verify.buffers import first_difference, shared_buffers
from tang.verify.promoted import check_promoted
from tang.verify.report import Finding, RungResult
from tang.verify.rounded import plan_findings
from tang.verify.subject import Subject, scheduled
from tang.verify.verdict import Rung


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
    pairs = shared_buffers(plain, left, subject.plan, right)
    found = first_difference(subject.plan, pairs, ("stored", "placed"))
    if found is None:
        return ()
    name, ref = found.buffer.name, found.buffer.ref
    said = f"buffer {name} ({ref}) depends on which nodes are inlined or epilogues"
    return (found.finding(Rung.LOWER, said, found.node, "places"),)


def everywhere_stored(schedule: Schedule) -> Schedule:
    """The schedule with every node in a kernel of its own."""
    nodes = tuple((n, replace(s, place="materialise")) for n, s in schedule.nodes)
    return replace(schedule, nodes=nodes)
