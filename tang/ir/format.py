"""Number formats as data: what a float type can represent.

Defines `Format` and the table `FORMATS`. Relies on nothing; rounding to a format is the
emulator's work. Sources: IEEE 754-2019 table 3.5; bfloat16 as in the AVX512-BF16 manual.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from tang.errors import FormatError


@dataclass(frozen=True, slots=True)
class Format:
    """A binary format: p bits of precision (hidden one included), exponents emin…emax."""

    name: str
    p: int
    emin: int
    emax: int
    bits: int

    @property
    def unit_roundoff(self) -> Fraction:
        """Half the distance from 1 to the next number: 2⁻ᵖ."""
        return Fraction(1, 2**self.p)

    @property
    def quantum(self) -> Fraction:
        """The smallest positive subnormal: 2^(emin − p + 1)."""
        return Fraction(1, 2 ** (self.p - 1 - self.emin))

    @property
    def largest(self) -> Fraction:
        """The largest finite number: (2 − 2^(1−p)) · 2^emax."""
        return Fraction((2**self.p - 1) * 2**self.emax, 2 ** (self.p - 1))


FORMATS: Final = {
    f.name: f
    for f in (
        Format("f64", 53, -1022, 1023, 64),
        Format("f32", 24, -126, 127, 32),
        Format("f16", 11, -14, 15, 16),
        Format("bf16", 8, -126, 127, 16),
    )
}


def format_named(name: str) -> Format:
    """The format of that name; raises FormatError naming the known ones."""
    found = FORMATS.get(name)
    if found is None:
        raise FormatError(f"unknown format {name!r}: one of {', '.join(FORMATS)}")
    return found
