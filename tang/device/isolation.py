"""Isolation: jobs run in a worker process over shared memory, whatever they do.

Defines `Isolation` and `Runner`. Relies on the worker script, POSIX and a memory file that both
processes map. Jobs lie on pages of their own, guard zones around every buffer; after a crash or a
hang a fresh worker takes the jobs that are left. It knows no backend and judges no result.
"""

from __future__ import annotations

import json
import mmap
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final

import numpy as np

from tang.device.base import (
    GUARD_BYTES,
    Crash,
    Job,
    Memory,
    Outcome,
    OutOfMemory,
    Ran,
    Timeout,
)
from tang.device.storage import poison_word
from tang.errors import DeviceError

_PAGE: Final = mmap.PAGESIZE
_LIBRARIES: Final = 256
"""A worker is replaced after it has opened this many libraries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """What a worker process runs jobs with.

    script   a file that defines `open_runner(options)`, as `tang.device.worker` describes
    options  plain data for it
    flags    of the interpreter: without "-S" the script may import installed packages
    env      variables added to the worker's environment
    align    every buffer of a job starts at a multiple of this many bytes
    threads  processors that it may keep busy at once
    patience seconds beyond a deadline that its own work may take, as starting and compiling
    """

    script: Path
    options: Mapping[str, object] = field(default_factory=dict)
    flags: tuple[str, ...] = ("-I", "-S")
    env: Mapping[str, str] = field(default_factory=dict)
    align: int = GUARD_BYTES
    threads: int = 1
    patience: float = 0.0


HOST_C: Final = Runner(script=Path(__file__).with_name("runner_c.py"))
"""Calls functions of shared libraries."""


@dataclass(frozen=True, slots=True)
class _Placed:
    """A job in the arena: its pages, and where each buffer starts."""

    start: int
    size: int
    offsets: tuple[int, ...]


class CompilerCrashError(DeviceError):
    """A compiler ended by a signal."""


class Isolation:
    """A worker process and the memory it shares with this one.

    `memory` bounds the bytes that a worker may use beside the jobs' own buffers, and the buffers
    of one request. Both begin when they are first needed, and again after `close`. Not for use by
    several threads at once.
    """

    def __init__(self, memory: int = 2**31, runner: Runner = HOST_C) -> None:
        self._memory = memory
        self._runner = runner
        self._file: IO[bytes] | None = None
        self._arena: mmap.mmap | None = None
        self._worker: subprocess.Popen[bytes] | None = None
        self._opened: set[str] = set()

    def run(self, jobs: Sequence[Job], deadline: float) -> tuple[Outcome, ...]:
        """The outcome of every job, in order; a job that fails does not touch the others."""
        outcomes: list[Outcome] = []
        while len(outcomes) < len(jobs):
            left = jobs[len(outcomes) :]
            count, placed, size = _layout(left, self._memory, self._runner.align)
            if not count:
                outcomes.append(OutOfMemory(f"the buffers need more than {self._memory} bytes"))
                continue
            outcomes += self._some(left[:count], placed, size, deadline)
        return tuple(outcomes)

    def build(self, library: str, deadline: float) -> None:
        """Have the worker make a library ready; raises DeviceError when it cannot.

        CompilerCrashError, which is one, when the compiler took the worker with it.
        """
        self._sized(_PAGE)[:8] = bytes(8)
        request = {**self._bounds(1, deadline), "size": _PAGE, "build": library, "jobs": ()}
        answer = self._exchange({library}, request, deadline)
        if not isinstance(answer, dict):
            kind = CompilerCrashError if isinstance(answer, Crash) else DeviceError
            raise kind(f"compiling {library} ended with {answer}")

    def close(self) -> None:
        """End the worker and free the memory."""
        self._stop()
        if self._arena is not None:
            self._arena.close()
            self._arena = None
        if self._file is not None:
            self._file.close()
            self._file = None

    # --- one request

    def _some(
        self, jobs: Sequence[Job], placed: Sequence[_Placed], size: int, deadline: float
    ) -> list[Outcome]:
        """Outcomes of jobs up to and including the first that fails."""
        arena = self._sized(size)
        arena[:8] = bytes(8)
        for job, at in zip(jobs, placed, strict=True):
            _write(arena, job, at)
        answer = self._ask(jobs, placed, size, deadline)
        done = int.from_bytes(arena[:8], "little")
        spent = answer.get("spent") if isinstance(answer, dict) else None
        times = spent if isinstance(spent, list) else [[]] * done
        ran: list[Outcome] = [
            _read(arena, job, at, [ns * 1e-9 for ns in ns_list])
            for job, at, ns_list in zip(jobs, placed, times, strict=False)
        ]
        return ran if isinstance(answer, dict) else [*ran[:done], answer]

    def _ask(
        self, jobs: Sequence[Job], placed: Sequence[_Placed], size: int, deadline: float
    ) -> dict[str, Any] | Outcome:
        request = {
            **self._bounds(len(jobs), deadline),
            "size": size,
            "jobs": [_described(j, p) for j, p in zip(jobs, placed, strict=True)],
        }
        return self._exchange({j.compiled.library for j in jobs}, request, deadline)

    def _bounds(self, jobs: int, deadline: float) -> dict[str, object]:
        allowed = deadline + self._runner.patience
        seconds = int(allowed * (jobs + 1) * self._runner.threads) + 5
        return {"memory": self._memory, "cpu": seconds}

    def _exchange(
        self, libraries: set[str], request: Mapping[str, object], deadline: float
    ) -> dict[str, Any] | Outcome:
        worker = self._ready(libraries)
        stdin, stdout = _pipes(worker)
        try:
            stdin.write(json.dumps(request).encode() + b"\n")
            stdin.flush()
        except BrokenPipeError:
            return self._crashed(worker)
        if not self._wait(stdout, deadline + self._runner.patience):
            self._stop()
            return Timeout(deadline)
        line = stdout.readline()
        return self._answer(line) if line else self._crashed(worker)

    def _answer(self, line: bytes) -> dict[str, Any] | Outcome:
        answer: dict[str, Any] = json.loads(line)
        if "memory" in answer:
            self._stop()
            return OutOfMemory(str(answer["memory"]))
        if "error" in answer:
            raise DeviceError(f"the worker could not launch a kernel: {answer['error']}")
        if "crash" in answer:
            self._stop()
            return Crash(str(answer["crash"]))
        return answer

    def _wait(self, stdout: IO[bytes], deadline: float) -> bool:
        """Whether an answer comes while jobs keep ending within the deadline each."""
        done, since = -1, time.monotonic()
        while True:
            now = self._finished()
            if now != done:
                done, since = now, time.monotonic()
            left = deadline - (time.monotonic() - since)
            if left <= 0:
                return False
            ready, _, _ = select.select([stdout], [], [], min(left, max(deadline / 8, 0.001)))
            if ready:
                return True

    def _finished(self) -> int:
        return int.from_bytes(self._arena[:8], "little") if self._arena is not None else 0

    # --- the process and its memory

    def _ready(self, libraries: set[str]) -> subprocess.Popen[bytes]:
        died = self._worker is not None and self._worker.poll() is not None
        if died or len(self._opened | libraries) > _LIBRARIES:
            self._stop()
        self._opened |= libraries
        if self._worker is None:
            runner, handle = self._runner, self._shared.fileno()
            command = [sys.executable, *runner.flags, str(Path(__file__).with_name("worker.py"))]
            self._worker = subprocess.Popen(
                [*command, str(handle), str(runner.script), json.dumps(dict(runner.options))],
                env={**os.environ, **runner.env},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                pass_fds=(handle,),
                start_new_session=True,
            )
        return self._worker

    def _crashed(self, worker: subprocess.Popen[bytes]) -> Crash:
        code = worker.wait()
        self._stop()
        return Crash(signal.Signals(-code).name if code < 0 else f"exit status {code}")

    def _stop(self) -> None:
        worker, self._worker = self._worker, None
        self._opened.clear()
        if worker is None:
            return
        worker.kill()
        worker.wait()
        for pipe in (worker.stdin, worker.stdout):
            if pipe is not None:
                _close_quietly(pipe)

    def _sized(self, size: int) -> mmap.mmap:
        arena = self._arena
        if arena is not None and len(arena) >= size:
            return arena
        if arena is not None:
            arena.close()
        size = max(size, 2**20)
        os.ftruncate(self._shared.fileno(), size)
        self._arena = mmap.mmap(self._shared.fileno(), size)
        return self._arena

    @property
    def _shared(self) -> IO[bytes]:
        if self._file is None:
            self._file = _memory_file()
        return self._file


def _memory_file() -> IO[bytes]:
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("tang"), "r+b", buffering=0)
    return tempfile.TemporaryFile(buffering=0)


def _pipes(worker: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    if worker.stdin is None or worker.stdout is None:
        raise DeviceError("the worker has no pipes")
    return worker.stdin, worker.stdout


def _close_quietly(pipe: IO[bytes]) -> None:
    try:
        pipe.close()
    except BrokenPipeError:
        return


def _layout(jobs: Sequence[Job], limit: int, align: int) -> tuple[int, list[_Placed], int]:
    """How many of the jobs fit, their places and the size of the arena."""
    at, placed = _PAGE, list[_Placed]()
    for job in jobs:
        place = _place(job, at, align)
        if place.start + place.size > limit:
            break
        placed.append(place)
        at = place.start + place.size
    return len(placed), placed, at


def _place(job: Job, start: int, align: int) -> _Placed:
    offsets, at = [], start
    for buffer in job.buffers:
        at = _up(at + GUARD_BYTES, align)
        offsets.append(at)
        at += _up(buffer.nbytes, GUARD_BYTES) + GUARD_BYTES
    return _Placed(start, _up(max(at - start, 1), _PAGE), tuple(offsets))


def _up(n: int, step: int) -> int:
    return -(-n // step) * step


def _write(arena: mmap.mmap, job: Job, placed: _Placed) -> None:
    for param, data, at in zip(
        job.compiled.kernel.params, job.buffers, placed.offsets, strict=True
    ):
        word = poison_word(param.type, job.guard)
        zone = word * (GUARD_BYTES // len(word))
        end = at + data.nbytes
        arena[at - GUARD_BYTES : at] = zone
        arena[at:end] = data.tobytes()
        arena[end : end + GUARD_BYTES] = zone


def _read(arena: mmap.mmap, job: Job, placed: _Placed, seconds: list[float]) -> Ran:
    memories = []
    for data, at in zip(job.buffers, placed.offsets, strict=True):
        end = at + data.nbytes
        copy = np.frombuffer(bytearray(arena[at:end]), data.dtype).reshape(data.shape)
        memories.append(Memory(copy, arena[at - GUARD_BYTES : at], arena[end : end + GUARD_BYTES]))
    return Ran(tuple(memories), tuple(seconds))


def _described(job: Job, placed: _Placed) -> dict[str, object]:
    kinds = (v.type.value for v in job.compiled.kernel.scalars)
    return {
        "library": job.compiled.library,
        "symbol": job.compiled.symbol,
        "buffers": placed.offsets,
        "sizes": [b.nbytes for b in job.buffers],
        "scalars": list(zip(kinds, (int(s) for s in job.scalars), strict=True)),
        "groups": job.groups,
        "workgroup": job.compiled.kernel.workgroup,
        "region": (placed.start, placed.size),
        "repeat": job.repeat,
    }
