"""Formats: what a draw may ask of every backend that it runs on.

Defines `Formats`, `formats_of` and `schedule_cells`. Relies on what languages lack: WGSL and MSL
have no f64, WGSL has no 64-bit integers. It draws nothing: the same decisions give one program in
all formats, but for its schedules, the facts about its symbols and how far indices reach.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from tang.kernel.ir import BF16, F16, F32, F64, Type

Pair = tuple[Type, Type]


@dataclass(frozen=True, slots=True, kw_only=True)
class Formats:
    """What may be drawn.

    f64  nodes that compute or store in f64; without it, some store in f16 and bf16 instead
    i64  symbols without an upper bound, whose indices need 64 bits; without it each has a fact
    """

    f64: bool = True
    i64: bool = True

    @property
    def pairs(self) -> tuple[tuple[int, Pair], ...]:
        """Weights of (storage, accumulate)."""
        if self.f64:
            return ((70, (F32, F32)), (12, (F32, F64)), (18, (F64, F64)))
        return ((70, (F32, F32)), (12, (F16, F32)), (18, (BF16, F32)))

    def text(self) -> str:
        """What is left out, for reports and findings; "" when nothing is."""
        lacking = [name for name, there in (("f64", self.f64), ("i64", self.i64)) if not there]
        return f"without {' and '.join(lacking)}" if lacking else ""


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
    """The names of the pairs that occur."""
    return tuple(f"store-{s.value}-add-{a.value}" for _, (s, a) in formats.pairs)
