"""Mutants of narrow formats: functions that round or code otherwise than their names say.

Defines `PRECISION`. Relies on the names of the parts of roundings and codes, and on what a function
of integers looks like. Each must be found on the rung `expand`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from tang.fuzz.mutants.apply import Mutant
from tang.kernel.ir import U32, Const, Convert, Expr, Function, Op
from tang.kernel.narrow import Conversion, overflows
from tang.verify import Rung

Maker = Callable[..., Any]
_ROUNDING: Final = "tang.kernel.expand.rounding"
_PACK: Final = "tang.kernel.expand.pack"


# --- roundings ------------------------------------------------------------------------------------


def _carries_as(rounding: str, instead_of: str) -> Callable[[Maker], Maker]:
    """Ties, or everything, go as another rounding says."""

    def make(original: Maker) -> Maker:
        return lambda s, kept, n, name: original(
            s, kept, n, rounding if name == instead_of else name
        )

    return make


def _never_carries(original: Maker) -> Maker:
    return lambda s, kept, n, rounding: s.builder.u32(0)


def _ties_to_odd(original: Maker) -> Maker:
    def carry(s: Any, kept: Any, n: Any, rounding: str) -> Any:  # noqa: ANN401
        if rounding != "rne":
            return original(s, kept, n, rounding)
        b = s.builder
        rest, half = s - (kept << n), b.u32(1) << (n - 1)
        up = (half < rest) | (rest.is_equal(half) & (kept & 1).is_equal(0))
        return up.choose(b.u32(1), b.u32(0))

    return carry


def _ties_down(original: Maker) -> Maker:
    def carry(s: Any, kept: Any, n: Any, rounding: str) -> Any:  # noqa: ANN401
        b = s.builder
        return ((b.u32(1) << (n - 1)) < s - (kept << n)).choose(b.u32(1), b.u32(0))

    return carry


def _away_always(original: Maker) -> Maker:
    def carry(s: Any, kept: Any, n: Any, rounding: str) -> Any:  # noqa: ANN401
        b = s.builder
        return (b.u32(0) < s - (kept << n)).choose(b.u32(1), b.u32(0))

    return carry


def _rounds_as(rounding: str, instead_of: str) -> Callable[[Maker], Maker]:
    def make(original: Maker) -> Maker:
        def rounded(size: Any, conversion: Conversion) -> Any:  # noqa: ANN401
            right = conversion.rounding != instead_of
            return original(size, conversion if right else replace(conversion, rounding=rounding))

        return rounded

    return make


def _overflows_as(overflow: str, instead_of: str) -> Callable[[Maker], Maker]:
    """What is too large becomes something else, in formats that have it."""

    def make(original: Maker) -> Maker:
        def limited(rounded: Any, size: Any, conversion: Conversion) -> Any:  # noqa: ANN401
            known = overflow in overflows(conversion.format)
            if known and conversion.overflow == instead_of:
                conversion = replace(conversion, overflow=overflow)
            return original(rounded, size, conversion)

        return limited

    return make


def _judged_before_rounding(original: Maker) -> Maker:
    def limited(rounded: Any, size: Any, conversion: Conversion) -> Any:  # noqa: ANN401
        from tang.kernel.expand.rounding import bits_of

        largest = bits_of(conversion.format.largest)
        return (size <= largest).choose(rounded, original(rounded | 0x7F800000, size, conversion))

    return limited


def _infinity_slips(original: Maker) -> Maker:
    def limited(rounded: Any, size: Any, conversion: Conversion) -> Any:  # noqa: ANN401
        right = original(rounded, size, conversion)
        return size.is_equal(0x7F800000).choose(size, right)

    return limited


def _largest_overflows(original: Maker) -> Maker:
    def limited(rounded: Any, size: Any, conversion: Conversion) -> Any:  # noqa: ANN401
        from tang.kernel.expand.rounding import bits_of

        largest = bits_of(conversion.format.largest)
        return original(rounded + rounded.is_equal(largest).choose(
            rounded.builder.u32(1), rounded.builder.u32(0)
        ), size, conversion)  # fmt: skip

    return limited


def _other_precision(by: int) -> Callable[[Maker], Maker]:
    def make(original: Maker) -> Maker:
        return lambda e, format_: original(e, replace(format_, p=format_.p + by))

    return make


def _subnormals_start_late(original: Maker) -> Maker:
    return lambda e, format_: original(e, replace(format_, emin=format_.emin + 1))


def _subnormals_flushed(original: Maker) -> Maker:
    def rounded(size: Any, conversion: Conversion) -> Any:  # noqa: ANN401
        right = original(size, conversion)
        smallest = (conversion.format.emin + 127) << 23
        return (size < max(smallest, 1)).choose(size.builder.u32(0), right)

    return rounded


def _through_wider(original: Maker) -> Maker:
    def rounded(size: Any, conversion: Conversion) -> Any:  # noqa: ANN401
        format_ = conversion.format
        wide = replace(conversion, format=replace(format_, p=format_.p + 2))
        return original(original(size, wide), conversion)

    return rounded


def _carry_masked(original: Maker) -> Maker:
    def rounded(size: Any, conversion: Conversion) -> Any:  # noqa: ANN401
        right = original(size, conversion)
        grown = (size >> 23) < (right >> 23)
        return grown.choose(right - 0x00800000, right)

    return rounded


# --- functions as they are written ----------------------------------------------------------------


def _written(change: Callable[[Expr], Expr]) -> Callable[[Maker], Maker]:
    """The function with each of its operations changed."""

    def make(original: Maker) -> Maker:
        def made(*args: Any) -> Function:  # noqa: ANN401
            right: Function = original(*args)
            lets = tuple(replace(s, value=change(s.value)) for s in right.body)
            return replace(right, body=lets)

        return made

    return make


def _is_op(e: Expr, op: str, constant: int) -> bool:
    if not isinstance(e, Op) or e.op != op:
        return False
    return any(isinstance(a, Const) and a.value == constant for a in e.args)


def _sign_cleared(e: Expr) -> Expr:
    if _is_op(e, "band", 0x80000000) and isinstance(e, Op):
        return replace(e, args=(e.args[0], Const(U32, 0)))
    return e


def _top_bit_cleared(e: Expr) -> Expr:
    """The sign of an f32 on its way into a code."""
    if _is_op(e, "shr", 31) and isinstance(e, Op):
        return Op(U32, "band", (e.args[0], Const(U32, 0)))
    return e


def _sign_not_placed(e: Expr) -> Expr:
    """The sign of a code on its way into an f32."""
    if _is_op(e, "shl", 31) and isinstance(e, Op):
        return Op(U32, "band", (e.args[0], Const(U32, 0)))
    return e


def _as_it_is(*specials: int) -> Callable[[Expr], Expr]:
    """before: select(size <= inf, x, nan) → after: select(…, x, x), for some constants."""

    def change(e: Expr) -> Expr:
        if not isinstance(e, Op) or e.op != "select" or not isinstance(e.args[2], Const):
            return e
        lost = e.args[2].value in specials
        return replace(e, args=(e.args[0], e.args[1], e.args[1])) if lost else e

    return change


_nan_as_it_is: Final = _as_it_is(0x7FC00000, 0x7F, 0x7E)
_infinity_as_it_is: Final = _as_it_is(0x7F800000, 0x7C)


def _subnormal_as_normal(e: Expr) -> Expr:
    """The first choice of a code, which is between subnormal and normal numbers."""
    if isinstance(e, Op) and e.op == "select" and not isinstance(e.args[2], Const):
        return replace(e, args=(e.args[0], e.args[2], e.args[2]))
    return e


def _result(change: Callable[[Any, Any], Expr]) -> Callable[[Maker], Maker]:
    """The function with another result."""

    def make(original: Maker) -> Maker:
        def made(format_: Any) -> Function:  # noqa: ANN401
            right: Function = original(format_)
            return replace(right, result=change(right.result, format_))

        return made

    return make


def _off_by_one(result: Any, format_: Any) -> Expr:  # noqa: ANN401
    """The next code, but of the last one."""
    return Op(result.type, "bxor", (result, Const(result.type, 1)))


def _other_bias(original: Maker) -> Maker:
    """Codes as of a format whose exponents are one larger, under the right name."""

    def made(format_: Any) -> Function:  # noqa: ANN401
        right: Function = original(format_)
        moved = replace(format_, emin=format_.emin + 1, emax=format_.emax + 1)
        wrong: Function = original(moved)
        return replace(wrong, name=right.name, implements=right.implements)

    return made


def _never_packed(original: Maker) -> Maker:
    """Codes that are stored as the numbers' low bytes."""

    def made(format_: Any) -> Function:  # noqa: ANN401
        from tang.kernel.expand.build import Builder

        right: Function = original(format_)
        b = Builder()
        byte = b.let(Convert(right.result.type, b.param("x").bits().expr))
        return b.exact(right.name, right.implements, byte)

    return made


