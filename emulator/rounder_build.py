"""C texts of the emulator as loaded libraries.

Defines `load`, which is None where the host has no C compiler. Relies on `tang.toolchain` and
ctypes. It knows nothing of what the texts compute.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Final

from tang.errors import DeviceError
from tang.toolchain import CompilerOptions, open_compiler

_FLAGS: Final = ("-fno-trapping-math",)
"""Selects instead of branches: values stay the same, only exception flags may differ."""


@cache
def load(text: str) -> ctypes.CDLL | None:
    """The library of a text, compiled once per host; None without a working compiler."""
    try:
        compiler = open_compiler(CompilerOptions(optimize="-O3", extra=_FLAGS))
        return ctypes.CDLL(str(compiler.library(text)))
    except (DeviceError, OSError):
        return None
