"""What users give to the proofs, read strictly: a wrong argument is named, with what to give.

Defines `check_kind`, `sequence_of`, `rationals`, `too_large` and `folder_of`. Relies on nothing.
It judges types and sizes of single numbers; what they mean is judged where they are used.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Final

from tang.errors import ProofError

LARGEST: Final = 10**4000
"""Numerators and denominators, brought to whole numbers, are below this."""

TOO_LARGE: Final = "a number of more than 4000 digits is too large for a certificate"

LONGEST: Final = 200
"""So much of a value is shown in a message."""


def _shown(value: object) -> str:
    """The value for a message; Python writes no integer of more than 4300 digits."""
    try:
        text = repr(value)
    except ValueError:
        return f"a value of type {type(value).__name__}"
    return text if len(text) < LONGEST else f"{text[:LONGEST]}…"


def too_large(q: Fraction | int) -> bool:
    """Whether a rational has too many digits to be written."""
    return max(abs(q.numerator), q.denominator) >= LARGEST


def check_kind(value: object, kind: type, where: str, cure: str) -> None:
    """ProofError unless the value is of this kind."""
    if not isinstance(value, kind):
        raise ProofError(f"{where} takes a {kind.__name__}, not {_shown(value)}: {cure}")


def sequence_of(values: object, where: str, what: str) -> Sequence[object]:
    """A list or tuple."""
    if not isinstance(values, list | tuple):
        raise ProofError(f"{where} is {_shown(values)}: give a tuple of {what}")
    return values


def rationals(values: object, where: str) -> tuple[Fraction, ...]:
    """The values of a list or tuple of exact rationals that can be written, or ProofError."""
    found: list[Fraction] = []
    for i, v in enumerate(sequence_of(values, where, "Fraction, one after the other")):
        if not isinstance(v, Fraction | int):
            raise ProofError(f"{where}[{i}] is {_shown(v)}, no exact rational: write a Fraction")
        if too_large(v):
            raise ProofError(f"{where}[{i}]: {TOO_LARGE}")
        found.append(Fraction(v))
    return tuple(found)


def folder_of(value: object, where: str) -> Path:
    """A folder's path, given as a `Path` or as text."""
    if not isinstance(value, str | os.PathLike):
        raise ProofError(f"{where} takes a folder, not {_shown(value)}: give a pathlib.Path")
    return Path(value)
