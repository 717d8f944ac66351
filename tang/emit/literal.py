"""Literals: the exact value of a constant in a format, before any language prints it.

Defines `rounded`, `float_bits` and `decimal_or_hex`. Relies on the format table. It refuses what
would lose its meaning (overflow, an integer out of range) and does not know any syntax.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

from mpmath.ctx_mp import MPContext

from tang.errors import FormatError
from tang.ir.format import FORMATS, Format
from tang.kernel.ir import Const, Type

SPECIAL: Final = ("inf", "-inf", "nan", "-0.0")
"""Values that no rational carries; every dialect prints them from bits or as −0.0."""

RANGES: Final = {
    Type.U8: (0, 2**8 - 1),
    Type.U32: (0, 2**32 - 1),
    Type.I32: (-(2**31), 2**31 - 1),
    Type.I64: (-(2**63), 2**63 - 1),
}
"""The smallest and largest value of each integer type."""


def rounded(const: Const) -> Fraction | str:
    """The value of a float constant in its type, to nearest even; or one of SPECIAL.

    Raises FormatError when a finite constant overflows the type or its name is unknown.
    """
    value = const.value
    if isinstance(value, str):
        if value in SPECIAL:
            return value
        value = _transcendental(value)
    return round_to(Fraction(value), FORMATS[const.type.value])


def round_to(value: Fraction, form: Format) -> Fraction:
    """The nearest number of the format, ties to even; raises FormatError on overflow."""
    if value == 0:
        return value
    quantum = Fraction(2) ** (max(_exponent(abs(value)), form.emin) - form.p + 1)
    result = round(value / quantum) * quantum
    if abs(result) > form.largest:
        raise FormatError(
            f"the constant {_short(value)} overflows {form.name}, whose largest number is "
            f"{float(form.largest):.9g}: use a wider format, or write inf if you mean it"
        )
    return result


def integer(const: Const) -> int:
    """The value of an integer constant; raises FormatError when the type cannot hold it."""
    if not isinstance(const.value, int):
        raise FormatError(f"an integer constant has an int, not {const.value!r}")
    lo, hi = RANGES[const.type]
    if not lo <= const.value <= hi:
        raise FormatError(f"the constant {const.value} is outside {const.type.value} [{lo}, {hi}]")
    return int(const.value)


def decimal_or_hex(value: Fraction) -> str:
    """An exact C literal without suffix: short decimals as such, the rest in hexadecimal."""
    number = float(value)
    short = repr(number)
    if len(short) <= 8 and "e" not in short and Fraction(short) == value:
        return short
    return re.sub(r"\.?0*p", "p", number.hex())


def special_bits(name: str, form: Format) -> int:
    """The bits of inf, −inf or the quiet NaN in a format."""
    fraction_bits = form.p - 1
    infinity = ((1 << (form.bits - form.p)) - 1) << fraction_bits
    if name == "nan":
        return infinity | 1 << (fraction_bits - 1)
    return infinity | (1 << (form.bits - 1) if name == "-inf" else 0)


def value_bits(value: Fraction, form: Format) -> int:
    """The bits of a number of the format (of +0 for zero)."""
    size = abs(value)
    if size == 0:
        return 0
    exponent = max(_exponent(size), form.emin)
    whole = int(size / Fraction(2) ** (exponent - form.p + 1))
    sign = 1 << (form.bits - 1) if value < 0 else 0
    return sign + ((exponent - form.emin) << (form.p - 1)) + whole


def _exponent(x: Fraction) -> int:
    e = x.numerator.bit_length() - x.denominator.bit_length()
    return e if x >= Fraction(2) ** e else e - 1


def _transcendental(name: str) -> Fraction:
    context = MPContext()
    context.prec = 400
    table = {"pi": context.pi, "ln2": context.ln2, "log2e": 1 / context.ln(2)}
    if name not in table:
        raise FormatError(f"unknown constant {name!r}: one of {', '.join((*table, *SPECIAL))}")
    sign, mantissa, exponent, _ = (+table[name])._mpf_
    magnitude = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    return -magnitude if sign else magnitude


def _short(value: Fraction) -> str:
    digits = len(str(abs(value.numerator // value.denominator)))
    return f"{value.numerator // value.denominator:.3e}" if digits < 300 else f"1e{digits - 1}"
