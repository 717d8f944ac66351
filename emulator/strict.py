"""The domain `strict`: the shadow, where decisions that f64 cannot tell count as doubtful too.

Defines `STRICT`, whose bounds hold against exact arithmetic. Relies on `shadow` for everything but
decisions. Ties of inexact operands have no bound here, equal as they may be; `shadow` keeps them,
since it is compared with f64 alone.

A decision is that of exact arithmetic where operands are further from its border than f64 is off:
in the shadow by more than TRUST of their bound. Each operation adds 2⁻⁵² of a binade to the error
of the shadow and u more to the bound (a function 2⁻⁴⁹ and 2·N·u), so in f32 and narrower formats
the first is below 2⁻²⁴ of the second; in f64 it may be all of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import numpy as np

from tang.emulator.domain import Domain, Operation
from tang.emulator.machine import Machine, Site, Value
from tang.emulator.shadow import SHADOW, Shadowed
from tang.kernel.ir import F64, Type

TRUST: Final = 2.0**-24


def _doubt(m: Machine, type_: Type, distance: Value, bound: Value) -> None:
    """Taint where the distance from the border is no larger than what f64 may be off."""
    room = bound if type_ is F64 else bound * TRUST
    near = ~(distance > room) & (bound > 0)
    if np.any(near):
        m.add_taint(near)


def _from_whole(x: Value) -> Value:
    return np.abs(x - np.rint(x))


_BORDERS: Final[dict[str, Callable[..., Any]]] = {
    "lt": lambda a, b: np.abs(a - b),
    "le": lambda a, b: np.abs(a - b),
    "eq": lambda a, b: np.abs(a - b),
    "floor": _from_whole,
    "sqrt": np.abs,
}
"""How far operands are from where the operation decides otherwise, or leaves its domain."""


def _operation(op: str, type_: Type, site: Site) -> Operation:
    inner = SHADOW.operation(op, type_, site)
    border = _BORDERS.get(op)
    if border is None:
        return inner
    function, impure = inner.function, inner.impure

    def decided(m: Machine, *operands: Shadowed) -> Value:
        shadows = (x.shadow for x in operands)
        _doubt(m, type_, border(*shadows), sum(x.bound for x in operands))
        return function(m, *operands) if impure else function(*operands)

    return Operation(decided, impure=True)


def _to_int(m: Machine, type_: Type, value: Shadowed, site: Site) -> Value:
    wide = F64 if np.asarray(value.value).dtype == np.float64 else type_
    _doubt(m, wide, _from_whole(value.shadow), value.bound)
    return SHADOW.to_int(m, type_, value, site)


STRICT: Final[Domain] = replace(SHADOW, name="strict", operation=_operation, to_int=_to_int)
