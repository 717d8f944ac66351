"""Formats: what a draw may ask of every backend that it runs on.

Defines `Formats`, `formats_of` and `schedule_cells`. Relies on what languages lack: WGSL and MSL
have no f64, WGSL has no 64-bit integers. It draws nothing: the same decisions give one program in
all formats, but for its schedules, the facts about its symbols and how far indices reach.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from tang.ir.format import custom_format
from tang.kernel.ir import BF16, F16, F32, F64, Type

Pair = tuple[Type, Type]

OWN: Final = custom_format("own", p=3, emin=-3, largest=20, specials="fn")
"""A user's format: its largest number is none of IEEE's."""

_PAIRS: Final[tuple[tuple[int, Pair], ...]] = (
    (35, (F32, F32)),
    (6, (F16, F32)),
    (6, (BF16, F32)),
    (7, (F16, F16)),
    (7, (BF16, BF16)),
    (5, (F32, F16)),
    (5, (F32, BF16)),
    (4, (F16, BF16)),
    (4, (BF16, F16)),
    (8, (F32, F64)),
    (9, (F64, F64)),
    (4, (F64, F32)),
)
_INPUTS: Final[tuple[tuple[int, Type], ...]] = ((70, F32), (11, F16), (10, BF16), (9, F64))


@dataclass(frozen=True, slots=True, kw_only=True)
class Formats:
    """What may be drawn. Every draw may compute and store in f16, bf16 and f32.

    f64  nodes that compute or store in f64, inputs stored in f64; without it f32 takes their place
    i64  symbols without an upper bound, whose indices need 64 bits; without it each has a fact
    """

    f64: bool = True
    i64: bool = True

    @property
    def pairs(self) -> tuple[tuple[int, Pair], ...]:
        """Weights of (storage, accumulate)."""
        return tuple((weight, (self._had(s), self._had(a))) for weight, (s, a) in _PAIRS)

    @property
    def inputs(self) -> tuple[tuple[int, Type], ...]:
        """Weights of the format in which inputs are stored."""
        return tuple((weight, self._had(t)) for weight, t in _INPUTS)

    def text(self) -> str:
        """What is left out, for reports and findings; "" when nothing is."""
        lacking = [name for name, there in (("f64", self.f64), ("i64", self.i64)) if not there]
        return f"without {' and '.join(lacking)}" if lacking else ""

    def _had(self, type_: Type) -> Type:
        return F32 if type_ is F64 and not self.f64 else type_


ALL: Final = Formats()
"""Everything: what C, OpenCL, CUDA and foreign backends are given."""

_LACKS: Final = {
    "msl": Formats(f64=False),
    "wgsl": Formats(f64=False, i64=False),
}


def formats_of(backends: Iterable[str]) -> Formats:
    """What every one of some backends can run."""
    known = [_LACKS.get(b, ALL) for b in backends]
    return Formats(f64=all(f.f64 for f in known), i64=all(f.i64 for f in known))


def schedule_cells(formats: Formats) -> tuple[str, ...]:
    """The names of the pairs that occur, and of the formats of inputs."""
    pairs = (f"store-{s.value}-add-{a.value}" for _, (s, a) in formats.pairs)
    return tuple(dict.fromkeys((*pairs, *(f"inputs-{t.value}" for _, t in formats.inputs))))
