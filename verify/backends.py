"""Backends by name: where the ladder runs kernels.

Defines `BACKENDS`, `open_backend` and `available`. Relies on the devices. An open backend is kept
for the life of the process, because starting one costs more than most checks.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Final

from tang.device import HostC
from tang.device.base import Device
from tang.errors import DeviceError

BACKENDS: Final[dict[str, Callable[[], Device]]] = {"c": HostC}
"""Name → how to open the device."""


@functools.cache
def open_backend(name: str) -> Device:
    """The device of that name; raises DeviceError when it is unknown or cannot run here."""
    if name not in BACKENDS:
        raise DeviceError(f"unknown backend {name!r}: one of {', '.join(BACKENDS)}")
    return BACKENDS[name]()


def available() -> dict[str, str]:
    """Every backend, with "" where it runs here and else the reason why it does not."""
    return {name: _reason(name) for name in BACKENDS}


def _reason(name: str) -> str:
    try:
        open_backend(name)
    except DeviceError as e:
        return str(e)
    return ""
