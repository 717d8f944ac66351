"""Hostile JSON text to plain Python values, in bounded time and memory.

Defines `parse` and `Cursor`, a value with the place where it stands, whose readers raise
GraphError naming that place, and `first_repeated`. Relies on the standard JSON parser behind limits
on size and depth. It does not know what a graph is; `decode` does.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NoReturn, TypeVar, cast

import numpy as np

from tang.errors import GraphError

MAX_BYTES: Final = 8 * 2**20
MAX_DEPTH: Final = 64
MAX_DIGITS: Final = 20
"""Digits of a JSON integer: those of 2^63 and a sign."""
MAX_STRING: Final = 16_384
"""Characters of a JSON string: names are shorter, exact fractions may be long."""

_STRING: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
T = TypeVar("T")
_KINDS: Final = {
    dict: "an object",
    list: "a list",
    str: "a string",
    bool: "a bool",
    int: "an integer",
    type(None): "null",
}


@dataclass(frozen=True, slots=True)
class _Bad:
    """A value that is JSON, or nearly, but nothing that a graph may hold."""

    reason: str


@dataclass(frozen=True, slots=True)
class Cursor:
    """A value of the document and its place, such as nodes[3].reads[0].view.coords[1]."""

    value: object
    place: str

    def fail(self, message: str) -> NoReturn:
        raise GraphError(f"{self.place or 'document'}: {message}")

    def fields(self, *names: str) -> dict[str, Cursor]:
        """The fields of an object that has exactly these."""
        value = self._expect(dict)
        unknown = sorted(value.keys() - set(names))
        if unknown:
            self.fail(f"unknown field {_short(unknown[0])}: the fields are {', '.join(names)}")
        for name in names:
            if name not in value:
                self.fail(f"the field {name!r} is missing")
        stem = f"{self.place}." if self.place else ""
        return {name: Cursor(value[name], stem + name) for name in names}

    def items(self, limit: int) -> Iterator[Cursor]:
        """The elements of a list of at most `limit`."""
        value = self._expect(list)
        if len(value) > limit:
            self.fail(f"{len(value)} elements: at most {limit} are allowed")
        return (Cursor(v, f"{self.place}[{n}]") for n, v in enumerate(value))

    def pair(self) -> tuple[Cursor, Cursor]:
        """The two elements of a list of two."""
        found = list(self.items(2))
        if len(found) != 2:
            self.fail(f"expected a list of two elements, not {len(found)}")
        return found[0], found[1]

    def integer(self, lo: int, hi: int) -> int:
        """An integer with lo ≤ value ≤ hi."""
        value = self._expect(int)
        if not lo <= value <= hi:
            self.fail(f"{value} is not between {lo} and {hi}")
        return value

    def string(self) -> str:
        """A string of bounded length without lone surrogates."""
        value = self._expect(str)
        if len(value) > MAX_STRING:
            self.fail(f"a string of {len(value)} characters: at most {MAX_STRING} are allowed")
        if any("\ud800" <= c <= "\udfff" for c in value):
            self.fail("a string with a lone surrogate, which is no text")
        return value

    def boolean(self) -> bool:
        return self._expect(bool)

    @property
    def is_null(self) -> bool:
        return self.value is None

    @property
    def is_integer(self) -> bool:
        return isinstance(self.value, int) and not isinstance(self.value, bool)

    def _expect(self, kind: type[T]) -> T:
        if isinstance(self.value, _Bad):
            self.fail(self.value.reason)
        exact = isinstance(self.value, kind) and (kind is bool or type(self.value) is not bool)
        if not exact:
            self.fail(f"expected {_KINDS[kind]}, not {_KINDS[type(self.value)]}")
        return cast(T, self.value)


def parse(text: str | bytes) -> Cursor:
    """The document as a cursor at its root; raises GraphError for what is no JSON.

    Duplicate keys, floats, NaN, Infinity and long integers become values that no reader accepts,
    so the error names their place.
    """
    data = _encoded(text)
    if len(data) > MAX_BYTES:
        raise GraphError(f"document: {len(data)} bytes, at most {MAX_BYTES} are read")
    _check_depth(data)
    try:
        value = json.loads(
            data.decode("utf-8", "surrogatepass"),
            object_pairs_hook=_object,
            parse_int=_integer,
            parse_float=_float,
            parse_constant=_float,
        )
    except json.JSONDecodeError as e:
        raise GraphError(f"document: not JSON: {e.msg} at line {e.lineno}, column {e.colno}") from e
    return Cursor(value, "")


def _encoded(text: str | bytes) -> bytes:
    if isinstance(text, str):
        if len(text) > MAX_BYTES:
            raise GraphError(f"document: {len(text)} characters, at most {MAX_BYTES} are read")
        return text.encode("utf-8", "surrogatepass")
    if not isinstance(text, bytes):
        raise GraphError(f"a document is str or bytes, not {type(text).__name__}")
    if len(text) > MAX_BYTES:
        raise GraphError(f"document: {len(text)} bytes, at most {MAX_BYTES} are read")
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as e:
        raise GraphError(f"document: not UTF-8 at byte {e.start}") from e
    return text


def _check_depth(data: bytes) -> None:
    bare = np.frombuffer(_STRING.sub(b"", data), dtype=np.uint8)
    opened = (bare == ord("[")) | (bare == ord("{"))
    closed = (bare == ord("]")) | (bare == ord("}"))
    depth = np.cumsum(opened.astype(np.int32) - closed.astype(np.int32), dtype=np.int32)
    if depth.size and int(depth.max()) > MAX_DEPTH:
        raise GraphError(f"document: nested over {MAX_DEPTH} deep; a graph is flat")


def _object(pairs: list[tuple[str, object]]) -> object:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    return _Bad(f"the key {_short(first_repeated(pairs))} occurs twice")


def first_repeated(pairs: Sequence[tuple[str, object]]) -> str:
    """The first name that stands twice in an object with such a one, in linear time."""
    counts = Counter(name for name, _ in pairs)
    return next(name for name, n in counts.items() if n > 1)


def _integer(digits: str) -> object:
    if len(digits) > MAX_DIGITS:
        return _Bad(f"an integer of {len(digits)} digits: at most {MAX_DIGITS} are allowed")
    return int(digits)


def _float(text: str) -> object:
    return _Bad(f'{text[:32]} is no integer: reals are strings, such as "0x1.8p+1" or "nan"')


def _short(key: str) -> str:
    return repr(key if len(key) <= 32 else key[:32] + "…")
