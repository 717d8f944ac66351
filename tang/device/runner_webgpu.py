"""The runner of WebGPU: WGSL texts as pipelines of one wgpu device.

Defines `Session`, which the device uses in its own process too, and `open_runner` for
`tang.device.worker`. Relies on wgpu and the standard library alone. Each buffer of a job is bound
with the guard zone behind it, where writes past the end and at negative indices land.
"""

from __future__ import annotations

import ctypes
import functools
import json
import os
import re
import struct
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Handle = Any
"""An object of wgpu, which carries no types."""

GUARD = 256
"""Bytes of the guard zones, as laid out by the parent."""

WIDEST = 65535
"""Workgroups in one dimension of a grid; more go to the second one."""

_LIMITS = (
    "max-storage-buffers-per-shader-stage",
    "max-storage-buffer-binding-size",
    "max-buffer-size",
    "max-compute-workgroup-storage-size",
    "max-compute-invocations-per-workgroup",
    "max-compute-workgroup-size-x",
)


def scalar_words(scalars: Sequence[tuple[str, int]], groups: int) -> bytes:
    """The contents of `tang_scalars`: a zero, the workgroups, then scalars of given kinds."""
    words = [0, groups]
    for kind, value in scalars:
        words += [value >> 32 * i & 0xFFFFFFFF for i in range(2 if kind == "i64" else 1)]
    return struct.pack(f"<{len(words)}I", *words)


