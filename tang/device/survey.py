"""The survey behind `tang doctor`: which targets run here, and what would enable the others.

Defines `Row` and `survey`. Relies on the compiler's own answer to `--version`. It compiles and
changes nothing.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from tang.device.base import Profile
from tang.device.compiler import CompilerOptions, open_compiler
from tang.device.host_c import HostC
from tang.errors import DeviceError


@dataclass(frozen=True, slots=True)
class Row:
    """One target: whether it runs here, what it is, and the command that would enable it."""

    target: str
    device: str
    available: bool
    detail: str
    enable: str = ""
    profile: Profile | None = None

    def to_data(self) -> dict[str, object]:
        """The row as plain data."""
        return asdict(self)

    def to_text(self) -> str:
        """The row as one line, and a second one when it needs something."""
        state = "yes" if self.available else "no"
        line = f"{self.target:8} {self.device:10} {state:4} {self.detail}"
        if self.profile is not None:
            facts = ", ".join(
                f"{k} {'yes' if v else 'no'}" for k, v in asdict(self.profile).items()
            )
            line += f" ({facts})"
        return line if not self.enable else f"{line}\n{'':9}enable: {self.enable}"


def survey() -> tuple[Row, ...]:
    """Every target that this version can emit."""
    return (_host(), _opencl(), _cuda(), _webgpu(), _opengl())


def _host() -> Row:
    try:
        version = open_compiler(CompilerOptions()).version.splitlines()[0]
    except DeviceError as e:
        return Row("c", HostC.name, False, str(e), "apt-get install gcc, or pip install ziglang")
    return Row("c", HostC.name, True, version, profile=HostC.profile)


def _opencl() -> Row:
    from tang.device.opencl import ENABLE, OpenCL

    try:
        found = OpenCL()
    except DeviceError as e:
        return Row("opencl", OpenCL.name, False, str(e.__cause__ or e), ENABLE)
    return Row("opencl", OpenCL.name, True, found.description, profile=found.profile)


def _cuda() -> Row:
    from tang.device.cuda import ENABLE, Cuda

    try:
        found = Cuda()
    except DeviceError as e:
        return Row("cuda", Cuda.name, False, str(e.__cause__ or e), ENABLE)
    return Row("cuda", Cuda.name, True, found.description, profile=found.profile)


def _webgpu() -> Row:
    from tang.device.webgpu import ENABLE, WebGPU

    try:
        found = WebGPU()
        description = found.description
    except DeviceError as e:
        return Row("wgsl", WebGPU.name, False, str(e.__cause__ or e), ENABLE)
    return Row("wgsl", WebGPU.name, True, description, profile=found.profile)


def _opengl() -> Row:
    from tang.device.opengl import ENABLE, OpenGL

    try:
        found = OpenGL()
    except DeviceError as e:
        return Row("glsl", OpenGL.name, False, str(e.__cause__ or e), ENABLE)
    return Row("glsl", OpenGL.name, True, found.description, profile=found.profile)
