"""What callers give, checked by kind: a word of a few, or a flag; and how errors print it.

Defines `one_of`, `flag`, `shown` and `apart`. Relies on nothing but the errors. It knows no
argument: each call says what the value is called, and which error a wrong one is.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import numpy as np

from tang.errors import TangError

_ALL_DIGITS: Final = 17
"""They tell any two f64 numbers apart."""


def shown(value: object) -> str:
    """At most 60 characters of a value, for an error, however long its number is."""
    try:
        return repr(value)[:60]
    except ValueError:  # of a number of over 4,300 digits there is no text
        return f"a number too long to print ({type(value).__name__})"


def apart(*numbers: float, digits: int = 3) -> tuple[str, ...]:
    """Numbers as text, in so many digits or in as few more as tell those that differ apart."""
    kinds = {x for x in numbers if x == x}
    for count in range(digits, _ALL_DIGITS):
        if len({f"{x:.{count}g}" for x in kinds}) == len(kinds):
            return tuple(f"{x:.{count}g}" for x in numbers)
    return tuple(f"{x:.{_ALL_DIGITS}g}" for x in numbers)


def one_of(value: object, known: Collection[str], what: str, error: type[TangError]) -> str:
    """The value, when it is one of these words."""
    if isinstance(value, str) and value in known:
        return value
    raise error(f"{what} is one of {', '.join(known)}, not {shown(value)}")


def flag(value: object, what: str, error: type[TangError]) -> bool:
    """The value, when it is true or false."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise error(f"{what} is True or False, not {shown(value)}")
