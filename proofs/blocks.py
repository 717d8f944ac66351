"""Entries of a state that are one polynomial with shifted variables, such as those of a matrix.

Defines `Block`, `shape` and `blocks`. Relies on nothing but terms with numbered variables. What it
finds is a hint that Lean checks: nothing follows from it here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tang.proofs.terms import Term


@dataclass(frozen=True, slots=True)
class Block:
    """Entry `start`, shifted by every number in `lefts` and in `rights`, in this order.

    A shift of the left adds to the numbers of the left state's variables, one of the right to those
    of the right state's.
    """

    start: int
    lefts: tuple[int, ...]
    rights: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many entries it has."""
        return len(self.lefts) * len(self.rights)


@dataclass(frozen=True, slots=True)
class Shape:
    """An entry: its operations in order, and the numbers of its variables on either side."""

    operations: tuple[str, ...]
    lefts: tuple[int, ...]
    rights: tuple[int, ...]

    def shifts(self, other: Shape) -> tuple[int, int] | None:
        """How much more the variables of another have on either side, if they are so shifted."""
        a, b = (_difference(x, y) for x, y in ((self.lefts, other.lefts),
                                               (self.rights, other.rights)))  # fmt: skip
        return (a, b) if self.is_shifted(other, a, b) else None

    def is_shifted(self, other: Shape, a: int, b: int) -> bool:
        """Whether another is this one with `a` and `b` more for its variables; both natural."""
        return (
            min(a, b) >= 0
            and self.operations == other.operations
            and tuple(x + a for x in self.lefts) == other.lefts
            and tuple(x + b for x in self.rights) == other.rights
        )


def _difference(first: Sequence[int], second: Sequence[int]) -> int:
    return second[0] - first[0] if first and second else 0


def shape(t: Term, places: Mapping[str, int]) -> Shape:
    """The shape of a term over `s…` and `t…`, whose names without the side have these places."""
    operations: list[str] = []
    sides: dict[str, list[int]] = {"s": [], "t": []}
    waiting = [t]
    while waiting:
        t = waiting.pop()
        side = t.name[:1]
        operations.append(side or t.op)
        if side:
            sides[side].append(places[t.name[1:]])
        waiting += t.args
    return Shape(tuple(operations), tuple(sides["s"]), tuple(sides["t"]))


def blocks(shapes: Sequence[Shape]) -> list[Block]:
    """The entries cut into blocks, each as long as its shifts and those of what it reads allow."""
    found: list[Block] = []
    start = 0
    while start < len(shapes):
        rights = _rights(shapes, start)
        lefts = _lefts(shapes, start, rights)
        found.append(Block(start, lefts, rights))
        start += found[-1].size
    return found


def _rights(shapes: Sequence[Shape], start: int) -> tuple[int, ...]:
    """The shifts of the first row of a block."""
    first, rights = shapes[start], [0]
    for other in shapes[start + 1 :]:
        match first.shifts(other):
            case (0, b) if _reads(shapes, first.rights, 0, b):
                rights.append(b)
            case _:
                break
    return tuple(rights)


def _lefts(shapes: Sequence[Shape], start: int, rights: Sequence[int]) -> tuple[int, ...]:
    """The shifts of the rows of a block."""
    first, lefts = shapes[start], [0]
    for at in range(start + len(rights), len(shapes) - len(rights) + 1, len(rights)):
        shift = first.shifts(shapes[at])
        row = zip(shapes[at:], rights, strict=False)
        if shift is None or not _reads(shapes, first.lefts, a := shift[0], 0):
            break
        if not all(first.is_shifted(e, a, b) for e, b in row):
            break
        lefts.append(a)
    return tuple(lefts)


def _reads(shapes: Sequence[Shape], numbers: Sequence[int], a: int, b: int) -> bool:
    """Whether the entries that come `a` or `b` after those read are these, shifted likewise."""
    return all(
        i + a + b < len(shapes) and shapes[i].is_shifted(shapes[i + a + b], a, b) for i in numbers
    )
