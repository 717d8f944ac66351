"""Devices: what a backend can do, the jobs given to it and what may come of them.

Defines the `Device` protocol, compiled kernels, jobs and their closed set of outcomes. Relies on
storage formats alone. It names no backend; a crash, a hang or a lack of memory is a value here,
never an exception.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from tang.device.storage import AnyArray, Poison
from tang.emit.unit import emit
from tang.kernel.ir import Kernel, Type
from tang.kernel.profile import Profile

GUARD_BYTES: Final = 256
"""Guard zone on either side of every buffer of a job; also the alignment of buffers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a device can hold; None where only memory is the limit."""

    index_bits: int = 64
    workgroup: int | None = None
    shared_bytes: int | None = None
    buffers: int | None = None


@dataclass(frozen=True, slots=True)
class Compiled:
    """A kernel that a device can launch: its library and its symbol there.

    `foreign` is its text when it was not emitted from the kernel.
    """

    kernel: Kernel
    language: str
    symbol: str
    library: str
    foreign: str | None = None

    @property
    def text(self) -> str:
        """The kernel's own text, complete without the others of its library."""
        return self.foreign if self.foreign is not None else emit(self.kernel, self.language)


@dataclass(frozen=True, slots=True)
class Job:
    """One launch on given contents.

    buffers  what each parameter holds before, in memory format, any shape, C order
    groups   workgroups 0 … groups−1 run
    guard    fills the zones around each buffer
    repeat   launches, each timed (contents carry over from one to the next)
    """

    compiled: Compiled
    buffers: tuple[AnyArray, ...]
    scalars: tuple[int, ...]
    groups: int
    guard: Poison = Poison.NAN
    repeat: int = 1


@dataclass(frozen=True, slots=True)
class Memory:
    """A buffer after a launch, and the guard zones before and after it."""

    data: AnyArray
    before: bytes
    after: bytes

    def intact(self, word: bytes) -> bool:
        """Whether both zones still hold nothing but the word."""
        return self.before == self.after == word * (GUARD_BYTES // len(word))


@dataclass(frozen=True, slots=True)
class Ran:
    """The job ended; one memory per parameter, and the time of each launch in seconds."""

    memories: tuple[Memory, ...]
    seconds: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Crash:
    """The kernel killed its process; the signal by name, or how the process ended."""

    reason: str


@dataclass(frozen=True, slots=True)
class Timeout:
    """The kernel ran longer than its deadline."""

    seconds: float


@dataclass(frozen=True, slots=True)
class OutOfMemory:
    """The job needs more memory than it may have."""

    reason: str


Outcome = Ran | Crash | Timeout | OutOfMemory


@dataclass(frozen=True, slots=True)
class Allocation:
    """Memory of a device: its element type, its size, and the device's own handle."""

    type: Type
    count: int
    handle: Any


class Device(Protocol):
    """A backend.

    compile … time work in this process for speed; `run` works in a process of its own, so that
    whatever a kernel does becomes an outcome. Every method raises DeviceError when the device
    itself fails.
    """

    @property
    def name(self) -> str: ...
    @property
    def language(self) -> str: ...
    @property
    def limits(self) -> Limits: ...
    @property
    def profile(self) -> Profile:
        """How it computes: IEEE where the bits are asserted (every CPU stack), else as probed."""
        ...

    def compile(self, kernels: Sequence[Kernel]) -> tuple[Compiled, ...]:
        """Compile kernels together; equal texts may share one library."""
        ...

    def allocate(self, element: Type, count: int) -> Allocation:
        """Uninitialised memory."""
        ...

    def upload(self, element: Type, data: AnyArray) -> Allocation:
        """Memory that holds an array in memory format (and may share its bytes)."""
        ...

    def launch(
        self,
        compiled: Compiled,
        buffers: Sequence[Allocation],
        scalars: Sequence[int],
        groups: int,
    ) -> None:
        """Run workgroups 0 … groups−1 after everything launched before."""
        ...

    def download(self, memory: Allocation) -> AnyArray:
        """The contents, one-dimensional, once everything launched has ended."""
        ...

    def time(self, job: Job) -> tuple[float, ...]:
        """Seconds of each repetition of a job; raises DeviceError unless it ran."""
        ...

    def run(self, jobs: Sequence[Job], deadline: float = 10.0) -> tuple[Outcome, ...]:
        """Run jobs in order in a process of their own, each within the deadline in seconds."""
        ...

    def close(self) -> None:
        """End processes and remove temporary files; calling it again does nothing."""
        ...
