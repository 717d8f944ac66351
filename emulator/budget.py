"""Error budgets: how far a result may be from its f64 reference.

Defines `ErrorBudget`, `Budgets` (one per output or node), `within` and `accepts`. Relies on the
number formats. It does not predict errors (`bounds`) and never hides a NaN, a shape or a dtype
behind a tolerance or a percentile.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tang.errors import BudgetError
from tang.ir.format import Format, format_named
from tang.ir.given import shown

Array = npt.NDArray[Any]
F64Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorBudget:
    """Accept |actual − reference| ≤ abs + rel·|reference| + ulp·ulp(reference) + c·u·T.

    ulp(x) is that of the result's format and u its unit roundoff; T is Σ|terms| of the reduction
    that made the element. Every number is finite and ≥ 0, else BudgetError.
    percentile  the share of elements, in percent, that must be within: 100 asks it of the largest
                error. NaNs and infinities that differ are never forgiven.
    """

    abs: float = 0.0
    rel: float = 0.0
    ulp: float = 0.0
    c: float = 0.0
    percentile: float = 100.0

    def __post_init__(self) -> None:
        for name in TERMS:
            value = getattr(self, name)
            if not _is_number(value) or value < 0:
                raise BudgetError(f"{name} must be a finite number ≥ 0, not {shown(value)}")
        if not _is_number(self.percentile) or not 0 < self.percentile <= 100:
            raise BudgetError(
                f"percentile must be above 0 and at most 100, not {shown(self.percentile)}"
            )

    def __str__(self) -> str:
        """Its terms as on the command line: "rel=0.001, abs=1e-06"."""
        terms = [f"{n}={getattr(self, n):g}" for n in ("rel", "abs", "ulp", "c")
                 if getattr(self, n)]  # fmt: skip
        if self.percentile != 100:
            terms.append(f"percentile={self.percentile:g}")
        return ", ".join(terms) or "abs=0"


TERMS: Final = ("abs", "rel", "ulp", "c")
_SETTINGS: Final = (*TERMS, "percentile")


def _is_number(value: object) -> bool:
    """Whether it is a finite number, and no larger than f64 has them."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= sys.float_info.max


def budget_from(settings: Mapping[str, float]) -> ErrorBudget:
    """A budget from named numbers; raises BudgetError for an unknown name."""
    if not isinstance(settings, Mapping):
        raise BudgetError(f"a budget's terms are numbers by name, not {settings!r}")
    unknown = sorted(settings.keys() - set(_SETTINGS), key=str)
    if unknown:
        raise BudgetError(f"unknown budget term {unknown[0]!r}: one of {', '.join(_SETTINGS)}")
    return ErrorBudget(**settings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets:
    """Which budget each result has to keep.

    default  of every output of the program that `named` does not list; None asks nothing
    named    by output or node
    """

    default: ErrorBudget | None = None
    named: Mapping[str, ErrorBudget] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.named, Mapping):
            raise BudgetError(f"named budgets are a mapping of them, not {self.named!r}")
        given = {} if self.default is None else {"*": self.default}
        for name, budget in (*given.items(), *self.named.items()):
            if not isinstance(budget, ErrorBudget):
                raise BudgetError(f"the budget of {name!r} is an ErrorBudget, not {budget!r}")

    def of_output(self, output: str, node: str) -> ErrorBudget | None:
        """The budget of an output of the program, which a node computes."""
        return self.named.get(output) or self.named.get(node) or self.default

    def of_node(self, node: str) -> ErrorBudget | None:
        """The budget of a node that is no output: only one that names it."""
        return self.named.get(node)

    def check(self, outputs: Collection[str], nodes: Collection[str]) -> None:
        """Raise BudgetError for a name that the program does not have."""
        known = [*outputs, *(n for n in nodes if n not in outputs)]
        for name in self.named:
            if name not in known:
                raise BudgetError(
                    f"a budget names {name!r}, which is no output or node: one of "
                    f"{', '.join(known)}"
                )


def budgets_from(value: object) -> Budgets:
    """Budgets from one for all outputs, or from a mapping by output or node.

    In a mapping values are budgets or their named numbers, and "*" stands for every output not
    listed. Raises BudgetError for anything else.
    """
    if isinstance(value, Budgets):
        return value
    if value is None or isinstance(value, ErrorBudget):
        return Budgets(default=value)
    if not isinstance(value, Mapping):
        raise BudgetError(f"a budget is an ErrorBudget or a mapping of them, not {value!r}")
    found = {str(name): _budget(str(name), b) for name, b in value.items()}
    default = found.pop("*", None)
    return Budgets(default=default, named=found)


def _budget(name: str, value: object) -> ErrorBudget:
    if isinstance(value, ErrorBudget):
        return value
    if not isinstance(value, Mapping):
        raise BudgetError(f"the budget of {name!r} is an ErrorBudget or its terms, not {value!r}")
    try:
        return budget_from(value)
    except BudgetError as e:
        raise BudgetError(f"budget of {name!r}: {e}") from None


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
    """Whether as many elements are within the budget as its percentile asks.

    An empty array equals only an empty one; a NaN or an infinity on one side alone, and a
    difference of integers or bools, is beyond every percentile.
    """
    kept = within(actual, reference, budget, terms, format)
    if kept.all() or budget.percentile == 100 or actual.shape != reference.shape:
        return bool(kept.all())
    if _kind(actual) != "real" or _kind(reference) != "real":
        return False
    finite = np.isfinite(actual.astype(np.float64)) & np.isfinite(reference.astype(np.float64))
    return bool((kept | finite).all() and enough(kept, budget))


def enough(kept: npt.NDArray[np.bool_], budget: ErrorBudget) -> bool:
    """Whether the share of elements that are within is what the percentile asks."""
    return bool(np.count_nonzero(kept) * 100 >= budget.percentile * kept.size)


def _kind(array: Array) -> str:
    if array.dtype.kind == "b":
        return "bool"
    return "index" if array.dtype.kind in "iu" else "real"
