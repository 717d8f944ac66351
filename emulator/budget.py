"""Error budgets: how far a result may be from its f64 reference.

Defines `ErrorBudget` and `within`. Relies on the number formats. It does not predict errors
(`bounds`) and never hides a NaN, a shape or a dtype behind a tolerance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tang.errors import BudgetError
from tang.ir.format import Format, format_named

Array = npt.NDArray[Any]
F64Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorBudget:
    """Accept |actual − reference| ≤ abs + rel·|reference| + ulp·ulp(reference) + c·u·T.

    ulp(x) is that of the result's format and u its unit roundoff; T is Σ|terms| of the reduction
    that made the element. Every number is finite and ≥ 0, else BudgetError.
    """

    abs: float = 0.0
    rel: float = 0.0
    ulp: float = 0.0
    c: float = 0.0

    def __post_init__(self) -> None:
        for name in ("abs", "rel", "ulp", "c"):
            value = getattr(self, name)
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not number or not math.isfinite(value) or value < 0:
                raise BudgetError(f"{name} must be a finite number ≥ 0, not {value!r}")


def budget_from(settings: dict[str, float]) -> ErrorBudget:
    """A budget from named numbers; raises BudgetError for an unknown name."""
    known = ("abs", "rel", "ulp", "c")
    unknown = sorted(settings.keys() - set(known))
    if unknown:
        raise BudgetError(f"unknown budget term {unknown[0]!r}: one of {', '.join(known)}")
    return ErrorBudget(**settings)


def ulp_of(x: npt.ArrayLike, format: str | Format) -> F64Array:
    """The distance between neighbours of `x` in the format, at least its smallest subnormal."""
    target = format_named(format) if isinstance(format, str) else format
    value = np.asarray(x, np.float64)
    with np.errstate(all="ignore"):
        smallest = float(target.quantum)
        _, exponent = np.frexp(np.maximum(np.where(np.isfinite(value), np.abs(value), 0), smallest))
        step = np.maximum(exponent - target.p, target.emin - target.p + 1)
        return np.asarray(np.ldexp(1.0, step), np.float64)


def tolerance(
    reference: npt.ArrayLike,
    budget: ErrorBudget,
    format: str | Format = "f32",
    terms: npt.ArrayLike | None = None,
) -> F64Array:
    """The allowed distance of each element; raises BudgetError when c needs terms and has none."""
    target = format_named(format) if isinstance(format, str) else format
    value = np.abs(np.asarray(reference, np.float64))
    if budget.c and terms is None:
        raise BudgetError("a budget with c ≠ 0 needs T = Σ|terms| of each element: pass terms")
    with np.errstate(all="ignore"):
        allowed = budget.abs + (budget.rel * value if budget.rel else 0.0)
        if budget.ulp:
            allowed = allowed + budget.ulp * ulp_of(value, target)
        if budget.c:
            u = float(target.unit_roundoff)
            allowed = allowed + budget.c * u * np.asarray(terms, np.float64)
        return np.asarray(np.broadcast_to(allowed, value.shape), np.float64)


def within(
    actual: Array,
    reference: Array,
    budget: ErrorBudget,
    terms: npt.ArrayLike | None = None,
    format: str | Format = "f32",
) -> npt.NDArray[np.bool_]:
    """Per element, whether `actual` is acceptable for the f64 `reference`.

    NaN is acceptable for NaN alone, an infinity for the same infinity alone. Integers and bools
    must be equal. A different shape or kind of dtype is acceptable nowhere: the result is then
    one False, so `all()` of it fails even when an array is empty.
    """
    if actual.shape != reference.shape or _kind(actual) != _kind(reference):
        return np.zeros(1, np.bool_)
    if _kind(actual) != "real":
        return np.asarray(actual == reference)
    a, r = actual.astype(np.float64), reference.astype(np.float64)
    with np.errstate(all="ignore"):
        near = np.abs(a - r) <= tolerance(r, budget, format, terms)
    finite = np.isfinite(a) & np.isfinite(r)
    same = (a == r) | (np.isnan(a) & np.isnan(r))
    return np.asarray(same | (finite & near))


def accepts(
    actual: Array,
    reference: Array,
    budget: ErrorBudget,
    terms: npt.ArrayLike | None = None,
    format: str | Format = "f32",
) -> bool:
    """Whether every element is within the budget (an empty array equals only an empty one)."""
    return bool(within(actual, reference, budget, terms, format).all())


def _kind(array: Array) -> str:
    if array.dtype.kind == "b":
        return "bool"
    return "index" if array.dtype.kind in "iu" else "real"
