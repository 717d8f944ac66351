"""Devices: from text to running code.

Re-exports the host device, jobs and their outcomes, and the survey of what runs here. Relies on
the emitters. It judges no result: the verifier does.
"""

from tang.device.base import (
    GUARD_BYTES,
    Compiled,
    Crash,
    Device,
    Job,
    Memory,
    Outcome,
    OutOfMemory,
    Ran,
    Timeout,
)
from tang.device.compiler import CompilerOptions
from tang.device.host_c import HostC
from tang.device.storage import Poison, poison_word, poisoned
from tang.device.survey import survey

__all__ = [
    "GUARD_BYTES",
    "Compiled",
    "CompilerOptions",
    "Crash",
    "Device",
    "HostC",
    "Job",
    "Memory",
    "OutOfMemory",
    "Outcome",
    "Poison",
    "Ran",
    "Timeout",
    "poison_word",
    "poisoned",
    "survey",
]
