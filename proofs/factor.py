"""One factor of a monoid as exact terms: its entries, and the same with an identity put in.

Defines `Entry`, `Factor` and `factors_of`. Relies on `terms` to read expressions. An identity may
hold infinities, which no finite state does; what a combine makes of them is read, not proved.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from tang.ir.expr import BOOL, INDEX, REAL, Expr, walk
from tang.ir.monoid import Monoid
from tang.proofs.terms import (
    NotANumberError,
    Reader,
    Term,
    TooLargeError,
    UnsupportedError,
    is_finite,
    number,
)

SIDES: Final = "str"
"""Prefixes of the variables of three states."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One scalar of a state.

    key       its name without a side: component and coordinates
    label     the component's name with coordinates, for messages
    combine   its combine over `s…` and `t…`
    identity  what the identity holds there, or None
    expr      the combine as the compiler holds it
    lift      the lift, likewise
    dims      its coordinates
    """

    key: str
    label: str
    component: int
    boolean: bool
    combine: Term
    identity: Term | None
    expr: Expr
    lift: Expr
    dims: Mapping[str, Term]

    def variable(self, side: str) -> Term:
        """The entry of a state."""
        return Term("bvar" if self.boolean else "var", name=f"{side}{self.key}")


@dataclass(frozen=True, slots=True)
class Factor:
    """Entries whose combines read each other, and which of their variables are positions."""

    monoid: Monoid
    entries: tuple[Entry, ...]
    positions: frozenset[str]

    def with_identity(self, sides: str, *, natural: bool = True) -> Iterator[Term]:
        """Every entry's combine where these sides are the identity; the other is finite.

        Positions are read as not negative if `natural`.
        """
        known = {f"{s}{e.key}": e.identity for s in sides for e in self.entries}

        def leaf(e: Expr, at: tuple[int, ...]) -> Term:
            t = leaf_of(e, at)
            return known.get(t.name) or t

        for e in self.entries:
            yield Reader(leaf, e.dims, natural=self.positions if natural else frozenset())(e.expr)

    def lifted(self, e: Entry) -> Term | None:
        """The lift of an entry over u0, u1 …; None if the algebra has no word for it.

        NotANumberError where it may be NaN.
        """
        try:
            return Reader(_input, e.dims)(e.lift)
        except NotANumberError:
            raise
        except UnsupportedError:
            return None

    def is_adjoined(self) -> bool:
        """Whether the identity is a state beside the finite ones."""
        return any(e.identity is not None and not is_finite(e.identity) for e in self.entries)


def name_of(side: str, component: int, at: tuple[int, ...]) -> str:
    return "_".join([f"{side}{component}", *map(str, at)])


def leaf_of(e: Expr, at: tuple[int, ...]) -> Term:
    """The variable of an entry of a state."""
    side, i = e.payload if isinstance(e.payload, tuple) else (0, 0)
    op = "bvar" if e.sort is BOOL else "var"
    return Term(op, name=name_of(SIDES[int(side)], int(i), at))


def _input(e: Expr, _: tuple[int, ...]) -> Term:
    return Term("bvar" if e.sort is BOOL else "var", name=f"u{e.payload}")


def factors_of(m: Monoid, names: Mapping[str, str]) -> list[Factor]:
    """The factors of a product; a monoid that is none is its own. `names` are for messages."""
    _check_size(m)
    entries = _entries(m, names)
    found = []
    for group in _groups(entries):
        chosen = tuple(entries[i] for i in group)
        found.append(Factor(m, chosen, _positions(m, chosen)))
    return found


LARGEST: Final = 20_000
"""So many operations the entries of a monoid have at most, folds written out."""


def _check_size(m: Monoid) -> None:
    """Raise TooLargeError for expressions that would not end when they are written out."""
    parts = (m.lift, m.combine, *(() if m.identity is None else (m.identity,)))
    for part in parts:
        for c, e in zip(m.components, part, strict=True):
            count = _operations(e) * math.prod(m.axis_size(a) for a in c.axes)
            if count > LARGEST:
                raise TooLargeError(f"{c.name} has more than {LARGEST} operations")


def _operations(root: Expr) -> int:
    """The operations of an expression as a tree, each fold once for each of its steps."""
    known: dict[Expr, int] = {}
    for e in walk(root):
        times = int(e.payload[1]) if e.op == "fold" and isinstance(e.payload, tuple) else 1
        known[e] = 1 + times * sum(known[a] for a in e.args)
    return known[root]


def _entries(m: Monoid, names: Mapping[str, str]) -> list[Entry]:
    """Every scalar of the state."""
    sizes = {a.name: a.size for a in m.axes}
    found = []
    for i, (c, e) in enumerate(zip(m.components, m.combine, strict=True)):
        for at in itertools.product(*(range(sizes[a]) for a in c.axes)):
            dims = {a: number(Fraction(n)) for a, n in zip(c.axes, at, strict=True)}
            identity = None if m.identity is None else Reader(leaf_of, dims)(m.identity[i])
            label = names[c.name] + (f"[{', '.join(map(str, at))}]" if at else "")
            combine = Reader(_inside(m, label), dims)(e)
            if not is_finite(combine):
                raise UnsupportedError("an infinity that two finite states give")
            found.append(Entry(name_of("", i, at), label, i, c.sort is BOOL, combine, identity, e,
                               m.lift[i], dims))  # fmt: skip
    return found


def _inside(m: Monoid, label: str) -> Callable[[Expr, tuple[int, ...]], Term]:
    """`leaf_of` within axes; what is read outside is refused, also where it is multiplied by 0."""
    sizes = [tuple(m.axis_size(a) for a in c.axes) for c in m.components]

    def leaf(e: Expr, at: tuple[int, ...]) -> Term:
        _, i = e.payload if isinstance(e.payload, tuple) else (0, 0)
        if any(not 0 <= x < n for x, n in zip(at, sizes[int(i)], strict=True)):
            raise UnsupportedError(f"a coordinate outside its axis in {label}")
        return leaf_of(e, at)

    return leaf


def variables(t: Term) -> Iterator[str]:
    """The names that occur in a term."""
    if t.op in ("var", "bvar"):
        yield t.name
    for a in t.args:
        yield from variables(a)


def _groups(entries: Sequence[Entry]) -> list[list[int]]:
    """Entries whose combines read each other: the factors of a product."""
    place = {e.key: i for i, e in enumerate(entries)}
    group = list(range(len(entries)))

    def root(i: int) -> int:
        while group[i] != i:
            i = group[i]
        return i

    for i, e in enumerate(entries):
        for name in variables(e.combine):
            group[root(place[name[1:]])] = root(i)
    found: dict[int, list[int]] = {}
    for i in range(len(entries)):
        found.setdefault(root(i), []).append(i)
    return list(found.values())


def _positions(m: Monoid, entries: Sequence[Entry]) -> frozenset[str]:
    """Variables of indices beside a real: positions, which are never negative."""
    sorts = {e.key: m.components[e.component].sort for e in entries}
    if REAL not in sorts.values():
        return frozenset()
    return frozenset(f"{side}{k}" for k, sort in sorts.items() if sort is INDEX for side in SIDES)
