"""The nodes of which scales are made: largest magnitudes, scales, quotients and products.

Defines `Cut`, which says how a tensor falls into pieces with one scale each, and the builders
`map_node`, `amax_node`, `scale_node` and `block_node`. Relies on the grammar of programs. It gives
no node a schedule.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tang.budget.scale_data import Scale
from tang.errors import ScheduleError
from tang.ir.derived import absolute, div, le, lt, maximum, select
from tang.ir.expr import Expr, apply, arg, index, iota, named, real
from tang.ir.extent import Poly, poly
from tang.ir.format import Format
from tang.ir.graph import Comprehension, Dim
from tang.ir.monoids import MAX
from tang.ir.view import Affine, Read, Ref, View, variable

_LEAST_F32 = Fraction(1, 2**126)
_LEAST_E8M0 = -127
_DOUBLINGS = (64, 32, 16, 8, 4, 2, 1)


@dataclass(frozen=True, slots=True)
class Cut:
    """A tensor and the pieces of it that share a scale."""

    ref: Ref
    shape: tuple[Poly, ...]
    scale: Scale | None

    @property
    def dims(self) -> tuple[Dim, ...]:
        return tuple(Dim(f"d{i}", extent) for i, extent in enumerate(self.shape))

    @property
    def length(self) -> int:
        """The last axis, where there are blocks."""
        return self.shape[-1].constant

    def read(self, ref: Ref) -> Read:
        """A tensor of this shape at this very point."""
        return Read(ref, View(tuple(variable(d.name) for d in self.dims)))

    def check(self, place: str, label: str) -> None:
        """Raise ScheduleError where there is no such piece."""
        if self.scale is None or self.scale.per == "tensor":
            return
        if not self.shape:
            raise ScheduleError(f"{place}: {label} has no axis: take a scale per tensor")
        if self.scale.per == "block":
            last, size = self.shape[-1], self.scale.block
            if not last.is_constant or last.constant % size:
                raise ScheduleError(
                    f"{place}.block: {size} does not divide the last axis of {label}, {last}"
                )

    def piece(self) -> tuple[tuple[Dim, ...], tuple[Dim, ...], tuple[Affine, ...]]:
        """Dims of the pieces, dims within one, and the tensor's coordinates."""
        dims = self.dims
        per = "tensor" if self.scale is None else self.scale.per
        if per == "tensor":
            return (), dims, tuple(variable(d.name) for d in dims)
        if per == "row":
            return dims[:-1], dims[-1:], tuple(variable(d.name) for d in dims)
        size = self.scale.block if self.scale else 1
        outer, inner = Dim("b", poly(self.length // size)), Dim("e", poly(size))
        last = variable("b", size) + variable("e")
        coords = (*(variable(d.name) for d in dims[:-1]), last)
        return (*dims[:-1], outer), (inner,), coords

    def of_piece(self, scales: Ref, blocks: Ref | None) -> Read:
        """The scale of a point: found by a table of blocks where there are some."""
        dims = tuple(variable(d.name) for d in self.dims)
        per = "tensor" if self.scale is None else self.scale.per
        if per == "tensor":
            return Read(scales, View(()))
        if per == "row" or blocks is None:
            return Read(scales, View(dims[:-1]))
        table = Read(blocks, View((dims[-1],)))
        return Read(scales, View((*dims[:-1], variable("@0")), gathers=(table,)))


def map_node(name: str, cut: Cut, reads: tuple[Read, ...], body: Expr) -> Comprehension:
    """A map over every point of a tensor."""
    return Comprehension(name, cut.dims, reads, (body,), outputs=("value",))


def amax_node(name: str, cut: Cut) -> Comprehension:
    """The largest magnitude of every piece; NaN where a piece holds one."""
    point, reduce, coords = cut.piece()
    read = Read(cut.ref, View(coords))
    return Comprehension(name, point, (read,), (absolute(arg(0)),), reduce, monoid=MAX)


def scale_node(name: str, cut: Cut, amax: Ref, format_: Format) -> Comprehension:
    """The scale of every piece."""
    point, _, _ = cut.piece()
    read = Read(amax, View(tuple(variable(d.name) for d in point)))
    power = cut.scale is not None and cut.scale.format == "e8m0"
    body = scale_body(arg(0), format_, power=power)
    return Comprehension(name, point, (read,), (body,), outputs=("value",))


def block_node(name: str, length: int, size: int) -> Comprehension:
    """For every coordinate along an axis the block that it lies in."""
    body = apply("floordiv", iota("d0"), index(size))
    return Comprehension(name, (Dim("d0", poly(length)),), (), (body,), outputs=("value",))


def scale_body(amax: Expr, format_: Format, *, power: bool) -> Expr:
    """The scale that belongs to a largest magnitude: 1 for 0, NaN for NaN and infinities.

    f32 scales are at least 2^−126, so that nothing is divided by zero; e8m0 ones at least 2^−127,
    which is OCP's least.
    """
    if power:
        least = real(Fraction(2) ** (format_.emax + _LEAST_E8M0))
        floor = power_below(maximum(amax, least))
        found = apply("mul", floor, real(Fraction(2) ** -format_.emax))
    else:
        found = maximum(div(amax, real(format_.largest)), real(_LEAST_F32))
    some = select(lt(real(0), amax), found, real(1))
    finite = lt(amax, named("inf"))
    return select(finite, some, named("nan"))


def power_below(x: Expr) -> Expr:
    """2^⌊log2 x⌋ for 2^−127 ≤ x < 2^128, by comparisons with powers of two.

    Every product is by a power of two, so it is exact over the reals and in every binary format
    that holds these numbers.
    """
    power = real(1)
    for k in _DOUBLINGS:
        up, down = real(Fraction(2**k)), real(Fraction(1, 2**k))
        large = le(up, x)
        power = select(large, apply("mul", power, up), power)
        x = select(large, apply("mul", x, down), x)
    for k in _DOUBLINGS:
        up, down = real(Fraction(2**k)), real(Fraction(1, 2**k))
        small = lt(x, real(Fraction(2, 2**k)))
        power = select(small, apply("mul", power, down), power)
        x = select(small, apply("mul", x, up), x)
    return power
