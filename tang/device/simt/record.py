"""The launch record: what a launch is told and what it answers, as bytes of one buffer.

Defines `Launch`, `Finding`, `request` and `answer`. Relies on the layout of `runtime/record.h`,
field for field. It finds no source lines: findings of accesses carry a place in the library that
`lines.py` translates.
"""

from __future__ import annotations

import enum
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tang.device.simt.entries import scalar_offsets
from tang.device.storage import AnyArray, Poison, dtype_of, poison_word
from tang.errors import DeviceError, LimitError
from tang.kernel.ir import Kernel, Param

MAX_THREADS: Final = 1024
MAX_DYNAMIC: Final = 256 * 1024
MAX_BUFFERS: Final = 128
CAPACITY: Final = 32
"""Findings of a launch that are kept; equal kinds at one place are one."""

_VERSION: Final = 0x53494D31
_HEAD: Final = struct.Struct("<16I")
_BUFFER: Final = struct.Struct("<QII")
_STATUS: Final = 14 * 4
_FINDING: Final = struct.Struct("<IIiI3I3IiiiIqQQ")
_WRITABLE, _FRESH = 1, 2


class Status(enum.Enum):
    """How a launch ended."""

    NOT_RUN = 0
    ENDED = 1
    ABANDONED = 2
    OUT_OF_MEMORY = 3


class Kind(enum.Enum):
    """What is wrong with a kernel; the value is the runtime's number."""

    RACE = 1
    UNINITIALISED = 2
    OUT_OF_BOUNDS = 3
    BARRIER_DIVERGENCE = 4
    WARP_DIVERGENCE = 5
    MISALIGNED = 6
    CONSTANT_WRITE = 7
    UNDEFINED = 8
    ASSERTION = 9
    FAULT = 10
    REFUSED = 11


Triple = tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How a kernel is launched, where its text says it otherwise than tang's own kernels.

    grid, block  blocks and threads in three dimensions; the job's workgroups and the kernel's
                 workgroup size when None
    shared       bytes of dynamic shared (threadgroup) memory
    order        of threads: 0 ascending, 1 descending, others shuffle by this seed
    lenient      threads that have exited count as arrived at barriers (CUDA from sm_70 on)
    stack        bytes of each thread's stack
    """

    grid: Triple | None = None
    block: Triple | None = None
    shared: int = 0
    order: int = 0
    lenient: bool = False
    stack: int = 65536


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One fault that the checks saw, at its first occurrence.

    line, source  in the kernel's text; 0 and "" when unknown
    place         a buffer's name, or "shared", "dynamic shared", "scalars", "stack", "nowhere"
    offset        of the access from the start of that place, in bytes
    other_thread  the other party's linear number in the block; −1 for another block or unknown
    count         occurrences
    """

    kind: Kind
    kernel: str
    line: int
    source: str
    block: Triple
    thread: Triple
    place: str
    offset: int
    bytes: int
    address: int
    detail: int
    other_thread: int
    other_line: int
    count: int
    pc: int

    @property
    def message(self) -> str:
        """The finding in one line."""
        where = f"{self.kernel}:{self.line}" if self.line else self.kernel
        what = f"{self.kind.name.lower().replace('_', '-')} at {where}"
        who = f"thread {self.thread} of block {self.block}"
        times = f" ({self.count} times)" if self.count > 1 else ""
        return f"{what}, {who}: {_explained(self)}{times}"


def _explained(f: Finding) -> str:
    if f.kind is Kind.RACE:
        order = _RACES.get(f.detail, "conflict")
        other = "another block" if f.other_thread < 0 else f"thread {f.other_thread}"
        return f"{order} with {other} on {f.bytes} bytes at {f.place}+{f.offset}"
    if f.kind is Kind.BARRIER_DIVERGENCE:
        other = f"thread {f.other_thread}" if f.other_thread >= 0 else "others"
        return f"{other} {'exited' if not f.other_line else f'waits at line {f.other_line}'}"
    if f.kind is Kind.WARP_DIVERGENCE:
        return _COLLECTIVES.get(f.detail, "not all lanes of the mask arrive")
    if f.detail in _MATRICES:
        return _MATRICES[f.detail]
    if f.kind is Kind.UNDEFINED:
        return "an array bound, an alignment, a shift count or a division by zero"
    if f.kind in (Kind.ASSERTION, Kind.REFUSED):
        return "the kernel's own assertion" if f.kind is Kind.ASSERTION else "out of memory"
    verb = "write" if f.detail == 1 else "access" if f.kind is Kind.FAULT else "read"
    return f"{verb} of {f.bytes} bytes at {f.place}{f.offset:+d}"


_RACES: Final = {
    1: "write after write",
    2: "read after write",
    3: "write after read",
    4: "plain access beside an atomic one",
    5: "access to the target of a copy in flight",
}
_COLLECTIVES: Final = {
    1: "the lane is not in its own mask",
    2: "lanes of one mask are in different calls",
    3: "a lane reads from one that takes no part",
    4: "a whole warp must take part",
}
_MATRICES: Final = {
    64: "a fragment has elements that nothing has set",
    65: "a matrix must start at a multiple of 32 bytes",
    66: "the leading dimension of a matrix must be a multiple of 16 bytes",
    67: "lanes of a warp give different addresses, leading dimensions or layouts",
}
_PLACES: Final = {-1: "shared", -2: "dynamic shared", -3: "scalars", -4: "stack", -5: "nowhere"}


