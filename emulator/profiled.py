"""The domains `formats` and `shadow` on a device that is not IEEE: what its profile says happens.

Defines `formats_under` and `shadow_under`. Relies on the two domains, on profiles as data and, for
rows that a device rounds in its own way, on a function that asks the device. It measures no
device: `tang/device/probe.py` does.

A row that reads subnormals as zero keeps their sign, and so does one that flushes its results.
Bounds need no theory of the device: they grow by the distance between what the device computes
from the same operands and what IEEE would.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

import numpy as np

from tang.emulator import formats
from tang.emulator.abstract import rounded_function
from tang.emulator.domain import Domain, Operation
from tang.emulator.formats import COMPUTED, FORMATS
from tang.emulator.machine import Builtin, Machine, Site, Value
from tang.emulator.rounding import bf16_round
from tang.emulator.shadow import SHADOW, Shadowed, record_flip, rounding_call
from tang.errors import DeviceError
from tang.ir.format import format_named
from tang.kernel.ir import BF16, F16, F32, F64, MATH, Function, Type
from tang.kernel.profile import SUBJECT, Profile, row

Native = Callable[[str, Type, tuple[Any, ...]], Any]
"""Asks a device: an operation, its format, operands of one shape; the results."""

_TESTS: Final = ("lt", "le", "eq")
_EARLY: Final = ("mul", "div")
_ROUNDED: Final = ("add", "sub", "mul", "div", "sqrt")


def no_native(op: str, type_: Type, operands: tuple[Any, ...]) -> Value:
    """Stands for a device where there is none to ask."""
    raise DeviceError(f"replay of {type_.value} {op} needs the device itself, and none was given")


@lru_cache(64)
def formats_under(profile: Profile, native: Native = no_native) -> Domain:
    """The domain `formats` as the profile says; equal profiles give the same domain."""
    if profile.exact:
        return FORMATS

    def operation(op: str, type_: Type, site: Site) -> Operation:
        return Operation(function_under(profile, native, op, type_))

    return replace(
        FORMATS,
        name=_name("formats", profile, native),
        operation=operation,
        to_float=lambda type_, source: conversion_under(profile, type_, source),
    )


@lru_cache(64)
def shadow_under(profile: Profile, native: Native = no_native) -> Domain:
    """The domain `shadow` whose values are those of `formats_under`."""
    if profile.exact:
        return SHADOW
    inner = formats_under(profile, native)

    def operation(op: str, type_: Type, site: Site) -> Operation:
        return _shadow_operation(profile, native, op, type_, site)

    def conversion(type_: Type, source: Type) -> Callable[[Any], Shadowed]:
        return _moved(SHADOW.to_float(type_, source), inner.to_float(type_, source), source)

    def extreme(kind: str, type_: Type) -> Operation | None:
        return None if special(profile, "lt", type_) else SHADOW.extreme(kind, type_)

    return replace(
        SHADOW,
        name=_name("shadow", profile, native),
        operation=operation,
        extreme=extreme,
        to_float=conversion,
        inner=inner,
        call=_call,
    )


def _name(domain: str, profile: Profile, native: Native) -> str:
    """A name that no other domain has as long as this one is cached."""
    return f"{domain} under {profile.to_data()} and {id(native)}"


# --- values ---------------------------------------------------------------------------------------


def flushed(type_: Type, value: Value) -> Value:
    """Subnormals as zeros of their sign; bf16 has the exponents of f32."""
    kind = np.float64 if type_ is Type.F64 else np.float32
    small = np.abs(value) < kind(_smallest(type_))
    kept: Value = np.where(small, np.copysign(kind(0), value), value)
    return kept[()]


def _smallest(type_: Type) -> float:
    """The smallest normal number of the format in which a type is computed."""
    return 2.0 ** format_named(_wide(type_).value).emin


def _tiny(op: str, type_: Type, operands: tuple[Any, ...]) -> Value:
    """Where a product or quotient is below the smallest normal number before its last rounding.

    Of f32 that is seen in f64, where 1 − 2⁻²⁵ of that number is the midpoint below it; of f64 by
    mantissas and exponents apart, of which the former round as if exponents had no end.
    """
    step, smallest = formats.function(op, F64), _smallest(type_)
    if type_ is F32:
        wide = step(*(np.asarray(x, np.float64) for x in operands))
        return np.abs(wide) < smallest * (1 - 2.0**-25)
    (a, p), (b, q) = (np.frexp(np.asarray(x)) for x in operands)
    mantissa, exponent = np.frexp(step(a, b))
    total = exponent + (p - q if op == "div" else p + q)
    return np.isfinite(mantissa) & (total <= format_named("f64").emin)


def special(profile: Profile, op: str, type_: Type) -> bool:
    """Whether the device departs from IEEE in a row."""
    name = row(op, type_)
    return name in profile.reads_zero or name in profile.flushes or name in profile.native


@lru_cache(4096)
def function_under(profile: Profile, native: Native, op: str, type_: Type) -> Callable[..., Any]:
    """A row of OPS or MATH over computed values, as the device computes it."""
    ieee = formats.function(op, type_)
    if (op not in SUBJECT and op not in MATH) or not special(profile, op, type_):
        return ieee
    name, wide = row(op, type_), _wide(type_)
    narrow = (op in _ROUNDED or op in MATH) and type_ is not wide
    step: Callable[..., Any] = formats.function(op, wide) if narrow else ieee
    if name in profile.native:
        step = _asked(native, op, wide)
    if type_ is F16 and name not in profile.native:
        return ieee  # its subnormals are normal numbers of f32, in which it is computed
    reads, flushes = name in profile.reads_zero, name in profile.flushes and op not in _TESTS
    early = flushes and name in profile.early and op in _EARLY

    def computed(*operands: Value) -> Value:
        given = tuple(np.asarray(x, COMPUTED[wide])[()] for x in operands) if narrow else operands
        if reads:
            given = tuple(flushed(wide, x) for x in given)
        result = step(*given)
        if early:
            result = np.where(_tiny(op, wide, given), np.copysign(0, result), result)
            result = result.astype(COMPUTED[wide])[()]
        if flushes:
            result = flushed(wide, result)
        return _narrowed(type_, result) if narrow else result

    return computed


def _wide(type_: Type) -> Type:
    """The format in which devices compute."""
    return F32 if type_ in (F16, BF16) else type_


def _narrowed(type_: Type, value: Value) -> Value:
    return bf16_round(value) if type_ is BF16 else np.asarray(value).astype(np.float16)[()]


def _asked(native: Native, op: str, type_: Type) -> Callable[..., Any]:
    def ask(*operands: Value) -> Value:
        arrays = np.broadcast_arrays(*(np.asarray(x, COMPUTED[type_]) for x in operands))
        shape = arrays[0].shape
        flat = tuple(np.ascontiguousarray(a).reshape(-1) for a in arrays)
        return np.asarray(native(op, type_, flat)).reshape(shape)[()]

    return ask


@lru_cache(4096)
def conversion_under(profile: Profile, type_: Type, source: Type) -> Callable[[Any], Any]:
    """A conversion to a float type, as the device converts."""
    ieee = formats.conversion(type_, source)
    name = f"{source.value} convert {type_.value}"
    reads, flushes = name in profile.reads_zero, name in profile.flushes
    early = name in profile.early and (source, type_) == (F64, F32)
    if not (reads or flushes):
        return ieee

    def convert(value: Value) -> Value:
        given = flushed(source, value) if reads else value
        result = ieee(given)
        if early:
            tiny = np.abs(given) < _smallest(F32) * (1 - 2.0**-25)
            result = np.where(tiny, np.copysign(np.float32(0), result), result)[()]
        return flushed(type_, result) if flushes else result

    return convert


# --- shadow and bound -----------------------------------------------------------------------------


def _shadow_operation(
    profile: Profile, native: Native, op: str, type_: Type, site: Site
) -> Operation:
    ieee = SHADOW.operation(op, type_, site)
    if op in MATH and special(profile, op, type_):
        return Operation(_builtin(ieee.function, native, op, type_), impure=True)
    if op not in SUBJECT or not special(profile, op, type_):
        return ieee
    actual = function_under(profile, native, op, type_)
    if op in _TESTS or op == "floor":
        return Operation(_decision(op, type_, site, actual), impure=True)
    return Operation(_moved(ieee.function, actual, type_))


def _moved(
    ieee: Callable[..., Shadowed], actual: Callable[..., Any], source: Type
) -> Callable[..., Shadowed]:
    """The device's value, and IEEE's bound plus the distance between the two."""

    def apply(*operands: Value) -> Shadowed:
        plain = ieee(*operands)
        given = tuple(x.value for x in operands) if source.is_float else operands
        value = actual(*given)
        return Shadowed(value, plain.shadow, plain.bound + _distance(value, plain.value))

    return apply


def _builtin(
    ieee: Callable[..., Shadowed], native: Native, op: str, type_: Type
) -> Callable[..., Shadowed]:
    """A function of the device, asked for the lanes that execute; observers see those calls.

    Narrow formats are asked in f32 and rounded once, as emitters write them.
    """
    wide = _wide(type_)
    ask = _asked(native, op, wide)

    def apply(m: Machine, *operands: Shadowed) -> Shadowed:
        plain = ieee(*operands)
        given = tuple(np.asarray(x.value, COMPUTED[wide]) for x in operands)
        found = _where_active(m, ask, given, Builtin(op, wide, m.kernel.name, m.kernel.origin))
        value = found if type_ is wide else _narrowed(type_, found)
        return Shadowed(value, plain.shadow, plain.bound + _distance(value, plain.value))

    return apply


def _where_active(
    m: Machine, ask: Callable[..., Any], given: tuple[Any, ...], builtin: Builtin
) -> Value:
    """The device's results in the active lanes, NaN in the others; uniform values stay so."""
    mask = m.mask
    if mask is None or not any(x.ndim for x in given):
        chosen = given
        found = value = ask(*given)
    else:
        chosen = tuple(np.broadcast_to(x, mask.shape)[mask] for x in given)
        found = ask(*chosen)
        value = np.full(mask.shape, np.nan, given[0].dtype)
        value[mask] = found
    if m.observer is not None:
        m.observer(builtin, chosen, found)
    return value


