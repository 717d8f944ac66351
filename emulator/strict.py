"""The domain `strict`: the shadow, where decisions that f64 cannot tell count as doubtful too.

Defines `STRICT`, whose bounds hold against exact arithmetic, and `decision` and `to_int`, which say
what is doubtful. Relies on `shadow` for everything else. Ties of inexact operands have no bound
here, equal as they may be; `shadow` keeps them, since it is compared with f64 alone.

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


def _doubt(m: Machine, type_: Type, distance: Value, bound: Value, trust: float) -> None:
    """Taint where the distance from the border is no larger than that part of the bound."""
    room = bound if type_ is F64 else bound * trust
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


def decision(
    op: str, type_: Type, site: Site, trust: float = TRUST, inner: Operation | None = None
) -> Operation:
    """An operation, by default that of the shadow, which taints where its decision is doubtful.

    trust  the part of the operands' bounds within which of a border it is
    """
    done = SHADOW.operation(op, type_, site) if inner is None else inner
    border = _BORDERS.get(op)
    if border is None:
        return done
    function, impure = done.function, done.impure

    def decided(m: Machine, *operands: Any) -> Value:  # noqa: ANN401 - of the domain that asks
        shadows = (x.shadow for x in operands)
        _doubt(m, type_, border(*shadows), sum(x.bound for x in operands), trust)
        return function(m, *operands) if impure else function(*operands)

    return Operation(decided, impure=True)


def to_int(m: Machine, type_: Type, value: Shadowed, site: Site, trust: float = TRUST) -> Value:
    """A conversion to an integer, which is a decision too."""
    wide = F64 if np.asarray(value.value).dtype == np.float64 else type_
    _doubt(m, wide, _from_whole(value.shadow), value.bound, trust)
    return SHADOW.to_int(m, type_, value, site)


STRICT: Final[Domain] = replace(SHADOW, name="strict", operation=decision, to_int=to_int)
