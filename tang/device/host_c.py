"""The host as a device: emitted C, compiled in batches, run here or in a worker process.

Defines `HostC` and `loaded`. Relies on the compiler, the isolation of jobs and ctypes. In this
process a kernel is called directly on NumPy memory, fast and unguarded; whoever doubts a kernel
uses `run`.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from tang.device.base import Allocation, Compiled, Job, Limits, Outcome
from tang.device.compiler import Compiler, CompilerOptions, open_compiler
from tang.device.isolation import Isolation
from tang.device.storage import AnyArray, dtype_of
from tang.device.texts import seconds_of
from tang.emit.unit import emit_unit
from tang.errors import DeviceError
from tang.kernel.ir import Kernel, Type
from tang.kernel.profile import IEEE

_SCALARS: Final[dict[Type, type[ctypes._SimpleCData[int]]]] = {
    Type.I32: ctypes.c_int32,
    Type.I64: ctypes.c_int64,
    Type.U32: ctypes.c_uint32,
}


class HostC:
    """Kernels as C on this machine; see `Device` for the methods."""

    name: Final = "host-c"
    language: Final = "c"
    limits: Final = Limits()
    profile: Final = IEEE

    def __init__(self, options: CompilerOptions | None = None, memory: int = 2**31) -> None:
        self._compiler: Compiler = open_compiler(options or CompilerOptions())
        self._isolation = Isolation(memory)
        weakref.finalize(self, self._isolation.close)  # whoever forgets to close
        self._functions: dict[tuple[str, str], Callable[..., None]] = {}

    @property
    def identity(self) -> tuple[str, ...]:
        """The compiler, its version and its flags: what the same text's bits depend on."""
        c = self._compiler
        return (*c.command, c.version, *c.flags)

    def compile(self, kernels: Sequence[Kernel]) -> tuple[Compiled, ...]:
        """Compile kernels as one translation unit, once per text."""
        if not kernels:
            return ()
        unit = emit_unit(kernels, self.language)
        library = str(self._compiler.library(unit.text))
        return tuple(
            Compiled(k, self.language, symbol, library)
            for k, symbol in zip(kernels, unit.symbols, strict=True)
        )

    def compile_text(self, kernel: Kernel, text: str, symbol: str) -> Compiled:
        """Compile a foreign text whose `symbol` has the parameters of `kernel`, then the range
        of workgroups as two 64-bit integers.
        """
        return Compiled(kernel, self.language, symbol, str(self._compiler.library(text)), text)

    def allocate(self, element: Type, count: int) -> Allocation:
        """Uninitialised memory of this process."""
        return Allocation(element, count, np.empty(count, dtype_of(element)))

    def upload(self, element: Type, data: AnyArray) -> Allocation:
        """The array itself, flattened: kernels never write to what they only read."""
        flat = np.ascontiguousarray(data, dtype_of(element)).reshape(-1)
        return Allocation(element, flat.size, flat)

    def launch(
        self,
        compiled: Compiled,
        buffers: Sequence[Allocation],
        scalars: Sequence[int],
        groups: int,
    ) -> None:
        """Call the kernel; returns when it has ended."""
        if groups > 0:
            self._function(compiled)(*(b.handle.ctypes.data for b in buffers), *scalars, 0, groups)

    def download(self, memory: Allocation) -> AnyArray:
        """The memory itself."""
        found = memory.handle
        if not isinstance(found, np.ndarray):
            raise DeviceError("this memory belongs to another device")
        return found

    def time(self, job: Job) -> tuple[float, ...]:
        """Seconds of each repetition, measured in the worker."""
        (outcome,) = self.run((job,), deadline=60.0)
        return seconds_of(job, outcome)

    def run(self, jobs: Sequence[Job], deadline: float = 10.0) -> tuple[Outcome, ...]:
        """Run jobs in the worker, each within the deadline in seconds."""
        return self._isolation.run(jobs, deadline)

    def close(self) -> None:
        """End the worker; a later `run` starts another."""
        self._isolation.close()

    def _function(self, compiled: Compiled) -> Callable[..., None]:
        key = (compiled.library, compiled.symbol)
        function = self._functions.get(key)
        if function is None:
            pointers = [ctypes.c_void_p] * len(compiled.kernel.params)
            scalars = [_SCALARS[s.type] for s in compiled.kernel.scalars]
            function = self._functions[key] = loaded(compiled, [*pointers, *scalars])
        return function


def loaded(
    compiled: Compiled, arguments: Sequence[type[ctypes._SimpleCData[Any]]]
) -> Callable[..., None]:
    """The function of a library, which takes these arguments and then a range of workgroups."""
    try:
        function = ctypes.CDLL(compiled.library)[compiled.symbol]
    except (OSError, AttributeError) as e:
        raise DeviceError(f"cannot load {compiled.symbol} of {compiled.library}: {e}") from e
    function.restype = None
    function.argtypes = [*arguments, ctypes.c_int64, ctypes.c_int64]
    return function
