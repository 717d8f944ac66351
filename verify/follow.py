"""Replay on the terms of a device: what its profile says that kernels must write there.

Defines `Terms`, `terms_of` and trials under them. Relies on profiles that devices measure and on
replay, which honours them; devices that compute as IEEE says share the one replay that the other
rungs used. It excuses nothing: a device without a profile is not judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tang.device.base import Device
from tang.device.functions import NativeFunctions
from tang.device.probe import NativeRows
from tang.device.storage import dtype_of
from tang.emulator.profiled import Native
from tang.emulator.replay import Replay, replay, replay_launch
from tang.ir.extent import poly
from tang.kernel.ir import For, Kernel, Let, Op, Var
from tang.kernel.plan import Launch
from tang.kernel.profile import Profile, row, with_native_functions
from tang.kernel.walk import statements, subexpressions
from tang.verify.rung_emit import Trial
from tang.verify.subject import Subject

_ASKED: Final[dict[int, tuple[Device, NativeFunctions]]] = {}
"""By identity; the device is kept, so that its identity stays its own."""


@dataclass(frozen=True, slots=True)
class Terms:
    """A profile, and the device's answers for rows that it rounds in its own way."""

    profile: Profile
    native: Native


def terms_of(device: Device) -> Terms | None:
    """The terms of a device, None where IEEE's are its own; raises DeviceError without profile."""
    profile = device.profile
    return None if profile.exact else Terms(profile, NativeRows(device))


def native_terms(device: Device) -> Terms:
    """The terms on which programs with native maths are judged: functions are the device's.

    One object per device that asks it, so that what was asked once is asked once.
    """
    found = _ASKED.get(id(device))
    if found is None or found[0] is not device:
        found = _ASKED[id(device)] = device, NativeFunctions(device)
    return Terms(with_native_functions(device.profile), found[1])


def unsteady_in(kernels: Iterable[Kernel], terms: Terms | None) -> str:
    """Why kernels cannot be followed: an unsteady row beside a loop; "" where they can."""
    unsteady = () if terms is None else terms.profile.unsteady
    for kernel in kernels if unsteady else ():
        expressions = [*subexpressions(kernel.body)]
        for f in kernel.functions:
            body = (*f.body, Let(Var(f.result.type, "result"), f.result))
            expressions += subexpressions(body)
        rows = {row(e.op, e.type) for e in expressions if isinstance(e, Op) and e.type.is_float}
        found = sorted(rows.intersection(unsteady))
        if found and any(isinstance(s, For) for s in statements(kernel.body)):
            return (
                f"kernel {kernel.name!r} has loops and {found[0]}, whose results depend on the "
                "code around it on this device"
            )
    return ""


def replay_on(subject: Subject, terms: Terms) -> Replay:
    """The expanded plan as the device computes it, with shadow and bounds."""
    return replay(
        subject.expanded,
        subject.stored,
        domain="shadow",
        sizes=subject.sizes,
        sanitize=False,
        profile=terms.profile,
        native=terms.native,
    )


def trials_on(tests: Sequence[Trial], terms: Terms) -> tuple[Trial, ...]:
    """The same launches on the same inputs; what they must write is what the device would."""
    return tuple(_trial_on(t, terms) for t in tests)


def _trial_on(trial: Trial, terms: Terms) -> Trial:
    launch, kernel = trial.launch, trial.launch.kernel
    threads = poly(trial.groups * kernel.workgroup)
    same = Launch(kernel, launch.buffers, tuple(poly(n) for n in trial.scalars), threads)
    state = dict(zip(launch.buffers, trial.before, strict=True))
    done = replay_launch(
        same, state, {}, sanitize=False, profile=terms.profile, native=terms.native
    )
    outputs = tuple(
        None if old is None else done.buffers[name].astype(dtype_of(param.type), copy=False)
        for name, old, param in zip(launch.buffers, trial.expected, kernel.params, strict=True)
    )
    return replace(trial, expected=outputs)
