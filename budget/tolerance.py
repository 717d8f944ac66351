"""A tolerance of a test, as a value: what it allows, of which inputs, and why.

Defines `Tolerance`, `allowed_by`, `says_nothing`, `blind_share`, `largest_of` and `of_numbers`. It
relies on NumPy and derives nothing: `report_tolerance` does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tang.errors import BudgetError
from tang.ir.given import apart

Array = npt.NDArray[Any]
F64Array = npt.NDArray[np.float64]

KINDS: Final = ("equality", "shape", "range", "data", "none")
CURE: Final = (
    "take finer accumulators or formats, or a schedule instead of a preset (the order of its sums "
    "is known)"
)
"""What makes a tolerance narrower."""
_SCOPE: Final = {
    "shape": "for all inputs that overflow nowhere",
    "range": "for all inputs in these ranges",
    "data": "for these inputs alone",
}


@dataclass(frozen=True, slots=True)
class Tolerance:
    """|actual − f64| ≤ rtol·|f64| + scale·T + atol for one output; equality for indices and bools.

    kind        "equality": of indices and bools, for all inputs; "shape": for all that overflow
                nowhere; "range": for all within ranges; "data": for the inputs that were given;
                "none": too little is known
    scale       c·u;  largest  T on the inputs at hand, NaN without any
    derivation  how it came about, line by line
    value       the largest |f64| on the inputs at hand, NaN without any
    vacuous     whether it is no smaller than that: zeros would pass, it tests nothing
    tight       the largest of `bound`, which is what all that is known of the inputs at hand allows
                of each element of the first set of them, infinite where nothing is known; NaN and
                None where that was not asked
    order       of which orders of summation these speak
    unknown     how many elements of the inputs at hand have no bound
    blind       the share of elements at which a 0 would pass that is wrong
    smallest    normal number of the format: what may pass for a zero
    """

    output: str
    format: str
    kind: str
    rtol: float = 0.0
    scale: float = 0.0
    atol: float = 0.0
    largest: float = float("nan")
    derivation: tuple[str, ...] = ()
    value: float = float("nan")
    vacuous: bool = False
    tight: float = float("nan")
    order: str = ""
    unknown: int = 0
    blind: float = 0.0
    smallest: float = 0.0
    bound: Array | None = field(default=None, repr=False, compare=False)

    @property
    def plain(self) -> float:
        """atol for tests that know no T: the tolerance at the largest T of the inputs at hand."""
        return self.atol + (self.scale * self.largest if self.scale else 0.0)

    @property
    def ok(self) -> bool:
        """Whether a test can use it."""
        return self.kind != "none" and not self.vacuous

    @property
    def scope(self) -> str:
        """Of which inputs it speaks; "" where that is no question."""
        order = f", {self.order}" if self.kind == "data" and self.order else ""
        return _SCOPE.get(self.kind, "") + order

    def vacuity(self, source: str) -> str:
        """That it says nothing of some inputs, and why."""
        on = f" on {source}" if source else ""
        than = "larger" if self.tight > self.value else "no smaller"
        tight, value = apart(self.tight, self.value)
        return f"{tight} is {than} than the largest value, {value}{on}"

    def formula(self) -> str:
        """What is allowed, in a line."""
        if self.kind == "none":
            return "no tolerance can be derived"
        if self.format == "exact":
            return "actual == expected"
        parts = [f"{self.rtol:.3g} |f64|"] if self.rtol else []
        parts += [f"{self.scale:.3g} T"] if self.scale else []
        parts += [f"{self.atol:.3g}"] if self.atol or not parts else []
        return "|actual - f64| <= " + " + ".join(parts)

    def to_data(self) -> dict[str, object]:
        """The tolerance as JSON takes it."""
        names = (
            "output", "format", "kind", "rtol", "scale", "atol", "largest", "plain", "value",
            "vacuous", "tight", "order", "unknown", "blind",
        )  # fmt: skip
        found: dict[str, object] = {n: getattr(self, n) for n in names}
        shown = {
            k: v if not isinstance(v, float) or np.isfinite(v) else str(v) for k, v in found.items()
        }
        return {
            **shown, "ok": self.ok, "formula": self.formula(), "scope": self.scope,
            "derivation": list(self.derivation),
        }  # fmt: skip


def says_nothing(allowed: Sequence[Array], exact: Sequence[Array], smallest: float) -> bool:
    """Whether as much is allowed as the largest value is, so that zeros would pass.

    allowed   of every element of sets of results;  exact  the results in f64
    smallest  what may be allowed where all results are 0: the smallest normal number of the format
    """
    pairs = list(_numbers(allowed, exact))
    largest = max((float(np.max(e, initial=0.0)) for _, e in pairs), default=0.0)
    most = max((float(np.max(a, initial=0.0)) for a, _ in pairs), default=0.0)
    return not (most < largest if largest else most <= smallest)


def blind_share(allowed: Sequence[Array], exact: Sequence[Array]) -> float:
    """The share of elements at which a 0 would pass that is wrong."""
    pairs = list(_numbers(allowed, exact))
    total = sum(e.size for _, e in pairs)
    blind = sum(int(((e <= a) & (e > 0)).sum()) for a, e in pairs)
    return blind / total if total else 0.0


def _numbers(allowed: Sequence[Array], exact: Sequence[Array]) -> Iterator[tuple[Array, Array]]:
    """What is allowed of the elements that are numbers, and their magnitudes."""
    for a, e in zip(allowed, exact, strict=True):
        known = np.isfinite(e)
        yield a[known], np.abs(np.asarray(e[known], np.float64))


def of_numbers(bounds: Array, exact: Array) -> F64Array:
    """Bounds of the elements that are numbers; the others must be the same."""
    return np.asarray(np.where(np.isfinite(exact), bounds, 0.0), np.float64)


def largest_of(values: Array) -> float:
    """The largest magnitude of the elements that are numbers, 0 of none."""
    sizes = np.abs(np.asarray(values, np.float64))
    return float(np.max(sizes[np.isfinite(sizes)], initial=0.0))


def allowed_by(tolerance: Tolerance, expected: Array, terms: Array | None) -> F64Array:
    """What a tolerance allows at every element; BudgetError where it needs T and has none."""
    value = np.abs(np.asarray(expected, np.float64))
    if tolerance.bound is not None:
        return np.asarray(np.broadcast_to(tolerance.bound, value.shape), np.float64)
    if tolerance.scale and terms is None:
        raise BudgetError(
            f"the tolerance of {tolerance.output!r} is {tolerance.formula()}, where T is the sum "
            "of |terms|: pass inputs=, from which T is computed, or a budget="
        )
    with np.errstate(all="ignore"):
        allowed = tolerance.rtol * value + tolerance.atol
        if tolerance.scale and terms is not None:
            allowed = allowed + tolerance.scale * terms
        return of_numbers(allowed, value)
