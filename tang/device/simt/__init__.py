"""SIMT: CUDA and MSL kernel text on the CPU, one fiber per thread.

Re-exports the device, its findings and the checks of texts that need no launch. Relies on g++. It
is no emulator of a particular GPU: `docs/simt.md` lists what it models.
"""

from tang.device.simt.device import Checked, Simt
from tang.device.simt.entries import Binding
from tang.device.simt.record import Finding, Kind, Launch
from tang.device.simt.unsupported import unsupported

__all__ = ["Binding", "Checked", "Finding", "Kind", "Launch", "Simt", "unsupported"]
