"""The kernels of probes: one expression of up to three operands, for every element.

Defines `Probe`, `probe_of`, the jobs that run one, and which probes a device takes. Relies on the
kernel IR. It judges nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tang.device.base import Compiled, Device, Job
from tang.device.storage import AnyArray, dtype_of
from tang.errors import DeviceError, LimitError
from tang.kernel import ir as k

Arrays = Mapping[str, AnyArray]


@dataclass(frozen=True, slots=True)
class Probe:
    """One kernel, out[i] = an expression of a[i], b[i], c[i]; `single` where it is a single row."""

    kernel: k.Kernel
    value: k.Expr
    source: k.Type
    name: str
    single: bool


def load(name: str, t: k.Type) -> k.Load:
    """The element of an operand that belongs to this thread."""
    return k.Load(t, name, k.Var(k.I32, "global_id"))


def probe_of(name: str, value: k.Expr, source: k.Type, single: bool) -> Probe:
    """The probe of an expression over operands of one type."""
    count = k.Var(k.I32, "n")
    index = k.Var(k.I32, "global_id")
    inside = k.Op(k.BOOL, "lt", (index, count))
    params = (*(k.Param(n, source, False) for n in "abc"), k.Param("out", value.type, True))
    body = (k.If(inside, (k.Store("out", index, value),)),)
    return Probe(k.Kernel("probe", params, (count,), body), value, source, name, single)


def job_of(compiled: Compiled, operands: Arrays, result: k.Type) -> Job:
    """The launch of a probe on operands of one size."""
    arrays = tuple(operands[p.name] for p in compiled.kernel.params[:-1])
    count = arrays[0].size
    out = np.zeros(count, dtype_of(result))
    return Job(compiled, (*arrays, out), (count,), -(-count // compiled.kernel.workgroup))


def compilable(device: Device, probes: Sequence[Probe]) -> list[Probe]:
    """The probes that a device compiles: all at once, or those that it takes one by one."""
    if _compiles(device, probes):
        return list(probes)
    return [p for p in probes if _compiles(device, [p])]


def _compiles(device: Device, probes: Sequence[Probe]) -> bool:
    try:
        device.compile([p.kernel for p in probes])
    except (DeviceError, LimitError):
        return False
    return True
