"""The runner of foreign kernels: any order of arguments, three dimensions, workgroup memory.

Defines `open_runner` for `tang.device.worker`, on top of tang's own runner of a language, whose
file is an option. The job's symbol is a JSON text that says how to launch. It imports nothing of
tang, because a worker starts it by path; C needs the standard library alone.
"""

from __future__ import annotations

import ctypes
import importlib.util
import json
import tempfile
import time
from pathlib import Path
from typing import Any

_C_SCALARS: dict[str, Any] = {
    "bool": ctypes.c_uint8, "u8": ctypes.c_uint8, "i32": ctypes.c_int32, "u32": ctypes.c_uint32,
    "i64": ctypes.c_int64, "f32": ctypes.c_float, "f64": ctypes.c_double,
}  # fmt: skip
_NUMPY_SCALARS = {
    "bool": "uint8", "u8": "uint8", "i32": "int32", "u32": "uint32", "i64": "int64",
    "f16": "float16", "f32": "float32", "f64": "float64",
}  # fmt: skip


_PRELUDE = """
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
"""
"""What nvcc includes without being asked and NVRTC does not."""
_BUILT_IN = (
    "cuda.h", "cuda_runtime.h", "cuda_runtime_api.h", "device_launch_parameters.h", "math.h",
    "cmath", "stdint.h", "cstdint", "stddef.h", "cstddef",
)  # fmt: skip
"""Headers of the host that NVRTC has no use for: their contents are there already."""


class HostRunner:
    """Calls C functions once per launch."""

    limited = True

    def __init__(self) -> None:
        self.libraries: dict[str, ctypes.CDLL] = {}

    def build(self, library: str) -> None:
        """Open a library."""
        if library not in self.libraries:
            self.libraries[library] = ctypes.CDLL(library)

    def run(self, job: dict[str, Any], address: int) -> list[int]:
        """Call the function."""
        self.build(job["library"])
        how = json.loads(job["symbol"])
        function = self.libraries[job["library"]][how["symbol"]]
        function.restype = None
        arguments: list[Any] = []
        for kind, *rest in how["arguments"]:
            if kind == "buffer":
                arguments.append(ctypes.c_void_p(address + job["buffers"][rest[0]]))
            else:
                arguments.append(_C_SCALARS[rest[0]](rest[1]))
        return [_timed(lambda: function(*arguments)) for _ in range(job["repeat"])]


def _timed(call: Any) -> int:  # noqa: ANN401 - anything to call
    before = time.perf_counter_ns()
    call()
    return time.perf_counter_ns() - before


class DeviceRunner:
    """Wraps a runner of `tang.device`: its buffers and queues, another way to launch."""

    def __init__(self, base: Any, runner: Any) -> None:  # noqa: ANN401 - modules found by path
        self.base, self.runner = base, runner
        self.limited: bool = runner.limited
        self.how: dict[str, Any] = {}

    def build(self, library: str) -> None:
        """Build a text."""
        self.runner.build(library)

    def run(self, job: dict[str, Any], address: int) -> list[int]:
        """Launch the job as its symbol says."""
        self.how = json.loads(job["symbol"])
        spent: list[int] = self.runner.run(job, address)
        return spent

    def arguments(self, buffers: list[Any], shared: Any) -> list[Any]:  # noqa: ANN401
        """Buffers, scalars and workgroup memory in the order of the kernel's parameters."""
        import numpy as np

        found: list[Any] = []
        for kind, *rest in self.how["arguments"]:
            if kind == "buffer":
                found.append(buffers[rest[0]])
            elif kind == "shared":
                found.append(shared(rest[0]))
            else:
                found.append(np.dtype(_NUMPY_SCALARS[rest[0]]).type(rest[1]))
        return found


