"""Arithmetic domains: what the one interpreter of kernels computes with.

Defines `Domain`, a record of functions over values of float types, and the logic that domains of
certain truth share. Relies on the integer lanes for conversions. It does not traverse kernels.

A value of a float type is whatever the domain says: one array, or a tuple of arrays. A uniform
value may be a scalar instead of an array. Truth values are bool arrays unless the domain has a
third value; `decide` turns them into bools where a branch must be taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import numpy as np

from tang.emulator.ints import RANGE, Lanes, to_array
from tang.emulator.machine import Array, Machine, Site
from tang.emulator.narrow import narrowed
from tang.emulator.records import Kind
from tang.kernel.ir import Const, Function, Type
from tang.kernel.narrow import Conversion

Value = Any
Parts = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Operation:
    """A function of the operands, of the machine too where it takes or records decisions."""

    function: Callable[..., Value]
    impure: bool = False


def certain(_: Machine, truth: Value) -> Value:
    """Truth values that are always certain."""
    return truth


CERTAIN_LOGIC: Final[Mapping[str, Callable[..., Any]]] = {
    "and": np.logical_and, "or": np.logical_or, "not": np.logical_not, "eq": np.equal,
}  # fmt: skip


def exactly_rounded(conversion: Conversion, source: Type) -> Operation:
    """Values in formats, rounded to a narrower one."""
    return Operation(partial(narrowed, conversion))


def no_extreme(kind: str, type_: Type) -> Operation | None:
    """None: comparison and choice are taken one by one."""
    return None


@dataclass(frozen=True, slots=True, eq=False)
class Domain:
    """A number system for kernels.

    constant   a literal of a float type
    operation  a row of OPS or MATH whose operands are floats
    to_float   a conversion from a type to a float type (of integer lanes, bools or values)
    to_int     a conversion of a float to an integer type, which must fit
    to_bits    a float as an integer (or float) of the same bits; from_bits the reverse
    merge      the first value where the mask holds, else the second
    dtypes     of the planes that hold a float type; pack and unpack between them and values
    read       a caller's array as planes
    show       a plane of a buffer (of any type) with its taint, as the caller sees it
    inner      the domain in which bodies of functions with `implements` run, or None: this one
    enter      a value as one of the inner domain, and as observers of calls see it
    call       makes the result of the inner domain a value of this one
    rounded    a rounding to a narrow format, of values of the type given
    tracks     whether lanes and elements carry taint
    logic      and, or, not, eq over truth values; select and choose where truth has three values
    extreme    "max", "min" or "abs" of a type as one operation instead of a comparison and a
               choice, or None where it has none
    """

    name: str
    constant: Callable[[Const], Value]
    operation: Callable[[str, Type, Site], Operation]
    to_float: Callable[[Type, Type], Callable[[Value], Value]]
    to_int: Callable[[Machine, Type, Value, Site], Value]
    to_bits: Callable[[Machine, Type, Type, Value], Value]
    from_bits: Callable[[Machine, Type, Type, Value], Value]
    merge: Callable[[Array, Value, Value], Value]
    dtypes: Callable[[Type], tuple[Any, ...]]
    pack: Callable[[Type, Value], Parts]
    unpack: Callable[[Type, Parts], Value]
    read: Callable[[Type, Array], Parts]
    planes: tuple[str, ...] = ("value",)
    show: Callable[[str, Type, Array, Array | None], Array] = lambda plane, type_, array, taint: (
        array
    )
    inner: Domain | None = None
    enter: Callable[[Value], Value] = lambda value: value
    call: Callable[[Function, Site], Callable[..., Value]] | None = None
    logic: Mapping[str, Callable[..., Any]] = field(default_factory=lambda: CERTAIN_LOGIC)
    decide: Callable[[Machine, Any], Any] = certain
    tracks: bool = False
    rounded: Callable[[Conversion, Type], Operation] = exactly_rounded
    extreme: Callable[[str, Type], Operation | None] = no_extreme


def to_integer(m: Machine, type_: Type, value: Value, site: Site) -> Value:
    """Floats to an integer type; what is no integer in range is reported, clipped, truncated."""
    wide = np.asarray(value, np.float64)
    lo, hi = RANGE[type_]
    whole = np.trunc(wide)
    fits = (whole >= lo) & (whole < float(hi) + 1) & (whole == wide)
    if not fits.all():
        text = f"a value that is no integer in the range of {type_.value} in thread {{thread}}"
        m.report(Kind.CONVERSION, site, "convert", ~fits, -1, text)
        ceiling = np.nextafter(float(hi) + 1, 0)
        whole = np.clip(np.where(np.isnan(wide), 0.0, whole), lo, ceiling)
    whole = whole.astype(np.int64)
    if type_.value.startswith("u"):
        return whole.astype(type_.value.replace("u", "uint"))[()]
    if not wide.ndim:
        return int(whole)
    return Lanes(whole, lo, hi)


def integer_to_float(kind: Value, round_wide: Callable[[Array], Array] | None) -> Value:
    """A conversion of integer lanes or bools to floats, with one rounding.

    `round_wide` rounds f64 to a format narrower than `kind` says; integers above 2⁵³ reach it
    by way of a rounding to odd.
    """

    def convert(value: Value) -> Value:
        array = np.asarray(to_array(value))
        if round_wide is None:
            return array.astype(kind)[()]
        return round_wide(_odd_f64(array)).astype(kind)[()]

    return convert


def _odd_f64(array: Array) -> Array:
    exact = array.astype(np.float64)
    if array.dtype != np.int64 or not (np.abs(exact) >= 2.0**53).any():
        return exact
    sticky = (array >> 11) | ((array & 2047) != 0)
    return np.asarray(np.where(np.abs(exact) < 2.0**53, exact, sticky.astype(np.float64) * 2048))
