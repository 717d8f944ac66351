"""Pace: how many draws fit into the time that a campaign has left.

Defines `Pace`, which sizes batches and says when one is cut off. Relies on the batches that ended
before. Without a limit of seconds it changes nothing; it draws nothing and ends no process.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import Final

from tang.fuzz.pool import Died
from tang.fuzz.worker import Batch, Batched, Shrunk

_FIRST: Final = 5
"""Draws of a batch before the first one has ended, where time is limited."""


@dataclass(slots=True)
class Pace:
    """The clock of a campaign that may take `seconds` (None: for ever) and `overtime` more.

    draws, spent  of the batches that ended, the seconds in one worker
    cut           draws of batches that were cut off
    """

    seconds: float | None
    overtime: float
    start: float = field(default_factory=time.monotonic)
    draws: int = 0
    spent: float = 0.0
    cut: int = 0
    running: dict[Batch, float] = field(default_factory=dict)

    @property
    def left(self) -> float:
        """Seconds in which batches may begin."""
        return math.inf if self.seconds is None else self.start + self.seconds - time.monotonic()

    def size(self, most: int) -> int:
        """Draws of the next batch: as many as one worker is likely to end in the time left."""
        if self.seconds is None:
            return most
        if not self.draws:
            return min(most, _FIRST)
        return max(1, min(most, int(self.left * self.draws / max(self.spent, 1e-9))))

    def begin(self, batch: Batch, limit: float) -> float:
        """Note a batch that begins; the seconds that it may take, `limit` at most."""
        self.running[batch] = time.monotonic()
        return min(limit, max(self.left, 0.0) + self.overtime)

    def ended(self, batch: Batch, answer: Batched | Shrunk | Died) -> bool:
        """Note the end of a batch; whether it was the limit of seconds that cut it off."""
        began = self.running.pop(batch, None)
        if began is None:  # a part of a batch that died: it takes the time that it needs
            return False
        if isinstance(answer, Died):
            over = answer.timeout and self.left <= 0
            self.cut += batch.count if over else 0
            return over
        self.draws, self.spent = self.draws + batch.count, self.spent + time.monotonic() - began
        return False
