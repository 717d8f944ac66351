"""Names in emitted text: one injective mangling that is legal in all six languages.

Defines `mangle` and the kinds of names. Relies on one promise of the dialects: no word of theirs
(keyword, builtin, helper) ends as a mangled name does. It does not know scopes: two things of one
kind and one name get one identifier.
"""

from __future__ import annotations

import enum
import functools
from typing import Final


class Kind(enum.Enum):
    """What a name stands for; the value ends its identifiers, so kinds never collide."""

    VALUE = "_"
    MEMORY = "_b"
    FUNCTION = "_f"
    KERNEL = "_k"


ESCAPE: Final = "Z"
"""Starts an escape: ZZ is Z, Zu an underscore, Z<hex>z a code point, Zn the empty name."""

_PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXY0123456789")


@functools.lru_cache(maxsize=4096)
def mangle(name: str, kind: Kind = Kind.VALUE, copy: int = 1) -> str:
    """An identifier for a name: `row_max` → `row_max_`; distinct arguments, distinct identifiers.

    Made of ASCII letters, digits and single underscores, starting with a letter other than in
    `gl_`. `copy` tells apart things of one name in one translation unit.
    """
    number = "" if copy == 1 else str(copy)
    return _escaped(name) + kind.value + number


def _escaped(name: str) -> str:
    if not name:
        return ESCAPE + "n"
    reserved = name.startswith("gl_")
    return "".join(
        _code(c) if reserved and i == 0 else _character(name, i) for i, c in enumerate(name)
    )


def _character(name: str, i: int) -> str:
    c = name[i]
    if c == "_":
        inner = 0 < i < len(name) - 1 and name[i - 1] != "_"
        return "_" if inner else ESCAPE + "u"
    if c == ESCAPE:
        return ESCAPE * 2
    if c not in _PLAIN or (i == 0 and c.isdigit()):
        return _code(c)
    return c


def _code(c: str) -> str:
    return f"{ESCAPE}{ord(c):x}z"
