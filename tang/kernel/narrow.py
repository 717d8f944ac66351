"""Formats narrower than f32 whose numbers are held in f32 registers, and how to round to them.

Defines `Conversion`, whose name is an operation of the kernel IR: "round:e4m3fn:rne:saturate" over
an f32 or an f64 gives an f32 that the format holds. Relies on formats as data, those of users too.
It computes nothing: what rounding means is `emulator/narrow.py`, how kernels do it in integers
`kernel/expand/rounding.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, lru_cache
from typing import Final

from tang.errors import FormatError
from tang.ir.format import ALL_FORMATS, FORMATS, Format, custom_format

ROUNDINGS: Final = ("rne", "rz", "rna")
"""To nearest with ties to even, towards zero, to nearest with ties away from zero."""

USUAL: Final = "usual"
OVERFLOWS: Final = (USUAL, "inf", "nan", "saturate")
"""What becomes of numbers beyond the largest one: `usual` is infinity where the format has one,
else the largest number."""

TF32, FP22 = ALL_FORMATS["tf32"], ALL_FORMATS["fp22"]
E5M2, E4M3FN = ALL_FORMATS["e5m2"], ALL_FORMATS["e4m3fn"]
E3M2, E2M3, E2M1 = ALL_FORMATS["e3m2"], ALL_FORMATS["e2m3"], ALL_FORMATS["e2m1"]
NARROW: Final = {f.name: f for f in (TF32, FP22, E5M2, E4M3FN, E3M2, E2M3, E2M1)}
"""The formats that a schedule names by these objects; f64, f32, f16 and bf16 are kernel types."""

_MOST: Final = 22
"""Bits of precision: from f64, a rounding to odd in f32 comes first, which has 24."""


@cache
def refusal(format_: Format) -> str:
    """Why f32 registers cannot stand for a format; "" where they can."""
    if not (format_.signed and format_.zero):
        return "it has no sign or no zero"
    if format_.p < 2:
        return "it has no fraction"
    if format_.specials == "fnuz":
        return "it has no −0"
    if format_.p > _MOST or format_.emin < -126 or format_.emax > 127:
        return f"it is not narrower than f32 with at most {_MOST} bits of precision"
    if is_coded(format_) and format_.emin - format_.p + 1 < -126:
        return "it has codes, and its smallest numbers are subnormal in f32"
    return ""


def is_coded(format_: Format) -> bool:
    """Whether memory holds codes, one to a byte; else it holds the f32 numbers."""
    return format_.bits <= 8


def overflows(format_: Format) -> tuple[str, ...]:
    """What may become of numbers beyond the largest one, what is usual first."""
    if format_.has_infinity:
        return ("inf", "saturate", "nan")
    return ("saturate", "nan") if format_.has_nan else ("saturate",)


@lru_cache(maxsize=4096)
def holds(format_: Format, value: Fraction | str | int) -> bool:
    """Whether a literal is one of the format's numbers."""
    if isinstance(value, str):
        return format_.has_nan if value == "nan" else format_.has_infinity and "inf" in value
    exact = abs(Fraction(value))
    if exact == 0:
        return True
    exponent = exact.numerator.bit_length() - exact.denominator.bit_length()
    if Fraction(2) ** exponent > exact:
        exponent -= 1
    step = Fraction(2) ** (max(exponent, format_.emin) - format_.p + 1)
    return (exact / step).denominator == 1 and exact <= format_.largest


@dataclass(frozen=True, slots=True)
class Conversion:
    """Rounding to a format: how, and what becomes of what is too large.

    A number is rounded as if the exponent had no upper end; what is then beyond the largest number
    overflows, and so do infinities. Formats without NaN turn it into their largest number.
    Raises FormatError for a format, rounding or overflow that there is not.
    """

    format: Format
    rounding: str = "rne"
    overflow: str = USUAL

    def __post_init__(self) -> None:
        reason = refusal(self.format)
        if reason:
            raise FormatError(f"format {self.format.name!r} cannot be held in f32: {reason}")
        if self.rounding not in ROUNDINGS:
            raise FormatError(f"unknown rounding {self.rounding!r}: one of {', '.join(ROUNDINGS)}")
        possible = overflows(self.format)
        if self.overflow == USUAL:
            object.__setattr__(self, "overflow", possible[0])
        if self.overflow not in possible:
            known = ", ".join((USUAL, *possible))
            raise FormatError(
                f"{self.format.name} has no overflow {self.overflow!r}: one of {known}"
            )

    @property
    def saturating(self) -> Conversion:
        """The same with the largest number instead of what is beyond it, as identities round."""
        return replace(self, overflow="saturate")

    @property
    def op(self) -> str:
        """Its name as an operation of the kernel IR."""
        return f"round:{spelt(self.format)}:{self.rounding}:{self.overflow}"


@cache
def spelt(format_: Format) -> str:
    """A format in the name of an operation: its own name, and its parts where it is a user's."""
    if ALL_FORMATS.get(format_.name) == format_:
        return format_.name
    parts = (format_.name, format_.p, format_.emin, format_.largest, format_.specials)
    return "~".join(str(p) for p in parts)


def _read(text: str) -> Format | None:
    """The format that `spelt` wrote."""
    if text in ALL_FORMATS:
        return ALL_FORMATS[text]
    parts = text.rsplit("~", 4)
    if len(parts) != 5:
        return None
    name, p, emin, largest, specials = parts
    try:
        return custom_format(
            name, p=int(p), emin=int(emin), largest=Fraction(largest), specials=specials
        )
    except ValueError:
        return None


def conversion_named(op: str) -> Conversion | None:
    """The rounding that an operation is; None for every other operation."""
    return _rounding_named(op) if op.startswith("round:") else None


@lru_cache(maxsize=1024)
def _rounding_named(op: str) -> Conversion | None:
    parts = op.removeprefix("round:").rsplit(":", 2)
    try:
        format_ = _read(parts[0])
        found = None if format_ is None else Conversion(format_, *parts[1:])
    except (FormatError, TypeError):
        return None
    return found if found is not None and found.op == op else None


@lru_cache(maxsize=1024)
def coding_named(op: str) -> tuple[str, Format] | None:
    """("encode", format) or ("decode", format) for the names of codings; None for others."""
    kind, _, name = op.partition(":")
    if kind not in ("encode", "decode"):
        return None
    try:
        format_ = _read(name)
    except FormatError:
        return None
    return (kind, format_) if format_ is not None and is_coded(format_) else None


def scheduled_format(name: str) -> Format:
    """The format of that name that schedules can name; raises FormatError with the known ones."""
    found = NARROW.get(name)
    if found is None:
        raise FormatError(f"unknown format {name!r}: one of {', '.join((*FORMATS, *NARROW))}")
    return found
