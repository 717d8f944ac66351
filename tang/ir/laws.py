"""The laws of monoids, tested on states that folds can reach.

Defines `check_laws`: identity, associativity, and commutativity where declared. Relies on `exact`
alone for evaluation. A test on samples is no proof: it refuses with a counterexample or accepts
for want of one; what is proved is in `proofs`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import product
from typing import Final

import mpmath
import numpy as np

from tang.errors import GraphError
from tang.ir.exact import PRECISION, Evaluator, Number, Values
from tang.ir.expr import INDEX, REAL, Expr, Sort, walk
from tang.ir.monoid import Component, Monoid

INDEX_REACH: Final = 2**31 - 1
"""Indices of programs' data lie within this of 0."""
TRIALS: Final = 8
"""Triples of states per kind of input."""
WORK: Final = 1 << 19
"""Scalar operations aimed at per check; large states get fewer trials, never none."""
MAX_WORK: Final = 1 << 22
"""Scalar operations of one combine beyond which a monoid is refused unchecked."""

FINITE: Final = ("ones", "ties", "general", "large")
SPECIAL: Final = ("nan", "infinite", "lone")
"""Inputs: all 1; small dyadics with zeros and ties; 53-bit numbers; extreme exponents; the last
three are ties mixed with NaN or ±∞, and a lone NaN or ±∞ at every place in turn; they are for
strict monoids only. Indices are small, and of 32 bits among 53-bit numbers and extreme exponents.
"""

LONE: Final = (float("inf"), float("-inf"), float("nan"))
LONE_ROUNDS: Final = 4

