"""Data certificates as values, as text and as JSON.

Defines `DataRow`, `DataCertificate`, `constants_of` (the constants behind the bounds with where
they come from), `digest` and `sealed`. Relies on plans for the functions that occur in them. It
bounds nothing itself; whether a certificate holds is the question of `tang.budget.data_check`.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tang.errors import BudgetError
from tang.ir.format import ALL_FORMATS, Format
from tang.kernel.narrow import conversion_named
from tang.kernel.plan import Plan

F64Array = npt.NDArray[np.float64]

KIND: Final = "tang data certificate"
VERSION: Final = 2
FORMULA: Final = (
    "per operation: E = k·2^e + sup{|op(x + d) − op(x)| : |d_i| ≤ E_i}, run along the plan; e = "
    "max(floor(log2 |computed|), emin) and k = u for IEEE operations (Higham 2002, 2.1 and 3.1), "
    "k = 2·N·u at |computed| / (1 − 2·N·u) for a function within N ulps; |rounded − x| as computed "
    "for narrow formats"
)


@dataclass(frozen=True, slots=True, eq=False)
class DataRow:
    """One stored tensor.

    values, exact, bounds  what the formats give, f64 under the same decisions, and a bound on the
                distance of `values` from exact arithmetic; infinite where nothing is known
    doubtful    elements that hang on a decision that rounding flipped
    overflows   elements that are finite in f64 and not in the format, or saturated
    underflows  elements below the smallest normal number that are not what they should be
    dominating  what makes most of the largest bound: "rounding in NODE", or "input NAME"
    share       of its own last step in the largest bound: 1 where operands are exact
    """

    name: str
    format: str
    values: F64Array = field(repr=False)
    exact: F64Array = field(repr=False)
    bounds: F64Array = field(repr=False)
    doubtful: int
    overflows: int
    underflows: int
    dominating: str
    share: float

    @property
    def elements(self) -> int:
        return int(self.values.size)

    @property
    def _known(self) -> npt.NDArray[np.bool_]:
        both = np.isfinite(self.values) & np.isfinite(self.exact)
        return np.asarray(both & np.isfinite(self.bounds))

    @property
    def errors(self) -> F64Array:
        """Signed errors of the elements that have a finite bound."""
        known = self._known
        return np.asarray(self.values[known] - self.exact[known])

    @property
    def error(self) -> float:
        return float(np.abs(self.errors).max(initial=0.0))

    @property
    def bound(self) -> float:
        """The largest finite bound."""
        return float(self.bounds[np.isfinite(self.bounds)].max(initial=0.0))

    @property
    def largest(self) -> float:
        return float(np.abs(self.exact[np.isfinite(self.exact)]).max(initial=0.0))

    @property
    def finite(self) -> int:
        """Elements with a finite bound."""
        return int(np.isfinite(self.bounds).sum())

    @property
    def vacuous(self) -> int:
        """Elements whose bound is finite and at least as large as the value, which is not 0."""
        with np.errstate(invalid="ignore"):
            large = self.bounds >= np.abs(self.exact)
        return int((large & np.isfinite(self.bounds) & (self.exact != 0)).sum())

    @property
    def ratios(self) -> F64Array:
        """Bound over error, where there is an error."""
        error = np.abs(self.errors)
        inexact = error > 0
        with np.errstate(over="ignore"):
            return np.asarray(self.bounds[self._known][inexact] / error[inexact])

    @property
    def bias(self) -> float:
        """Mean error over mean |error|: −1 … 1, near 0 where rounding has no preference."""
        size = float(np.abs(self.errors).sum())
        return float(self.errors.sum()) / size if size > 0 else 0.0

    @property
    def ratio(self) -> float | None:
        """The median of `ratios`; None where nothing is inexact."""
        return float(np.median(self.ratios)) if self.ratios.size else None

    def to_data(self) -> dict[str, Any]:
        """What of the row a check can compute again, over the elements that have a finite bound.

        Arrays are base64 of little-endian f64.
        """
        exact = np.abs(self.exact[np.isfinite(self.exact) & np.isfinite(self.bounds)])
        return {
            "name": self.name, "format": self.format, "shape": list(self.values.shape),
            "elements": self.elements, "largest": float(exact.max(initial=0.0)),
            "error": self.error, "bound": self.bound, "finite": self.finite,
            "vacuous": self.vacuous,
            "values": packed(self.values), "bounds": packed(self.bounds),
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Constant:
    """A number behind the bounds and where it comes from."""

    name: str
    value: float
    provenance: str


@dataclass(frozen=True, slots=True, eq=False)
class DataCertificate:
    """Bounds of every stored tensor for given inputs.

    rows       per stored tensor of the rewritten program;  outputs  name → row
    graph      digest of the program as it was given;  program  the rewritten one, as JSON
    schedule   of the rewritten program, as JSON
    plan       digest of the plan's text: formats, orders of summation and functions
    inputs     digests of the data;  seed  what it was drawn from, if that is known
    flips      decisions that rounding took otherwise than f64
    """

    rows: tuple[DataRow, ...]
    outputs: Mapping[str, str]
    graph: str
    program: str = field(repr=False)
    schedule: str = field(repr=False)
    plan: str
    inputs: Mapping[str, str]
    seed: int | None
    sizes: Mapping[str, int]
    flips: int
    constants: tuple[Constant, ...]
    strength: str = "data"

    def row(self, name: str) -> DataRow:
        """The row of a tensor "node.output", or of an output of the program by its name.

        Raises BudgetError for any other name.
        """
        wanted = self.outputs.get(name, name)
        for r in self.rows:
            if r.name == wanted:
                return r
        known = ", ".join((*self.outputs, *(r.name for r in self.rows)))
        raise BudgetError(f"the certificate has no tensor {name!r}: one of {known}")

    def to_data(self) -> dict[str, Any]:
        """The certificate as plain data: all that `check_data` holds, and the seed."""
        constants = [{"name": c.name, "value": c.value, "from": c.provenance}
                     for c in self.constants]  # fmt: skip
        return sealed({
            "kind": KIND, "version": VERSION, "strength": self.strength, "formula": FORMULA,
            "graph": self.graph, "plan": self.plan, "inputs": dict(self.inputs),
            "seed": self.seed, "sizes": dict(self.sizes), "constants": constants,
            "outputs": dict(self.outputs), "program": self.program, "schedule": self.schedule,
            "nodes": [r.to_data() for r in self.rows],
        })  # fmt: skip

    def to_json(self) -> str:
        """Text that `tang.budget.check_data` verifies."""
        return json.dumps(self.to_data(), allow_nan=False) + "\n"

    def to_text(self) -> str:
        """A line per tensor."""
        return "\n".join(_line(r) for r in self.rows)


def _line(r: DataRow) -> str:
    notes = [f"{n} {word}" for n, word in (
        (r.elements - r.finite, "without a bound"), (r.vacuous, "vacuous"),
        (int((~np.isfinite(r.exact)).sum()), "no numbers in f64"),
        (r.overflows, "overflows"), (r.underflows, "underflows"),
    ) if n]  # fmt: skip
    tail = f"; {', '.join(notes)}, of {r.elements}" if notes else ""
    if r.elements and not r.finite:
        return f"{r.name} ({r.format}): nothing is known{tail}"
    ratio = "exact" if r.ratio is None else f"median bound / error {r.ratio:.3g}"
    return (
        f"{r.name} ({r.format}): error {r.error:.3g}, bound {r.bound:.3g}, largest value "
        f"{r.largest:.3g}, {ratio}, bias {r.bias:+.2f}, most from {r.dominating}{tail}"
    )


def sealed(data: Mapping[str, Any]) -> dict[str, Any]:
    """The data with a digest of all the rest, by which damage is found."""
    rest = {k: v for k, v in data.items() if k != "digest"}
    return {**rest, "digest": digest(json.dumps(rest, sort_keys=True, separators=(",", ":")))}


def packed(array: F64Array) -> str:
    """An array as base64 of little-endian f64."""
    return base64.b64encode(np.ascontiguousarray(array, "<f8").tobytes()).decode()


def digest(data: str | npt.NDArray[Any]) -> str:
    """sha256 of a text, or of an array's shape, type and little-endian bytes."""
    if isinstance(data, str):
        return hashlib.sha256(data.encode()).hexdigest()
    plain = data.astype(data.dtype.newbyteorder("<"))
    head = f"{plain.dtype.str}{list(data.shape)}"
    return hashlib.sha256(head.encode() + plain.tobytes()).hexdigest()


def constants_of(plan: Plan) -> tuple[Constant, ...]:
    """Units of the formats of a plan, and the ulps that its functions claim."""
    formats: dict[str, Format] = {}
    ulps: dict[str, float] = {}
    for b in plan.buffers:
        if b.conversion is not None:
            formats[b.conversion.format.name] = b.conversion.format
        elif b.type.is_float:
            formats[b.type.value] = ALL_FORMATS[b.type.value]
    for launch in plan.launches:
        for f in launch.kernel.functions:
            if f.implements and conversion_named(f.implements) is None and math.isfinite(f.ulp):
                ulps[f.implements] = max(ulps.get(f.implements, 0.0), f.ulp)
    units = (
        Constant(f"u({n})", float(f.unit_roundoff), "2^-p of the format, tang.ir.format")
        for n, f in sorted(formats.items())
    )
    claims = (
        Constant(f"ulp({n})", u, "claimed by tang.kernel.expand, tested in ball arithmetic")
        for n, u in sorted(ulps.items())
    )
    slack = Constant("slack", 1 + 2.0**-30, "covers the evaluation of bounds in f64")
    return (*units, *claims, slack)
