"""The program under construction: sizes, tensors and inputs that the next node may use.

Defines `Size`, `Tensor`, `InputPlan` and the mutable `Program` that collects them. Relies on the IR
types and ranges. It draws only what inputs hold and how large dims are; views and nodes are drawn
elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from tang.fuzz.formats import ALL, Formats
from tang.fuzz.ranges import BOOLEAN, Range
from tang.fuzz.source import Source, chance, choose, weighted
from tang.ir.expr import REAL, Sort
from tang.ir.extent import Poly, poly
from tang.ir.graph import Comprehension, Input
from tang.ir.view import Ref

POINTS: Final = 2000
"""Most points (point, reduce and static axes together) of one drawn node."""

MAX_INPUTS: Final = 5

PROFILES: Final = {
    "small": Range(-8, 8, plain=True),
    "zeros": Range(-8, 8, plain=True),
    "tiny": Range(-8, 8),
    "huge": Range(-(2.0**100), 2.0**100),
    "edges": Range(-(2.0**17), 2.0**17),
    "nonfinite": Range(-8, 8, finite=False, plain=True),
}
"""What a real input may hold: moderate values, and beside them zeros of both signs, subnormals,
numbers near 2¹⁰⁰, numbers about where f16 begins and ends, or NaN and infinities."""

_CLEAN_PROFILES: Final = ((70, "small"), (10, "zeros"), (6, "tiny"), (5, "huge"), (9, "edges"))
_PROFILES: Final = (
    (48, "small"),
    (10, "zeros"),
    (6, "tiny"),
    (5, "huge"),
    (9, "edges"),
    (22, "nonfinite"),
)


@dataclass(frozen=True, slots=True)
class Size:
    """An extent: its polynomial, and its value under the sizes of this draw."""

    value: int
    poly: Poly

    @property
    def is_symbolic(self) -> bool:
        return not self.poly.is_constant


def fixed(value: int) -> Size:
    """A size without symbols."""
    return Size(value, poly(value))


@dataclass(frozen=True, slots=True)
class Tensor:
    """Something that can be read."""

    ref: Ref
    shape: tuple[Size, ...]
    sort: Sort
    range: Range
    is_state: bool = False


@dataclass(frozen=True, slots=True)
class InputPlan:
    """What an input is to be filled with: a profile for reals, low … high for indices.

    profile  "small", "dyadic" (multiples of 1/8 in every draw), or specials among small numbers
    """

    name: str
    shape: tuple[Size, ...]
    sort: Sort
    profile: str
    low: int = 0
    high: int = 0

    def declare(self) -> Input:
        return Input(self.name, tuple(s.poly for s in self.shape), self.sort)


@dataclass(slots=True)
class Program:
    """Everything drawn so far.

    pool       sizes that dims are taken from, so that tensors fit together
    clean      NaN and infinities are avoided altogether
    formats    what may be asked of backends
    in_order   nodes that only a single chunk may fold (laws that hold for finite values only)
    """

    pool: tuple[Size, ...]
    sizes: dict[str, int]
    clean: bool
    formats: Formats = ALL
    inputs: list[InputPlan] = field(default_factory=list)
    tensors: list[Tensor] = field(default_factory=list)
    nodes: list[Comprehension] = field(default_factory=list)
    in_order: set[str] = field(default_factory=set)
    unread: set[str] = field(default_factory=set)

    def size(self, source: Source, budget: int) -> Size:
        """A size of the pool that fits the budget, or 1."""
        fitting = [s for s in self.pool if s.value <= budget]
        return choose(source, fitting) if fitting else fixed(1)

    def add_input(self, source: Source, sort: Sort, shape: tuple[Size, ...]) -> Tensor:
        """A new input; a real one draws its profile; shrinks to moderate values."""
        profile = self._profile(source) if sort is REAL else "small"
        bounds = PROFILES[profile] if sort is REAL else BOOLEAN
        return self._add(InputPlan(f"x{len(self.inputs)}", shape, sort, profile), bounds)

    def add_index(self, shape: tuple[Size, ...], low: int, high: int) -> Tensor:
        """A new index input with values in low … high."""
        plan = InputPlan(f"x{len(self.inputs)}", shape, Sort.INDEX, "small", low, high)
        return self._add(plan, Range(low, high))

    @property
    def is_full(self) -> bool:
        """Whether no further input should be made where one can be read again."""
        return len(self.inputs) >= MAX_INPUTS

    def _profile(self, source: Source) -> str:
        return weighted(source, _CLEAN_PROFILES if self.clean else _PROFILES)

    def _add(self, plan: InputPlan, bounds: Range) -> Tensor:
        tensor = Tensor(Ref(plan.name), plan.shape, plan.sort, bounds)
        self.inputs.append(plan)
        self.tensors.append(tensor)
        return tensor


def draw_program(source: Source, formats: Formats = ALL) -> Program:
    """An empty program with a pool of sizes; shrinks to extents of 1 and no symbol."""
    clean = not chance(source, 45)
    values = [_draw_extent(source) for _ in range(3)]
    symbols = weighted(source, ((70, 0), (22, 1), (8, 2)))
    pool = [Size(v, poly(name)) for v, name in zip(values, ("n", "m")[:symbols], strict=False)]
    pool += [fixed(v) for v in values[symbols:]]
    sizes = {name: values[i] for i, name in enumerate(("n", "m")[:symbols])}
    return Program(tuple(pool), sizes, clean, formats)


def _draw_extent(source: Source) -> int:
    kind = weighted(source, ((10, 1), (14, 2), (50, 3), (23, 9), (3, 0)))
    if kind == 3:
        return 3 + source.below(6)
    return 9 + source.below(25) if kind == 9 else kind
