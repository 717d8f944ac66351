"""The worker: a process that launches kernels on shared memory, with whatever runs them.

Defines the loop behind `tang.device.isolation`, started by path with nothing but the standard
library, so that a restart costs milliseconds. Relies on its parent for layout and deadlines: one
JSON request a line, one JSON answer a line. Only the pages of the running job are accessible.

Arguments: the arena's file, the path of a runner, its options as JSON. A runner's file defines
`open_runner(options)`, whose result has

    limited               whether the process can live with a limited address space
    build(library)        makes a library ready ahead of its jobs
    run(job, address)     launches a job on the arena at an address; nanoseconds of each repetition

Both raise MemoryError, OSError (no launch was possible) or RuntimeError (the kernel broke its
device, so this process is of no further use).
"""

from __future__ import annotations

import ctypes
import importlib.util
import json
import mmap
import os
import resource
import sys
from typing import IO, Any, Protocol

HEADER = mmap.PAGESIZE
"""The first page: a counter of finished jobs, for the parent to read after a crash."""

_PROT_NONE, _PROT_READ_WRITE = 0, 3


class Runner(Protocol):
    """What runs the jobs."""

    limited: bool

    def build(self, library: str) -> None: ...
    def run(self, job: dict[str, Any], address: int) -> list[int]: ...


class Worker:
    """Maps the arena on demand and has a runner run the jobs."""

    def __init__(self, arena: int, runner: Runner) -> None:
        self.arena = arena
        self.runner = runner
        self.size = 0
        self.address = 0
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
        start, size = job["region"]
        self.protect(start, size, _PROT_READ_WRITE)
        spent = self.runner.run(job, self.address)
        self.protect(start, size, _PROT_NONE)
        return spent

    def serve(self, request: dict[str, Any]) -> dict[str, Any]:
        """Run the jobs of a request in order, counting them in the header."""
        _limit(request["memory"] + request["size"] if self.runner.limited else None, request["cpu"])
        self.map(request["size"])
        if "build" in request:
            self.runner.build(request["build"])
        counter = ctypes.c_int64.from_address(self.address)
        spent = []
        for job in request["jobs"]:
            spent.append(self.run(job))
            counter.value += 1
        return {"spent": spent}


def _limit(memory: int | None, cpu: int) -> None:
    """Bound address space and further processor seconds (a hang without a parent must end)."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime) + cpu
    for kind, value in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CPU, seconds)):
        if value is not None:
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


def _runner(path: str, options: dict[str, Any]) -> Runner:
    """The runner that a file defines."""
    spec = importlib.util.spec_from_file_location("runner", path)
    if spec is None or spec.loader is None:
        raise OSError(f"no runner at {path}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    runner: Runner = module.open_runner(options)
    return runner


def _answer(arguments: list[str], worker: Worker | None, line: str) -> tuple[Any, Worker | None]:
    """The answer to a request, and the worker, which starts at the first one."""
    try:
        if worker is None:
            arena, path, options = arguments
            worker = Worker(int(arena), _runner(path, json.loads(options)))
        return worker.serve(json.loads(line)), worker
    except MemoryError as e:
        return {"memory": str(e) or "out of memory"}, worker
    except RuntimeError as e:
        return {"crash": str(e)}, worker
    except (OSError, AttributeError, ImportError) as e:
        return {"error": f"{type(e).__name__}: {e}"}, worker


def main() -> None:
    """Serve requests from standard input until it ends."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    requests, answers = _private(0, "r"), _private(1, "w")
    worker: Worker | None = None
    for line in requests:
        answer, worker = _answer(sys.argv[1:], worker, line)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
