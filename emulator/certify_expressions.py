"""Expressions of a node as steps: one operation of the program, one elementary bound and its
roundings.

Defines `Evaluator`. Relies on the arithmetic of a node and on derived forms; what arguments,
states and coordinates are comes from the caller. It knows no reductions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Final

from tang.emulator.certify_arithmetic import Arithmetic
from tang.emulator.certify_forms import order, parts
from tang.emulator.ranges import is_lost
from tang.emulator.ranges_numbers import quantum
from tang.ir.expr import REAL, Expr, Sort, named

Leaf = Callable[[Expr], int]
COMPOSED: Final = ("exp", "log", "cos", "sigmoid", "tanh")
"""Derived forms with a function of their own, which may also be computed as they are composed."""
_DIRECT: Final = ("exp2", "log2", "sin", "erf", "atan2")

Refine = Callable[["Evaluator", Expr, int], int]


def unrefined(evaluator: Evaluator, e: Expr, step: int) -> int:
    """Where nothing more is known."""
    return step


class Evaluator:
    """Steps of expressions; equal expressions are one step.

    leaf     the step of an argument, a state component, a coordinate or an extent
    refine   a step that says more of an expression, where more is known of it
    standard where the error of squares should be small; None: where they are large
    """

    def __init__(
        self,
        arithmetic: Arithmetic,
        leaf: Leaf,
        refine: Refine = unrefined,
        standard: float | None = None,
    ) -> None:
        self.a = arithmetic
        self.standard = standard
        self.leaf = leaf
        self.refine = refine
        self.done: dict[int, int] = {}
        self.kept: list[Expr] = []

    def value(self, root: Expr) -> int:
        """The step of an expression."""
        for e in order((root,)):
            if id(e) not in self.done:
                self.kept.append(e)
                self.done[id(e)] = self.refine(self, e, self._step(e))
        return self.done[id(root)]

    def _step(self, e: Expr) -> int:
        name, operands = parts(e)
        args = [self.done[id(x)] for x in operands]
        if name in ("real", "index", "bool"):
            return self._constant(e)
        if name in ("arg", "state", "iota", "extent"):
            return self.leaf(e)
        if name in COMPOSED:
            return self._composed(name, args[0])
        if name in _DIRECT:
            return self.a.function(name, *args)
        same = len(operands) == 2 and operands[0] is operands[1]
        if name == "select":
            return self._select(args, operands)
        if name == "mul" and same and e.sort is REAL:
            return self.a.square(args[0], self.standard)
        if same and name in ("lt", "eq"):
            return self._reflexive(name, args[0])
        return self._plain(name, e, args)

    def _plain(self, name: str, e: Expr, args: list[int]) -> int:
        trail = self.a.trail
        if e.sort is Sort.INDEX and name in ("add", "mul", "neg", "floordiv", "mod"):
            return trail.add("integer", *args, op=name)
        if name in ("add", "sub", "mul", "div", "neg", "recip", "sqrt"):
            made: int = getattr(self.a, name)(*args)
            return made
        if name in ("lt", "eq"):
            return trail.add("compare", *args, op=name)
        if name in ("and", "or"):
            return trail.add("logic", *args, op=name)
        if name == "floor":
            return self._floor(args[0])
        if name in ("isnan", "not", "abs", "max", "min", "to_index"):
            return trail.add(name, *args)
        if name == "to_real":
            return self._to_real(args[0])
        return trail.add("unknown")  # a fold over static axes outside of the known monoids

    def _reflexive(self, name: str, step: int) -> int:
        """A value compared with itself gives the same in both worlds, if both are numbers."""
        if is_lost(self.a.trail[step]):
            return self.a.trail.add("compare", step, step, op=name)
        truth = 0.0 if name == "lt" else 1.0
        least = 0.0 if "nan" in self.a.trail[step].special else truth
        return self.a.trail.add("given", lo=least, hi=truth)

    def _constant(self, e: Expr) -> int:
        if e.sort is REAL:
            value = e.payload
            return self.a.literal(value if isinstance(value, str) else Fraction(str(value)))
        number = float(int(e.payload)) if isinstance(e.payload, int) else 0.0
        return self.a.trail.add("given", lo=number, hi=number)

    def _to_real(self, step: int) -> int:
        """Exact where every format of the node holds all whole numbers so far."""
        a, c = self.a, self.a.trail[step]
        formats = [a.trail.formats[r.format] for r in a.roundings]
        limit = min(min(2.0**f.p, f.largest) for f in formats)
        held = c.size + c.error <= limit and all(quantum(f) <= 1 for f in formats)
        return step if held else a.rounded(step)

    def _floor(self, step: int) -> int:
        """Exact where the largest number is whole: ⌊−7.5⌋ is none of e2m3, which ends there."""
        a, found = self.a, self.a.trail.add("floor", step)
        whole = all(a.trail.formats[r.format].largest % 1 == 0 for r in a.roundings)
        return found if whole else a.rounded(found)

    def _select(self, args: list[int], operands: tuple[Expr, ...]) -> int:
        trail = self.a.trail
        condition = trail[args[0]]
        if condition.exact and condition.lo == condition.hi:
            return args[1] if condition.lo == 1 else args[2]
        return args[1] if operands[1] is operands[2] else trail.add("select", *args)

    # --- derived forms ----------------------------------------------------------------------------

    def _composed(self, name: str, x: int) -> int:
        """The function and its composition: the worse of the two, where the latter is bounded."""
        trail = self.a.trail
        direct = self.a.function(name, x)
        if trail.shape:
            return direct
        composed: int = getattr(self, f"_{name}")(x)
        if math.isinf(trail[composed].absolute):
            return direct
        return trail.add("worse", direct, composed)

    def _exp(self, x: int) -> int:
        return self.a.function("exp2", self.a.mul(x, self._named("log2e")))

    def _log(self, x: int) -> int:
        return self.a.mul(self.a.function("log2", x), self._named("ln2"))

    def _cos(self, x: int) -> int:
        turn = self.a.mul(self._named("pi"), self.a.literal(Fraction(1, 2)))
        return self.a.function("sin", self.a.add(x, turn))

    def _sigmoid(self, x: int) -> int:
        power = self._exp(self.a.neg(x))
        return self.a.recip(self.a.add(self.a.literal(1), power))

    def _tanh(self, x: int) -> int:
        power = self._exp(self.a.mul(x, self.a.literal(2)))
        quotient = self.a.div(self.a.literal(2), self.a.add(power, self.a.literal(1)))
        return self.a.sub(self.a.literal(1), quotient)

    def _named(self, name: str) -> int:
        return self.a.literal(str(named(name).payload))
