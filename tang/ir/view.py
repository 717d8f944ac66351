"""Views: how a comprehension reads a tensor.

A view maps the dims of a comprehension to source coordinates, each affine with polynomial
coefficients; a guard with a fill says what is read outside, a gather takes values from an index
tensor. Relies on extents and expressions; it does not know which tensor or shape it reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from tang.errors import GraphError
from tang.ir.expr import Expr, is_constant
from tang.ir.extent import ZERO, Poly, PolyLike, poly

GATHERED = "@"
"""Prefix of the variables that stand for gathered indices: "@0" is the value of `gathers[0]`."""


@dataclass(frozen=True, slots=True)
class Affine:
    """Σ coefficient · variable + const; variables are dims, static axes or gathered values."""

    terms: tuple[tuple[str, Poly], ...] = ()
    const: Poly = ZERO

    def __add__(self, other: Affine | PolyLike) -> Affine:
        right = other if isinstance(other, Affine) else Affine((), poly(other))
        return _collect([*self.terms, *right.terms], self.const + right.const)

    def __neg__(self) -> Affine:
        return self.scale(-1)

    def __sub__(self, other: Affine | PolyLike) -> Affine:
        return self + (-other if isinstance(other, Affine) else -poly(other))

    def scale(self, factor: PolyLike) -> Affine:
        """The form times an extent."""
        by = poly(factor)
        return _collect([(v, c * by) for v, c in self.terms], self.const * by)

    @property
    def variables(self) -> frozenset[str]:
        return frozenset(v for v, _ in self.terms)

    def coefficient(self, variable: str) -> Poly:
        return next((c for v, c in self.terms if v == variable), Poly())

    def substitute(self, forms: Mapping[str, Affine]) -> Affine:
        """Replace variables by forms, all at once."""
        if not any(v in forms for v, _ in self.terms):
            return self
        terms: list[tuple[str, Poly]] = []
        const = self.const
        for v, c in self.terms:
            form = forms.get(v)
            if form is None:
                terms.append((v, c))
            else:
                terms += [(w, d * c) for w, d in form.terms]
                const = const + form.const * c
        return _collect(terms, const)

    def bind(self, sizes: Mapping[str, int]) -> Affine:
        """Replace the symbolic extents found in `sizes`."""
        return _collect([(v, c.bind(sizes)) for v, c in self.terms], self.const.bind(sizes))

    def __str__(self) -> str:
        parts = [v if c == poly(1) else f"{_factor(c)}*{v}" for v, c in self.terms]
        if self.const.terms or not parts:
            parts.append(str(self.const))
        return " + ".join(parts).replace("+ -", "- ")


@dataclass(frozen=True, slots=True)
class Interval:
    """One condition of a guard: lo ≤ form < hi."""

    form: Affine
    lo: Poly
    hi: Poly

    def bind(self, sizes: Mapping[str, int]) -> Interval:
        return Interval(self.form.bind(sizes), self.lo.bind(sizes), self.hi.bind(sizes))


@dataclass(frozen=True, slots=True)
class Ref:
    """A tensor: an input (output "") or a named output or state component of a node."""

    node: str
    output: str = ""

    def __str__(self) -> str:
        return f"{self.node}.{self.output}" if self.output else self.node


@dataclass(frozen=True, slots=True)
class View:
    """One coordinate form per source dimension, a guard with a fill, and gathers.

    The fill is a constant of the source's sort, fixed here and independent of extents; a guard
    without a fill is an error. Evaluation order: conditions over dims alone; if one fails the
    fill is the value and nothing is read; then gathers in order, each with its own guard; then
    conditions over gathered values; then the source. "@k" may occur only in forms of this view
    and of gathers after k.
    """

    coords: tuple[Affine, ...]
    guard: tuple[Interval, ...] = ()
    fill: Expr | None = None
    gathers: tuple[Read, ...] = ()

    def __post_init__(self) -> None:
        if bool(self.guard) != (self.fill is not None):
            raise GraphError("a guard needs a fill, and a fill needs a guard: give both")
        if self.fill is not None and not is_constant(self.fill):
            raise GraphError(f"a fill is a constant, not {self.fill.op}")

    def forms(self) -> Iterable[Affine]:
        """The view's own forms: coordinates, then guards."""
        yield from self.coords
        yield from (i.form for i in self.guard)

    def dims(self) -> frozenset[str]:
        """Dims and static axes on which the read value depends, gathers included."""
        own = frozenset[str]().union(*(f.variables for f in self.forms()))
        below = frozenset[str]().union(*(g.view.dims() for g in self.gathers))
        return frozenset(v for v in own | below if not v.startswith(GATHERED))

    def map_forms(self, f: Callable[[Affine], Affine]) -> View:
        """The view with `f` applied to every form, those of the gathers included."""
        return View(
            tuple(f(c) for c in self.coords),
            tuple(Interval(f(i.form), i.lo, i.hi) for i in self.guard),
            self.fill,
            tuple(Read(g.source, g.view.map_forms(f)) for g in self.gathers),
        )

    def bind(self, sizes: Mapping[str, int]) -> View:
        """Replace the symbolic extents found in `sizes`."""
        return View(
            tuple(c.bind(sizes) for c in self.coords),
            tuple(i.bind(sizes) for i in self.guard),
            self.fill,
            tuple(Read(g.source, g.view.bind(sizes)) for g in self.gathers),
        )


@dataclass(frozen=True, slots=True)
class Read:
    """A tensor read through a view."""

    source: Ref
    view: View


def variable(name: str, coefficient: PolyLike = 1) -> Affine:
    """The form consisting of one variable."""
    size = poly(coefficient)
    return Affine(((name, size),) if size.terms else ())


def constant(value: PolyLike) -> Affine:
    """The form without variables."""
    return Affine((), poly(value))


def is_gathered(form: Affine) -> bool:
    """Whether the form needs a gathered value."""
    return any(v.startswith(GATHERED) for v in form.variables)


def _collect(terms: Iterable[tuple[str, Poly]], const: Poly) -> Affine:
    total: dict[str, Poly] = {}
    for v, c in terms:
        total[v] = total[v] + c if v in total else c
    kept = ((v, c) for v, c in total.items() if c.terms)
    return Affine(tuple(sorted(kept, key=lambda term: term[0])), const)


def _factor(c: Poly) -> str:
    return f"({c})" if len(c.terms) > 1 else str(c)