def _row(name: str, what: str, path: str, make: Callable[[Any], Any]) -> Mutant:
    return Mutant(name, what, path, make, Rung.EXPAND)


_CARRY: Final = f"{_ROUNDING}:_carry"
_ROUNDED: Final = f"{_ROUNDING}:_rounded"
_LIMITED: Final = f"{_ROUNDING}:_limited"
_DROPPED: Final = f"{_ROUNDING}:_dropped"
_ENCODER: Final = f"{_PACK}:encoder"
_DECODER: Final = f"{_PACK}:decoder"

PRECISION: Final = (
    _row("rz-for-rounding", "nothing is ever rounded up", _CARRY, _never_carries),
    _row("rz-for-rne", "to nearest is towards zero", _ROUNDED, _rounds_as("rz", "rne")),
    _row("rz-for-rna", "ties away is towards zero", _ROUNDED, _rounds_as("rz", "rna")),
    _row("rna-for-rne", "ties go away from zero", _CARRY, _carries_as("rna", "rne")),
    _row("rne-for-rna", "ties go to even", _CARRY, _carries_as("rne", "rna")),
    _row("rne-for-rz", "towards zero is to nearest", _ROUNDED, _rounds_as("rne", "rz")),
    _row("tie-to-odd", "ties go to odd", _CARRY, _ties_to_odd),
    _row("tie-to-zero", "ties go towards zero", _CARRY, _ties_down),
    _row("away-from-zero", "whatever is inexact is rounded up", _CARRY, _away_always),
    _row("saturate-for-inf", "what is too large becomes the largest number", _LIMITED,
         _overflows_as("saturate", "inf")),
    _row("inf-for-saturate", "what is too large becomes infinite", _LIMITED,
         _overflows_as("inf", "saturate")),
    _row("nan-for-saturate", "what is too large becomes NaN", _LIMITED,
         _overflows_as("nan", "saturate")),
    _row("nan-for-inf", "an infinity becomes NaN", _LIMITED, _overflows_as("nan", "inf")),
    _row("saturate-for-nan", "what is too large becomes the largest number, not NaN", _LIMITED,
         _overflows_as("saturate", "nan")),
    _row("overflow-before-rounding", "what rounds to the largest number overflows", _LIMITED,
         _judged_before_rounding),
    _row("infinity-slips-through", "infinities stay, whatever the overflow", _LIMITED,
         _infinity_slips),
    _row("largest-overflows", "the largest number is too large", _LIMITED, _largest_overflows),
    _row("one-bit-more", "a format has a bit more of precision", _DROPPED, _other_precision(1)),
    _row("one-bit-less", "a format has a bit less of precision", _DROPPED, _other_precision(-1)),
    _row("subnormals-start-late", "subnormals have the step of the next exponent", _DROPPED,
         _subnormals_start_late),
    _row("subnormals-flushed", "subnormals of the format become zero", _ROUNDED,
         _subnormals_flushed),
    _row(
        "rounded-through-wider",
        "numbers are rounded to two more bits first",
        _ROUNDED,
        _through_wider,
    ),
    _row("carry-lost", "what rounds up to a power of two keeps its exponent", _ROUNDED,
         _carry_masked),
    _row("rounding-loses-sign", "a rounded number has no sign", f"{_ROUNDING}:rounder",
         _written(_sign_cleared)),
    _row("rounding-keeps-nan-bits", "a NaN is not made the usual one, or not the largest number",
         f"{_ROUNDING}:rounder", _written(_nan_as_it_is)),
    _row("code-loses-sign", "a code has no sign", _ENCODER, _written(_top_bit_cleared)),
    _row("code-of-infinity-lost", "infinity has the code of its bits", _ENCODER,
         _written(_infinity_as_it_is)),
    _row("code-of-nan-lost", "NaN has the code of its bits", _ENCODER, _written(_nan_as_it_is)),
    _row("code-of-subnormal-lost", "subnormals are coded as if they were normal", _ENCODER,
         _written(_subnormal_as_normal)),
    _row("code-off-by-one", "codes have the wrong last bit", _ENCODER, _result(_off_by_one)),
    _row("code-bias-off", "codes have the bias of another format", _ENCODER, _other_bias),
    _row("code-is-low-byte", "memory holds the low byte of the f32", _ENCODER, _never_packed),
    _row("number-loses-sign", "the number of a code has no sign", _DECODER,
         _written(_sign_not_placed)),
    _row("number-of-infinity-lost", "the code of infinity is a number", _DECODER,
         _written(_infinity_as_it_is)),
    _row("number-of-nan-lost", "the code of NaN is a number", _DECODER, _written(_nan_as_it_is)),
    _row("number-of-subnormal-lost", "codes of subnormals are read as normal", _DECODER,
         _written(_subnormal_as_normal)),
    _row("number-bias-off", "codes are read with the bias of another format", _DECODER,
         _other_bias),
)  # fmt: skip
