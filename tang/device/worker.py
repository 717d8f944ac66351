"""The worker: a process that loads libraries and launches kernels on shared memory.

Defines the loop behind `tang.device.isolation`, started by path with nothing but the standard
library, so that a restart costs milliseconds. Relies on its parent for layout and deadlines: one
JSON request a line, one JSON answer a line. Only the pages of the running job are accessible.
"""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import resource
import sys
import time
from typing import IO, Any

HEADER = mmap.PAGESIZE
"""The first page: a counter of finished jobs, for the parent to read after a crash."""

_SCALARS = {"i32": ctypes.c_int32, "i64": ctypes.c_int64, "u32": ctypes.c_uint32}
_PROT_NONE, _PROT_READ_WRITE = 0, 3


class Worker:
    """Maps the arena on demand, keeps libraries open, runs jobs."""

    def __init__(self, arena: int) -> None:
        self.arena = arena
        self.size = 0
        self.address = 0
        self.libraries: dict[str, ctypes.CDLL] = {}
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.libc.mmap.restype = ctypes.c_void_p
        self.libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3]
        self.libc.mmap.argtypes += [ctypes.c_long]
        self.libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
        self.libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]

    def map(self, size: int) -> None:
        """See at least `size` bytes of the arena; all but the header inaccessible."""
        if size <= self.size:
            return
        if self.size:
            self.libc.munmap(self.address, self.size)
        self.size = 0
        flags = mmap.MAP_SHARED
        address = self.libc.mmap(None, size, _PROT_NONE, flags, self.arena, 0)
        if address is None or address == ctypes.c_void_p(-1).value:
            raise MemoryError(f"cannot map {size} bytes")
        self.address, self.size = address, size
        self.protect(0, HEADER, _PROT_READ_WRITE)

    def protect(self, offset: int, size: int, access: int) -> None:
        """Change the access to some pages."""
        if self.libc.mprotect(self.address + offset, size, access) != 0:
            raise MemoryError(f"cannot change the access to {size} bytes")

    def run(self, job: dict[str, Any]) -> list[int]:
        """Launch one job; nanoseconds of each repetition."""
        library = self.libraries.get(job["library"])
        if library is None:
            library = self.libraries[job["library"]] = ctypes.CDLL(job["library"])
        function = library[job["symbol"]]
        function.restype = None
        arguments: list[Any] = [ctypes.c_void_p(self.address + at) for at in job["buffers"]]
        arguments += [_SCALARS[kind](value) for kind, value in job["scalars"]]
        arguments += [ctypes.c_int64(0), ctypes.c_int64(job["groups"])]
        start, size = job["region"]
        self.protect(start, size, _PROT_READ_WRITE)
        spent = []
        for _ in range(job["repeat"]):
            before = time.perf_counter_ns()
            function(*arguments)
            spent.append(time.perf_counter_ns() - before)
        self.protect(start, size, _PROT_NONE)
        return spent

    def serve(self, request: dict[str, Any]) -> dict[str, Any]:
        """Run the jobs of a request in order, counting them in the header."""
        _limit(request["memory"] + request["size"], request["cpu"])
        self.map(request["size"])
        counter = ctypes.c_int64.from_address(self.address)
        spent = []
        for job in request["jobs"]:
            spent.append(self.run(job))
            counter.value += 1
        return {"spent": spent}


def _limit(memory: int, cpu: int) -> None:
    """Bound address space and further processor seconds (a hang without a parent must end)."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime) + cpu
    for kind, value in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CPU, seconds)):
        _, hard = resource.getrlimit(kind)
        allowed = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (allowed, hard))


def _private(standard: int, mode: str) -> IO[str]:
    """A standard stream under another number; kernels that print or read find nothing there."""
    kept = os.fdopen(os.dup(standard), mode, encoding="ascii")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, standard)
    os.close(nothing)
    return kept


def main() -> None:
    """Serve requests from standard input until it ends."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    worker = Worker(int(sys.argv[1]))
    requests, answers = _private(0, "r"), _private(1, "w")
    for line in requests:
        try:
            answer = worker.serve(json.loads(line))
        except MemoryError as e:
            answer = {"memory": str(e) or "out of memory"}
        except (OSError, AttributeError) as e:
            answer = {"error": f"{type(e).__name__}: {e}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
