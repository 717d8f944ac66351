"""Entries of a state that are one polynomial with shifted variables, such as those of a matrix.

Defines `Block`, `shape`, `blocks`, `digits` and `products`. Relies on nothing but terms with
numbered variables. What it finds is a hint: `spread` writes the entries of blocks out again, which
must be the exported ones, and Lean checks all else.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tang.proofs.terms import Term


@dataclass(frozen=True, slots=True)
class Block:
    """Entries from `start` on, row by row, all of them the first with shifted variables.

    A row further down adds `columns` to the numbers of the left state's variables, a column
    further right adds one to those of the right state's.
    """

    start: int
    rows: int
    columns: int

    @property
    def size(self) -> int:
        """How many entries it has."""
        return self.rows * self.columns

    def place(self, i: int) -> tuple[int, int]:
        """Row and column of an entry."""
        return divmod(i - self.start, self.columns)


@dataclass(frozen=True, slots=True)
class Shape:
    """An entry: its operations in order, and the numbers of its variables on either side."""

    operations: tuple[str, ...]
    lefts: tuple[int, ...]
    rights: tuple[int, ...]

    def is_shifted(self, other: Shape, a: int, b: int) -> bool:
        """Whether another is this one with `a` and `b` more for its variables."""
        return (
            self.operations == other.operations
            and all(x + a == y for x, y in zip(self.lefts, other.lefts, strict=True))
            and all(x + b == y for x, y in zip(self.rights, other.rights, strict=True))
        )


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
        found.append(_longest(shapes, start))
        start += found[-1].size
    while True:
        cut = [part for b in found for part in _parts(shapes, found, b)]
        if cut == found:
            return found
        found = cut


def _longest(shapes: Sequence[Shape], start: int) -> Block:
    """The block of as many columns, then as many rows, as are shifted."""
    first, rest = shapes[start], len(shapes) - start
    columns = rows = 1
    while columns < rest and first.is_shifted(shapes[start + columns], 0, columns):
        columns += 1
    while (rows + 1) * columns <= rest:
        at = rows * columns
        row = enumerate(shapes[start + at : start + at + columns])
        if not all(first.is_shifted(e, at, b) for b, e in row):
            break
        rows += 1
    return Block(start, rows, columns)


def _parts(shapes: Sequence[Shape], found: Sequence[Block], b: Block) -> Iterator[Block]:
    """The block, or its rows, or its entries: what it reads must go as far down and right."""
    first = shapes[b.start]
    down = [(h, h.place(i)[0]) for i in first.lefts for h in _holding(found, i)]
    right = [(h, h.place(i)[1]) for i in first.rights for h in _holding(found, i)]
    if b.columns > 1 and any(q + b.columns > h.columns for h, q in right):
        yield from (Block(b.start + i, 1, 1) for i in range(b.size))
    elif b.rows > 1 and any(h.columns != b.columns or p + b.rows > h.rows for h, p in down):
        yield from (Block(b.start + i * b.columns, 1, b.columns) for i in range(b.rows))
    else:
        yield b


def _holding(found: Sequence[Block], i: int) -> Iterator[Block]:
    return (h for h in found if h.start <= i < h.start + h.size)


LARGEST: Final = 1 << 23
"""So many bits the numbers have at most that polynomials are written as."""


@dataclass(frozen=True, slots=True)
class Digits:
    """How polynomials over three states are written as numbers; 0 where these would be too long.

    base    more than all products of variables
    second  more than the variables of the second state, numbered from 1
    first   the same for the first state, numbered from the lowest that a block reads
    lows    this lowest one, per block
    """

    base: int
    second: int
    first: int
    lows: tuple[int, ...]


def digits(terms: Mapping[str, Term], shapes: Sequence[Shape], found: Sequence[Block]) -> Digits:
    """Room for both sides of associativity of the first entries; `terms` has the entries' keys."""
    counts = {k: products(t, {}) for k, t in terms.items()}
    sides = [{f"{side}{k}": n for k, n in counts.items()} for side in "st"]
    entries = [*terms.values()]
    base = 1 + max(products(entries[b.start], side) for b in found for side in sides)
    read = [_read(shapes, shapes[b.start]) for b in found]
    lows = tuple(min(states[0], default=0) for states in read)
    first = max(max(r[0], default=0) - low for r, low in zip(read, lows, strict=True)) + 2
    second, third = (max((i for r in read for i in r[n]), default=0) + 2 for n in (1, 2))
    if first * second * third * base.bit_length() > LARGEST:
        return Digits(0, 0, 0, lows)
    return Digits(base, second, first, lows)


def _read(shapes: Sequence[Shape], e: Shape) -> tuple[list[int], list[int], list[int]]:
    """Numbers of the variables of three states that an entry reads of combined ones."""
    left, right = ([shapes[i] for i in side] for side in (e.lefts, e.rights))
    first = [*e.lefts, *(i for x in left for i in x.lefts)]
    second = [
        i for x, side in ((left, 1), (right, 0)) for s in x for i in (s.lefts, s.rights)[side]
    ]
    return first, second, [*e.rights, *(i for x in right for i in x.rights)]


def products(t: Term, sizes: Mapping[str, int]) -> int:
    """How many products a term has, multiplied out; some variables have so many."""
    if t.op == "var":
        return sizes.get(t.name, 1)
    parts = [products(a, sizes) for a in t.args]
    return math.prod(parts) if t.op == "mul" else sum(parts) if parts else int(t.op == "one")
