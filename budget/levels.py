"""Where a prediction by plain folds misleads: both levels of emulation, node by node.

Defines `compare_levels` and its report. Relies on replay at both levels and on the interpreter for
f64 values of every stored tensor, over the data as it is stored. It bounds no error.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tang.budget.emulation import folded
from tang.budget.prepared import subject_of
from tang.device.storage import unpack
from tang.emulator.replay import replay
from tang.interpreter import fast_interpret
from tang.ir.expr import REAL
from tang.ir.graph import Graph
from tang.kernel.plan import Buffer
from tang.rewrite.engine import rule_names
from tang.verify.subject import Subject, computed

Array = npt.NDArray[Any]
F64Array = npt.NDArray[np.float64]

MISLEADS: Final = 1.5
"""A prediction of the largest error that is off by more than this factor misleads."""


@dataclass(frozen=True, slots=True)
class LevelRow:
    """One tensor at both levels.

    name        "node.output" of the rewritten program;  format of its elements
    largest     of |f64|
    fold        largest error of the sequential fold against f64;  schedule: of the schedule
    apart       largest distance between the two
    differing   elements with other bits, of `elements`
    """

    name: str
    format: str
    elements: int
    largest: float
    fold: float
    schedule: float
    apart: float
    differing: int

    @property
    def factor(self) -> float:
        """By what the fold's error is off: at least 1; infinite where only one is 0."""
        low, high = sorted((self.fold, self.schedule))
        if low == high:
            return 1.0
        return high / low if low > 0 and math.isfinite(high) else math.inf

    @property
    def misleads(self) -> bool:
        return self.factor > MISLEADS

    @property
    def sentence(self) -> str:
        """What the fold says, what the schedule says, and whether that matters."""
        said = f"{self.name}: fold says {self.fold:.3g}, schedule says {self.schedule:.3g}"
        if not self.differing:
            return f"{said}: the same bits"
        return f"{said}: off by {self.factor:.3g} times"


@dataclass(frozen=True, slots=True)
class LevelReport:
    """A row per stored tensor, in program order."""

    rows: tuple[LevelRow, ...]

    @property
    def misleading(self) -> tuple[LevelRow, ...]:
        return tuple(r for r in self.rows if r.misleads)

    def row(self, name: str) -> LevelRow:
        """The row of that "node.output"; KeyError when there is none."""
        for r in self.rows:
            if r.name == name:
                return r
        raise KeyError(name)

    def to_text(self) -> str:
        """A line per tensor, those first where the fold misleads."""
        rows = sorted(self.rows, key=lambda r: not r.misleads)
        return "\n".join(_line(r) for r in rows)

    def to_data(self) -> list[dict[str, Any]]:
        """The rows as plain data; an infinite factor is null."""
        return [_data(r) for r in self.rows]


def _line(r: LevelRow) -> str:
    tail = f"{r.differing} of {r.elements} elements differ, by up to {r.apart:.3g}"
    return f"{r.sentence} ({r.format}; {tail}; largest value {r.largest:.3g})"


def _data(r: LevelRow) -> dict[str, Any]:
    numbers = {n: getattr(r, n) for n in ("largest", "fold", "schedule", "apart", "factor")}
    finite = {n: x if math.isfinite(x) else None for n, x in numbers.items()}
    counts = {"elements": r.elements, "differing": r.differing, "misleads": r.misleads}
    return {"name": r.name, "format": r.format, **finite, **counts}


def compare_levels(
    graph: Graph,
    inputs: Mapping[str, Any],
    precision: object = None,
    *,
    rules: Iterable[str] | None = None,
) -> LevelReport:
    """Both levels beside f64 for every real tensor that the schedule stores.

    Arguments are those of `emulate`. Errors are against f64 over the same data, rounded as inputs
    are stored; elements that are not finite in f64 count only where bits differ.
    """
    chains = None if rules is None else rule_names(rules)
    scheduled = subject_of(graph, inputs, precision, rules=chains)
    plain = subject_of(graph, inputs, precision, rules=chains, change=folded)
    exact = fast_interpret(scheduled.traced, scheduled.inputs)
    left, right = _buffers(plain), _buffers(scheduled)
    named = (b for b in computed(scheduled.expanded) if b.ref is not None and b.sort is REAL)
    return LevelReport(tuple(_rows(named, left, right, exact)))


def _buffers(subject: Subject) -> dict[str, F64Array]:
    """The tensors that a replay leaves, as f64, by "node.output"."""
    plan = subject.expanded
    done = replay(plan, subject.stored, sizes=subject.sizes, sanitize=False)
    kept = [b for b in plan.buffers if b.ref is not None and b.sort is REAL]
    return {str(b.ref): unpack(done.buffers[b.name], b.type).astype(np.float64) for b in kept}


def _rows(
    buffers: Iterable[Buffer],
    fold: Mapping[str, F64Array],
    schedule: Mapping[str, F64Array],
    exact: Mapping[str, Array],
) -> Iterator[LevelRow]:
    for b in buffers:
        name, truth = str(b.ref), np.asarray(exact[b.name], np.float64)
        a, s = fold[name], schedule[name]
        same = (a == s) | (np.isnan(a) & np.isnan(s))
        yield LevelRow(
            name=name,
            format=b.format,
            elements=int(truth.size),
            largest=_largest(np.where(np.isfinite(truth), truth, 0.0)),
            fold=_error(a, truth),
            schedule=_error(s, truth),
            apart=_error(a, np.where(np.isfinite(s), s, a)),
            differing=int((~same).sum()),
        )


def _error(value: F64Array, truth: F64Array) -> float:
    """The largest distance where the truth is finite: infinite where the value is not."""
    with np.errstate(invalid="ignore"):
        far = np.where(np.isfinite(value), np.abs(value - truth), np.inf)
    return _largest(np.where(np.isfinite(truth), far, 0.0))


def _largest(values: F64Array) -> float:
    return float(np.abs(values).max(initial=0.0))
