"""Integer lanes: exact values with an interval, so that most width checks cost nothing.

Defines `Lanes`, the operations of i32 and i64 (a fault when they overflow), of u8 and u32 (they
wrap), and conversions between integers. Relies on the machine for reports. A uniform value is a
Python int. It knows no floats.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tang.emulator.machine import Array, Machine, Site, Value
from tang.emulator.records import Kind
from tang.errors import TangBugError
from tang.kernel.ir import BOOL, I32, I64, U8, U32, Type

Node = Callable[[Machine], Any]
Bounds = tuple[int, int]
ndarray = np.ndarray

RANGE: Final[dict[Type, Bounds]] = {
    U8: (0, 2**8 - 1),
    U32: (0, 2**32 - 1),
    I32: (-(2**31), 2**31 - 1),
    I64: (-(2**63), 2**63 - 1),
}
UNSIGNED: Final[dict[Type, Any]] = {U8: np.uint8, U32: np.uint32}
STORED: Final[dict[Type, Any]] = {
    BOOL: np.bool_, U8: np.uint8, U32: np.uint32, I32: np.int32, I64: np.int64,
}  # fmt: skip


class Lanes:
    """Signed integers, one per lane, in i64; lo ≤ every active value ≤ hi."""

    __slots__ = ("array", "hi", "lo")

    def __init__(self, array: Array, lo: int, hi: int) -> None:
        self.array = array
        self.lo = lo
        self.hi = hi


Signed = int | Lanes


def constant(type: Type, value: int) -> Value:
    """A uniform integer of the type."""
    return UNSIGNED[type](value) if type in UNSIGNED else int(value)


def from_array(type: Type, array: Array) -> Value:
    """The value whose lanes are the elements of a stored array."""
    if type in (I32, I64):
        lo, hi = RANGE[type]
        return Lanes(array.astype(np.int64), lo, hi)
    return array


def to_array(value: Value) -> Value:
    """The lanes as an array, or a scalar where the value is uniform."""
    return value.array if type(value) is Lanes else value


def merge(mask: Array, new: Value, old: Value) -> Value:
    """`new` in the lanes of mask, `old` elsewhere."""
    if type(new) is int:
        if type(old) is int:
            return Lanes(np.where(mask, new, old), min(new, old), max(new, old))
        lo, hi = min(new, old.lo), max(new, old.hi)
        return Lanes(np.where(mask, new, old.array), lo, hi)
    if type(new) is not Lanes:
        return np.where(mask, new, old)
    if type(old) is int:
        return Lanes(np.where(mask, new.array, old), min(new.lo, old), max(new.hi, old))
    lo, hi = min(new.lo, old.lo), max(new.hi, old.hi)
    return Lanes(np.where(mask, new.array, old.array), lo, hi)


def tight(m: Machine, value: Signed) -> Bounds:
    """The exact bounds of the active lanes."""
    if type(value) is int:
        return value, value
    array = to_array(value)
    if m.mask is not None:
        array = array[m.mask]
    return (int(array.min()), int(array.max())) if array.size else (0, 0)


def _parts(value: Signed) -> tuple[Any, int, int]:
    if isinstance(value, Lanes):
        return value.array, value.lo, value.hi
    return value, value, value


def _corners(op: Callable[[int, int], int]) -> Callable[..., Bounds]:
    def bounds(a: int, b: int, c: int, d: int) -> Bounds:
        ends = (op(a, c), op(a, d), op(b, c), op(b, d))
        return min(ends), max(ends)

    return bounds


def _floordiv_bounds(a: int, b: int, c: int, d: int) -> Bounds:
    if c == d and c > 0:
        return a // c, b // c
    return min(a, 0), max(b, 0)


def _mod_bounds(a: int, b: int, c: int, d: int) -> Bounds:
    return (a, b) if a >= 0 and b < c else (0, max(d - 1, 0))


_SIGNED: Final[dict[str, tuple[Any, Any, Any]]] = {
    "add": (operator.add, np.add, lambda a, b, c, d: (a + c, b + d)),
    "sub": (operator.sub, np.subtract, lambda a, b, c, d: (a - d, b - c)),
    "mul": (operator.mul, np.multiply, _corners(operator.mul)),
    "floordiv": (operator.floordiv, np.floor_divide, _floordiv_bounds),
    "mod": (operator.mod, np.remainder, _mod_bounds),
    "min": (min, np.minimum, lambda a, b, c, d: (min(a, c), min(b, d))),
    "max": (max, np.maximum, lambda a, b, c, d: (max(a, c), max(b, d))),
}
_BITWISE: Final[dict[str, Any]] = {
    "band": np.bitwise_and, "bor": np.bitwise_or, "bxor": np.bitwise_xor,
    "shl": np.left_shift, "shr": np.right_shift,
}  # fmt: skip
_WRAPPING: Final[dict[str, Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "neg": np.negative,
    "floordiv": np.floor_divide, "mod": np.remainder, "min": np.minimum, "max": np.maximum,
    **_BITWISE,
}  # fmt: skip
_COMPARE: Final[dict[str, tuple[Any, Any]]] = {
    "lt": (operator.lt, np.less),
    "le": (operator.le, np.less_equal),
    "eq": (operator.eq, np.equal),
}


def operation(op: str, type: Type, args: tuple[Node, ...], site: Site) -> Node:
    """A node for a row of OPS whose operands and result are integers of one type."""
    if type in UNSIGNED:
        return _wrapping(_WRAPPING[op], args)
    if op == "neg":
        return _signed("sub", type, (lambda _: 0, args[0]), site)
    if op in _BITWISE:
        return _signed_bits(op, type, args, site)
    return _signed(op, type, args, site)


def comparison(op: str, args: tuple[Node, ...]) -> Node:
    """A node for lt, le or eq over integers or bools."""
    first, second = args
    scalar, ufunc = _COMPARE[op]

    def compare(m: Machine) -> Value:
        a, b = first(m), second(m)
        if type(a) is Lanes:
            return ufunc(a.array, b.array if type(b) is Lanes else b)
        if type(b) is Lanes:
            return ufunc(a, b.array)
        return scalar(a, b) if type(a) is int else ufunc(a, b)

    return compare


def _wrapping(ufunc: Value, args: tuple[Node, ...]) -> Node:
    if len(args) == 1:
        (only,) = args
        return lambda m: ufunc(only(m))
    first, second = args
    return lambda m: ufunc(first(m), second(m))


def _signed_bits(op: str, type_: Type, args: tuple[Node, ...], site: Site) -> Node:
    first, second = args
    lo, hi = RANGE[type_]
    ufunc = _BITWISE[op]

    def bits(m: Machine) -> Value:
        r = ufunc(np.asarray(to_array(first(m)), np.int64), to_array(second(m)))
        if op == "shl":
            return wrap(m, type_, r, site, op)
        return Lanes(r, lo, hi) if r.ndim else int(r)

    return bits


def _signed(op: str, type_: Type, args: tuple[Node, ...], site: Site) -> Node:
    first, second = args
    scalar, ufunc, bounds = _SIGNED[op]
    low, high = RANGE[type_]
    divides = op in ("floordiv", "mod")

    def signed(m: Machine) -> Value:
        a, b = first(m), second(m)
        if divides:
            b = _positive(m, b, site, op)
        if type(a) is int:
            if type(b) is int:
                r = scalar(a, b)
                return r if low <= r <= high else wrap(m, type_, r, site, op)
            x, y = a, b.array
            lo, hi = bounds(a, a, b.lo, b.hi)
        elif type(b) is int:
            x, y = a.array, b
            lo, hi = bounds(a.lo, a.hi, b, b)
        else:
            x, y = a.array, b.array
            lo, hi = bounds(a.lo, a.hi, b.lo, b.hi)
        if low <= lo and hi <= high:
            return Lanes(ufunc(x, y), lo, hi)
        return _checked(m, op, type_, a, b, site)

    return signed


def _checked(m: Machine, op: str, type_: Type, a: Signed, b: Signed, site: Site) -> Value:
    """The operation once more, with exact bounds of its operands, then with exact results."""
    _, ufunc, bounds = _SIGNED[op]
    lo, hi = bounds(*tight(m, a), *tight(m, b))
    x, y = to_array(a), to_array(b)
    if RANGE[type_][0] <= lo and hi <= RANGE[type_][1]:
        return Lanes(ufunc(x, y), lo, hi)
    if lo < RANGE[I64][0] or hi > RANGE[I64][1]:
        x, y = (np.asarray(v).astype(object) for v in (x, y))
    return wrap(m, type_, ufunc(x, y), site, op)


def wrap(m: Machine, type_: Type, exact: Value, site: Site, what: str) -> Value:
    """Exact results brought into the type, modulo 2^bits; a lane that needed it is reported."""
    lo, hi = RANGE[type_]
    uniform = not isinstance(exact, ndarray) or exact.ndim == 0
    values = np.asarray(exact)
    bad = (values < lo) | (values > hi)
    if np.any(bad):
        text = f"{what} leaves the range of {type_.value}: {{index}} in thread {{thread}}"
        shown = np.broadcast_to(values, (m.lanes,))
        m.report(Kind.OVERFLOW, site, what, bad.astype(np.bool_), shown, text)
        values = (
            (values - lo) % (hi - lo + 1) + lo if values.dtype == object else _wrap64(values, type_)
        )
    if uniform:
        return int(values)
    return Lanes(values.astype(np.int64), lo, hi)


def _wrap64(values: Array, type_: Type) -> Array:
    return values.astype(STORED[type_]).astype(np.int64)


def _positive(m: Machine, divisor: Signed, site: Site, op: str) -> Signed:
    low = divisor if type(divisor) is int else to_signed_lo(divisor)
    if low > 0 or tight(m, divisor)[0] > 0:
        return divisor
    array = to_array(divisor)
    text = f"{op} by {{index}} in thread {{thread}}"
    m.report(Kind.DIVISION, site, op, array <= 0, array, text)
    if type(divisor) is int:
        return 1
    return Lanes(np.maximum(array, 1), 1, RANGE[I64][1])


def to_signed_lo(value: Signed) -> int:
    """The lower bound that a value carries."""
    return value.lo if isinstance(value, Lanes) else value


def convert(type_: Type, source: Type, arg: Node, site: Site) -> Node:
    """A node for a conversion between integers and bools.

    To a signed type the value must fit when it came from a signed one; everything else wraps.
    """
    if type_ is BOOL:
        return lambda m: np.not_equal(to_array(arg(m)), 0)
    if type_ in UNSIGNED:
        return lambda m: _to_unsigned(UNSIGNED[type_], arg(m))
    if source in (I32, I64):
        return lambda m: _narrow(m, type_, arg(m), site)
    if source is BOOL or RANGE[source][1] <= RANGE[type_][1]:
        return lambda m: widen(arg(m), RANGE.get(source, (0, 1)))
    return lambda m: widen(_reinterpret(np.int32, arg(m)), RANGE[type_])


def bitcast(type_: Type, source: Type, arg: Node) -> Node:
    """A node for the same bits as another integer type of the same size."""
    if type_.bytes != source.bytes:
        raise TangBugError(f"bit cast from {source.value} to {type_.value}: sizes differ")
    if type_ is source:
        return arg
    if type_ in UNSIGNED:
        return lambda m: _to_unsigned(UNSIGNED[type_], arg(m))
    return lambda m: widen(_reinterpret(STORED[type_], arg(m)), RANGE[type_])


def widen(value: Value, bounds: Bounds) -> Signed:
    """Stored integers or bools as a signed value."""
    if isinstance(value, ndarray) and value.ndim:
        return Lanes(value.astype(np.int64), *bounds)
    return int(value)


def _to_unsigned(kind: Value, value: Value) -> Value:
    if type(value) is int:
        return kind(value % (int(np.iinfo(kind).max) + 1))
    array = to_array(value)
    return array.astype(kind) if isinstance(array, ndarray) else kind(array)


def _reinterpret(kind: Value, value: Value) -> Value:
    return to_array(value).view(kind)


def _narrow(m: Machine, type_: Type, value: Signed, site: Site) -> Value:
    lo, hi = RANGE[type_]
    array, a, b = _parts(value)
    if lo <= a and b <= hi:
        return value
    a, b = tight(m, value)
    if lo <= a and b <= hi:
        return Lanes(array, a, b)
    return wrap(m, type_, array, site, "convert")
