"""Profiles: how a device computes where IEEE 754 leaves a choice or vendors take one, as data.

Defines `Profile`, `IEEE` and the names of its rows. Relies on the types of the kernel IR. It
measures nothing (`tang/device/probe.py` does) and computes nothing (the emulator does).

A row is an operation over a format: "f32 add", or "f32 convert f64" for a conversion from f32.
bf16 is computed in f32 on every device and rounded by integer arithmetic, so rows of f32 hold for
it too. Loads, stores, selects and bit casts move bits and have no rows.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from tang.kernel.accuracy import Accuracy, accuracy_from_data
from tang.kernel.ir import MATH, Type

SUBJECT: Final = (
    "add", "sub", "mul", "neg", "div", "sqrt", "fma", "floor", "lt", "le", "eq",
)  # fmt: skip
"""Operations on floats that have a row per format."""


def row(op: str, type_: Type) -> str:
    """The name of the row of an operation, whose operands are of this type."""
    computed = Type.F32 if type_ is Type.BF16 else type_
    return f"{computed.value} {op}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """How a device computes.

    reads_zero    rows that read subnormal operands as zeros of their sign
    flushes       rows whose subnormal results become zeros of their sign
    early         of those that flush, rows that also flush what is below the smallest normal
                  number when rounded as if exponents had no end, though IEEE rounds it up to there
    native        rows that do not round correctly; replay asks the device for their results
    unsteady      native rows that in a loop give other results than outside: no replay can follow
    fused         whether `fma` rounds once
    contracts     whether a product and a sum may fuse unasked
    reassociates  whether expressions are rewritten as over the reals
    conversions   how conversions to narrower formats round
    formats       narrow formats that kernels may store, convert and compute in
    subgroup      threads that run in lockstep; 0 where the device does not say
    functions     builtins as measured, where they were
    converts      conversions as measured, "f32 f16" → how they round, where they were
    """

    reads_zero: tuple[str, ...] = ()
    flushes: tuple[str, ...] = ()
    early: tuple[str, ...] = ()
    native: tuple[str, ...] = ()
    unsteady: tuple[str, ...] = ()
    fused: bool = True
    contracts: bool = False
    reassociates: bool = False
    conversions: str = "rne"
    formats: tuple[str, ...] = ("f16", "bf16")
    subgroup: int = 0
    functions: tuple[Accuracy, ...] = ()
    converts: tuple[tuple[str, str], ...] = ()

    @property
    def exact(self) -> bool:
        """Whether every operation gives the bits of IEEE 754, so that plain replay holds."""
        return not (self.reads_zero or self.flushes or self.native)

    def to_data(self) -> dict[str, Any]:
        """The profile as plain data, in a fixed order."""
        found = {f.name: getattr(self, f.name) for f in fields(self)}
        plain = {k: list(v) if isinstance(v, tuple) else v for k, v in found.items()}
        plain["functions"] = [f.to_data() for f in self.functions]
        return {**plain, "converts": dict(self.converts)}

    def to_text(self) -> str:
        """The profile in one line."""
        parts = [
            f"fma {'fused' if self.fused else 'unfused'}",
            f"contraction {'yes' if self.contracts else 'none'}",
            f"rewriting {'yes' if self.reassociates else 'none'}",
            f"subnormals {_rows({*self.reads_zero, *self.flushes}, 'flushed by') or 'kept'}",
            f"rounding {_rows(self.native, 'the device its own in') or 'correct'}",
            *([f"unsteady in loops {'; '.join(self.unsteady)}"] if self.unsteady else []),
            f"conversions {self._rounding()}",
            f"formats {' '.join(self.formats)}",
        ]
        return ", ".join(parts) + (f", subgroups of {self.subgroup}" if self.subgroup else "")

    def measured_lines(self) -> list[str]:
        """The builtins as measured, a line per format, and what a `*` there stands for."""
        lines = []
        for t in ("f32", "f64", "f16"):
            rows = [a for a in self.functions if a.row.startswith(t)]
            if rows:
                lines.append(_measured_line(t, rows))
        notes = [f"{a.row}: {n}" for a in self.functions for n in a.notes if "f16" not in a.row]
        return [*lines, *(f"* {n}" for n in notes)]

    def _rounding(self) -> str:
        """How conversions round: one word where those that round all do so."""
        ways = {way for _, way in self.converts if way != "exact"}
        if len(ways) <= 1:
            return next(iter(ways), self.conversions)
        return " ".join(f"{pair.replace(' ', '→')} {way}" for pair, way in self.converts)


def _measured_line(format_: str, rows: Sequence[Accuracy]) -> str:
    cells = []
    for a in rows:
        cell = f"{a.row.split()[1]} {a.ulp:.3g}"
        if a.ulp > _MANY:
            cell += f" ({a.absolute:.1g} absolute)"
        if a.reach < math.inf:
            cell += f" (to 2^{int(math.log2(a.reach))})" if a.reach else " (nowhere)"
        cells.append(cell + ("*" if a.notes else ""))
    return f"largest measured errors in {format_} ulps: {', '.join(cells)}"


def profile_from_data(data: dict[str, Any]) -> Profile:
    """The profile that `to_data` wrote; raises TypeError for a field that there is none of."""
    given: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in data.items()}
    given["functions"] = tuple(accuracy_from_data(f) for f in data.get("functions", ()))
    given["converts"] = tuple(data.get("converts", {}).items())
    return Profile(**given)


_MANY: Final = 64
"""Ulps from which an absolute error says more."""


def _rows(rows: Collection[str], words: str) -> str:
    return f"{words} {'; '.join(sorted(rows))}" if rows else ""


def with_native_functions(profile: Profile) -> Profile:
    """The profile of a device whose functions of MATH are its own builtins.

    Replay then asks the device for each of their results. What was measured is left out: it says
    how good they are, not what they give.
    """
    own = tuple(f"{t.value} {op}" for t in (Type.F16, Type.F32, Type.F64) for op in MATH)
    return replace(profile, native=(*profile.native, *own), functions=(), converts=())


IEEE: Final = Profile()
"""Every operation as IEEE 754 says, rounded to nearest even."""
