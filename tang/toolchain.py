"""The host's C compiler: text to a shared library, once per text, flags and compiler.

Defines `Compiler` and `find_compiler`. Relies on `cc` or on `python -m ziglang cc`, and on atomic
renames, so any number of processes may share one cache folder. It loads nothing.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from tang.errors import DeviceError

_FUNCTIONS: Final = ("exp2", "log2", "sin", "cos", "atan2", "erf", "exp", "log", "tanh")

PLAIN_CALLS: Final = tuple(f"-fno-builtin-{f}{t}" for f in _FUNCTIONS for t in ("", "f"))
"""Functions of libm are called: a compiler that knows them evaluates those of constants itself, and
its results are not the library's."""

FLAGS: Final = (
    "-std=c11",
    "-shared",
    "-fPIC",
    "-ffp-contract=off",  # a product and a sum never fuse unasked
    "-fno-math-errno",  # square roots are instructions; values stay the same
    "-fno-strict-aliasing",
    "-fno-sanitize=all",  # the checks that zig adds by itself
    "-fwrapv",  # integer overflow, which lowering excludes, would at least be the same everywhere
    *PLAIN_CALLS,
    "-w",
)
"""Flags besides the level of optimisation; none may change the value of an operation."""

_TIMEOUT: Final = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CompilerOptions:
    """How the host compiles.

    command      the compiler and its first arguments; None looks for one
    optimize     the level: -O1 is quick to compile, -O2 is quicker to run
    extra        further flags, part of the cache's key
    cache        folder of compiled libraries; None is `tang` in the user's cache folder
    """

    command: tuple[str, ...] | None = None
    optimize: str = "-O1"
    extra: tuple[str, ...] = ()
    cache: Path | None = None


def find_compiler() -> tuple[str, ...]:
    """The command of a C compiler; raises DeviceError that says how to get one."""
    for name in ("cc", "gcc", "clang"):
        path = shutil.which(name)
        if path is not None:
            return (path,)
    if find_spec("ziglang") is not None:
        return (sys.executable, "-m", "ziglang", "cc")
    raise DeviceError(
        "no C compiler: none of cc, gcc, clang is on PATH; install one, or `pip install ziglang`"
    )


@dataclass(frozen=True, slots=True)
class Compiler:
    """A compiler whose version is known, and the folder of its libraries."""

    command: tuple[str, ...]
    version: str
    flags: tuple[str, ...]
    cache: Path

    def key(self, text: str) -> str:
        """The name of a text's library: a hash of everything that its contents depend on."""
        parts = (text, *self.command, self.version, *self.flags, platform.machine())
        digest = hashlib.blake2b(digest_size=20)
        for part in parts:
            data = part.encode()
            digest.update(len(data).to_bytes(8, "little") + data)
        return digest.hexdigest()

    def library(self, text: str) -> Path:
        """The shared library of a text, compiled unless the cache has it.

        Raises DeviceError with the compiler's own words when it refuses the text.
        """
        key = self.key(text)
        target = self.cache / f"{key}.so"
        if target.exists():
            return target
        with tempfile.TemporaryDirectory(prefix=f".{key[:8]}-", dir=self.cache) as folder:
            source, made = Path(folder, "kernels.c"), Path(folder, "kernels.so")
            source.write_text(text, encoding="ascii")
            self._compile(source, made)
            source.replace(self.cache / f"{key}.c")
            made.replace(target)
        return target

    def _compile(self, source: Path, made: Path) -> None:
        command = [*self.command, *self.flags, str(source), "-o", str(made), "-lm"]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=_TIMEOUT
            )
        except subprocess.TimeoutExpired as e:
            raise DeviceError(f"{self.command[0]} took longer than {_TIMEOUT:.0f} s") from e
        if done.returncode != 0:
            words = done.stderr.strip()[-4000:]
            raise DeviceError(f"{' '.join(self.command)} refused a kernel:\n{words}")


def open_compiler(options: CompilerOptions) -> Compiler:
    """The compiler that the options describe; raises DeviceError when it does not run."""
    command = options.command or find_compiler()
    cache = options.cache or default_cache()
    try:
        cache.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as e:
        raise DeviceError(f"cannot make the cache folder {cache}: {e}; pass another one") from e
    version = _version(command)
    deep = ("-fbracket-depth=65536",) if "clang" in version else ()
    flags = (options.optimize, *FLAGS, *deep, *options.extra)
    return Compiler(command, version, flags, cache)


def default_cache() -> Path:
    """`tang` in the user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "tang"


def _version(command: tuple[str, ...]) -> str:
    try:
        done = subprocess.run(
            [*command, "--version"], capture_output=True, text=True, check=False, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired) as e:
        raise DeviceError(f"{' '.join(command)} does not run: {e}") from e
    if done.returncode != 0:
        raise DeviceError(f"{' '.join(command)} --version failed: {done.stderr.strip()}")
    return done.stdout.strip()
