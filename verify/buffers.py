"""Two replays buffer by buffer: the first one, launch by launch, that differs.

Defines `first_difference` and `shared_buffers`. Relies on comparison to the last bit. What a
difference means is said by who asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tang.emulator.replay import Replay
from tang.kernel.plan import Buffer, Launch, Plan
from tang.verify.compare import Array, describe, memory_equal
from tang.verify.report import Finding
from tang.verify.subject import written
from tang.verify.verdict import Rung, Verdict

Pairs = Mapping[str, tuple[Array, Array]]
"""Both sides of buffers, by their name."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A buffer whose sides differ, after which launch, and the first values that do."""

    launch: Launch
    buffer: Buffer
    detail: str

    @property
    def node(self) -> str:
        """The node whose result the buffer holds; "" where it holds partial states."""
        return "" if self.buffer.ref is None else self.buffer.ref.node

    def finding(self, rung: Rung, message: str, node: str, origin: str) -> Finding:
        """The difference as a fault of its kernel."""
        kernel = self.launch.kernel.name
        return Finding(
            rung, Verdict.WRONG, message, kernel, node=node, detail=self.detail, origin=origin
        )


def first_difference(plan: Plan, pairs: Pairs, sides: tuple[str, str]) -> Difference | None:
    """The first buffer that a launch of the plan writes and whose sides hold other bits."""
    for launch in plan.launches:
        for name in written(launch):
            if name in pairs:
                buffer, (a, b) = plan.buffer(name), pairs[name]
                equal = memory_equal(a, b, buffer.type)
                if not equal.all():
                    return Difference(launch, buffer, describe(a, b, equal, sides))
    return None


def shared_buffers(other: Plan, left: Replay, plan: Plan, right: Replay) -> Pairs:
    """What two plans store of the same results, by the names of the second plan's buffers."""
    names = {b.ref: b.name for b in other.buffers if b.ref is not None}
    return {
        b.name: (left.buffers[names[b.ref]], right.buffers[b.name])
        for b in plan.buffers
        if b.ref in names
    }
