"""The survey behind `tang doctor`: which targets run here, and what would enable the others.

Defines `Row` and `survey`. Relies on what compilers and drivers say of themselves, and on probes
for profiles, which are measured once and kept. It judges nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Literal

from tang.device.base import Device
from tang.device.compiler import CompilerOptions, open_compiler
from tang.device.host_c import HostC
from tang.device.profiling import is_measured, profiled
from tang.errors import DeviceError
from tang.kernel.profile import Profile


@dataclass(frozen=True, slots=True)
class Row:
    """One target: whether it runs here, what it is, and the command that would enable it.

    profile  as probed;  `refusal` says why there is none
    """

    target: str
    device: str
    available: bool
    detail: str
    enable: str = ""
    profile: Profile | None = None
    refusal: str = ""

    def to_data(self) -> dict[str, object]:
        """The row as plain data."""
        profile = None if self.profile is None else self.profile.to_data()
        return {**asdict(replace(self, profile=None)), "profile": profile}

    def to_text(self) -> str:
        """The row as one line, and a second one when it needs something."""
        state = "yes" if self.available else "no"
        line = f"{self.target:8} {self.device:10} {state:4} {self.detail}"
        if self.profile is not None:
            line += f"\n{'':9}profile: {self.profile.to_text()}"
            for each in self.profile.measured_lines():
                line += f"\n{'':9}{each}"
        if self.refusal:
            line += f"\n{'':9}profile: {self.refusal}"
        return line if not self.enable else f"{line}\n{'':9}enable: {self.enable}"


Say = Callable[[str], None]


def survey(say: Say = lambda line: None) -> tuple[Row, ...]:
    """Every target that this version can emit.

    say  is told what is being measured, which takes seconds once per device and driver
    """
    return (
        _host(say),
        _opencl(say),
        _cuda(say),
        _simt("cuda", say),
        _simt("msl", say),
        _webgpu(say),
        _opengl(say),
    )


def _running(target: str, detail: str, device: Device, say: Say) -> Row:
    """A target that runs here, and what its probes give; its processes end."""
    try:
        start = time.monotonic()
        known = is_measured(device)
        if not known:
            say(f"measuring {device.name} ({target}): 3 to 20 seconds, once per driver and version")
        found = profiled(device)
        if not known:
            say(f"measured {device.name} ({target}) in {time.monotonic() - start:.1f} s")
        return Row(target, device.name, True, detail, profile=found)
    except DeviceError as e:
        return Row(target, device.name, True, detail, refusal=str(e))
    finally:
        device.close()


def _host(say: Say) -> Row:
    try:
        version = open_compiler(CompilerOptions()).version.splitlines()[0]
    except DeviceError as e:
        return Row("c", HostC.name, False, str(e), "apt-get install gcc, or pip install ziglang")
    return _running("c", version, HostC(), say)


def _opencl(say: Say) -> Row:
    from tang.device.opencl import ENABLE, OpenCL

    try:
        found = OpenCL()
    except DeviceError as e:
        return Row("opencl", OpenCL.name, False, str(e.__cause__ or e), ENABLE)
    return _running("opencl", found.description, found, say)


def _cuda(say: Say) -> Row:
    from tang.device.cuda import ENABLE, Cuda

    try:
        found = Cuda()
    except DeviceError as e:
        return Row("cuda", Cuda.name, False, str(e.__cause__ or e), ENABLE)
    return _running("cuda", found.description, found, say)


def _simt(language: Literal["cuda", "msl"], say: Say) -> Row:
    """The text of a language for GPUs, on this machine's processor."""
    from tang.device.simt import Simt

    try:
        found = Simt(language)
    except DeviceError as e:
        return Row(language, f"simt-{language}", False, str(e), "apt-get install g++")
    return _running(language, f"its text on the CPU, by {found.identity[0]}", found, say)


def _webgpu(say: Say) -> Row:
    from tang.device.webgpu import ENABLE, WebGPU

    try:
        found = WebGPU()
        description = found.description
    except DeviceError as e:
        return Row("wgsl", WebGPU.name, False, str(e.__cause__ or e), ENABLE)
    return _running("wgsl", description, found, say)


def _opengl(say: Say) -> Row:
    from tang.device.opengl import ENABLE, OpenGL

    try:
        found = OpenGL()
    except DeviceError as e:
        return Row("glsl", OpenGL.name, False, str(e.__cause__ or e), ENABLE)
    return _running("glsl", found.description, found, say)
