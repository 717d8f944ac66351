"""What devices of emitted text have in common: files of texts by content, and checks of launches.

Defines `TextStore` and a few functions over kernels and jobs. Relies on atomic renames, so any
number of processes may share one folder. It compiles nothing.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tang.device.base import Job, Limits, Outcome, Ran
from tang.device.storage import dtype_of
from tang.errors import DeviceError, LimitError
from tang.kernel.ir import Kernel


@dataclass(frozen=True, slots=True)
class TextStore:
    """A folder of texts, each in a file named by a hash of it."""

    folder: Path
    suffix: str

    def path(self, text: str) -> Path:
        """The file that holds the text."""
        key = hashlib.blake2b(text.encode(), digest_size=20).hexdigest()
        target = self.folder / f"{key}{self.suffix}"
        if not target.exists():
            with tempfile.NamedTemporaryFile("w", dir=self.folder, delete=False) as f:
                f.write(text)
            Path(f.name).replace(target)
        return target


def made_folder(folder: Path) -> Path:
    """The folder, which exists afterwards; raises DeviceError when it cannot."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as e:
        raise DeviceError(f"cannot make the cache folder {folder}: {e}; pass another one") from e
    return folder


def check_workgroups(kernels: Sequence[Kernel], limits: Limits, device: str) -> None:
    """Raise LimitError for a kernel whose workgroups or parameters are more than a device has."""
    for k in kernels:
        for count, most, what in (
            (k.workgroup, limits.workgroup, "threads per workgroup"),
            (len(k.params) + len(k.scalars), limits.buffers, "parameters"),
        ):
            if most is not None and count > most:
                raise LimitError(
                    f"kernel {k.name!r} has {count} {what}, and {device} allows {most}"
                )


def scalar_values(kernel: Kernel, scalars: Sequence[int]) -> list[np.generic[Any]]:
    """The scalars of a launch in their own types."""
    pairs = zip(kernel.scalars, scalars, strict=True)
    return [dtype_of(var.type).type(value) for var, value in pairs]


def seconds_of(job: Job, outcome: Outcome) -> tuple[float, ...]:
    """The times of a job that ran; raises DeviceError when it did not."""
    if not isinstance(outcome, Ran):
        raise DeviceError(f"kernel {job.compiled.kernel.name!r} could not be timed: {outcome}")
    return outcome.seconds
