"""Plans: what lowering makes of a graph.

Defines buffers, launches in order, and the plan that holds them. Relies on the kernel IR and on
extents, so one plan serves every binding of its symbols. It does not choose or run anything.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from math import prod

from tang.ir.expr import Sort
from tang.ir.extent import Poly, poly
from tang.ir.graph import Fact, Graph
from tang.ir.view import Ref
from tang.kernel.ir import Kernel, Type
from tang.kernel.narrow import Conversion


class Role(enum.Enum):
    """What a buffer is to the caller."""

    INPUT = "input"
    OUTPUT = "output"
    TEMPORARY = "temporary"


@dataclass(frozen=True, slots=True)
class Buffer:
    """A contiguous row-major array. `ref` is the tensor it holds, None for split partials.

    conversion  how numbers were rounded to a format narrower than `type`: an f32 buffer holds the
                rounded numbers, a u8 buffer their codes
    """

    name: str
    shape: tuple[Poly, ...]
    sort: Sort
    type: Type
    role: Role
    ref: Ref | None = None
    conversion: Conversion | None = None

    @property
    def format(self) -> str:
        """The name of the format of its elements: "f32", "bf16", "e4m3fn", "i32", "bool" …"""
        return self.type.value if self.conversion is None else self.conversion.format.name

    @property
    def bytes(self) -> Poly | int:
        """Its size: an int, or a Poly where the shape has symbols (`.evaluate` it at sizes)."""
        total = prod(self.shape, start=poly(self.type.bytes))
        return total.constant if total.is_constant else total


@dataclass(frozen=True, slots=True)
class Launch:
    """Run a kernel on `threads` threads (at least; rounded up to whole workgroups).

    buffers  names of the plan's buffers, one per kernel parameter, in order
    scalars  values of the kernel's scalars, in order
    """

    kernel: Kernel
    buffers: tuple[str, ...]
    scalars: tuple[Poly, ...]
    threads: Poly


@dataclass(frozen=True, slots=True)
class Result:
    """An output of the program: the caller's name for a buffer."""

    name: str
    buffer: str


@dataclass(frozen=True, slots=True)
class Plan:
    """Buffers, launches in program order, results, and the graph they compute."""

    graph: Graph
    buffers: tuple[Buffer, ...]
    launches: tuple[Launch, ...]
    results: tuple[Result, ...]
    facts: tuple[Fact, ...] = ()

    def buffer(self, name: str) -> Buffer:
        return next(b for b in self.buffers if b.name == name)
