"""Backends by name: where the ladder runs kernels.

Defines `BACKENDS`, `open_backend` and `available`. Relies on the devices. An open backend is kept
for the life of the process, because starting one costs more than most checks.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Final, Literal

from tang.device import CompilerOptions, HostC
from tang.device.base import Device
from tang.errors import DeviceError


def _host_c(quick: bool) -> Device:
    return HostC(CompilerOptions(optimize="-O0") if quick else CompilerOptions())


def _opencl(quick: bool) -> Device:
    from tang.device.opencl import OpenCL, OpenCLOptions

    return OpenCL(OpenCLOptions(optimize=not quick))


def _cuda(quick: bool) -> Device:
    """A GPU where there is one; elsewhere the same text on the CPU."""
    from tang.device.cuda import Cuda

    try:
        return Cuda()
    except DeviceError:
        return _simt("cuda", quick)


def _msl(quick: bool) -> Device:
    return _simt("msl", quick)


def _simt(language: Literal["cuda", "msl"], quick: bool) -> Device:
    from tang.device.simt import Simt

    return Simt(language, CompilerOptions(optimize="-O0") if quick else None)


def _webgpu(quick: bool) -> Device:
    from tang.device.webgpu import WebGPU, WebGPUOptions

    device = WebGPU(WebGPUOptions(optimize=not quick))
    device.start()
    return device


def _opengl(quick: bool) -> Device:
    from tang.device.opengl import OpenGL, OpenGLOptions

    return OpenGL(OpenGLOptions(optimize=not quick))


BACKENDS: Final[dict[str, Callable[[bool], Device]]] = {
    "c": _host_c,
    "opencl": _opencl,
    "cuda": _cuda,
    "msl": _msl,
    "wgsl": _webgpu,
    "glsl": _opengl,
}
"""Name → how to open the device, to compile quickly or as users do."""


@functools.cache
def open_backend(name: str, quick: bool = True) -> Device:
    """The device of that name; raises DeviceError when it is unknown or cannot run here.

    quick  compile without optimisation: kernels have the same bits, four times as soon
    """
    if name not in BACKENDS:
        raise DeviceError(f"unknown backend {name!r}: one of {', '.join(BACKENDS)}")
    return BACKENDS[name](quick)


def available() -> dict[str, str]:
    """Every backend, with "" where it runs here and else the reason why it does not."""
    return {name: _reason(name) for name in BACKENDS}


def _reason(name: str) -> str:
    try:
        open_backend(name)
    except DeviceError as e:
        return str(e)
    return ""
