"""CUDA text to a cubin without a GPU, through NVRTC.

Defines `nvrtc_check` and `nvrtc_missing`. Relies on the wheel `nvidia-cuda-nvrtc-cu12` (or cu13)
and, for CUDA's own headers, on `nvidia-cuda-runtime-cu12` or a toolkit. It runs no kernel: it
checks what the headers of SIMT replace, inline PTX above all.
"""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from tang.device.simt.prepare import BUILT_IN
from tang.errors import DeviceError

_TYPES: Final = """
typedef signed char int8_t; typedef unsigned char uint8_t;
typedef short int16_t; typedef unsigned short uint16_t;
typedef int int32_t; typedef unsigned int uint32_t;
typedef long long int64_t; typedef unsigned long long uint64_t;
"""
_OPTIONS: Final = ("--std=c++17", "--fmad=false", "--ftz=false")


def nvrtc_missing() -> str | None:
    """Why NVRTC cannot be used here; None when it can."""
    try:
        _library()
    except DeviceError as e:
        return str(e)
    return None


def nvrtc_check(text: str, arch: str = "sm_80") -> bytes:
    """The cubin of a CUDA text for a real architecture, such as sm_80 or sm_90a.

    Raises DeviceError with NVRTC's log when it refuses the text, or says what is missing.
    """
    library = _library()
    program = ctypes.c_void_p()
    names, bodies = _virtual_headers()
    _call(
        library.nvrtcCreateProgram, ctypes.byref(program), text.encode(), b"kernel.cu", len(names),
        _strings(bodies), _strings(names),
    )  # fmt: skip
    try:
        options = [f"--gpu-architecture={arch}", *_OPTIONS, *(f"-I{p}" for p in _includes())]
        code = library.nvrtcCompileProgram(program, len(options), _strings(options))
        if code != 0:
            log = _bytes(library, program, "ProgramLog").decode(errors="replace").strip("\0\n ")
            raise DeviceError(f"NVRTC refused the text for {arch}:\n{log}")
        return _bytes(library, program, "CUBIN")
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


@functools.cache
def _library() -> ctypes.CDLL:
    for path in _candidates():
        try:
            return ctypes.CDLL(str(path))
        except OSError as e:
            raise DeviceError(f"cannot load {path}: {e}") from e
    raise DeviceError("NVRTC is not installed: pip install nvidia-cuda-nvrtc-cu12")


def _roots() -> Iterator[Path]:
    spec = find_spec("nvidia")
    for place in (spec.submodule_search_locations or ()) if spec is not None else ():
        yield from sorted(Path(place).iterdir())


def _candidates() -> Iterator[Path]:
    for root in _roots():
        found = sorted((root / "lib").glob("libnvrtc.so.*"))
        yield from (p for p in found if ".alt." not in p.name)


def _includes() -> Iterator[Path]:
    """Folders with CUDA's headers: wheels, then a toolkit."""
    toolkits = (os.environ.get("CUDA_HOME"), "/usr/local/cuda")
    places = [root / "include" for root in _roots()]
    places += [Path(t) / "include" for t in toolkits if t]
    yield from (p for p in places if (p / "cuda_fp16.h").exists())


def _virtual_headers() -> tuple[list[str], list[str]]:
    """Headers of the host that device text may include; NVRTC has none of them itself."""
    names = sorted(n for n in BUILT_IN if not n.startswith("metal"))
    return names, [_TYPES if n in ("stdint.h", "cstdint") else " " for n in names]


def _bytes(library: ctypes.CDLL, program: ctypes.c_void_p, what: str) -> bytes:
    size = ctypes.c_size_t()
    _call(library[f"nvrtcGet{what}Size"], program, ctypes.byref(size))
    buffer = ctypes.create_string_buffer(size.value)
    _call(library[f"nvrtcGet{what}"], program, buffer)
    return buffer.raw


def _strings(values: Sequence[str]) -> ctypes.Array[ctypes.c_char_p]:
    return (ctypes.c_char_p * len(values))(*(v.encode() for v in values))


def _call(function: Callable[..., int], *arguments: object) -> None:
    code = function(*arguments)
    if code != 0:
        raise DeviceError(f"NVRTC failed with status {code}")
