"""OpenGL as a device: GLSL compute shaders on EGL, Mesa's llvmpipe where there is no GPU.

Defines `OpenGL` and `OpenGLOptions`. Relies on the emitter, on shaders run by a worker and on
moderngl (`pip install moderngl glcontext`, and an EGL driver). Drivers confine accesses to the
bound range, which is a buffer with the zone behind it: what is written further away is dropped.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from tang.device.base import Allocation, Compiled, Job, Limits, Outcome, Ran
from tang.device.iterations import check_iterations
from tang.device.probe import COUNTED, counting_kernel, probed
from tang.device.runner_opengl import Handle, Session, scalar_words
from tang.device.shaders import ShaderOptions, Shaders
from tang.device.storage import AnyArray, dtype_of
from tang.device.texts import check_workgroups, seconds_of
from tang.emit.dialect import UnsupportedError
from tang.emit.words import refuse_wide_integers
from tang.errors import DeviceError
from tang.kernel.ir import Array, Kernel, Type
from tang.kernel.profile import IEEE, Profile
from tang.kernel.walk import postorder, statements, subexpressions

ENABLE: Final = "pip install moderngl glcontext; apt-get install libegl1 libgl1-mesa-dri"
"""What makes the target run on a machine without a GPU."""

OpenGLOptions = ShaderOptions
"""How kernels are built."""


class OpenGL:
    """Kernels as GLSL; see `Device` for the methods."""

    name: Final = "opengl"
    language: Final = "glsl"

    def __init__(self, options: OpenGLOptions | None = None) -> None:
        self._here: Final = _opened()
        info, extensions = self._here.info, self._here.extensions
        self.description: Final = f"{info['GL_RENDERER']}, OpenGL {info['GL_VERSION']}"
        self._int64 = "GL_ARB_gpu_shader_int64" in extensions
        self._doubles = "GL_ARB_gpu_shader_fp64" in extensions
        self._shaders: Final = Shaders(self.language, "runner_opengl.py", options)
        self._programs: dict[tuple[str, str], Handle] = {}

    @functools.cached_property
    def limits(self) -> Limits:
        """As the driver says, but for 64-bit integers that it miscompiles."""
        info = self._here.info
        return Limits(
            index_bits=64 if self._wide_integers else 32,
            workgroup=info["GL_MAX_COMPUTE_WORK_GROUP_INVOCATIONS"],
            shared_bytes=32768,  # the least that OpenGL 4.5 allows
            buffers=info["GL_MAX_COMPUTE_SHADER_STORAGE_BLOCKS"] - 1,
        )

    @functools.cached_property
    def _wide_integers(self) -> bool:
        """Whether there are 64-bit integers and loops over them count; NVIDIA's do not."""
        if not self._int64 or "llvmpipe" in self.description:
            return self._int64
        compiled = self._shaders.compile([counting_kernel()])
        out = np.zeros(64, np.int64)
        (outcome,) = self._shaders.run([Job(compiled[0], (out,), (64,), 1)], 30.0)
        return isinstance(outcome, Ran) and bool((outcome.memories[0].data == COUNTED).all())

    @functools.cached_property
    def subgroup(self) -> int:
        """What a shader reads as the size of its subgroup; 0 without the extensions that tell."""
        return self._here.subgroup()

    @functools.cached_property
    def profile(self) -> Profile:
        """IEEE on Mesa's software driver, whose bits are asserted; else as probed."""
        return IEEE if "llvmpipe" in self.description else probed(self)

    def compile(self, kernels: Sequence[Kernel]) -> tuple[Compiled, ...]:
        """Compile kernels in the worker, together."""
        check_workgroups(kernels, self.limits, self.name)
        for k in kernels:
            self._check_types(k)
        return self._shaders.compile(kernels)

    def compile_text(self, kernel: Kernel, text: str, symbol: str) -> Compiled:
        """Compile a foreign text: binding 0 has the scalars, then come those of `kernel`."""
        return self._shaders.compile_text(kernel, text, symbol)

    def allocate(self, element: Type, count: int) -> Allocation:
        """Memory of the device."""
        size = max(-(-count * element.bytes // 4) * 4, 4)
        return Allocation(element, count, self._here.buffer(bytes(size)))

    def upload(self, element: Type, data: AnyArray) -> Allocation:
        """A copy of the array on the device."""
        flat = np.ascontiguousarray(data, dtype_of(element)).reshape(-1)
        raw = flat.tobytes()
        padding = max(-len(raw) % 4, 4 - len(raw))
        return Allocation(element, flat.size, self._here.buffer(raw + bytes(padding)))

    def launch(
        self,
        compiled: Compiled,
        buffers: Sequence[Allocation],
        scalars: Sequence[int],
        groups: int,
    ) -> None:
        """Start the kernel."""
        if groups <= 0:
            return
        self._check_loops(compiled.kernel, scalars)
        kinds = (s.type.value for s in compiled.kernel.scalars)
        words = scalar_words(list(zip(kinds, scalars, strict=True)), groups)
        program = self._program(compiled)
        self._here.launch(program, words, [(b.handle, 0) for b in buffers], groups)

    def download(self, memory: Allocation) -> AnyArray:
        """A copy of the memory."""
        raw = bytearray(self._here.read(memory.handle, memory.count * memory.type.bytes))
        return np.frombuffer(raw, dtype_of(memory.type))

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
        if "llvmpipe" in self.description:
            check_iterations(kernel, scalars, self.name)

    def _check_types(self, kernel: Kernel) -> None:
        """Raise for 64-bit integers or floats where the device has none."""
        if not self._wide_integers:
            refuse_wide_integers(kernel, "this OpenGL device")
        if not self._doubles and Type.F64 in _types(kernel):
            raise UnsupportedError(f"kernel {kernel.name!r} needs f64; this OpenGL device has none")

    def _program(self, compiled: Compiled) -> Handle:
        key = (compiled.library, compiled.symbol)
        if key not in self._programs:
            entry = compiled.symbol.partition("@")[0]
            self._programs[key] = self._here.program(self._shaders.text(compiled), entry)
        return self._programs[key]


def _opened() -> Session:
    try:
        return Session()
    except (ImportError, OSError) as e:
        raise DeviceError(f"no OpenGL: {e}; {ENABLE}") from e


def _types(kernel: Kernel) -> Iterator[Type]:
    yield from (p.type for p in kernel.params)
    yield from (s.type for s in statements(kernel.body) if isinstance(s, Array))
    yield from (e.type for e in subexpressions(kernel.body))
    for f in kernel.functions:
        yield from (e.type for s in f.body for e in postorder(s.value))
