"""WebGPU as a device: WGSL through wgpu, on Mesa's lavapipe where there is no GPU.

Defines `WebGPU` and `WebGPUOptions`. Relies on the emitter, on shaders run by a worker and on wgpu
(`pip install wgpu`, and a Vulkan driver). wgpu confines accesses to the bound range, which is a
buffer with the zone behind it: what is written further away is dropped or lands there.
"""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from tang.device.base import Allocation, Compiled, Job, Limits, Outcome
from tang.device.iterations import MESA, check_iterations, iterations
from tang.device.probe import probed
from tang.device.shaders import ShaderOptions, Shaders
from tang.device.storage import AnyArray, dtype_of
from tang.device.texts import check_workgroups, seconds_of
from tang.errors import DeviceError
from tang.kernel.ir import Kernel, Type
from tang.kernel.profile import Profile

if TYPE_CHECKING:
    from tang.device.runner_webgpu import Handle, Session

ENABLE: Final = "pip install wgpu; apt-get install mesa-vulkan-drivers libvulkan1"
"""What makes the target run on a machine without a GPU."""

WebGPUOptions = ShaderOptions
"""How kernels are built."""


class WebGPU:
    """Kernels as WGSL; see `Device` for the methods."""

    name: Final = "webgpu"
    language: Final = "wgsl"
    limits: Final = Limits(index_bits=32, workgroup=1024, shared_bytes=32768, buffers=31)

    def __init__(self, options: WebGPUOptions | None = None) -> None:
        if importlib.util.find_spec("wgpu") is None:
            raise DeviceError(f"no WebGPU: wgpu is not installed; {ENABLE}")
        self._shaders: Final = Shaders(self.language, "runner_webgpu.py", options)
        self._direct: Session | None = None
        self._pipelines: dict[tuple[str, str], Handle] = {}

    @property
    def description(self) -> str:
        """The adapter and its driver."""
        info = self._here.adapter.info
        return f"{info['device']}, {info['backend_type']}, {info['description']}"

    @property
    def subgroup(self) -> int:
        """The least subgroup that the adapter says it has; 0 where it says nothing."""
        info = self._here.adapter.info
        names = ("subgroup_min_size", "stackgroup_min_size")  # wgpu-py 0.32 calls it the latter
        return next((int(info[n]) for n in names if info.get(n)), 0)

    @functools.cached_property
    def profile(self) -> Profile:
        """IEEE on Mesa's software driver, whose bits are asserted; else as probed."""
        return Profile(fused=False) if "llvmpipe" in self.description else probed(self)

    def start(self) -> None:
        """Start the worker; raises DeviceError when there is no adapter."""
        self._shaders.start()

    def compile(self, kernels: Sequence[Kernel]) -> tuple[Compiled, ...]:
        """Compile kernels in the worker, together."""
        check_workgroups(kernels, self.limits, self.name)
        return self._shaders.compile(kernels)

    def compile_text(self, kernel: Kernel, text: str, symbol: str) -> Compiled:
        """Compile a foreign text: group 0 binds the scalars, then the parameters of `kernel`."""
        return self._shaders.compile_text(kernel, text, symbol)

    def allocate(self, element: Type, count: int) -> Allocation:
        """Memory of the device; wgpu fills it with zeros."""
        return Allocation(element, count, self._here.empty(_words(count * element.bytes)))

    def upload(self, element: Type, data: AnyArray) -> Allocation:
        """A copy of the array on the device."""
        flat = np.ascontiguousarray(data, dtype_of(element)).reshape(-1)
        raw = flat.tobytes()
        handle = self._here.buffer(raw + bytes(_words(len(raw)) - len(raw)))
        return Allocation(element, flat.size, handle)

    def launch(
        self,
        compiled: Compiled,
        buffers: Sequence[Allocation],
        scalars: Sequence[int],
        groups: int,
    ) -> None:
        """Submit the kernel."""
        if groups <= 0:
            return
        self._check_loops(compiled.kernel, scalars)
        from tang.device.runner_webgpu import scalar_words

        kinds = (s.type.value for s in compiled.kernel.scalars)
        words = scalar_words(list(zip(kinds, scalars, strict=True)), groups)
        pipeline = self._pipeline(compiled)
        ranges = [{"buffer": b.handle} for b in buffers]
        self._here.launch(pipeline, self._here.bindings(pipeline, words, ranges), groups)

    def download(self, memory: Allocation) -> AnyArray:
        """A copy of the memory."""
        (raw,) = self._here.read([memory.handle])
        size = memory.count * memory.type.bytes
        return np.frombuffer(bytearray(raw[:size]), dtype_of(memory.type))

    def time(self, job: Job) -> tuple[float, ...]:
        """Seconds of each repetition, measured in the worker."""
        (outcome,) = self.run((job,), deadline=60.0)
        return seconds_of(job, outcome)

    def run(self, jobs: Sequence[Job], deadline: float = 10.0) -> tuple[Outcome, ...]:
        """Run jobs in the worker, each within the deadline in seconds."""
        for j in jobs:
            self._check_loops(j.compiled.kernel, j.scalars)
        return self._shaders.run(jobs, deadline)

    def close(self) -> None:
        """End the worker; a later `run` starts another."""
        self._shaders.close()

    def _check_loops(self, kernel: Kernel, scalars: Sequence[int]) -> None:
        if iterations(kernel, scalars) > MESA and "llvmpipe" in self.description:
            check_iterations(kernel, scalars, self.name)

    @property
    def _here(self) -> Session:
        """The device as this process uses it."""
        if self._direct is None:
            from tang.device.runner_webgpu import Session

            try:
                self._direct = Session()
            except OSError as e:
                raise DeviceError(f"{e}; {ENABLE}") from e
        return self._direct

    def _pipeline(self, compiled: Compiled) -> Handle:
        key = (compiled.library, compiled.symbol)
        if key not in self._pipelines:
            entry = compiled.symbol.partition("@")[0]
            self._pipelines[key] = self._here.pipeline(self._shaders.text(compiled), entry)
        return self._pipelines[key]


def _words(size: int) -> int:
    """The size of a binding: whole words, at least one."""
    return max(-(-size // 4) * 4, 4)
