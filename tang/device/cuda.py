"""CUDA as a device: NVRTC for texts, CuPy for memory and launches.

Defines `Cuda` and `CudaOptions`. Relies on the emitter, the isolation of jobs and CuPy
(`pip install cupy-cuda12x`). Subnormals are kept and nothing is contracted, since CuPy's own
compiler options are not used. It needs an NVIDIA GPU; the same text runs without one on SIMT.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from tang.device.base import Allocation, Compiled, Job, Limits, Outcome
from tang.device.compiler import default_cache
from tang.device.isolation import Runner
from tang.device.modules import Modules
from tang.device.probe import probed
from tang.device.storage import AnyArray, dtype_of
from tang.device.texts import TextStore, made_folder, scalar_values
from tang.errors import DeviceError, LimitError
from tang.kernel.ir import Kernel, Type
from tang.kernel.profile import Profile

if TYPE_CHECKING:
    from tang.device.runner_cuda import Context

ENABLE: Final = "pip install cupy-cuda12x, on a machine with an NVIDIA GPU"
"""What makes the target run."""

_AGAIN: Final = "/* nvrtc: --device-debug */\n"
"""Without optimisation NVRTC 12.9 and 13.0 compile what they crash on with it: a 64-bit loop of
symbolic length in which a condition holds at one step alone."""
_GROUPS: Final = 2**31 - 1
_POINTERS: Final = 512  # parameters of 8 bytes in the 4 KiB that every GPU has for them


@dataclass(frozen=True, slots=True, kw_only=True)
class CudaOptions:
    """Which GPU, where cubins lie, and how much host memory a request's buffers may take.

    cache   None is `tang` in the user's cache folder
    """

    number: int = 0
    cache: Path | None = None
    memory: int = 2**33


class Cuda:
    """Kernels as CUDA C++; see `Device` for the methods."""

    name: Final = "cuda"
    language: Final = "cuda"

    def __init__(self, options: CudaOptions | None = None) -> None:
        self._options = options or CudaOptions()
        self._context = _opened(self._options.number)
        facts = self._context.device.attributes
        self.description: Final = f"GPU {self._options.number}, {self._context.arch}"
        self.limits: Final = Limits(
            workgroup=facts["MaxThreadsPerBlock"],
            shared_bytes=facts["MaxSharedMemoryPerBlock"],
            buffers=_POINTERS,
        )
        texts = TextStore(made_folder(self._options.cache or default_cache()), ".cu")
        self._modules: Final = Modules(
            self.language, texts, self._options.memory, self._runner(), self._allowed, _AGAIN
        )

    @property
    def architecture(self) -> str:
        """As NVIDIA's compilers spell it, "sm_90"."""
        return self._context.arch

    @property
    def subgroup(self) -> int:
        """The threads of a warp."""
        return int(self._context.device.attributes["WarpSize"])

    @functools.cached_property
    def profile(self) -> Profile:
        """As the GPU's probes say."""
        return probed(self)

    @property
    def identity(self) -> tuple[str, ...]:
        """The GPU, its driver and its compiler, with versions."""
        return (self.description, *self._context.versions)

    def compile(self, kernels: Sequence[Kernel]) -> tuple[Compiled, ...]:
        """Compile kernels as one module, in the worker."""
        return self._modules.compile(kernels)

    def compile_text(self, kernel: Kernel, text: str, symbol: str) -> Compiled:
        """Compile a foreign text whose `symbol` has the parameters and scalars of `kernel`."""
        return self._modules.compile_text(kernel, text, symbol)

    def allocate(self, element: Type, count: int) -> Allocation:
        """Uninitialised memory of the GPU."""
        return Allocation(element, count, self._context.empty(count * element.bytes))

    def upload(self, element: Type, data: AnyArray) -> Allocation:
        """A copy of the array on the GPU."""
        flat = np.ascontiguousarray(data, dtype_of(element)).reshape(-1)
        memory = self._context.empty(flat.nbytes)
        memory.copy_from_host(flat.ctypes.data, flat.nbytes)
        return Allocation(element, flat.size, memory)

    def launch(
        self,
        compiled: Compiled,
        buffers: Sequence[Allocation],
        scalars: Sequence[int],
        groups: int,
    ) -> None:
        """Enqueue the kernel."""
        if groups <= 0:
            return
        if groups > _GROUPS:
            raise LimitError(f"{groups} workgroups, and CUDA allows {_GROUPS}")
        kernel = compiled.kernel
        values = scalar_values(kernel, scalars)
        pointers = [b.handle.ptr for b in buffers]
        try:
            self._context.launch(
                compiled.library, compiled.symbol, pointers, values, groups, kernel.workgroup
            )
        except (OSError, RuntimeError) as e:
            raise DeviceError(f"kernel {kernel.name!r} could not be launched: {e}") from e

    def download(self, memory: Allocation) -> AnyArray:
        """A copy of the memory, once everything launched has ended."""
        host = np.empty(memory.count, dtype_of(memory.type))
        try:
            memory.handle.copy_to_host(host.ctypes.data, host.nbytes)
        except RuntimeError as e:
            raise DeviceError(f"the GPU failed: {e}") from e
        return host

    def time(self, job: Job) -> tuple[float, ...]:
        """Seconds of each repetition, measured in the worker."""
        return self._modules.time(job)

    def run(self, jobs: Sequence[Job], deadline: float = 10.0) -> tuple[Outcome, ...]:
        """Run jobs in the worker, each within the deadline in seconds."""
        return self._modules.run(jobs, deadline)

    def close(self) -> None:
        """End the worker; a later `run` starts another."""
        self._modules.close()

    def _allowed(self) -> tuple[Limits, str]:
        return self.limits, self.description

    def _runner(self) -> Runner:
        return Runner(
            script=Path(__file__).with_name("runner_cuda.py"),
            options={"number": self._options.number},
            flags=("-P",),
        )


def _opened(number: int) -> Context:
    try:
        from tang.device.runner_cuda import Context

        return Context(number)
    except (ImportError, OSError) as e:
        raise DeviceError(f"no CUDA device: {e}; {ENABLE}") from e
