"""The runner of CUDA: NVRTC makes cubins of texts, CuPy loads and launches their kernels.

Defines `Context` and `open_runner` for `tang.device.worker`. Relies on CuPy alone, whose own
compilation it avoids: CuPy appends `-ftz=true` to every caller's options, the last one wins, and
so all its kernels flush subnormals. It imports nothing of tang, because a worker starts it by path.
"""

from __future__ import annotations

import ctypes
import re
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cupy
import numpy as np
import numpy.typing as npt
from cupy.cuda import nvrtc

Array = npt.NDArray[Any]

OPTIONS = ("--std=c++17", "--fmad=false", "--ftz=false", "--prec-div=true", "--prec-sqrt=true")
"""What NVRTC is told besides the architecture: IEEE arithmetic, one operation at a time."""

_FURTHER = re.compile(r"/\* nvrtc: (.*) \*/")
"""The first line of a text that is compiled with further options."""

_SCALARS: dict[str, type[np.generic[Any]]] = {
    "i32": np.int32,
    "i64": np.int64,
    "u32": np.uint32,
}


class Context:
    """A GPU, and the modules loaded on it."""

    def __init__(self, number: int) -> None:
        try:
            if not 0 <= number < cupy.cuda.runtime.getDeviceCount():
                raise OSError(f"there is no GPU number {number}")
            self.device = cupy.cuda.Device(number)
            self.device.use()
        except cupy.cuda.runtime.CUDARuntimeError as e:
            raise OSError(f"no CUDA GPU: {e}") from e
        self.modules: dict[str, Any] = {}
        self.arch = f"sm_{self.device.compute_capability}"

    @property
    def versions(self) -> tuple[str, ...]:
        """Of the driver, of NVRTC and of cupy."""
        driver = cupy.cuda.runtime.driverGetVersion()
        return (f"driver {driver}", f"nvrtc {nvrtc.getVersion()}", f"cupy {cupy.__version__}")

    def module(self, library: str) -> cupy.RawModule:
        """The module of a text's file; raises OSError with the compiler's words if refused."""
        found = self.modules.get(library)
        if found is None:
            version = ".".join(str(n) for n in nvrtc.getVersion())
            cubin = Path(f"{library}.{version}.{self.arch}.cubin")
            if not cubin.exists():
                _write(cubin, compiled(Path(library).read_text(encoding="ascii"), self.arch))
            found = self.modules[library] = cupy.RawModule(path=str(cubin))
        return found

    def launch(
        self,
        library: str,
        symbol: str,
        pointers: Sequence[int],
        scalars: Sequence[np.generic[Any]],
        groups: int,
        workgroup: int,
    ) -> None:
        """Enqueue a kernel on memory at the given addresses."""
        kernel = self.module(library).get_function(symbol)
        kernel((groups,), (workgroup,), (*(np.uint64(p) for p in pointers), *scalars))

    def empty(self, size: int) -> cupy.cuda.MemoryPointer:
        """Uninitialised memory of a number of bytes."""
        return cupy.cuda.alloc(max(size, 1))


class Runner:
    """Runs jobs on copies of the arena's pages."""

    limited = False  # the driver reserves more address space than any limit

    def __init__(self, context: Context) -> None:
        self.context = context

    def build(self, library: str) -> None:
        """Compile and load a text."""
        self.context.module(library)

    def run(self, job: dict[str, Any], address: int) -> list[int]:
        """Launch one kernel and wait for it, as often as the job says."""
        self.context.module(job["library"])
        start, size = job["region"]
        memory = cupy.cuda.alloc(size)  # raises a MemoryError
        memory.copy_from_host(ctypes.c_void_p(address + start), size)
        pointers = [memory.ptr + at - start for at in job["buffers"]]
        scalars = [_SCALARS[kind](value) for kind, value in job["scalars"]]
        spent = []
        for _ in range(job["repeat"]):
            before = time.perf_counter_ns()
            self.context.launch(
                job["library"], job["symbol"], pointers, scalars, job["groups"], job["workgroup"]
            )
            cupy.cuda.runtime.deviceSynchronize()  # an error of the kernel is a RuntimeError here
            spent.append(time.perf_counter_ns() - before)
        memory.copy_to_host(ctypes.c_void_p(address + start), size)
        return spent


def compiled(text: str, arch: str) -> bytes:
    """The cubin of a text for a real architecture; raises OSError with NVRTC's log."""
    first = _FURTHER.match(text)
    further = first[1].split() if first else ()
    program = nvrtc.createProgram(text, "kernels.cu", (), ())
    try:
        nvrtc.compileProgram(program, (f"--gpu-architecture={arch}", *OPTIONS, *further))
        cubin: bytes = nvrtc.getCUBIN(program)
        return cubin
    except nvrtc.NVRTCError as e:
        log = nvrtc.getProgramLog(program)
        raise OSError(f"NVRTC refused a text: {log}"[:4000]) from e
    finally:
        nvrtc.destroyProgram(program)


def _write(target: Path, data: bytes) -> None:
    with tempfile.NamedTemporaryFile(dir=target.parent, delete=False) as file:
        file.write(data)
    Path(file.name).replace(target)


def open_runner(options: dict[str, Any]) -> Runner:
    """A runner on the GPU of that number."""
    return Runner(Context(options["number"]))
