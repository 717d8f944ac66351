"""The laws of monoids, tested on states that folds can reach.

Defines `check_laws`: identity, associativity, and commutativity where declared. Relies on `exact`
alone for evaluation. A test on samples is no proof: it refuses with a counterexample or accepts
for want of one; what is proved is in `proofs`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from tang.errors import GraphError
from tang.ir.exact import PRECISION, Evaluator, Number, Values
from tang.ir.expr import INDEX, REAL, Expr, Sort, walk
from tang.ir.monoid import Component, Monoid

TRIALS: Final = 8
"""Triples of states per kind of input."""
WORK: Final = 1 << 19
"""Scalar operations aimed at per check; large states get fewer trials, never none."""
MAX_WORK: Final = 1 << 22
"""Scalar operations of one combine beyond which a monoid is refused unchecked."""

KINDS: Final = ("ones", "ties", "general", "large", "nan", "infinite")
"""Inputs: all 1; small dyadics with zeros and ties; 53-bit numbers; extreme exponents; the last
two are ties mixed with NaN or ±∞.

With NaN a state that starts from the identity may be NaN where the bare element is not (h = a·0+b
in an affine scan), which every fold that starts from the identity shares. With ±∞ only outputs
count, and NaN on one side is accepted: ∞ − ∞ and 0·∞ depend on the order even in a plain sum.
"""

FIRST: Final = {
    "ties": (0.0, -1.0),
    "large": (1.7976931348623157e308, -1.7976931348623157e308),
    "nan": (float("nan"),),
    "infinite": (float("-inf"), float("inf")),
}
"""In the first trials of a kind every real of x is this, so that no seed misses it."""

State = list[Values]


def check_laws(monoid: Monoid, seed: int = 0) -> None:
    """Raise GraphError with a counterexample unless the monoid obeys its laws on samples.

    Values agree within 2⁻⁶⁰ of themselves, or within the rounding of the largest term met. An
    index beside a real is taken for a position: distinct and ≥ 0.
    """
    check = _Check(monoid, np.random.default_rng(seed))
    for kind in KINDS:
        for trial in range(check.trials):
            first = dict(enumerate(FIRST.get(kind, ()))).get(trial)
            check.run(kind, 1 if trial < (check.trials + 1) // 2 else 3, first)


@dataclass(frozen=True, slots=True)
class _Operand:
    """A reachable state and the inputs of the lifts folded into it."""

    name: str
    state: State
    lifts: tuple[list[Values], ...]

    def __str__(self) -> str:
        calls = ("lift(" + ", ".join(_shown(a) for a in args) + ")" for args in self.lifts)
        return f"{self.name} = " + " · ".join(calls)


@dataclass(frozen=True, slots=True)
class _Source:
    """Where the inputs of one operand come from."""

    kind: str
    positions: Iterator[int]
    first: float | None


class _Check:
    """The laws of one monoid with one source of samples."""

    def __init__(self, monoid: Monoid, rng: np.random.Generator) -> None:
        self.monoid = monoid
        self.rng = rng
        self.exact = Evaluator(monoid)
        self.spread = [_axes_of_input(monoid, i) for i in range(len(monoid.inputs))]
        cost = _combine_cost(monoid)
        if cost > MAX_WORK:
            raise GraphError(
                f"monoid {monoid.name!r}: one combine takes {cost} operations, over {MAX_WORK}: "
                f"its laws cannot be checked; make the static axes smaller"
            )
        self.trials = max(2, min(TRIALS, WORK // (cost * 8 * len(KINDS))))

    def run(self, kind: str, longest: int, first: float | None) -> None:
        """One triple of states through every law; `first` replaces the reals of x."""
        self.exact.peak = self.exact.real(0)
        lengths = self.rng.integers(1, longest + 1, size=3)
        positions = iter(self.rng.permutation(1000).tolist())
        x, y, z = (
            self.operand(name, _Source(kind, positions, first if name == "x" else None), int(n))
            for name, n in zip("xyz", lengths, strict=True)
        )
        combine = self.exact.combine
        if self.monoid.identity is not None:
            e = self.exact.identity()
            for text, found in (
                ("combine(identity, x)", combine(e, x.state)),
                ("combine(x, identity)", combine(x.state, e)),
            ):
                self.compare("identity", kind, (text, found), ("x", x.state), (x,))
        xy = combine(x.state, y.state)
        left = ("combine(combine(x, y), z)", combine(xy, z.state))
        right = ("combine(x, combine(y, z))", combine(x.state, combine(y.state, z.state)))
        self.compare("associativity", kind, left, right, (x, y, z))
        if self.monoid.commutative:
            swapped = ("combine(y, x)", combine(y.state, x.state))
            self.compare("commutativity", kind, ("combine(x, y)", xy), swapped, (x, y))

    def operand(self, name: str, source: _Source, length: int) -> _Operand:
        lifts = tuple(self.inputs(source) for _ in range(length))
        state = self.exact.lift(lifts[0])
        for args in lifts[1:]:
            state = self.exact.combine(state, self.exact.lift(args))
        return _Operand(name, state, lifts)

    def inputs(self, source: _Source) -> list[Values]:
        pairs = zip(self.monoid.inputs, self.spread, strict=True)
        return [self.array(axes, partial(self.sample, s, source)) for s, axes in pairs]

    def array(self, axes: frozenset[str], draw: Callable[[], Number]) -> Values:
        shape = [a.size if a.name in axes else 1 for a in self.monoid.axes]
        out = np.empty(shape, dtype=np.object_)
        for place in np.ndindex(*shape):
            out[place] = draw()
        return out

    def sample(self, sort: Sort, source: _Source) -> Number:
        if sort is INDEX:
            beside_real = REAL in self.monoid.inputs
            return next(source.positions) if beside_real else int(self.rng.integers(-9, 10))
        if sort is REAL:
            drawn = _real_sample(source.kind, self.rng) if source.first is None else source.first
            return self.exact.real(drawn)
        return bool(self.rng.integers(2))

    def compare(
        self,
        law: str,
        kind: str,
        left: tuple[str, State],
        right: tuple[str, State],
        operands: tuple[_Operand, ...],
    ) -> None:
        values, others = left[1], right[1]
        components = self.monoid.components
        if kind == "infinite":
            values, others = self.exact.project(values), self.exact.project(others)
            components = self.monoid.outputs
        lenient = kind == "infinite" or (kind == "nan" and law == "identity")
        for c, a, b in zip(components, values, others, strict=True):
            for place in np.ndindex(*a.shape):
                if not self.same(a[place], b[place], lenient):
                    sides = (f"{left[0]} = {_text(a[place])}", f"{right[0]} = {_text(b[place])}")
                    raise self.broken(law, c, place, sides, operands)

    def same(self, a: Number, b: Number, lenient: bool) -> bool:
        if isinstance(a, int):
            return bool(a == b)
        mp = self.exact.mp
        if mp.isnan(a) or mp.isnan(b):
            return lenient or bool(mp.isnan(a) and mp.isnan(b))
        if mp.isinf(a) or mp.isinf(b):
            return bool(a == b)
        relative = mp.ldexp(max(abs(a), abs(b)), -60)
        rounding = mp.ldexp(self.exact.peak, 100 - PRECISION)
        return bool(abs(a - b) <= max(relative, rounding))

    def broken(
        self,
        law: str,
        c: Component,
        place: tuple[int, ...],
        sides: tuple[str, str],
        operands: tuple[_Operand, ...],
    ) -> GraphError:
        where = c.name + ("[" + ", ".join(map(str, place)) + "]" if place else "")
        return GraphError(
            f"monoid {self.monoid.name!r} breaks {law} in {where}: {sides[0]}, but {sides[1]} for "
            + ", ".join(map(str, operands))
            + "; "
            + CURES[law]
        )


CURES: Final = {
    "identity": "give the value that changes nothing, or None for a semigroup",
    "associativity": "folds are split anywhere, so write an associative combine over more state",
    "commutativity": "declare commutative=False",
}


def _real_sample(kind: str, rng: np.random.Generator) -> float:
    if kind == "ones":
        return 1.0
    if kind == "general":
        return float(rng.normal() * 2.0 ** int(rng.integers(-8, 9)))
    if kind == "large":
        extremes = (1.7976931348623157e308, -1.7976931348623157e308, 5e-324, -5e-324)
        scaled = float(rng.choice((-1.0, 1.0))) * 2.0 ** int(rng.integers(-1000, 1000))
        return float(rng.choice((*extremes, scaled, scaled)))
    if kind == "nan" and rng.random() < 0.3:
        return float("nan")
    if kind == "infinite" and rng.random() < 0.4:
        return float(rng.choice((float("-inf"), float("inf"))))
    return float(rng.choice((-2.0, -1.0, -0.5, 0.0, 0.0, 0.5, 1.0, 2.0, 3.0)))


def _axes_of_input(monoid: Monoid, i: int) -> frozenset[str]:
    """The static axes along which input i may vary: those of every component that uses it."""
    users = [
        frozenset(c.axes)
        for c, e in zip(monoid.components, monoid.lift, strict=True)
        if any(x.op == "arg" and x.payload == i for x in walk(e))
    ]
    every = frozenset(a.name for a in monoid.axes)
    return every.intersection(*users) if users else frozenset()


def _combine_cost(monoid: Monoid) -> int:
    """Scalar operations of one combine, each over the axes on which it depends."""
    return sum(_elements(monoid, e) for e in walk(*monoid.combine))


def _elements(monoid: Monoid, e: Expr) -> int:
    total = 1
    for a in monoid.axes:
        folded = e.op == "fold" and isinstance(e.payload, tuple) and e.payload[0] == a.name
        total *= a.size if a.name in e.names or folded else 1
    return total


def _text(value: Number) -> str:
    if isinstance(value, int):
        return str(value)
    return repr(float(value))


def _shown(values: Values) -> str:
    flat = [_text(v) for v in values.ravel()[:8]]
    more = ", …" if values.size > 8 else ""
    return flat[0] if values.size == 1 else "[" + ", ".join(flat) + more + "]"
