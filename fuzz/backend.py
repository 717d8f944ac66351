"""Foreign backends: anybody's compiler behind three names.

Defines the `Backend` protocol, and `Host`, which runs one in a process of its own so that a crash
or a hang becomes an answer. Relies on `child`. It does not judge results: see `blackbox`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from tang.fuzz.child import Child, ChildDiedError, ChildTimeoutError, load
from tang.ir import from_json, to_json
from tang.ir.graph import Graph

Array = NDArray[Any]


class Backend(Protocol):
    """A compiler to be fuzzed. Implement these; `tang fuzz --backends package.module:factory`."""

    @property
    def name(self) -> str:
        """How reports call it."""

    def supports(self, graph: Graph) -> str | None:
        """None when the graph can be run, else why not: counted as UNSUPPORTED, never as a pass."""

    def run(self, graph: Graph, inputs: Mapping[str, Array]) -> Mapping[str, Array]:
        """Compile and run a graph without symbols; an array per output name.

        Asked twice about every case: two answers that differ are NONDETERMINISTIC.
        Real inputs are f64 arrays whose values are exactly f32, indices i64, truth values bool.
        """


@dataclass(frozen=True, slots=True)
class Unsupported:
    """The backend declined."""

    reason: str


@dataclass(frozen=True, slots=True)
class Died:
    """The backend's process ended."""

    reason: str


@dataclass(frozen=True, slots=True)
class Hung:
    """The backend did not answer, or did not even start, in time."""

    seconds: float
    what: str = "no answer"


Answer = dict[str, Array] | Unsupported | Died | Hung


_START: Final = 3
"""Imports may take so many times as long as an answer."""


class Host:
    """A backend in a process of its own, started again after it died."""

    def __init__(self, factory: str, seconds: float = 20.0) -> None:
        self._factory, self._seconds = factory, seconds
        self._child: Child | None = None

    def run(self, graph: Graph, inputs: Mapping[str, Array]) -> Answer:
        """What the backend answers for a graph without symbols."""
        limit, what = self._seconds * _START, "not started"
        try:
            if self._child is None:
                self._child = Child("tang.fuzz.backend:serve", self._factory)
                self._child.ask(None, limit)
            limit, what = self._seconds, "no answer"
            answer: Answer = self._child.ask((to_json(graph), dict(inputs)), limit)
        except ChildDiedError as e:
            self._child = None
            return Died(str(e))
        except ChildTimeoutError:
            self._child = None
            return Hung(limit, what)
        return answer

    def close(self) -> None:
        """End the process."""
        if self._child is not None:
            self._child.close()
            self._child = None


Question = tuple[str, dict[str, Array]] | None


def serve(factory: str) -> Callable[[Question], Answer | None]:
    """The child's handler: an exception of the backend ends the process, with its traceback.

    The question None is answered by None: the backend has started.
    """
    backend: Backend = load(factory)()

    def answer(message: Question) -> Answer | None:
        if message is None:
            return None
        graph = from_json(message[0])
        reason = backend.supports(graph)
        if reason is not None:
            return Unsupported(_reason(reason))
        return {name: np.asarray(v) for name, v in backend.run(graph, message[1]).items()}

    return answer


def _reason(answer: object) -> str:
    """The reason; a truth value, or nothing, would pass for a run that compared nothing."""
    if not isinstance(answer, str) or not answer:
        raise TypeError(f"supports() answers None or a reason, not {answer!r}")
    return answer
