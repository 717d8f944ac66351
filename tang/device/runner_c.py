"""The runner of host C: opens shared libraries and calls their functions.

Defines `open_runner` for `tang.device.worker`. Relies on the calling convention of emitted C:
buffers, scalars, then the range of workgroups. It imports the standard library alone.
"""

from __future__ import annotations

import ctypes
import time
from typing import Any

_SCALARS = {"i32": ctypes.c_int32, "i64": ctypes.c_int64, "u32": ctypes.c_uint32}


class Runner:
    """Keeps libraries open."""

    limited = True

    def __init__(self) -> None:
        self.libraries: dict[str, ctypes.CDLL] = {}

    def build(self, library: str) -> None:
        """Open a library."""
        if library not in self.libraries:
            self.libraries[library] = ctypes.CDLL(library)

    def run(self, job: dict[str, Any], address: int) -> list[int]:
        """Call one kernel."""
        self.build(job["library"])
        function = self.libraries[job["library"]][job["symbol"]]
        function.restype = None
        arguments: list[Any] = [ctypes.c_void_p(address + at) for at in job["buffers"]]
        arguments += [_SCALARS[kind](value) for kind, value in job["scalars"]]
        arguments += [ctypes.c_int64(0), ctypes.c_int64(job["groups"])]
        spent = []
        for _ in range(job["repeat"]):
            before = time.perf_counter_ns()
            function(*arguments)
            spent.append(time.perf_counter_ns() - before)
        return spent


def open_runner(options: dict[str, Any]) -> Runner:
    """A runner; it takes no options."""
    return Runner()