def grid(groups: int) -> tuple[int, int]:
    """Workgroups in x and y, at least as many as asked for."""
    return min(groups, WIDEST), max(1, -(-groups // WIDEST))


def bound(text: str) -> list[tuple[str, str]]:
    """Number and access of each storage buffer that a text binds."""
    return re.findall(r"@binding\((\d+)\)\s*var<storage,\s*(read(?:_write)?)>", text)


def _entry(binding: int, access: str) -> dict[str, Any]:
    kind = "storage" if access == "read_write" else "read-only-storage"
    return {"binding": binding, "visibility": 4, "buffer": {"type": kind}}  # 4: compute


@functools.cache
def _choose_backends() -> None:
    """Exclude wgpu's OpenGL; possible once a process, before its first adapter."""
    import wgpu.backends.wgpu_native.extras as extras

    if os.environ.get("WGPU_BACKEND_TYPE") is None:
        extras.set_instance_extras(backends=["Vulkan", "Metal", "DX12"])


class Session:
    """One wgpu device and its pipelines; raises OSError where wgpu refuses."""

    def __init__(self) -> None:
        import wgpu

        self.wgpu = wgpu
        _choose_backends()
        try:
            self.adapter = wgpu.gpu.request_adapter_sync(power_preference="high-performance")
            self.limits = {n: self.adapter.limits[n] for n in _LIMITS}
            self.device = self.adapter.request_device_sync(required_limits=self.limits)
        except RuntimeError as e:
            raise OSError(f"no WebGPU adapter: {e}") from e
        self.storage = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC
        self.mark = self.empty(4)

    def pipeline(self, text: str, entry: str) -> Handle:
        """The pipeline of an entry point of a text, which may ignore some of its bindings."""
        create = self.device.create_bind_group_layout
        try:
            module = self.device.create_shader_module(code=text)
            layout = create(entries=[_entry(int(i), access) for i, access in bound(text)])
            return self.device.create_compute_pipeline(
                layout=self.device.create_pipeline_layout(bind_group_layouts=[layout]),
                compute={"module": module, "entry_point": entry},
            )
        except self.wgpu.GPUError as e:
            raise OSError(f"wgpu refused {entry}: {e}"[:4000]) from e

    def buffer(self, data: bytes | memoryview) -> Handle:
        """A storage buffer with contents, whose size is a multiple of four bytes."""
        try:
            return self.device.create_buffer_with_data(data=data, usage=self.storage)
        except self.wgpu.GPUOutOfMemoryError as e:
            raise MemoryError(str(e)) from e

    def empty(self, size: int) -> Handle:
        """A storage buffer full of zeros."""
        try:
            return self.device.create_buffer(size=size, usage=self.storage)
        except self.wgpu.GPUOutOfMemoryError as e:
            raise MemoryError(str(e)) from e

    def bindings(
        self, pipeline: Handle, scalars: bytes, buffers: Sequence[dict[str, Any]]
    ) -> Handle:
        """A bind group: the scalars, then ranges of buffers."""
        resources = [{"buffer": self.buffer(scalars)}, *buffers]
        return self.device.create_bind_group(
            layout=pipeline.get_bind_group_layout(0),
            entries=[{"binding": i, "resource": r} for i, r in enumerate(resources)],
        )

    def launch(self, pipeline: Handle, bindings: Handle, groups: int) -> None:
        """Submit one launch."""
        encoder = self.device.create_command_encoder()
        task = encoder.begin_compute_pass()
        task.set_pipeline(pipeline)
        task.set_bind_group(0, bindings)
        task.dispatch_workgroups(*grid(groups))
        task.end()
        self.device.queue.submit([encoder.finish()])

    def read(self, buffers: Sequence[Handle]) -> list[memoryview]:
        """The contents of buffers once everything submitted has ended."""
        usage = self.wgpu.BufferUsage.MAP_READ | self.wgpu.BufferUsage.COPY_DST
        total = sum(b.size for b in buffers)
        staging = self.device.create_buffer(size=max(total, 4), usage=usage)
        encoder = self.device.create_command_encoder()
        places, at = [], 0
        for b in buffers:
            encoder.copy_buffer_to_buffer(b, 0, staging, at, b.size)
            places.append((at, at + b.size))
            at += b.size
        self.device.queue.submit([encoder.finish()])
        staging.map_sync(self.wgpu.MapMode.READ)
        whole = memoryview(staging.read_mapped(copy=True))
        staging.unmap()
        return [whole[start:end] for start, end in places]

    def wait(self) -> None:
        """Return when everything submitted has ended."""
        self.read([self.mark])


class Runner:
    """Keeps the pipelines of libraries: files that hold texts by symbol as JSON."""

    limited = False  # drivers map far more than they use

    def __init__(self) -> None:
        self.session = Session()
        self.texts: dict[str, dict[str, str]] = {}
        self.pipelines: dict[tuple[str, str], Any] = {}

    def build(self, library: str) -> None:
        """Make the pipelines of every text, and have the driver compile them all."""
        for symbol in self._texts(library):
            self._pipeline(library, symbol)
        self.session.wait()

    def run(self, job: dict[str, Any], address: int) -> list[int]:
        """Launch one kernel on copies of its buffers and zones, and copy them back."""
        try:
            return self._run(job, address)
        except self.session.wgpu.GPUError as e:
            raise RuntimeError(f"wgpu lost the device: {e}") from e

    def _run(self, job: dict[str, Any], address: int) -> list[int]:
        session = self.session
        pipeline = self._pipeline(job["library"], job["symbol"])
        zones = [_zone(address + at, n) for at, n in zip(job["buffers"], job["sizes"], strict=True)]
        buffers = [session.buffer(memoryview(z).cast("B")) for z in zones]
        ranges = [{"buffer": b, "offset": GUARD, "size": b.size - GUARD} for b in buffers]
        words = scalar_words(job["scalars"], job["groups"])
        bindings = session.bindings(pipeline, words, ranges)
        spent = []
        for _ in range(job["repeat"]):
            before = time.perf_counter_ns()
            session.launch(pipeline, bindings, job["groups"])
            if job["repeat"] > 1:
                session.wait()
            spent.append(time.perf_counter_ns() - before)
        found = session.read(buffers)
        if len(spent) == 1:
            spent = [time.perf_counter_ns() - before]
        for zone, data in zip(zones, found, strict=True):
            memoryview(zone).cast("B")[:] = data
        for b in buffers:
            b.destroy()
        return spent

    def _texts(self, library: str) -> dict[str, str]:
        if library not in self.texts:
            self.texts[library] = json.loads(Path(library).read_text("utf-8"))
        return self.texts[library]

    def _pipeline(self, library: str, symbol: str) -> Handle:
        key = (library, symbol)
        if key not in self.pipelines:
            text, entry = self._texts(library)[symbol], symbol.partition("@")[0]
            self.pipelines[key] = self.session.pipeline(text, entry)
            self._warm(self.pipelines[key], len(bound(text)) - 1)
        return self.pipelines[key]

    def _warm(self, pipeline: Handle, buffers: int) -> None:
        """Launch no workgroups: drivers compile at the first launch, this one behind our back."""
        dummies = [{"buffer": self.session.empty(256)} for _ in range(buffers)]
        bindings = self.session.bindings(pipeline, scalar_words((("i64", 0),) * 16, 0), dummies)
        self.session.launch(pipeline, bindings, 1)


def _zone(address: int, size: int) -> ctypes.Array[ctypes.c_char]:
    """A buffer of the arena with its guard zones, up to a multiple of four bytes."""
    total = -(-(size + 2 * GUARD) // 4) * 4
    return (ctypes.c_char * total).from_address(address - GUARD)


def open_runner(options: dict[str, Any]) -> Runner:
    """A runner; it takes no options."""
    return Runner()
