"""Unique names within one kernel or one plan.

Defines `Names`, which hands out a preferred name or the same with a number. Relies on nothing.
It does not make names legal in any language: mangling is the emitters' work.
"""

from __future__ import annotations

from collections.abc import Iterable


class Names:
    """Names given out so far; a taken one gets the first free numeric suffix."""

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        self._taken = set(reserved)

    def fresh(self, preferred: str) -> str:
        """A name that nobody has, as close to the preferred one as possible."""
        name, number = preferred, 1
        while name in self._taken:
            name = f"{preferred}_{number}"
            number += 1
        self._taken.add(name)
        return name