def geometry(kernel: Kernel, groups: int, launch: Launch) -> tuple[Triple, Triple]:
    """Grid and block of a launch; raises LimitError beyond what the runtime holds."""
    grid, block = launch.grid or (groups, 1, 1), launch.block or (kernel.workgroup, 1, 1)
    threads = block[0] * block[1] * block[2]
    if not 1 <= threads <= MAX_THREADS:
        raise LimitError(f"kernel {kernel.name!r}: {threads} threads a block, not 1…{MAX_THREADS}")
    if launch.shared > MAX_DYNAMIC:
        raise LimitError(f"kernel {kernel.name!r}: more than {MAX_DYNAMIC} bytes of shared memory")
    if len(kernel.params) > MAX_BUFFERS:
        raise LimitError(f"kernel {kernel.name!r} has more than {MAX_BUFFERS} buffers")
    if any(not 0 <= n < 2**31 for n in grid):
        raise LimitError(f"kernel {kernel.name!r}: the grid {grid} has no room in 31 bits")
    return grid, block


def request(
    kernel: Kernel,
    buffers: Sequence[AnyArray],
    scalars: Sequence[Any],
    groups: int,
    launch: Launch,
    checked: bool = False,
) -> AnyArray:
    """The record of a launch, with room for its answer; checks want to know what is poison."""
    grid, block = geometry(kernel, groups, launch)
    _, scalar_bytes = scalar_offsets(kernel)
    head = _HEAD.pack(
        _VERSION, launch.order, launch.lenient, launch.stack, *grid, *block,
        launch.shared, len(buffers), scalar_bytes, CAPACITY, 0, 0,
    )  # fmt: skip
    infos = b"".join(
        _BUFFER.pack(data.nbytes, p.type.bytes, _flags(p, data) if checked else 0)
        for p, data in zip(kernel.params, buffers, strict=True)
    )
    room = bytes(_FINDING.size * CAPACITY)
    data = head + infos + _scalar_bytes(kernel, scalars, scalar_bytes) + room
    return np.frombuffer(bytearray(data), np.uint8)


def _flags(param: Param, data: AnyArray) -> int:
    """Whether a buffer may be written, and whether it holds nothing but poison."""
    if not param.writable:
        return 0
    raw = data.reshape(-1).view(np.uint8) if data.size else np.empty(0, np.uint8)
    words = (np.frombuffer(poison_word(param.type, p), np.uint8) for p in Poison)
    fresh = any(raw.size and bool((raw.reshape(-1, w.size) == w).all()) for w in words)
    return _WRITABLE | (_FRESH if fresh else 0)


def _scalar_bytes(kernel: Kernel, scalars: Sequence[Any], size: int) -> bytes:
    data = bytearray(size)
    offsets, _ = scalar_offsets(kernel)
    for s, at, value in zip(kernel.scalars, offsets, scalars, strict=True):
        raw = np.asarray(value, dtype_of(s.type)).tobytes()
        data[at : at + len(raw)] = raw
    return bytes(data)


def answer(kernel: Kernel, asked: AnyArray, got: AnyArray) -> tuple[Status, tuple[Finding, ...]]:
    """How a launch ended and what it found; raises DeviceError if it overwrote its own record."""
    data = got.tobytes()
    start = len(data) - _FINDING.size * CAPACITY
    if data[:_STATUS] != asked.tobytes()[:_STATUS]:
        return Status.ABANDONED, (_overwritten(kernel),)
    status, found = struct.unpack_from("<II", data, _STATUS)
    rows = [
        _finding(kernel, _FINDING.unpack_from(data, start + i * _FINDING.size))
        for i in range(min(found, CAPACITY))
    ]
    if status not in {s.value for s in Status}:
        raise DeviceError(f"kernel {kernel.name!r}: the launch answered {status}")
    return Status(status), tuple(rows)


def _finding(kernel: Kernel, row: tuple[Any, ...]) -> Finding:
    kind, detail, line, size, bx, by, bz, tx, ty, tz, thread, other, place, count = row[:14]
    offset, address, pc = row[14:]
    return Finding(
        kind=Kind(kind), kernel=kernel.name, line=line, source="", block=(bx, by, bz),
        thread=(tx, ty, tz), place=_PLACES[place] if place < 0 else kernel.params[place].name,
        offset=offset, bytes=size, address=address, detail=detail, other_thread=thread,
        other_line=other, count=count, pc=pc,
    )  # fmt: skip


def _overwritten(kernel: Kernel) -> Finding:
    """A launch whose record changed: only a stray write of the kernel does that."""
    return Finding(
        kind=Kind.OUT_OF_BOUNDS, kernel=kernel.name, line=0, source="", block=(0, 0, 0),
        thread=(0, 0, 0), place="nowhere", offset=0, bytes=0, address=0, detail=1,
        other_thread=-1, other_line=0, count=1, pc=0,
    )  # fmt: skip
