"""What a result depends on besides the program: tang's own sources, libraries, the device.

Defines `tang_identity`, `device_identity` and `digest`. Relies on files and installed versions. A
device that does not say what it is has no identity, and its results are not kept.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import platform
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Final

from tang.device.base import Device
from tang.errors import DeviceError

PARTS: Final = ("tang", "tang.interpreter", "tang.emulator", "tang.verify")
"""Packages whose sources decide a verdict."""

LIBRARIES: Final = ("numpy", "mpmath", "python-flint")
"""Libraries that compute what verdicts compare."""

BINDINGS: Final = ("pyopencl", "pocl-binary-distribution", "wgpu", "moderngl", "glcontext")
"""Packages by which devices are reached, or that are one."""


def digest(parts: Iterable[str | bytes]) -> str:
    """A hash of parts in order; no two lists of parts run together."""
    found = hashlib.blake2b(digest_size=20)
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        found.update(len(data).to_bytes(8, "little") + data)
    return found.hexdigest()


@functools.cache
def tang_identity() -> str:
    """A hash of tang's sources and of everything it computes with."""
    versions = [f"{name} {metadata.version(name)}" for name in LIBRARIES]
    machine = (platform.python_version(), platform.machine())
    return digest([*versions, *machine, *_sources()])


def _sources() -> Iterator[str | bytes]:
    for package in PARTS:
        spec = importlib.util.find_spec(package)
        for place in (spec.submodule_search_locations or ()) if spec else ():
            for path in sorted(Path(place).rglob("*")):
                if path.is_file() and path.suffix != ".pyc":
                    yield f"{package}/{path.relative_to(place).as_posix()}"
                    yield path.read_bytes()


def device_identity(name: str, device: Device) -> str | None:
    """A hash of a backend: compiler or driver with version and flags, limits, profile.

    None unless the device has an attribute `identity`, a tuple of strings that change whenever
    the same text could run differently, or `description`, which names device and driver.
    """
    own = getattr(device, "identity", None) or getattr(device, "description", None)
    if not own:
        return None
    parts = (own,) if isinstance(own, str) else own
    kind = type(device).__qualname__
    facts = (repr(device.limits), _profile(device), *_bindings())
    return digest([name, device.name, device.language, kind, *facts, *(str(p) for p in parts)])


def _profile(device: Device) -> str:
    """The profile in words, or why there is none."""
    try:
        return repr(device.profile)
    except DeviceError as e:
        return str(e)


def _bindings() -> Iterator[str]:
    """Versions of the packages by which devices are reached, where they are installed."""
    for name in BINDINGS:
        try:
            yield f"{name} {metadata.version(name)}"
        except metadata.PackageNotFoundError:
            yield f"no {name}"
