"""Kernel diff: which kernel texts two states of a project differ in.

Defines `kernel_diff` and `KernelDiff`. Relies on the texts alone, by name. It does not say whether
a change is right: the verifier does.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

LINES: Final = 40
"""Lines of one unified diff that are shown."""

SHOWN: Final = 10
"""Diffs that are shown."""


@dataclass(frozen=True, slots=True)
class KernelDiff:
    """Names of kernels by what happened to them, in order of name; `total` counts them all."""

    changed: tuple[str, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    total: int
    old: Mapping[str, str] = field(repr=False)
    new: Mapping[str, str] = field(repr=False)

    def __bool__(self) -> bool:
        return bool(self.names)

    @property
    def names(self) -> tuple[str, ...]:
        """Every kernel that differs."""
        return tuple(sorted((*self.changed, *self.added, *self.removed)))

    def summary(self) -> str:
        """`3 of 412 kernels changed`, with what was added and removed."""
        text = f"{len(self.names)} of {self.total} kernels changed"
        extra = [f"{len(n)} {w}" for n, w in ((self.added, "added"), (self.removed, "removed"))
                 if n]  # fmt: skip
        return f"{text} ({', '.join(extra)})" if extra else text

    def to_text(self, shown: int = SHOWN, lines: int = LINES) -> str:
        """The summary, the names, and the first diffs of changed kernels."""
        words = {**dict.fromkeys(self.added, "added"), **dict.fromkeys(self.removed, "removed")}
        parts = [self.summary()]
        parts += [f"  {words.get(name, 'changed'):8} {name}" for name in self.names]
        parts += [self._diff(name, lines) for name in self.changed[:shown]]
        if len(self.changed) > shown:
            parts.append(f"… {len(self.changed) - shown} more diffs not shown")
        return "\n".join(parts)

    def _diff(self, name: str, lines: int) -> str:
        old, new = self.old[name].splitlines(), self.new[name].splitlines()
        found = list(difflib.unified_diff(old, new, f"a/{name}", f"b/{name}", lineterm="", n=2))
        left = len(found) - lines
        return "\n".join(found[:lines] + ([f"… {left} more lines"] if left > 0 else []))


def kernel_diff(old: Mapping[str, str], new: Mapping[str, str]) -> KernelDiff:
    """Compare texts by name: changed where both have it, else added or removed."""
    both = sorted(old.keys() & new.keys())
    return KernelDiff(
        changed=tuple(n for n in both if old[n] != new[n]),
        added=tuple(sorted(new.keys() - old.keys())),
        removed=tuple(sorted(old.keys() - new.keys())),
        total=len(old.keys() | new.keys()),
        old=dict(old),
        new=dict(new),
    )
