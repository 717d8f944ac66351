"""Number formats as data: what a float type can represent.

Defines `Format`, the table `FORMATS` of what kernels compute with, `ALL_FORMATS`, formats of users
and formats of scaled blocks. Relies on nothing; rounding to a format is the emulator's work.

Sources: IEEE 754-2019 table 3.5; bfloat16 as in the AVX512-BF16 manual; OCP 8-bit Floating Point
Specification 1.0 (e5m2, e4m3fn); OCP Microscaling Formats 1.0 (e3m2, e2m3, e2m1, e8m0, MX).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from tang.errors import FormatError
from tang.ir.given import shown

SPECIALS: Final = ("ieee", "fn", "fnuz", "none")
"""ieee: infinities and NaN in an exponent of their own; fn: no infinity, NaN is all ones; fnuz: no
infinity, NaN takes the code of −0, which does not exist; none: neither infinity nor NaN."""


@dataclass(frozen=True, slots=True)
class Format:
    """A binary format: p bits of precision (hidden one included), exponents emin…emax.

    bits      of a code; codes count magnitudes upwards, a sign bit on top where `signed`
    specials  a row of SPECIALS
    top       the largest finite number where it is not (2 − 2^(1−p)) · 2^emax
    signed    whether there are negative numbers; zero: whether there is a zero
    """

    name: str
    p: int
    emin: int
    emax: int
    bits: int
    specials: str = "ieee"
    top: Fraction | None = None
    signed: bool = True
    zero: bool = True

    @property
    def unit_roundoff(self) -> Fraction:
        """Half the distance from 1 to the next number: 2⁻ᵖ."""
        return Fraction(1, 2**self.p)

    @property
    def quantum(self) -> Fraction:
        """The smallest positive subnormal: 2^(emin − p + 1)."""
        return Fraction(2) ** (self.emin - self.p + 1)

    @property
    def largest(self) -> Fraction:
        """The largest finite number."""
        if self.top is not None:
            return self.top
        return (2 - Fraction(2) ** (1 - self.p)) * Fraction(2) ** self.emax

    @property
    def has_infinity(self) -> bool:
        return self.specials == "ieee"

    @property
    def has_nan(self) -> bool:
        return self.specials != "none"

    @property
    def has_negative_zero(self) -> bool:
        return self.signed and self.zero and self.specials != "fnuz"


FORMATS: Final = {
    f.name: f
    for f in (
        Format("f64", 53, -1022, 1023, 64),
        Format("f32", 24, -126, 127, 32),
        Format("f16", 11, -14, 15, 16),
        Format("bf16", 8, -126, 127, 16),
    )
}
"""What kernels compute with."""

ALL_FORMATS: Final = {
    **FORMATS,
    **{
        f.name: f
        for f in (
            Format("tf32", 11, -126, 127, 19),
            Format("fp22", 14, -126, 127, 22),
            Format("e5m2", 3, -14, 15, 8),
            Format("e4m3fn", 4, -6, 8, 8, "fn", Fraction(448)),
            Format("e3m2", 3, -2, 4, 6, "none"),
            Format("e2m3", 4, 0, 2, 6, "none"),
            Format("e2m1", 2, 0, 2, 4, "none"),
            Format("e8m0", 1, -127, 127, 8, "fn", signed=False, zero=False),
        )
    },
}
"""Every format with a name. fp22 is the accumulator of fp8 tensor cores: 1 + 8 + 13 bits."""


@dataclass(frozen=True, slots=True)
class BlockFormat:
    """Elements in blocks of `size` that share a scale, and per tensor an f32 scale where said."""

    name: str
    element: str
    scale: str
    size: int
    tensor_scale: bool = False


BLOCK_FORMATS: Final = {
    f.name: f
    for f in (
        BlockFormat("mxfp8-e4m3", "e4m3fn", "e8m0", 32),
        BlockFormat("mxfp8-e5m2", "e5m2", "e8m0", 32),
        BlockFormat("mxfp6-e3m2", "e3m2", "e8m0", 32),
        BlockFormat("mxfp6-e2m3", "e2m3", "e8m0", 32),
        BlockFormat("mxfp4", "e2m1", "e8m0", 32),
        BlockFormat("nvfp4", "e2m1", "e4m3fn", 16, tensor_scale=True),
    )
}


def format_named(name: str) -> Format:
    """The format of that name that kernels compute with; FormatError names the known ones."""
    found = FORMATS.get(name)
    if found is None:
        raise FormatError(f"unknown format {name!r}: one of {', '.join(FORMATS)}")
    return found


def any_format(format: str | Format) -> Format:
    """A format as such, or the one of that name among ALL_FORMATS; else FormatError."""
    if isinstance(format, Format):
        return format
    found = ALL_FORMATS.get(format)
    if found is not None:
        return found
    known = ", ".join(ALL_FORMATS)
    if format in BLOCK_FORMATS:
        raise FormatError(f"{format!r} is a format of blocks, not of numbers: one of {known}")
    raise FormatError(f"unknown format {format!r}: one of {known}")


def block_format(name: str | BlockFormat) -> BlockFormat:
    """A format of blocks as such, or the one of that name; FormatError names the known ones."""
    if isinstance(name, BlockFormat):
        return name
    found = BLOCK_FORMATS.get(name)
    if found is None:
        raise FormatError(f"unknown block format {name!r}: one of {', '.join(BLOCK_FORMATS)}")
    return found


def custom_format(
    name: str, *, p: int, emin: int, largest: Fraction | float, specials: str = "ieee"
) -> Format:
    """A user's format: p bits of precision, least normal exponent, largest finite number.

    Its numbers must be f64 numbers, in which they are held. Raises FormatError for a part that is
    no name or number, and where the parts do not fit together.
    """
    _check_kinds(name, {"p": p, "emin": emin}, largest)
    if not isinstance(specials, str) or specials not in SPECIALS:
        raise FormatError(f"{name}: unknown specials {specials!r}: one of {', '.join(SPECIALS)}")
    if not 1 <= p <= 53:
        raise FormatError(f"{name}: p must be 1 … 53, not {shown(p)}")
    if specials == "ieee" and p < 2:
        raise FormatError(f"{name}: p = 1 leaves no bit that tells NaN from infinity")
    emax = _top_exponent(name, Fraction(largest))
    if not (emin <= emax <= 1023 and emin - p + 1 >= -1074 and emin >= -1022):
        raise FormatError(f"{name}: exponents {emin} … {emax} with p = {p} are not all in f64")
    steps = Fraction(largest) / Fraction(2) ** (emax - p + 1)
    if steps.denominator != 1:
        raise FormatError(f"{name}: the largest number {largest} has more than {p} bits")
    count = ((emax - emin) << (p - 1)) + int(steps)  # the code of the largest number
    if specials == "ieee":
        count = ((emax - emin + 2) << (p - 1)) | (1 << (p - 2))
    elif specials == "fn":
        count += 1
    return Format(name, p, emin, emax, 1 + count.bit_length(), specials, Fraction(largest))


def _check_kinds(name: object, wholes: dict[str, object], largest: object) -> None:
    """A text, integers and a finite number: nothing is rounded to what a part may be."""
    if not isinstance(name, str) or not name:
        raise FormatError(f"name: the name of a format is a text, not {shown(name)}")
    for part, value in wholes.items():
        if type(value) is not int:
            found = shown(value)
            raise FormatError(f"{name}: {part}: expected an integer, not {found}: write one, as 4")
    finite = isinstance(largest, float) and math.isfinite(largest)
    if type(largest) is not int and not isinstance(largest, Fraction) and not finite:
        raise FormatError(f"{name}: largest: expected a finite number, not {shown(largest)}")


def _top_exponent(name: str, largest: Fraction) -> int:
    if largest <= 0:
        raise FormatError(f"{name}: the largest number must be positive, not {largest}")
    exponent = largest.numerator.bit_length() - largest.denominator.bit_length()
    return exponent - 1 if Fraction(2) ** exponent > largest else exponent
