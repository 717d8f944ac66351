"""Drafts: motifs under construction.

Defines `Motif` and `Draft`, which draws sizes, inputs, names and orders of operands. Relies on the
frontend. It knows no pattern.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import tang as tg
from tang.fuzz.program import InputPlan, Size, fixed
from tang.fuzz.source import Source, between, chance, choose
from tang.ir.expr import REAL, Sort
from tang.ir.extent import poly
from tang.ir.graph import Graph

Tensor = Any
Value = Any
"""What the frontend computes with; its own types are no part of its surface."""


@dataclass(frozen=True, slots=True)
class Motif:
    """A program, what its inputs hold, and the sizes of its symbols.

    aim  what it is there for: "rules", "gradient", "compilers" (of texts), or the name of a rule
         that is applied on request
    """

    graph: Graph
    plans: tuple[InputPlan, ...]
    sizes: Mapping[str, int]
    aim: str = "rules"


@dataclass(slots=True)
class Draft:
    """A motif under construction: names are random, so that no rule can go by them."""

    source: Source
    plans: list[InputPlan] = field(default_factory=list)
    used: int = 0
    sizes: dict[str, int] = field(default_factory=dict)

    def size(self, low: int = 1, high: int = 6, symbol: str = "") -> Size:
        """An extent, symbolic now and then where it may be."""
        value = between(self.source, low, high)
        if symbol and chance(self.source, 20):
            self.sizes[symbol] = value
            return Size(value, poly(symbol))
        return fixed(value)

    def input(self, *shape: Size, sort: Sort = REAL, high: int = 0) -> Tensor:
        profile = "small" if sort is not REAL or chance(self.source, 70) else self._special()
        return self.filled(profile, *shape, sort=sort, high=high)

    def filled(self, profile: str, *shape: Size, sort: Sort = REAL, high: int = 0) -> Tensor:
        """An input with data of this profile: "dyadic", say, or "nonfinite"."""
        plan = InputPlan(f"x{len(self.plans)}", shape, sort, profile, 0, high)
        self.plans.append(plan)
        return tg.input(plan.name, tuple(s.poly for s in shape), sort.value)

    def _special(self) -> str:
        return choose(self.source, ("zeros", "tiny", "nonfinite"))

    def name(self) -> str:
        self.used += 1
        return f"{choose(self.source, 'tuvw')}{self.used}"

    def yes(self, percent: int = 50) -> bool:
        return chance(self.source, percent)

    def real(self, low: int, high: int, per: int = 2) -> float:
        """A dyadic number."""
        return between(self.source, low * per, high * per) / per

    def pick(self, options: Sequence[Any]) -> Any:  # noqa: ANN401 - one of the options
        return choose(self.source, options)

    def number(self, low: int, high: int) -> int:
        return between(self.source, low, high)

    def node(self, dims: Sequence[Value], value: Value) -> Tensor:
        return tg.compute(self.name(), list(dims), value)

    def either(self, a: Value, b: Value, op: Callable[[Value, Value], Value]) -> Value:
        """op(a, b) with the operands of a commutative operation in any order."""
        return op(a, b) if self.yes() else op(b, a)


Kind = Callable[[Draft], list[Tensor] | Graph]
"""A pattern: the tensors that are outputs, or a whole program."""
