"""OpenCL as a device: any ICD through pyopencl, PoCL's by default.

Defines `OpenCL` and `OpenCLOptions`. Relies on the emitter, the isolation of jobs and pyopencl
(`pip install pyopencl pocl-binary-distribution`; PoCL also needs `ld` on PATH). Texts lie in the
cache folder by content, where PoCL keeps its binaries too.
"""

from __future__ import annotations

import functools
import os
import shutil
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
from tang.errors import DeviceError
from tang.kernel.ir import Kernel, Type
from tang.kernel.profile import Profile

if TYPE_CHECKING:
    import pyopencl

    from tang.device.runner_opencl import Context

ENABLE: Final = "pip install pyopencl pocl-binary-distribution"
"""What makes the target run on a machine without a GPU."""

ALIGN: Final = 512
"""Sub-buffers start at multiples of this many bytes, the most that any known ICD asks for."""

_FUSES: Final = 1 << 5  # a bit of CL_DEVICE_SINGLE_FP_CONFIG


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenCLOptions:
    """Where and how kernels are built.

    device     part of the name of a platform or device; "" takes the first one
    optimize   whether the ICD's compiler optimises: without, PoCL compiles three times faster
    cache      folder of texts and binaries; None is `tang` in the user's cache folder
    memory     bytes that a worker may use beside a request's buffers
    """

    device: str = ""
    optimize: bool = True
    cache: Path | None = None
    memory: int = 2**33


class OpenCL:
    """Kernels as OpenCL C; see `Device` for the methods."""

    name: Final = "opencl"
    language: Final = "opencl"

    def __init__(self, options: OpenCLOptions | None = None) -> None:
        self._options = options or OpenCLOptions()
        self._cache = made_folder(self._options.cache or default_cache())
        self._direct: Context | None = None
        found = _found(self._options.device)
        self.description: Final = f"{found.platform.name}: {found.name}, {found.driver_version}"
        self.limits: Final = Limits(
            workgroup=found.max_work_group_size,
            shared_bytes=found.local_mem_size,
            buffers=found.max_parameter_size // 8,  # bytes of a pointer
        )
        texts = TextStore(self._cache, ".cl")
        self._modules: Final = Modules(
            self.language, texts, self._options.memory, self._runner(), self._allowed
        )
        self._fuses = bool(found.single_fp_config & _FUSES)

    @functools.cached_property
    def profile(self) -> Profile:
        """IEEE on PoCL, whose bits are asserted; else as probed."""
        pocl = "Portable Computing Language" in self.description
        return Profile(fused=self._fuses) if pocl else probed(self)

    @functools.cached_property
    def subgroup(self) -> int:
        """The multiple that the driver prefers for sizes of workgroups; 0 where it says none."""
        return self._here.preferred_multiple()

    @property
    def identity(self) -> tuple[str, ...]:
        """The device, its driver and how texts are built."""
        return (self.description, "optimized" if self._options.optimize else "quick")

    def compile(self, kernels: Sequence[Kernel]) -> tuple[Compiled, ...]:
        """Compile kernels as one program, in the worker; its compiler may crash or hang there."""
        return self._modules.compile(kernels)

    def compile_text(self, kernel: Kernel, text: str, symbol: str) -> Compiled:
        """Compile a foreign text whose `symbol` has the parameters and scalars of `kernel`."""
        return self._modules.compile_text(kernel, text, symbol)

    def allocate(self, element: Type, count: int) -> Allocation:
        """Uninitialised memory of the device."""
        return Allocation(element, count, self._here.empty(count * element.bytes))

    def upload(self, element: Type, data: AnyArray) -> Allocation:
        """A copy of the array on the device."""
        flat = np.ascontiguousarray(data, dtype_of(element)).reshape(-1)
        return Allocation(element, flat.size, self._here.copied(flat))

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
        values = scalar_values(compiled.kernel, scalars)
        handles = [b.handle for b in buffers]
        try:
            self._here.launch(
                compiled.library, compiled.symbol, handles, values, groups,
                compiled.kernel.workgroup,
            )  # fmt: skip
        except OSError as e:
            raise DeviceError(str(e)) from e

    def download(self, memory: Allocation) -> AnyArray:
        """A copy of the memory."""
        host = np.empty(memory.count, dtype_of(memory.type))
        self._here.read(memory.handle, host)
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
            script=Path(__file__).with_name("runner_opencl.py"),
            options={"device": self._options.device, "optimize": self._options.optimize},
            flags=("-P",),
            env=_variables(self._cache),
            align=ALIGN,
            threads=os.cpu_count() or 1,
        )

    @property
    def _here(self) -> Context:
        """The device as this process uses it."""
        if self._direct is None:
            from tang.device.runner_opencl import Context

            options = self._options
            self._direct = Context(options.device, optimize=options.optimize, ahead=False)
        return self._direct


def _found(wanted: str) -> pyopencl.Device:
    try:
        from tang.device.runner_opencl import chosen_device

        found = chosen_device(wanted)
    except (ImportError, OSError) as e:
        raise DeviceError(f"no OpenCL device: {e}; `{ENABLE}`") from e
    if "portable computing" in found.platform.name.lower() and shutil.which("ld") is None:
        raise DeviceError("PoCL links kernels with `ld`, which is not on PATH: install binutils")
    return found


def _variables(cache: Path) -> dict[str, str]:
    """The environment of a worker: caches of binaries, and the quickest way through PoCL.

    Work-groups of any size share code, so that a program compiles as a whole, ahead of launches;
    the linker that PoCL starts for every kernel is gold where there is one.
    """
    path = os.environ.get("PATH", os.defpath)
    gold = shutil.which("ld.gold")
    if gold is not None:
        link = made_folder(cache / "linker") / "ld"
        if not link.is_symlink():
            _link(link, gold)
        path = f"{link.parent}{os.pathsep}{path}"
    return {
        "POCL_CACHE_DIR": str(made_folder(cache / "pocl")),
        "POCL_WORK_GROUP_SPECIALIZATION": "0",
        "PYOPENCL_NO_CACHE": "1",
        "PATH": path,
    }


def _link(link: Path, target: str) -> None:
    try:
        link.symlink_to(target)
    except FileExistsError:
        return
