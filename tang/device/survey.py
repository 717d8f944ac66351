"""The survey behind `tang doctor`: which targets run here, and what would enable the others.

Defines `Row` and `survey`. Relies on what compilers and drivers say of themselves, and on probes
for profiles, which are measured once and kept. It judges nothing.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

from tang.device.base import Device
from tang.device.compiler import CompilerOptions, open_compiler
from tang.device.host_c import HostC
from tang.device.probe import probed
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
        return {**asdict(self), "profile": profile}

    def to_text(self) -> str:
        """The row as one line, and a second one when it needs something."""
        state = "yes" if self.available else "no"
        line = f"{self.target:8} {self.device:10} {state:4} {self.detail}"
        if self.profile is not None:
            line += f"\n{'':9}profile: {self.profile.to_text()}"
        if self.refusal:
            line += f"\n{'':9}profile: {self.refusal}"
        return line if not self.enable else f"{line}\n{'':9}enable: {self.enable}"


def survey() -> tuple[Row, ...]:
    """Every target that this version can emit."""
    return (_host(), _opencl(), _cuda(), _simt("cuda"), _simt("msl"), _webgpu(), _opengl())


def _running(target: str, detail: str, device: Device) -> Row:
    """A target that runs here, and what its probes give; its processes end."""
    try:
        return Row(target, device.name, True, detail, profile=probed(device))
    except DeviceError as e:
        return Row(target, device.name, True, detail, refusal=str(e))
    finally:
        device.close()


def _host() -> Row:
    try:
        version = open_compiler(CompilerOptions()).version.splitlines()[0]
    except DeviceError as e:
        return Row("c", HostC.name, False, str(e), "apt-get install gcc, or pip install ziglang")
    return _running("c", version, HostC())


def _opencl() -> Row:
    from tang.device.opencl import ENABLE, OpenCL

    try:
        found = OpenCL()
    except DeviceError as e:
        return Row("opencl", OpenCL.name, False, str(e.__cause__ or e), ENABLE)
    return _running("opencl", found.description, found)


def _cuda() -> Row:
    from tang.device.cuda import ENABLE, Cuda

    try:
        found = Cuda()
    except DeviceError as e:
        return Row("cuda", Cuda.name, False, str(e.__cause__ or e), ENABLE)
    return _running("cuda", found.description, found)


def _simt(language: Literal["cuda", "msl"]) -> Row:
    """The text of a language for GPUs, on this machine's processor."""
    from tang.device.simt import Simt

    try:
        found = Simt(language)
    except DeviceError as e:
        return Row(language, f"simt-{language}", False, str(e), "apt-get install g++")
    return _running(language, f"its text on the CPU, by {found.identity[0]}", found)


def _webgpu() -> Row:
    from tang.device.webgpu import ENABLE, WebGPU

    try:
        found = WebGPU()
        description = found.description
    except DeviceError as e:
        return Row("wgsl", WebGPU.name, False, str(e.__cause__ or e), ENABLE)
    return _running("wgsl", description, found)


def _opengl() -> Row:
    from tang.device.opengl import ENABLE, OpenGL

    try:
        found = OpenGL()
    except DeviceError as e:
        return Row("glsl", OpenGL.name, False, str(e.__cause__ or e), ENABLE)
    return _running("glsl", found.description, found)
