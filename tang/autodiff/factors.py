"""Factors: the independent parts of a monoid, in a form that can be compared.

Defines `factors_of`, which splits a monoid into components that combine without each other, and
`recognise`, which finds the stock monoid with the same lift, identity and combine. Relies on the
built-in monoids; names of monoids, components and axes play no part. It differentiates nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from tang.ir import monoids
from tang.ir.expr import Expr, walk
from tang.ir.monoid import Monoid
from tang.ir.renumber import renumbered

STOCK: Final = {
    "sum": monoids.SUM,
    "max": monoids.MAX,
    "min": monoids.MIN,
    "argmax": monoids.ARGMAX,
    "argmin": monoids.ARGMIN,
    "logsumexp": monoids.LOGSUMEXP,
    "online-softmax": monoids.ONLINE_SOFTMAX,
    "welford": monoids.WELFORD,
    "affine-scan": monoids.AFFINE_SCAN,
}
"""The monoids whose gradients have rules of their own, besides top-k for any k."""

Form = tuple[tuple[Expr, ...], tuple[Expr, ...] | None, tuple[Expr, ...]]


@dataclass(frozen=True, slots=True)
class Factor:
    """Some components of a monoid with the inputs they take, as positions in it."""

    inputs: tuple[int, ...]
    components: tuple[int, ...]
    rule: str


@lru_cache(maxsize=1024)
def factors_of(monoid: Monoid) -> tuple[Factor, ...]:
    """The factors of a monoid in the order of their first components."""
    return tuple(_factor(monoid, group) for group in _groups(monoid))


def _groups(monoid: Monoid) -> list[tuple[int, ...]]:
    """Components, together where the combine of one reads the other."""
    group = {c: {c} for c in range(len(monoid.components))}
    for c, e in enumerate(monoid.combine):
        for other in _components(e):
            joined = group[c] | group[other]
            for member in joined:
                group[member] = joined
    return list(dict.fromkeys(tuple(sorted(g)) for g in group.values()))


def _components(e: Expr) -> list[int]:
    pairs = [x.payload for x in walk(e) if x.op == "state"]
    return [int(p[1]) for p in pairs if isinstance(p, tuple)]


def inputs_of(monoid: Monoid, components: tuple[int, ...]) -> tuple[int, ...]:
    """Positions of the inputs that the lifts of these components take."""
    used = [x.payload for c in components for x in walk(monoid.lift[c]) if x.op == "arg"]
    return tuple(sorted({i for i in used if isinstance(i, int)}))


def _factor(monoid: Monoid, components: tuple[int, ...]) -> Factor:
    inputs = inputs_of(monoid, components)
    return Factor(inputs, components, _rule(monoid, inputs, components))


def _rule(monoid: Monoid, inputs: tuple[int, ...], components: tuple[int, ...]) -> str:
    """The name of the stock monoid with the same form, or "any"."""
    mine = _form(monoid, inputs, components)
    for name, stock in STOCK.items():
        if mine == whole_form(stock):
            return name
    axes = [monoid.components[c].axes for c in components]
    if axes and len(axes[0]) == 1:
        k = monoid.axis_size(axes[0][0])
        if len(monoid.axes) >= 3 and mine == whole_form(monoids.top_k(k)):
            return "top-k"
    return "any"


@lru_cache(maxsize=256)
def whole_form(monoid: Monoid) -> Form:
    """The form of a monoid that is taken as one factor."""
    every = tuple(range(len(monoid.components)))
    return _form(monoid, inputs_of(monoid, every), every)


def _form(monoid: Monoid, inputs: tuple[int, ...], components: tuple[int, ...]) -> Form:
    """Lift, identity and combine with inputs, components and axes numbered in order of use."""
    names: dict[str, str] = {}
    moved = _Canonical(inputs, components, names)
    lift = tuple(moved.expr(monoid.lift[c]) for c in components)
    identity = None
    if monoid.identity is not None:
        identity = tuple(moved.expr(monoid.identity[c]) for c in components)
    return lift, identity, tuple(moved.expr(monoid.combine[c]) for c in components)


def project_form(monoid: Monoid, factor: Factor, output: int) -> Expr:
    """The projection of one output with the factor's components numbered from 0."""
    known = {c: n for n, c in enumerate(factor.components)}
    every = tuple(known) + tuple(c for c in range(len(monoid.components)) if c not in known)
    return _Canonical(factor.inputs, every, {}).expr(monoid.project[output])


@dataclass(slots=True)
class _Canonical:
    """Renumbering of inputs and components, renaming of axes in the order of their first use."""

    inputs: tuple[int, ...]
    components: tuple[int, ...]
    axes: dict[str, str]

    def expr(self, root: Expr) -> Expr:
        """The expression in the numbers of the factor."""
        return renumbered(root, self.inputs.index, self.components.index, self._axis)

    def _axis(self, name: str) -> str:
        return self.axes.setdefault(name, f"axis{len(self.axes)}")
