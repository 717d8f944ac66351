"""Extents: integer polynomials in symbolic sizes, the coefficients of every view.

Defines `Poly`, immutable and canonical, so equality of extents is equality of objects. Relies on
nothing. It does not order symbolic extents: `<` needs a binding (see `evaluate`) or facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Final

from tang.errors import GraphError

Monomial = tuple[str, ...]  # sorted symbol names, repeated for powers; () is the constant


@dataclass(frozen=True, slots=True)
class Poly:
    """Σ coefficient · product of symbols; terms sorted by monomial, no zero coefficient."""

    terms: tuple[tuple[Monomial, int], ...] = ()

    def __add__(self, other: PolyLike) -> Poly:
        terms = poly(other).terms
        if not terms or not self.terms:
            return Poly(terms or self.terms)
        return _collect([*self.terms, *terms])

    __radd__ = __add__

    def __neg__(self) -> Poly:
        return Poly(tuple((m, -c) for m, c in self.terms))

    def __sub__(self, other: PolyLike) -> Poly:
        return self + -poly(other)

    def __rsub__(self, other: PolyLike) -> Poly:
        return poly(other) - self

    def __mul__(self, other: PolyLike) -> Poly:
        terms = poly(other).terms
        if not terms or not self.terms:
            return ZERO
        if terms == _UNIT:
            return self
        pairs = [(a, b) for a in self.terms for b in terms]
        return _collect((tuple(sorted(m + n)), c * d) for (m, c), (n, d) in pairs)

    __rmul__ = __mul__

    @property
    def is_constant(self) -> bool:
        return all(m == () for m, _ in self.terms)

    @property
    def constant(self) -> int:
        """The value of a constant polynomial; raises GraphError when symbols are left."""
        if not self.is_constant:
            raise GraphError(f"extent {self} is symbolic; bind {sorted(self.symbols)} first")
        return self.terms[0][1] if self.terms else 0

    @property
    def symbols(self) -> frozenset[str]:
        return frozenset(s for m, _ in self.terms for s in m)

    def evaluate(self, sizes: Mapping[str, int]) -> int:
        """The value under a full binding of the symbols; raises GraphError when one is missing."""
        missing = sorted(self.symbols - sizes.keys())
        if missing:
            raise GraphError(f"extent {self} needs a size for {', '.join(missing)}")
        return sum(c * prod(sizes[s] for s in m) for m, c in self.terms)

    def bind(self, sizes: Mapping[str, int]) -> Poly:
        """Replace the symbols found in `sizes`; the others stay."""
        if self.is_constant:
            return self
        parts = (_bound_term(m, c, sizes) for m, c in self.terms)
        return _collect(parts)

    def __str__(self) -> str:
        if not self.terms:
            return "0"
        parts = ["*".join([*([str(c)] if c != 1 or not m else []), *m]) for m, c in self.terms]
        return "+".join(parts).replace("+-", "-").replace("-1*", "-")

    __repr__ = __str__


ZERO: Final = Poly()
_UNIT: Final = (((), 1),)
PolyLike = Poly | int | str


def poly(value: PolyLike) -> Poly:
    """An extent from an int, a symbol's name or a polynomial; raises GraphError otherwise."""
    if isinstance(value, Poly):
        return value
    if isinstance(value, str):
        return symbol(value)
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise GraphError(f"an extent is an int, a symbol name or a polynomial, not {value!r}")
    number = value.__index__()
    return Poly((((), number),)) if number else Poly()


def symbol(name: str) -> Poly:
    """The polynomial consisting of one symbolic extent."""
    if not name.isidentifier():
        raise GraphError(f"{name!r} cannot name an extent: use a Python identifier")
    return Poly((((name,), 1),))


def _bound_term(m: Monomial, c: int, sizes: Mapping[str, int]) -> tuple[Monomial, int]:
    factor = prod(sizes[s] for s in m if s in sizes)
    return tuple(s for s in m if s not in sizes), c * factor


def _collect(terms: Iterable[tuple[Monomial, int]]) -> Poly:
    total: dict[Monomial, int] = {}
    for m, c in terms:
        total[m] = total.get(m, 0) + c
    return Poly(tuple(sorted((m, c) for m, c in total.items() if c)))
