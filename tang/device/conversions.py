"""How a device's conversions round: measured against the four directed ways and their ties.

Defines `conversion_probes` and `measured_conversions`. Relies on probe kernels and on exact
candidates computed here from integers and f64. It excuses nothing: what fits no way is called so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from tang.device.base import Device, Ran
from tang.device.probe_kernels import Probe, compilable, job_of, load, probe_of
from tang.device.storage import AnyArray, dtype_of
from tang.emit.unit import supports
from tang.errors import DeviceError
from tang.ir.format import FORMATS, Format
from tang.kernel import ir as k

_FLOATS: Final = (k.F64, k.F32, k.F16, k.BF16)
_PAIRS: Final = (
    (k.F32, k.F16), (k.F32, k.BF16), (k.F64, k.F32), (k.F64, k.F16), (k.F64, k.BF16),
    (k.F16, k.F32), (k.BF16, k.F32), (k.F32, k.F64),
    (k.I32, k.F32), (k.U32, k.F32), (k.I64, k.F32), (k.I64, k.F64), (k.I32, k.F16),
    (k.F32, k.I32), (k.F32, k.U32), (k.F64, k.I64), (k.F64, k.I32),
)  # fmt: skip

_WAYS: Final[dict[str, Callable[..., Any]]] = {
    "rne": lambda v: np.rint(v),
    "rz": lambda v: np.trunc(v),
    "ties away": lambda v: np.copysign(np.floor(np.abs(v) + 0.5), v),
    "down": lambda v: np.floor(v),
    "up": lambda v: np.ceil(v),
}


def conversion_probes(language: str) -> list[Probe]:
    """A probe per conversion that the language can say."""
    found = [
        probe_of(f"{a.value} {b.value}", k.Convert(b, load("a", a)), a, True) for a, b in _PAIRS
    ]
    return [p for p in found if supports(p.kernel, language) is None]


def measured_conversions(device: Device, probes: Sequence[Probe]) -> tuple[tuple[str, str], ...]:
    """Conversion → how it rounds; "exact" between integers and where every number is one.

    Conversions that the device refuses are left out.
    """
    able = compilable(device, probes)
    compiled = device.compile([p.kernel for p in able])
    operands = [_operand(p) for p in able]
    jobs = [
        job_of(c, dict.fromkeys("abc", a), p.value.type)
        for p, c, a in zip(able, compiled, operands, strict=True)
    ]
    found = []
    for p, a, outcome in zip(able, operands, device.run(jobs, 60.0), strict=True):
        if not isinstance(outcome, Ran):
            raise DeviceError(f"{device.name} did not convert {p.name}: {outcome}")
        found.append((p.name, _way(p, a, outcome.memories[-1].data)))
    return tuple(found)


def _operand(p: Probe) -> AnyArray:
    """Values of the source type: midpoints of the target and their neighbours, both signs, ends.

    Towards integers they are integers in range, which is all that kernels may convert.
    """
    rng = np.random.default_rng(29)
    source, target = p.source, p.value.type
    if target.is_int or source.is_int:
        return _integers(source, target, rng)
    form = FORMATS[target.value]
    exponents = rng.integers(form.emin, form.emax, 4096)
    whole = rng.integers(2 ** (form.p - 1), 2**form.p, 4096).astype(np.float64)
    shift = rng.choice([0.0, 0.5, 0.25, 0.75], 4096) + rng.choice([0, 2.0**-12, -(2.0**-12)], 4096)
    values = np.ldexp(whole + shift, exponents - form.p + 1) * rng.choice([-1.0, 1.0], 4096)
    ends = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0]
    with np.errstate(all="ignore"):
        made = np.concatenate([values, ends]).astype(np.float32 if source is not k.F64 else None)
        if source is k.BF16:
            return (made.view(np.uint32) >> np.uint32(16)).astype(np.uint16)
        return made.astype(dtype_of(source))


def _integers(source: k.Type, target: k.Type, rng: np.random.Generator) -> AnyArray:
    """Integers of every length that fit the integer type, and whose float form does too."""
    narrow = source if source.is_int else target
    info = np.iinfo(dtype_of(narrow))
    size = rng.integers(0, 2**62, 4096) >> rng.integers(63 - 8 * narrow.bytes, 62, 4096).clip(0)
    near = np.concatenate([2**24 + np.arange(-40, 40), 2**25 + np.arange(-40, 40)])
    values = np.concatenate([size, near, near + 1, [0, 1]]).clip(0, int(info.max) // 2)
    signs = np.where(np.arange(values.size) % 2 == 0, 1, -1 if info.min else 1)
    return (values * signs).astype(dtype_of(source))


def _numbers(a: AnyArray, t: k.Type) -> AnyArray:
    if t is k.BF16:
        return (a.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return a


def _way(p: Probe, a: AnyArray, got: AnyArray) -> str:
    """The first way of rounding that gives every result."""
    source, target = _numbers(a, p.source), _numbers(got, p.value.type)
    if not p.value.type.is_float:
        return "exact" if (source == target).all() else "not exact"
    form = FORMATS[p.value.type.value]
    fits = [name for name, way in _WAYS.items() if _fits(way, source, target, form)]
    if len(fits) == len(_WAYS):
        return "exact"
    return fits[0] if fits else "in no known way"


def _fits(way: Callable[..., Any], source: AnyArray, got: AnyArray, form: Format) -> bool:
    """Whether results are the operands rounded so; overflow goes to infinity."""
    if form.name == "f64":
        exact = source.astype(np.float64) if source.dtype.kind == "f" else None
        if exact is not None:
            return bool(((got == exact) | (np.isnan(got) & np.isnan(exact))).all())
        return _fits_integers(way, source, got)
    wide = source.astype(np.float64)
    if source.dtype == np.int64:  # beyond 2^53 f64 is itself rounded: those are left out
        kept = np.abs(wide) < 2.0**53
        wide, got = wide[kept], got[kept]
    with np.errstate(all="ignore"):
        exponent = np.maximum(np.frexp(wide)[1] - 1, form.emin) - form.p + 1
        rounded = np.ldexp(way(np.ldexp(wide, -exponent)), exponent)
        limit = float(form.largest)
        rounded = np.where(np.abs(rounded) > limit, np.copysign(np.inf, rounded), rounded)
    number = got.astype(np.float64)
    return bool(((number == rounded) | (np.isnan(number) & np.isnan(wide))).all())


def _fits_integers(way: Callable[..., Any], source: AnyArray, got: AnyArray) -> bool:
    """64-bit integers to f64: low bits beyond 53 are rounded; checked by Python's integers."""
    for value, result in zip(source.tolist(), got.tolist(), strict=True):
        shift = max(abs(value).bit_length() - 53, 0)
        part = way(np.float64((abs(value) & ((1 << shift) - 1)) / (1 << shift))) if shift else 0.0
        size = ((abs(value) >> shift) + int(part)) << shift if way is not _WAYS["rne"] else None
        expected = float(value) if size is None else float(size if value >= 0 else -size)
        if result != expected:
            return False
    return True


__all__ = ["conversion_probes", "measured_conversions"]
