"""The state of one launch while it is replayed, a lane per thread.

Defines `Machine`, `Site` and `Builtin`. Relies on the records. It executes nothing: compiled
nodes read and change it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tang.emulator.records import Finding, Journal, Kind
from tang.kernel.ir import Function, Kernel, Type

if TYPE_CHECKING:
    from tang.emulator.memory import Cells

Array = npt.NDArray[Any]
Value = Any
"""Whatever a domain computes with: an array, a scalar, a tuple of them."""


@dataclass(frozen=True, slots=True)
class Builtin:
    """A function of the device itself, as a kernel calls it; `type` is the format it is asked in.

    `implements` names the function of MATH; kernel and origin say whose call it was.
    """

    implements: str
    type: Type
    kernel: str
    origin: str


Observer = Callable[[Function | Builtin, tuple[Any, ...], Any], None]


@dataclass(frozen=True, slots=True)
class Site:
    """Where a node stands in the kernel that runs: the path of its statement."""

    path: str


class Machine:
    """Registers, memory and the active lanes of one launch.

    mask     which lanes execute now; None when all do
    regs     values by slot
    cells    memory by name: parameters and arrays
    taint    lanes whose values depend on a doubtful decision; None where that is not tracked
    doubtful whether any lane may be tainted
    """

    __slots__ = (
        "_bounds",
        "_bounds_mask",
        "cells",
        "doubtful",
        "journal",
        "kernel",
        "lanes",
        "mask",
        "observer",
        "regs",
        "sanitize",
        "taint",
        "threads",
        "workgroup",
    )

    def __init__(
        self,
        kernel: Kernel,
        lanes: int,
        slots: int,
        journal: Journal,
        *,
        sanitize: bool = True,
        tracks: bool = False,
        observer: Observer | None = None,
    ) -> None:
        self.kernel = kernel
        self.lanes = lanes
        self.workgroup = kernel.workgroup
        self.mask: Array | None = None
        self.regs: list[Any] = [None] * slots
        self.cells: dict[str, Cells] = {}
        self.journal = journal
        self.sanitize = sanitize
        self.observer = observer
        self.threads = np.arange(lanes, dtype=np.int64)
        self.taint: Array | None = np.zeros(lanes, np.bool_) if tracks else None
        self.doubtful = False
        self._bounds_mask: Array | None = None
        self._bounds = (0, max(lanes - 1, 0))

    def thread_bounds(self) -> tuple[int, int]:
        """The least and greatest active global id."""
        mask = self.mask
        if mask is None:
            return 0, self.lanes - 1
        if mask is not self._bounds_mask:
            last = self.lanes - 1 - int(mask[::-1].argmax())
            self._bounds_mask, self._bounds = mask, (int(mask.argmax()), last)
        return self._bounds

    def active(self, lanes: Value) -> Array:
        """`lanes` (a bool or one per lane) restricted to those that execute now."""
        full = np.broadcast_to(lanes, (self.lanes,))
        return np.array(full) if self.mask is None else full & self.mask

    def add_taint(self, lanes: Array) -> None:
        """Mark active lanes as depending on a doubtful decision."""
        if self.taint is not None and np.any(lanes):
            self.taint |= self.active(lanes)
            self.doubtful = True

    def report(
        self, kind: Kind, site: Site, target: str, bad: Value, index: Value, text: str
    ) -> None:
        """Record a fault of the active lanes in `bad`; `text` may use {index} and {thread}."""
        if not self.sanitize:
            return
        guilty = np.flatnonzero(self.active(bad))
        if not guilty.size:
            return
        first = int(guilty[0])
        at = int(index[first]) if isinstance(index, np.ndarray) else int(index)
        detail = text.format(index=at, thread=first)
        self.journal.find(
            Finding(kind, self.kernel.name, site.path, target, first, at, detail, int(guilty.size))
        )
