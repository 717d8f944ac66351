"""A pool of children that survives their death.

Defines `Pool`: tasks go in, (task, answer) pairs come out in any order, `Died` being an answer too.
Relies on `child` and on `select`. It does not know what tasks mean.
"""

from __future__ import annotations

import select
import time
from collections import deque
from dataclasses import dataclass
from typing import Any

from tang.errors import DeviceError
from tang.fuzz.child import Child, ChildDiedError, ChildStartError, ChildTimeoutError

_NO_START = (
    "a worker process cannot import tang as this one did: does `python -P -c 'import tang.fuzz'` "
    "work here, and does no folder of the current one hide the package?"
)


@dataclass(frozen=True, slots=True)
class Died:
    """The child ended, or was ended for taking too long, before it answered."""

    reason: str
    timeout: bool = False


@dataclass(slots=True)
class _Slot:
    """A place for a child; it is started when first needed and again after a death."""

    child: Child | None = None
    task: Any = None
    deadline: float = 0.0


class Pool:
    """So many children with one handler; see `Child`."""

    def __init__(self, target: str, arguments: tuple[object, ...], size: int) -> None:
        self._target, self._arguments = target, arguments
        self._slots = [_Slot() for _ in range(size)]
        self._waiting: deque[tuple[Any, float]] = deque()

    @property
    def idle(self) -> bool:
        """Whether a child has nothing to do and nothing waits."""
        return not self._waiting and any(s.task is None for s in self._slots)

    @property
    def busy(self) -> bool:
        """Whether an answer is still to come."""
        return bool(self._waiting) or any(s.task is not None for s in self._slots)

    def submit(self, task: object, seconds: float) -> None:
        """Run a task as soon as a child is free; it may then take so many seconds."""
        self._waiting.append((task, seconds))
        self._assign()

    def results(self) -> list[tuple[Any, Any]]:
        """At least one (task, answer), waiting for it if need be; [] when nothing runs."""
        running = {s.child.fileno(): s for s in self._slots if s.task is not None and s.child}
        if not running:
            return []
        left = max(0.0, min(s.deadline for s in running.values()) - time.monotonic())
        ready, _, _ = select.select(list(running), [], [], left)
        now = time.monotonic()
        done = [(s, n in ready) for n, s in running.items() if n in ready or s.deadline <= now]
        answers = [self._finish(slot, answered) for slot, answered in done]
        self._assign()
        return answers

    def close(self) -> None:
        """End all children."""
        for slot in self._slots:
            if slot.child is not None:
                slot.child.close()

    def _assign(self) -> None:
        for slot in self._slots:
            if slot.task is None and self._waiting:
                slot.task, seconds = self._waiting.popleft()
                slot.child = slot.child or Child(self._target, *self._arguments)
                slot.deadline = time.monotonic() + seconds
                slot.child.send(slot.task)

    def _finish(self, slot: _Slot, ready: bool) -> tuple[Any, Any]:
        task, slot.task = slot.task, None
        child = slot.child
        if child is None:
            return task, Died("there was no process")
        answer: Any
        try:
            answer = child.receive(60.0 if ready else 0.0)
        except ChildStartError as e:
            slot.child = None
            raise DeviceError(f"{_NO_START}: {e}") from None
        except ChildDiedError as e:
            slot.child, answer = None, Died(str(e))
        except ChildTimeoutError:
            slot.child, answer = None, Died("no answer in time", timeout=True)
        return task, answer