class OpenCLRunner(DeviceRunner):
    """NDRanges in three dimensions, `__local` arguments by size."""

    def __init__(self, base: Any, runner: Any) -> None:  # noqa: ANN401
        super().__init__(base, runner)
        runner.context.launch = self.launch

    def launch(self, library: str, symbol: str, buffers: list[Any], *_: object) -> None:
        """Enqueue the kernel."""
        cl, context = self.base.cl, self.runner.context
        kernel = cl.Kernel(context.program(library), self.how["symbol"])
        kernel.set_args(*self.arguments(list(buffers), cl.LocalMemory))
        local = tuple(self.how["workgroup"])
        size = tuple(g * w for g, w in zip(self.how["grid"], local, strict=True))
        cl.enqueue_nd_range_kernel(context.queue, kernel, size, local)


class CudaRunner(DeviceRunner):
    """Grids in three dimensions, dynamic shared memory, kernels by their C++ name."""

    def __init__(self, base: Any, runner: Any, symbol: str) -> None:  # noqa: ANN401
        super().__init__(base, runner)
        self.symbol = symbol
        self.modules: dict[str, tuple[Any, str]] = {}
        runner.context.module, runner.context.launch = self.module, self.launch

    def module(self, library: str) -> tuple[Any, str]:
        """A text's module and the kernel's lowered name; raises OSError if refused."""
        found = self.modules.get(library)
        if found is None:
            found = self.modules[library] = self._built(Path(library).read_text("ascii"))
        return found

    def _built(self, text: str) -> tuple[Any, str]:
        with tempfile.TemporaryDirectory() as folder:
            for header in _BUILT_IN:
                Path(folder, header).touch()
            prelude = Path(folder, "before_kernel.h")
            prelude.write_text(_PRELUDE, "ascii")
            return self._compiled(text, f"--include-path={folder}", f"--pre-include={prelude}")

    def _compiled(self, text: str, *more: str) -> tuple[Any, str]:
        nvrtc, cupy = self.base.nvrtc, self.base.cupy
        options = (f"--gpu-architecture={self.runner.context.arch}", *self.base.OPTIONS, *more)
        program = nvrtc.createProgram(text, "kernel.cu", (), ())
        try:
            nvrtc.addNameExpression(program, self.symbol)
            nvrtc.compileProgram(program, (*options, *_include_paths()))
            name = nvrtc.getLoweredName(program, self.symbol)
            module = cupy.cuda.function.Module()
            module.load(nvrtc.getCUBIN(program))
            return module, name
        except nvrtc.NVRTCError as e:
            log = nvrtc.getProgramLog(program)
            raise OSError(f"NVRTC refused the text: {log or e}"[:4000]) from e
        finally:
            nvrtc.destroyProgram(program)

    def launch(self, library: str, symbol: str, buffers: list[Any], *_: object) -> None:
        """Enqueue the kernel."""
        import numpy as np

        module, name = self.module(library)
        function = module.get_function(name)
        pointers = [np.uint64(b) for b in buffers]
        arguments = self.arguments(pointers, None)
        grid, block = tuple(self.how["grid"]), tuple(self.how["workgroup"])
        function(grid, block, tuple(arguments), shared_mem=self.how["shared"])


def _include_paths() -> list[str]:
    """Where CUDA's own headers may lie."""
    import os

    roots = [os.environ.get("CUDA_PATH", ""), "/usr/local/cuda"]
    return [f"--include-path={r}/include" for r in roots if r and Path(r, "include").is_dir()]


def _module(path: str) -> Any:  # noqa: ANN401 - a module
    spec = importlib.util.spec_from_file_location("base_runner", path)
    if spec is None or spec.loader is None:
        raise OSError(f"no runner at {path}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def open_runner(options: dict[str, Any]) -> Any:  # noqa: ANN401 - one of three classes
    """The runner of a language; other options are those of tang's own runner."""
    language = options["language"]
    if language == "c":
        return HostRunner()
    base = _module(options["base"])
    runner = base.open_runner(options)
    if language == "opencl":
        return OpenCLRunner(base, runner)
    return CudaRunner(base, runner, options["symbol"])
