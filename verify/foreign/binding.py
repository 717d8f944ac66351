"""Bound launches: a launch description with numbers for the extents.

Defines `BoundLaunch` and `bind_launch`. Relies on the description and on a graph without symbols.
It holds no data: `memory` lays tensors out in the buffers described here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Final

from tang.ir.graph import Graph
from tang.ir.view import Ref
from tang.kernel.ir import Type
from tang.verify.foreign.expression import Expression, ExpressionError
from tang.verify.foreign.launch import (
    BufferParameter,
    LaunchError,
    LaunchSpec,
    Part,
    ScalarParameter,
    SharedParameter,
)

LARGEST: Final = 1 << 30
"""Elements of a buffer; more is a mistake of the description."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A tensor in a buffer: its names in the specification, shape, strides, first element."""

    source: str
    result: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int

    @property
    def needs(self) -> int:
        """Elements from the start of the buffer up to the last one of the tensor."""
        if 0 in self.shape:
            return 0
        reach = sum((n - 1) * s for n, s in zip(self.shape, self.strides, strict=True))
        return self.offset + reach + 1


@dataclass(frozen=True, slots=True)
class Buffer:
    """Memory of a parameter: its elements and the tensors in it."""

    name: str
    type: Type
    elements: int
    slots: tuple[Slot, ...]
    writable: bool


@dataclass(frozen=True, slots=True)
class Scalar:
    """A value of a parameter."""

    name: str
    type: Type
    value: int | float


@dataclass(frozen=True, slots=True)
class Shared:
    """Workgroup memory of a parameter."""

    name: str
    bytes: int


@dataclass(frozen=True, slots=True)
class BoundLaunch:
    """Parameters in order, and the geometry: None where the description gives none."""

    parameters: tuple[Buffer | Scalar | Shared, ...]
    grid: tuple[int, int, int] | None
    workgroup: tuple[int, int, int] | None
    shared: int

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        return tuple(p for p in self.parameters if isinstance(p, Buffer))

    @property
    def scalars(self) -> tuple[Scalar, ...]:
        return tuple(p for p in self.parameters if isinstance(p, Scalar))


def bind_launch(spec: LaunchSpec, graph: Graph, sizes: Mapping[str, int]) -> BoundLaunch:
    """The launch for a graph bound to sizes; raises LaunchError naming what has no sound value."""
    return BoundLaunch(
        tuple(_parameter(p, graph, sizes) for p in spec.parameters),
        _triple(spec.grid, "grid", sizes, 0),
        _triple(spec.workgroup, "workgroup", sizes, 1),
        _natural(spec.shared, "shared", sizes),
    )


def _parameter(
    p: BufferParameter | ScalarParameter | SharedParameter, graph: Graph, sizes: Mapping[str, int]
) -> Buffer | Scalar | Shared:
    if isinstance(p, ScalarParameter):
        return Scalar(p.name, p.type, _scalar(p, sizes))
    if isinstance(p, SharedParameter):
        return Shared(p.name, _natural(p.bytes, p.name, sizes))
    slots = tuple(_slot(q, p.name, graph, sizes) for q in p.parts)
    needed = max((s.needs for s in slots), default=0)
    elements = needed if p.elements is None else _natural(p.elements, p.name, sizes)
    if elements < needed:
        raise LaunchError(f"buffer {p.name!r} has {elements} elements, its tensors need {needed}")
    if elements > LARGEST:
        raise LaunchError(f"buffer {p.name!r} has {elements} elements, more than {LARGEST}")
    return Buffer(p.name, p.type, elements, slots, p.writable)


def _scalar(p: ScalarParameter, sizes: Mapping[str, int]) -> int | float:
    value = _evaluated(p.value, p.name, sizes)
    if p.type.is_float:
        return float(value)
    if value.denominator != 1:
        raise LaunchError(f"scalar {p.name!r} is {p.type.value}, but {p.value.text!r} is {value}")
    bits = 8 * p.type.bytes
    signed = p.type in (Type.I32, Type.I64)
    low, high = (-(1 << bits - 1), 1 << bits - 1) if signed else (0, 1 << bits)
    if not low <= value < high:
        raise LaunchError(f"scalar {p.name!r} is {p.type.value}, which does not hold {value}")
    return value.numerator


def _slot(q: Part, name: str, graph: Graph, sizes: Mapping[str, int]) -> Slot:
    shape = tuple(p.constant for p in graph.shape(_ref(q, graph)))
    if q.strides is None:
        strides = tuple(prod(shape[i + 1 :]) for i in range(len(shape)))
    else:
        strides = tuple(_natural(s, f"strides of {name}", sizes) for s in q.strides)
    if q.result and _overlaps(shape, strides):
        raise LaunchError(f"tensor {q.result!r} in buffer {name!r}: its elements overlap")
    return Slot(q.source, q.result, shape, strides, _natural(q.offset, f"offset of {name}", sizes))


def _ref(q: Part, graph: Graph) -> Ref:
    if q.source:
        return Ref(q.source)
    return next(o.ref for o in graph.outputs if o.name == q.result)


def _overlaps(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether strides may map two points to one element (nested strides never do)."""
    reach = 0
    for stride, extent in sorted(zip(strides, shape, strict=True)):
        if extent > 1:
            if stride <= reach:
                return True
            reach += stride * (extent - 1)
    return False


def _triple(
    extents: tuple[Expression, ...], name: str, sizes: Mapping[str, int], least: int
) -> tuple[int, int, int] | None:
    if not extents:
        return None
    found = [_natural(e, name, sizes) for e in extents] + [1, 1]
    if min(found) < least:
        raise LaunchError(f"{name} is {found[: len(extents)]} for {dict(sizes)}")
    return found[0], found[1], found[2]


def _natural(e: Expression, place: str, sizes: Mapping[str, int]) -> int:
    value = _evaluated(e, place, sizes)
    if value.denominator != 1:
        raise LaunchError(f"{place}: {e.text!r} is {value} for {dict(sizes)}: use // or ceil(…)")
    if value < 0:
        raise LaunchError(f"{place}: {e.text!r} is {value} for {dict(sizes)}")
    return value.numerator


def _evaluated(e: Expression, place: str, sizes: Mapping[str, int]) -> Fraction:
    try:
        return e.evaluate(sizes)
    except ExpressionError as error:
        raise LaunchError(f"{place}: {error}") from error