def _distance(a: Value, b: Value) -> Value:
    """|a − b|, 0 where both are NaN or one infinity, infinite where only one is finite."""
    left, right = np.asarray(a, np.float64), np.asarray(b, np.float64)
    same = (left == right) | (np.isnan(left) & np.isnan(right))
    apart = np.abs(left - right)
    return np.where(same, 0.0, np.where(np.isnan(apart), np.inf, apart))[()]


def _decision(op: str, type_: Type, site: Site, actual: Callable[..., Any]) -> Callable[..., Any]:
    """A comparison or floor: flips are admissible within the bounds and what was flushed."""
    test = np.floor if op == "floor" else formats.function(op, Type.F64)

    def decide(m: Machine, *operands: Shadowed) -> Value:
        taken = actual(*(x.value for x in operands))
        other = test(*(x.shadow for x in operands))
        values = tuple(np.asarray(x.value, np.float64) for x in operands)
        limit = sum((x.bound for x in operands), 0.0) + _smallest(type_) * len(operands)
        wide = np.asarray(taken, np.float64)
        flipped = (wide != np.asarray(other, np.float64)) & ~(np.isnan(wide) & np.isnan(other))
        if flipped.any():
            sides = [*values, np.where(other > wide, wide + 1, wide)]
            record_flip(m, site, op, flipped, (sides[0], sides[1]), limit)
        return Shadowed(taken, wide[()], np.zeros(wide.shape)[()]) if op == "floor" else taken

    return decide


def _call(function: Function, site: Site) -> Callable[..., Shadowed]:
    """A portable function: as far from the correctly rounded one as it was seen to be."""
    rounding_step = rounding_call(function)
    if rounding_step is not None:
        return rounding_step
    op, type_ = function.implements, function.result.type
    exact = rounded_function(op, type_.value)
    shadow = SHADOW.operation(op, type_, site).function

    def after(m: Machine, result: Value, *operands: Shadowed) -> Shadowed:
        correct = shadow(*operands)
        distance = _distance(result, exact(*(x.value for x in operands)))
        return Shadowed(result, correct.shadow, correct.bound + distance)

    return after


__all__ = ["Native", "flushed", "formats_under", "no_native", "shadow_under"]
