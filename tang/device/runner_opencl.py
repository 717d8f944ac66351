"""The runner of OpenCL: builds programs and launches their kernels, here or in a worker.

Defines `Context` and `open_runner` for `tang.device.worker`. Relies on pyopencl and on an ICD;
buffers are sub-buffers of a job's own pages where those can be used in place. It imports nothing
of tang, because a worker starts it by path.
"""

from __future__ import annotations

import ctypes
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyopencl as cl

Array = npt.NDArray[Any]
_SCALARS: dict[str, type[np.generic[Any]]] = {"i32": np.int32, "i64": np.int64, "u32": np.uint32}
_ROUNDED_DIVISION = 1 << 7  # CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT

_MEMORY = (
    cl.status_code.MEM_OBJECT_ALLOCATION_FAILURE,
    cl.status_code.OUT_OF_HOST_MEMORY,
    cl.status_code.INVALID_BUFFER_SIZE,
)


def chosen_device(wanted: str) -> cl.Device:
    """The first device whose platform or name contains a text; raises OSError naming all."""
    try:
        found = [(p, d) for p in cl.get_platforms() for d in p.get_devices()]
    except cl.Error as e:
        raise OSError(f"no OpenCL platform: {e}") from e
    for platform, device in found:
        if wanted.lower() in f"{platform.name} {device.name}".lower():
            return device
    names = ", ".join(f"{p.name}: {d.name}" for p, d in found)
    raise OSError(f"no OpenCL device matches {wanted!r}: {names or 'there is none'}")


class Context:
    """A device with a queue, and the programs built for it.

    ahead  compile every kernel of a program at once, so that no launch does
    """

    def __init__(self, wanted: str, optimize: bool, ahead: bool) -> None:
        self.device = chosen_device(wanted)
        self.context = cl.Context([self.device])
        self.queue = cl.CommandQueue(self.context)
        self.programs: dict[str, cl.Program] = {}
        self.ahead = ahead
        self.options = [] if optimize else ["-cl-opt-disable"]
        if self.device.single_fp_config & _ROUNDED_DIVISION:
            self.options.append("-cl-fp32-correctly-rounded-divide-sqrt")

    def program(self, library: str) -> cl.Program:
        """The program of a text's file; raises OSError with the compiler's words if refused."""
        found = self.programs.get(library)
        if found is None:
            found = self.programs[library] = self._built(library)
        return found

    def _built(self, library: str) -> cl.Program:
        program = cl.Program(self.context, Path(library).read_text(encoding="ascii"))
        try:
            _build(program, self.options)
            if self.ahead:
                program.get_info(cl.program_info.BINARIES)
        except cl.Error as e:
            raise OSError(f"the OpenCL compiler refused a text: {e}"[:4000]) from e
        return program

    def launch(
        self,
        library: str,
        symbol: str,
        buffers: Sequence[cl.Buffer],
        scalars: Sequence[np.generic[Any]],
        groups: int,
        workgroup: int,
    ) -> None:
        """Enqueue a kernel."""
        kernel = cl.Kernel(self.program(library), symbol)
        kernel.set_args(*buffers, *scalars)
        size = (groups * workgroup,)
        cl.enqueue_nd_range_kernel(self.queue, kernel, size, (workgroup,))

    def preferred_multiple(self) -> int:
        """The driver's preferred multiple for workgroups of a kernel; 0 where it is refused."""
        text = "__kernel void empty(__global int* x) { x[get_global_id(0)] = 0; }"
        try:
            kernel = cl.Kernel(_build(cl.Program(self.context, text)), "empty")
            info = cl.kernel_work_group_info.PREFERRED_WORK_GROUP_SIZE_MULTIPLE
            found: int = kernel.get_work_group_info(info, self.device)  # type: ignore[assignment]
            return found
        except cl.Error:
            return 0

    def empty(self, size: int) -> cl.Buffer:
        """Uninitialised memory of a number of bytes."""
        return cl.Buffer(self.context, cl.mem_flags.READ_WRITE, max(size, 1))

    def copied(self, array: Array) -> cl.Buffer:
        """Memory with the contents of a flat array."""
        if not array.size:
            return self.empty(0)
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        return cl.Buffer(self.context, flags, hostbuf=array)

    def read(self, memory: cl.Buffer, array: Array) -> None:
        """Fill a flat array with the contents of memory, once everything launched has ended."""
        self.queue.finish()
        if array.size:
            cl.enqueue_copy(self.queue, array, memory)


def _build(program: cl.Program, options: Sequence[str] = ()) -> cl.Program:
    """The program, built; what a compiler says of a text that it takes is nobody's warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cl.CompilerWarning)
        program.build(list(options))
    return program


class Runner:
    """Runs jobs in the arena's own pages."""

    limited = True

    def __init__(self, context: Context) -> None:
        self.context = context
        self.limited = bool(context.device.type & cl.device_type.CPU)

    def build(self, library: str) -> None:
        """Build a program."""
        self.context.program(library)

    def run(self, job: dict[str, Any], address: int) -> list[int]:
        """Launch one kernel and wait for it, as often as the job says."""
        self.context.program(job["library"])
        try:
            return self._run(job, address)
        except cl.Error as e:
            if e.code in _MEMORY:
                raise MemoryError(str(e)) from e
            raise RuntimeError(str(e)) from e

    def _run(self, job: dict[str, Any], address: int) -> list[int]:
        start, size = job["region"]
        pages = (ctypes.c_char * size).from_address(address + start)
        flags = cl.mem_flags
        whole = cl.Buffer(self.context.context, flags.READ_WRITE | flags.USE_HOST_PTR, 0, pages)
        parts = [
            whole.get_sub_region(at - start, max(n, 1))
            for at, n in zip(job["buffers"], job["sizes"], strict=True)
        ]
        scalars: list[np.generic[Any]] = [_SCALARS[kind](v) for kind, v in job["scalars"]]
        queue, spent = self.context.queue, []
        for _ in range(job["repeat"]):
            before = time.perf_counter_ns()
            self.context.launch(
                job["library"], job["symbol"], parts, scalars, job["groups"], job["workgroup"]
            )
            queue.finish()
            spent.append(time.perf_counter_ns() - before)
        kind = np.dtype(np.uint8)
        view, _ = cl.enqueue_map_buffer(queue, whole, cl.map_flags.READ, 0, (size,), kind)
        view.base.release(queue)  # from here on the pages hold what the kernel wrote
        queue.finish()
        for part in (*parts, whole):
            part.release()
        return spent


def open_runner(options: dict[str, Any]) -> Runner:
    """A runner on the device that the options name."""
    return Runner(Context(options["device"], options["optimize"], ahead=True))
