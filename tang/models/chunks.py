"""Sequences in chunks of a static length: the frame of chunkwise recurrent layers.

Defines `Chunks`, which cuts an axis of length T into ⌈T/Q⌉ chunks of Q, sums decays within them
and puts results back in order. Relies on index notation; the last chunk may be short, and what is
read beyond the end is 0, a step that changes no state. It knows no particular recurrence.
"""

from __future__ import annotations

from dataclasses import dataclass

from tang.errors import GraphError
from tang.frontend.build import compute
from tang.frontend.dims import dim
from tang.frontend.elementwise import dims_of
from tang.frontend.reductions import sum as total
from tang.frontend.shapes import divided, quotients
from tang.frontend.tensors import Tensor
from tang.frontend.values import Value
from tang.ir.extent import Poly, PolyLike, poly


@dataclass(frozen=True, slots=True)
class Chunks:
    """An axis of `length` in `count` chunks of `size`; position k·size + i is step i of chunk k."""

    length: Poly
    count: Poly
    size: int

    def dims(self) -> tuple[Value, Value, Value]:
        """Fresh dims: the chunk k, a step i and another step j."""
        return dim("k", self.count), dim("i", self.size), dim("j", self.size)

    def at(self, x: Tensor, k: Value, i: Value, *rest: Value, b: Value) -> Value:
        """x[b, k·size + i, rest…], 0 beyond the end."""
        return x.at(b, k * self.size + i, *rest, fill=0)

    def decays(self, log_decay: Tensor, name: str) -> Tensor:
        """(B, T, H) → (B, count, size, H): sums of the log decays of a chunk up to each step."""
        b, h = dim("b", log_decay.shape[0]), dim("h", log_decay.shape[2])
        k, i, j = self.dims()
        term = self.at(log_decay, k, j, h, b=b)
        return compute(name, (b, k, i, h), total(term, j, [j <= i]))

    def joined(self, x: Tensor, name: str) -> Tensor:
        """(B, count, size, …) → (B, T, …): the steps in order, without those beyond the end."""
        b, t, *rest = dims_of((x.shape[0], self.length, *x.shape[3:]))
        k = quotients(self.length, self.size, f"{name}.chunk")[t]
        return compute(name, (b, t, *rest), x[(b, k, t - self.size * k, *rest)])


def chunks(length: PolyLike, size: int) -> Chunks:
    """⌈length / size⌉ chunks; a symbolic length must be divisible, such as 16·n for size 16."""
    if size < 1:
        raise GraphError(f"a chunk has one step or more, not {size}")
    whole = poly(length)
    if whole.is_constant:
        return Chunks(whole, poly(-(-whole.constant // size)), size)
    return Chunks(whole, divided(whole, size, "length in chunks"), size)
