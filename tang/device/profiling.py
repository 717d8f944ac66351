"""The whole profile of a device: how it computes, how good its builtins are, what it converts.

Defines `profiled`, which measures what `probed` leaves out and keeps it on disk. Relies on the
probes. It judges nothing, and replay needs none of what it adds.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tang.device.base import Device
from tang.device.compiler import default_cache
from tang.device.conversions import conversion_probes, measured_conversions
from tang.device.functions import VERSION, function_probes, measured_functions
from tang.device.probe import probed
from tang.device.probe_kernels import Probe
from tang.device.texts import made_folder
from tang.emit.unit import emit
from tang.kernel.accuracy import Accuracy, accuracy_from_data
from tang.kernel.profile import Profile


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured of builtins and conversions."""

    functions: tuple[Accuracy, ...]
    converts: tuple[tuple[str, str], ...]

    def to_data(self) -> dict[str, Any]:
        """As plain data."""
        functions = [f.to_data() for f in self.functions]
        return {"functions": functions, "converts": dict(self.converts)}


def profiled(device: Device, cache: Path | None = None) -> Profile:
    """The profile as probed, with accuracies, conversions, formats and the subgroup's size.

    Measured once per device, driver, compiler and version of the probes, then read from disk.
    Raises DeviceError where the device cannot be followed.
    """
    found = measured(device, cache)
    formats = tuple(t for t in ("f16", "bf16", "f32", "f64") if t == "f32" or _has(found, t))
    return replace(
        probed(device, cache),
        functions=found.functions,
        converts=found.converts,
        formats=formats,
        subgroup=getattr(device, "subgroup", 0),
    )


def measured(device: Device, cache: Path | None = None) -> Measured:
    """Builtins and conversions of a device, from disk or measured now (seconds)."""
    functions, conversions = function_probes(device.language), conversion_probes(device.language)
    folder = made_folder(cache or default_cache())
    path = _path(device, [*functions, *conversions], folder)
    try:
        data = json.loads(path.read_text())
        kept = tuple(accuracy_from_data(f) for f in data["functions"])
        return Measured(kept, tuple(data["converts"].items()))
    except (OSError, ValueError, TypeError, KeyError):
        found = Measured(
            measured_functions(device, functions), measured_conversions(device, conversions)
        )
    with tempfile.NamedTemporaryFile("w", dir=folder, delete=False) as f:
        f.write(json.dumps(found.to_data(), indent=1) + "\n")
    Path(f.name).replace(path)
    return found


def is_measured(device: Device, cache: Path | None = None) -> bool:
    """Whether the disk has what `measured` gives, so that it takes no time."""
    probes = [*function_probes(device.language), *conversion_probes(device.language)]
    return _path(device, probes, cache or default_cache()).exists()


def _path(device: Device, probes: Sequence[Probe], folder: Path) -> Path:
    own = getattr(device, "identity", None) or getattr(device, "description", "")
    parts = [f"measured {VERSION}", device.name, device.language, repr(own)]
    texts = [emit(p.kernel, device.language) for p in probes]
    key = hashlib.blake2b("\0".join([*parts, *texts]).encode(), digest_size=16).hexdigest()
    return folder / f"measured-{key}.json"


def _has(found: Measured, format_: str) -> bool:
    """Whether any conversion from or to a format ran."""
    return any(format_ in name.split() for name, _ in found.converts)


__all__ = ["Measured", "is_measured", "measured", "profiled"]
