"""The domain `shadow`: values in formats, an f64 shadow, and a bound between the two.

Defines `SHADOW` and `Shadowed`. Relies on `formats` for the values, on plain f64 for the shadow
and on `bounds` for the distance. It decides by the values, so the shadow is f64 *under the
decisions of the kernel*; it does not know what f64 alone would have decided.

A decision that the shadow would take otherwise is recorded. It is admissible iff the operands
differ by no more than their bounds together; the lane is tainted from then on, and so is what it
stores. A bit cast back to a float has lost its shadow: its bound is infinite.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from tang.emulator import formats, real
from tang.emulator.bounds import SLACK, Own, function_rounding, rounding, total
from tang.emulator.domain import Domain, Operation, Parts
from tang.emulator.ints import to_array
from tang.emulator.machine import Array, Machine, Site, Value
from tang.emulator.narrow import narrowed
from tang.emulator.records import Decision
from tang.ir.format import Format, format_named
from tang.kernel.ir import MATH, Const, Function, Type
from tang.kernel.narrow import Conversion, conversion_named

_UNARY: Final = ("neg", "sqrt")
_HOT: Final = ("add", "sub", "mul")
_ROUNDED_ULP: Final = 0.5
"""The error of an abstract function, which `formats` rounds correctly."""


class Shadowed(NamedTuple):
    """A value in its format, its shadow, and a bound on their distance.

    sides  of a maximum or minimum: value, shadow and bound of its operands, and where each is
           clearly the one
    """

    value: Any
    shadow: Any
    bound: Any
    sides: tuple[tuple[tuple[Any, ...], Any], ...] = ()


def _wide(value: Value) -> Value:
    return np.asarray(value, np.float64)[()]


def _literal(constant: Const) -> Shadowed:
    value, exact = formats.literal(constant), real.literal(constant)
    if not np.isfinite(exact):
        return Shadowed(value, exact, 0.0)
    distance = abs(float(value) - float(exact)) + 2.0**-53 * abs(exact)
    inexact = float(value) != float(exact) or isinstance(constant.value, str)
    return Shadowed(value, exact, float(distance) if inexact else 0.0)


def _operation(op: str, type_: Type, site: Site) -> Operation:
    if op in ("lt", "le", "eq"):
        return Operation(_comparison(op, type_, site), impure=True)
    if op == "isnan":
        return Operation(_isnan(site), impure=True)
    if op == "floor":
        return Operation(_floor(site), impure=True)
    return Operation(_arithmetic(op, type_))


def _arithmetic(op: str, type_: Type) -> Callable[..., Shadowed]:
    rounded, plain = formats.function(op, type_), real.plain_function(op)
    target = format_named(type_.value)
    own = function_rounding(_ROUNDED_ULP, target) if op in MATH else rounding(op, target)
    if op in _UNARY:

        def unary(a: Shadowed) -> Shadowed:
            value, shadow = rounded(a[0]), plain(a[1])
            return Shadowed(value, shadow, total(op, (_wide(a[0]),), (a[2],), value, shadow, own))

        return unary
    if op in _HOT:

        def binary(a: Shadowed, b: Shadowed) -> Shadowed:
            value, shadow = rounded(a[0], b[0]), plain(a[1], b[1])
            bound = total(op, (a[0], b[0]), (a[2], b[2]), value, shadow, own)
            if op == "sub" and (a[3] or b[3]):
                bound = _without_itself(a, b, value, bound)
            return Shadowed(value, shadow, bound)

        return binary

    def apply(*operands: Shadowed) -> Shadowed:
        value = rounded(*(x[0] for x in operands))
        shadow = plain(*(x[1] for x in operands))
        return Shadowed(value, shadow, _total(op, operands, value, shadow, own))

    return apply


def _without_itself(a: Shadowed, b: Shadowed, value: Value, bound: Value) -> Value:
    """The bound of a − b, 0 where one is the maximum of the other and something clearly smaller.

    It is then a − a: whatever the error of a is, it has no part in the result. Parts that are the
    same objects are the same quantity.
    """
    for one, extreme in ((a, b), (b, a)):
        for side, clear in extreme.sides:
            if all(p is q for p, q in zip(side, one[:3], strict=True)):
                bound = np.where(clear & (value == 0), 0.0, bound)[()]
    return bound


def _total(op: str, operands: tuple[Shadowed, ...], value: Value, shadow: Value, own: Own) -> Value:
    given = tuple(_wide(x.value) for x in operands)
    return total(op, given, tuple(x.bound for x in operands), value, shadow, own)


# --- decisions ------------------------------------------------------------------------------------


def _comparison(op: str, type_: Type, site: Site) -> Callable[..., Any]:
    test = formats.function(op, type_)

    def compare(m: Machine, a: Shadowed, b: Shadowed) -> Value:
        _doubt(m, a, b)
        taken, other = test(a.value, b.value), test(a.shadow, b.shadow)
        flipped = taken != other
        if flipped.any():
            record_flip(m, site, op, flipped, (_wide(a.value), _wide(b.value)), a.bound + b.bound)
        return taken

    return compare


def _isnan(site: Site) -> Callable[..., Any]:
    def isnan(m: Machine, a: Shadowed) -> Value:
        _doubt(m, a)
        taken = np.isnan(a.value)
        flipped = taken != np.isnan(a.shadow)
        if flipped.any():
            record_flip(m, site, "isnan", flipped, (_wide(a.value), a.shadow), a.bound)
        return taken

    return isnan


def _floor(site: Site) -> Callable[..., Shadowed]:
    def floor(m: Machine, a: Shadowed) -> Shadowed:
        _doubt(m, a)
        value = np.floor(a.value)
        wide, other = _wide(value), np.floor(a.shadow)
        flipped = (wide != other) & ~(np.isnan(wide) & np.isnan(other))
        if flipped.any():
            border = np.where(other > wide, wide + 1, wide)
            record_flip(m, site, "floor", flipped, (_wide(a.value), border), a.bound)
        return Shadowed(value, wide, np.zeros(np.shape(wide)))

    return floor


def _to_int(m: Machine, type_: Type, value: Shadowed, site: Site) -> Value:
    _doubt(m, value)
    wide = _wide(value.value)
    flipped = (wide != np.floor(value.shadow)) & ~np.isnan(wide)
    if flipped.any():
        record_flip(m, site, "convert", flipped, (wide, value.shadow), value.bound)
    return formats.to_int(m, type_, value.value, site)


def _doubt(m: Machine, *operands: Shadowed) -> None:
    """Taint where a shadow is no number and nothing is known of it: f64 may have overflowed."""
    for x in operands:
        wild = ~np.isfinite(x.shadow)
        if wild.any():
            m.add_taint(wild & (x.bound == np.inf))


def record_flip(
    m: Machine, site: Site, op: str, flipped: Value, sides: tuple[Any, Any], bound: Value
) -> None:
    lanes = m.active(flipped)
    if not lanes.any():
        return
    left, right, limit = (np.broadcast_to(x, (m.lanes,)) for x in (*sides, bound * SLACK))
    unbounded = ~np.isfinite(limit)
    admissible = (np.abs(left - right) <= limit) | unbounded
    m.add_taint(flipped)
    for kind in (True, False):
        chosen = np.flatnonzero(lanes & (admissible == kind))
        if chosen.size:
            i = int(chosen[0])
            numbers = float(left[i]), float(right[i]), float(limit[i])
            m.journal.decide(
                Decision(
                    m.kernel.name, m.kernel.origin, site.path, op, i, *numbers, kind, chosen.size
                )
            )


def _extreme(kind: str, type_: Type) -> Operation:
    """max, min or abs: each side chooses for itself, and no decision is taken.

    |max(x̂, ŷ) − max(x, y)| ≤ max(e_x, e_y), and the bound of the one where it is clearly larger.
    """
    if kind == "abs":
        return Operation(lambda x: Shadowed(_absolute(x[0]), _absolute(x[1]), x[2]))
    less, larger = formats.function("lt", type_), kind.startswith("max")
    propagates = kind.endswith("imum")

    def pick(x: Value, y: Value) -> Value:
        """Whether the result is x."""
        chosen = ~less(x, y) if larger else less(x, y)
        return np.isnan(x) | (chosen & ~np.isnan(y)) if propagates else chosen

    def extreme(x: Shadowed, y: Shadowed) -> Shadowed:
        taken, other = pick(x[0], y[0]), pick(x[1], y[1])
        value = np.where(taken, x[0], y[0])[()]
        shadow = np.where(other, x[1], y[1])[()]
        clear = np.abs(_wide(x[0]) - _wide(y[0])) > (x[2] + y[2]) * SLACK
        own = np.where(taken, x[2], y[2])
        bound = np.where(clear & (taken == other), own, np.maximum(x[2], y[2]))[()]
        return Shadowed(value, shadow, bound, ((x[:3], clear & taken), (y[:3], clear & ~taken)))

    return Operation(extreme)


def _absolute(x: Value) -> Value:
    return np.where(x < 0, -x, x)[()]


# --- conversions and memory -----------------------------------------------------------------------


def _holds(target: Format, source: Format) -> bool:
    """Whether every number of the source is one of the target."""
    finer = target.emin - target.p <= source.emin - source.p
    return target.p >= source.p and target.emax >= source.emax and finer


def _conversion(type_: Type, source: Type) -> Callable[[Any], Shadowed]:
    convert = formats.conversion(type_, source)
    target = format_named(type_.value)
    if not source.is_float:

        def from_int(value: Value) -> Shadowed:
            given, exact = convert(value), _wide(to_array(value))
            distance = np.abs(_wide(given) - exact)
            return Shadowed(given, exact, np.where(distance == 0, 0.0, distance * SLACK)[()])

        return from_int
    if _holds(target, format_named(source.value)):
        return lambda x: Shadowed(convert(x.value), x.shadow, x.bound)

    def narrow(x: Shadowed) -> Shadowed:
        value = convert(x.value)
        own = rounding("convert", target)
        bound = total("convert", (x.value,), (x.bound,), value, x.shadow, own)
        return Shadowed(value, x.shadow, bound)

    return narrow


def _from_bits(m: Machine, type_: Type, source: Type, value: Value) -> Shadowed:
    given = formats.bits_to_float(m, type_, source, value)
    return Shadowed(given, _wide(given), np.full(np.shape(given), np.inf)[()])


def _to_bits(m: Machine, type_: Type, source: Type, value: Shadowed) -> Value:
    bits = formats.float_to_bits(m, type_, source, value.value)
    if not type_.is_float:
        return bits
    return Shadowed(bits, _wide(bits), np.full(np.shape(bits), np.inf)[()])


def _merge(mask: Array, new: Shadowed, old: Shadowed) -> Shadowed:
    return Shadowed(
        np.where(mask, new[0], old[0]),
        np.where(mask, new[1], old[1]),
        np.where(mask, new[2], old[2]),
    )


def _rounded(conversion: Conversion, source: Type) -> Operation:
    def rounded(x: Shadowed) -> Shadowed:
        return moved(narrowed(conversion, x.value), x)

    return Operation(rounded)


def moved(value: Value, x: Shadowed) -> Shadowed:
    """A rounded value: its shadow is the operand's, its bound grows by what rounding moved it.

    |x̂' − x| ≤ |x̂' − x̂| + |x̂ − x| holds however x̂' was rounded and wherever it overflowed.
    Nothing is known where only one of value and shadow is finite.
    """
    distance = np.abs(_wide(value) - _wide(x.value))
    bound = np.asarray(distance * SLACK + x.bound)
    known = np.isfinite(bound) & np.isfinite(x.shadow) & np.isfinite(value)
    same = ((value == x.value) & (value == x.shadow)) | (np.isnan(value) & np.isnan(x.shadow))
    unknown = np.where(~np.isfinite(value) & same, x.bound, np.inf)
    return Shadowed(value, x.shadow, np.where(known, bound, unknown)[()])


def rounding_call(function: Function) -> Callable[..., Shadowed] | None:
    """What follows a call of a function that rounds to a narrow format; None for others."""
    if conversion_named(function.implements) is None:
        return None
    return lambda m, result, x: moved(result, x)


def _call(function: Function, site: Site) -> Callable[..., Shadowed]:
    rounding_step = rounding_call(function)
    if rounding_step is not None:
        return rounding_step
    plain, op = real.plain_function(function.implements), function.implements
    target = format_named(function.result.type.value)

    def after(m: Machine, result: Value, *operands: Shadowed) -> Shadowed:
        shadow = plain(*(x.shadow for x in operands))
        own = function_rounding(function.ulp, target)
        return Shadowed(result, shadow, _total(op, operands, result, shadow, own))

    return after


def _pack(type_: Type, value: Shadowed) -> Parts:
    return formats.store_form(type_, value.value), value.shadow, value.bound


def _unpack(type_: Type, parts: Parts) -> Shadowed:
    return Shadowed(formats.load_form(type_, parts[0]), parts[1], parts[2])


def _read(type_: Type, array: Array) -> Parts:
    exact = real.values_of(type_, array)
    kept = formats.stored(type_, array).reshape(-1)
    distance = np.abs(_wide(formats.load_form(type_, kept)) - exact)
    same = np.isnan(distance)  # equal infinities, or NaN
    return kept, exact, np.where(same, 0.0, distance)


def _show(plane: str, type_: Type, array: Array, taint: Array | None) -> Array:
    """Bounds with the slack that covers their own evaluation; NaN bounds nothing."""
    if plane != "bound":
        return array
    return np.asarray(np.where(np.isnan(array), np.inf, array * SLACK))


SHADOW: Final = Domain(
    name="shadow",
    constant=_literal,
    operation=_operation,
    to_float=_conversion,
    to_int=_to_int,
    to_bits=_to_bits,
    from_bits=_from_bits,
    merge=_merge,
    dtypes=lambda t: (formats.STORED_FLOAT[t], np.float64, np.float64),
    pack=_pack,
    unpack=_unpack,
    read=_read,
    planes=("value", "shadow", "bound"),
    show=_show,
    call=_call,
    inner=formats.FORMATS,
    enter=lambda value: value.value,
    tracks=True,
    rounded=_rounded,
    extreme=_extreme,
)