DOUBLINGS: Final = 12
"""In some trials of every finite kind states are doubled up to this often, so 2¹² elements long."""

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
    index beside a real is taken for a position: distinct and ≥ 0. Inputs of a
    strict monoid include NaN and ±∞, in folds that start from the identity where there is one.
    """
    check = _Check(monoid, np.random.default_rng(seed))
    for kind in check.kinds:
        if kind == "lone":
            check.lone_specials()
            continue
        for trial in range(check.trials):
            first = dict(enumerate(FIRST.get(kind, ()))).get(trial)
            early = trial < (check.trials + 1) // 2
            long = not early and trial % 2 == 1 and kind in FINITE
            check.run(kind, 1 if early else 3, first, long)


@dataclass(frozen=True, slots=True)
class _Operand:
    """A reachable state, the same without the identity, and the inputs of its lifts."""

    name: str
    state: State
    bare: State
    lifts: tuple[list[Values], ...]
    times: int = 1

    def __str__(self) -> str:
        calls = ("lift(" + ", ".join(_shown(a) for a in args) + ")" for args in self.lifts)
        often = f", {self.times} times over" if self.times > 1 else ""
        return f"{self.name} = " + " · ".join(calls) + often


@dataclass(frozen=True, slots=True)
class _Source:
    """Where the inputs of one operand come from."""

    kind: str
    positions: Iterator[int]
    first: float | None
    doublings: int = 0
    lone: tuple[int, float] | None = None
    """In the kind "lone" the input that is special, and its value."""


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
        self.kinds = (*FINITE, *SPECIAL) if monoid.strict else FINITE
        self.trials = max(2, min(TRIALS, WORK // (cost * 8 * len(self.kinds))))
        self.identity = None if monoid.identity is None else self.exact.identity()

    def run(self, kind: str, longest: int, first: float | None, long: bool = False) -> None:
        """One triple of states; `first` replaces the reals of x."""
        lengths = self.rng.integers(1, longest + 1, size=3)
        positions = iter(self.rng.permutation(1000).tolist())
        sources = [self.source(name, kind, positions, first, long) for name in "xyz"]
        self.laws(kind, [(s, int(n)) for s, n in zip(sources, lengths, strict=True)])

    def lone_specials(self) -> None:
        """Triples of single elements whose reals are nonzero but for one that is special."""
        reals = [i for i, s in enumerate(self.monoid.inputs) if s is REAL]
        rounds = max(1, min(LONE_ROUNDS, self.trials // 2))
        for _, place, i, value in product(range(rounds), range(3), reals, LONE):
            positions = iter(self.rng.permutation(1000).tolist())
            lone = [(i, value) if n == place else None for n in range(3)]
            self.laws("lone", [(_Source("lone", positions, None, lone=at), 1) for at in lone])

    def laws(self, kind: str, drawn: Sequence[tuple[_Source, int]]) -> None:
        """Three operands from their sources, of so many elements, through every law."""
        self.exact.peak, self.exact.saturated = self.exact.real(0), False
        x, y, z = (self.operand(name, *d) for name, d in zip("xyz", drawn, strict=True))
        combine = self.exact.combine
        if self.identity is not None:
            self.neutral(kind, x, self.identity)
        xy = combine(x.state, y.state)
        left = ("combine(combine(x, y), z)", combine(xy, z.state))
        right = ("combine(x, combine(y, z))", combine(x.state, combine(y.state, z.state)))
        self.compare("associativity", left, right, (x, y, z))
        if kind in SPECIAL and self.identity is not None:
            elements = [self.exact.lift(args) for args in (*x.lifts, *y.lifts)]
            serial = ("the serial fold of x and y", reduce(combine, elements, self.identity))
            self.compare("associativity", ("combine(x, y)", xy), serial, (x, y))
        if self.monoid.commutative:
            swapped = ("combine(y, x)", combine(y.state, x.state))
            self.compare("commutativity", ("combine(x, y)", xy), swapped, (x, y))

    def source(
        self, name: str, kind: str, positions: Iterator[int], first: float | None, long: bool
    ) -> _Source:
        """x alone takes `first`; positions are distinct, so nothing doubles them."""
        doubles = long and not self.has_positions
        doublings = int(self.rng.integers(DOUBLINGS + 1)) if doubles else 0
        return _Source(kind, positions, first if name == "x" else None, doublings)

    @property
    def has_positions(self) -> bool:
        return {INDEX, REAL} <= set(self.monoid.inputs)

    def neutral(self, kind: str, x: _Operand, identity: State) -> None:
        """Both sides of the identity law, on x and, NaN for a number aside, on bare x."""
        combine = self.exact.combine
        for state, forgive in ((x.bare, kind in SPECIAL), (x.state, False)):
            for text, found in (
                ("combine(identity, x)", combine(identity, state)),
                ("combine(x, identity)", combine(state, identity)),
            ):
                kept = [self.forgiven(f, s) for f, s in zip(found, state, strict=True)]
                self.compare("identity", (text, kept if forgive else found), ("x", state), (x,))

    def forgiven(self, found: Values, state: Values) -> Values:
        """`found` with the values of `state` where only it is NaN, as in h = a·0 + b."""
        nan = np.frompyfunc(lambda f: isinstance(f, self.exact.mp.mpf) and f != f, 1, 1)
        return np.where(np.asarray(nan(found), dtype=np.bool_), state, found)

    def operand(self, name: str, source: _Source, length: int) -> _Operand:
        lifts = tuple(self.inputs(source) for _ in range(length))
        bare = reduce(self.exact.combine, [self.exact.lift(args) for args in lifts])
        for _ in range(source.doublings):
            bare = self.exact.combine(bare, bare)
        started = self.identity is not None and source.kind in SPECIAL
        state = self.exact.combine(self.identity or [], bare) if started else bare
        return _Operand(name, state, bare, lifts, 1 << source.doublings)

    def inputs(self, source: _Source) -> list[Values]:
        pairs = zip(self.monoid.inputs, self.spread, strict=True)
        return [
            self.array(axes, partial(self.sample, s, source, i))
            for i, (s, axes) in enumerate(pairs)
        ]

    def array(self, axes: frozenset[str], draw: Callable[[], Number]) -> Values:
        shape = [a.size if a.name in axes else 1 for a in self.monoid.axes]
        out = np.empty(shape, dtype=np.object_)
        for place in np.ndindex(*shape):
            out[place] = draw()
        return out

    def sample(self, sort: Sort, source: _Source, i: int) -> Number:
        """A number for input i of one element."""
        if sort is INDEX:
            if self.has_positions:
                return next(source.positions)
            reach = INDEX_REACH if source.kind in ("general", "large") else 9
            return int(self.rng.integers(-reach, reach + 1))
        if sort is REAL and source.lone is not None and source.lone[0] == i:
            return self.exact.real(source.lone[1])
        if sort is REAL:
            drawn = _real_sample(source.kind, self.rng) if source.first is None else source.first
            return self.exact.real(drawn)
        return bool(self.rng.integers(2))

    def compare(
        self,
        law: str,
        left: tuple[str, State],
        right: tuple[str, State],
        operands: tuple[_Operand, ...],
    ) -> None:
        """Raise unless both sides are equal; beyond the indices that can be held nothing is."""
        if self.exact.saturated:
            return
        fault = self.difference(self.monoid.components, left[1], right[1])
        if fault is not None:
            where, a, b = fault
            sides = (f"{left[0]} = {_text(a)}", f"{right[0]} = {_text(b)}")
            raise self.broken(law, where, sides, operands)

    def difference(
        self, parts: Sequence[Component], left: State, right: State
    ) -> tuple[str, Number, Number] | None:
        """The first element that differs: its name and both values."""
        for c, a, b in zip(parts, left, right, strict=True):
            for place in np.ndindex(*a.shape):
                if not self.same(a[place], b[place]):
                    at = "[" + ", ".join(map(str, place)) + "]" if place else ""
                    return c.name + at, a[place], b[place]
        return None

    def same(self, a: Number, b: Number) -> bool:
        if isinstance(a, int):
            return bool(a == b)
        mp = self.exact.mp
        if mp.isnan(a) or mp.isnan(b):
            return bool(mp.isnan(a) and mp.isnan(b))
        if mp.isinf(a) or mp.isinf(b):
            return bool(a == b)
        relative = mp.ldexp(max(abs(a), abs(b)), -60)
        rounding = mp.ldexp(self.exact.peak, 100 - PRECISION)
        return bool(abs(a - b) <= max(relative, rounding))

    def broken(
        self, law: str, where: str, sides: tuple[str, str], operands: tuple[_Operand, ...]
    ) -> GraphError:
        return GraphError(
            f"monoid {self.monoid.name!r} breaks {law} in {where}: {sides[0]}, but {sides[1]} for "
            + ", ".join(map(str, operands))
            + f"; {CURES[law]}"
            + (", or strict=False if only NaN and ∞ break it" if self.monoid.strict else "")
        )


CURES: Final = {
    "identity": "give the value that changes nothing, or None for a semigroup",
    "associativity": "folds are split anywhere, so write an associative combine over more state",
    "commutativity": "declare commutative=False",
}


def _real_sample(kind: str, rng: np.random.Generator) -> float:
    if kind == "ones":
        return 1.0
    if kind == "lone":
        return float(rng.choice((-3.0, -2.0, -1.0, 1.0, 2.0, 3.0)))
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
    near = float(value)
    if abs(near) in (0.0, math.inf) and value != near:
        return str(mpmath.nstr(value, 17))
    return repr(near)


def _shown(values: Values) -> str:
    flat = [_text(v) for v in values.ravel()[:8]]
    more = ", …" if values.size > 8 else ""
    return flat[0] if values.size == 1 else "[" + ", ".join(flat) + more + "]"
