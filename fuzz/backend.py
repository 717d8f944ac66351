"""Foreign backends: anybody's compiler behind three names.

Defines the `Backend` protocol, and `Host`, which runs one in a process of its own so that a crash
or a hang becomes an answer. Relies on `child`. It does not judge results: see `blackbox`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

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
    """The backend did not answer in time."""

    seconds: float


Answer = dict[str, Array] | Unsupported | Died | Hung


class Host:
    """A backend in a process of its own, started again after it died."""

    def __init__(self, factory: str, seconds: float = 20.0) -> None:
        self._factory, self._seconds = factory, seconds
        self._child: Child | None = None

    def run(self, graph: Graph, inputs: Mapping[str, Array]) -> Answer:
        """What the backend answers for a graph without symbols."""
        fresh = self._child is None
        child = self._child = self._child or Child("tang.fuzz.backend:serve", self._factory)
        try:
            # The first answer includes imports, which may take their time.
            answer: Answer = child.ask(
                (to_json(graph), dict(inputs)), self._seconds * (1 + 2 * fresh)
            )
        except ChildDiedError as e:
            self._child = None
            return Died(str(e))
        except ChildTimeoutError:
            self._child = None
            return Hung(self._seconds)
        return answer

    def close(self) -> None:
        """End the process."""
        if self._child is not None:
            self._child.close()
            self._child = None


def serve(factory: str) -> Callable[[tuple[str, dict[str, Array]]], Answer]:
    """The child's handler: an exception of the backend ends the process, with its traceback."""
    backend: Backend = load(factory)()

    def answer(message: tuple[str, dict[str, Array]]) -> Answer:
        graph = from_json(message[0])
        reason = backend.supports(graph)
        if reason is not None:
            return Unsupported(reason)
        return {name: np.asarray(v) for name, v in backend.run(graph, message[1]).items()}

    return answer
