"""Building for SIMT: the runtime once, then batches of kernel text against it.

Defines `open_toolchain`, which gives the compilers of plain and of checked libraries. Relies on
g++ and on the content-addressed cache of `tang.device.compiler`; the runtime is a library of that
cache, found by its path. It edits no text and runs nothing.
"""

from __future__ import annotations

import functools
import hashlib
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tang.device.compiler import PLAIN_CALLS, Compiler, CompilerOptions, open_compiler
from tang.errors import DeviceError

FOLDER: Final = Path(__file__).parent
INCLUDE: Final = FOLDER / "include"

_OLDEST: Final = 12

_HEADERS: Final = ("interface.h", "record.h", "context.h", "machine.h", "shadow.h", "publish.h")
_SOURCES: Final = (
    "context.cpp", "findings.cpp", "image.cpp", "publish.cpp", "schedule.cpp", "shadow.cpp",
    "hooks.cpp", "copies.cpp", "faults.cpp", "launch.cpp",
)  # fmt: skip

_COMMON: Final = (
    "-std=c++17",
    "-shared",
    "-fPIC",
    "-ffp-contract=off",  # a product and a sum never fuse unasked
    "-fno-math-errno",
    "-fno-strict-aliasing",  # device compilers promise no type-based aliasing
    "-fwrapv",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-threadsafe-statics",
    *PLAIN_CALLS,
    "-w",
    "-nodefaultlibs",  # neither libstdc++, which loads slowly, nor libtsan, whose hooks are ours
    "-Wl,--no-as-needed",
    "-lc",
    "-lgcc_s",
)

_KERNELS: Final = (
    "-fvisibility=hidden",  # kernels may have any name, even one of libc's
    "-fno-asynchronous-unwind-tables",
)

_CHECKED: Final = (
    "-DSIMT_CHECK",
    "-g1",
    "-fsanitize=thread",
    "--param=tsan-instrument-func-entry-exit=0",
    "-fsanitize=bounds,shift,alignment,integer-divide-by-zero",
    "-fsanitize-undefined-trap-on-error",
)


@dataclass(frozen=True, slots=True)
class Toolchain:
    """The compilers of kernel text, and a name for the headers' contents."""

    plain: Compiler
    checked: Compiler
    headers: str


def open_toolchain(options: CompilerOptions) -> Toolchain:
    """Find g++ and build the runtime; raises DeviceError that says what is missing."""
    command = options.command or _find()
    base = open_compiler(
        CompilerOptions(command=command, optimize=options.optimize, cache=options.cache)
    )
    _check_version(base.version)
    runtime = Compiler(command, base.version, ("-O2", *_COMMON, "-x", "c++"), base.cache)
    library = runtime.library(runtime_text())
    flags = (options.optimize, *_COMMON, *_KERNELS, *_linker(), f"-I{INCLUDE}", *options.extra)
    language = (str(library), "-x", "c++")  # the runtime by its path, then C++ from a .c file
    plain = Compiler(command, base.version, (*flags, *language), base.cache)
    checked = Compiler(command, base.version, (*flags, *_CHECKED, *language), base.cache)
    return Toolchain(plain, checked, headers_hash())


def runtime_text() -> str:
    """The runtime as one translation unit, its own includes dropped."""
    pieces = []
    for name in (*_HEADERS, *_SOURCES):
        text = (FOLDER / "runtime" / name).read_text(encoding="utf-8")
        text = re.sub(r'^(#include ".*|#pragma once)$', "", text, flags=re.MULTILINE)
        pieces.append(f'#line 1 "{name}"\n{_ascii(text)}')
    return "\n".join(pieces)


@functools.cache
def headers_hash() -> str:
    """A name for everything that kernel text may include."""
    digest = hashlib.blake2b(digest_size=12)
    for path in (*sorted(INCLUDE.rglob("*.h")), FOLDER / "runtime" / "interface.h"):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _find() -> tuple[str, ...]:
    path = shutil.which("g++")
    if path is None:
        raise DeviceError("SIMT needs g++ 12 or later on PATH: apt-get install g++")
    return (path,)


def _check_version(version: str) -> None:
    """Raise DeviceError for a g++ that is too old; other compilers say so themselves."""
    found = re.search(r"^g\+\+.* (\d+)\.\d+", version, re.MULTILINE)
    if found is not None and int(found[1]) < _OLDEST:
        raise DeviceError(f"SIMT needs g++ {_OLDEST} or later, not {version.splitlines()[0]}")


def _linker() -> tuple[str, ...]:
    """Gold links a small library in a third of the time."""
    return ("-fuse-ld=gold",) if shutil.which("ld.gold") else ()


def _ascii(text: str) -> str:
    """The text with characters of comments that a compiler's cache does not take replaced."""
    return text.encode("ascii", "replace").decode("ascii")
