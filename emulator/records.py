"""What a replay reports: sanitizer findings and decisions, as frozen records.

Defines `Finding`, `Decision` and the `Journal` that collects them, one record per place with a
count. Relies on nothing. It does not judge: verdicts are the verifier's.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field, replace


class Kind(enum.Enum):
    """What the sanitizer can see."""

    OUT_OF_BOUNDS = "out-of-bounds"
    UNINITIALISED = "uninitialised-read"
    RACE = "race"
    DIVERGENT_BARRIER = "divergent-barrier"
    OVERFLOW = "integer-overflow"
    CONVERSION = "conversion"
    DIVISION = "division"
    UNWRITTEN = "unwritten"


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault of one statement: the first lane that showed it, and how many did.

    path    the statement in the kernel, as "body[0].then[2]"; "" for whole buffers
    target  the buffer, array, register or operation concerned
    thread  global id of the first lane concerned, −1 where no thread is to blame
    index   element of the target, −1 where there is none
    """

    kind: Kind
    kernel: str
    path: str
    target: str
    thread: int
    index: int
    detail: str
    count: int = 1

    def __str__(self) -> str:
        where = f"{self.kernel} {self.path}".strip()
        return f"{self.kind.value} in {where}: {self.detail} ({self.count} in all)"


@dataclass(frozen=True, slots=True)
class Decision:
    """A comparison or floor that the f64 shadow would decide otherwise.

    It is admissible iff the operands differ by no more than their error bounds together.
    """

    kernel: str
    origin: str
    path: str
    op: str
    thread: int
    left: float
    right: float
    bound: float
    admissible: bool
    count: int = 1


@dataclass(slots=True)
class Journal:
    """Collects records; later ones from the same place only add to the count."""

    _findings: dict[tuple[str, ...], Finding] = field(default_factory=dict)
    _decisions: dict[tuple[str, ...], Decision] = field(default_factory=dict)

    def find(self, finding: Finding) -> None:
        key = (finding.kind.value, finding.kernel, finding.path, finding.target)
        old = self._findings.get(key)
        new = finding if old is None else replace(old, count=old.count + finding.count)
        self._findings[key] = new

    def decide(self, decision: Decision) -> None:
        key = (decision.kernel, decision.path, decision.op, str(decision.admissible))
        old = self._decisions.get(key)
        new = decision if old is None else replace(old, count=old.count + decision.count)
        self._decisions[key] = new

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(self._findings.values())

    @property
    def decisions(self) -> tuple[Decision, ...]:
        return tuple(self._decisions.values())
