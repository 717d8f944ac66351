"""Rows of a report from samples: errors against budgets, and where errors come from.

Defines `rows_of`, `blank_row`, `refs_of`, `wanted_of`, `used_of`, `culprit_of`, `cut` and
`name_of`. Relies on the rule of `tang.emulator.budget` for what is allowed. It measures nothing
itself, but for the share that one source has in an error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tang.budget.report import Row, Standing, Worst
from tang.budget.report_isolate import sources_of, whole
from tang.budget.report_samples import Measured, Sample, Setting, distance, evaluated
from tang.emulator.budget import Budgets, ErrorBudget, tolerance
from tang.ir.expr import REAL
from tang.ir.format import Format
from tang.ir.graph import Graph, reads_of
from tang.ir.view import Ref
from tang.kernel.schedule import Schedule
from tang.kernel.schedule import name_of as storage_name

Array = npt.NDArray[Any]
F64Array = npt.NDArray[np.float64]
TermsOf = Callable[[int, Ref], Array]
"""T of a tensor in a set of inputs."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked of a tensor: a budget, whether for itself, and what it is to the caller."""

    budget: ErrorBudget | None
    judged: bool
    output: str = ""


def wanted_of(graph: Graph, budgets: Budgets, ref: Ref) -> Wanted:
    """The budget of a tensor: of the output that it is, of its node, or that of the outputs."""
    output = next((o.name for o in graph.outputs if o.ref == ref), "")
    if output:
        found = budgets.of_output(output, ref.node)
        return Wanted(found, found is not None, output)
    own = budgets.of_node(ref.node) if ref.output else None
    return Wanted(own or budgets.default, own is not None)


def rows_of(
    settings: Sequence[Setting], measured: Sequence[Measured], budgets: Budgets, terms: TermsOf
) -> tuple[Row, ...]:
    """A row per tensor over all sets of inputs, in program order."""
    graph = settings[0].graph
    rows = []
    for k, first in enumerate(measured[0].samples):
        pieces = [m.samples[k] for m in measured]
        wanted = wanted_of(graph, budgets, first.ref)
        scales = None
        if wanted.budget is not None and wanted.budget.c and first.format is not None:
            scales = [cut(terms(n, s.ref), s, graph) for n, s in enumerate(pieces)]
        rows.append(_row(graph, pieces, wanted, scales))
    return tuple(rows)


def refs_of(graph: Graph) -> list[Ref]:
    """The tensors of a report: real inputs, reals that are read or returned, all outputs."""
    outputs = {o.ref for o in graph.outputs}
    read = {r.source for n in graph.nodes for r in reads_of(n)}
    found = [Ref(i.name) for i in graph.inputs if i.sort is REAL]
    for node in graph.nodes:
        for name in node.output_names():
            ref = Ref(node.name, name)
            if ref in outputs or (ref in read and graph.sort(ref) is REAL):
                found.append(ref)
    return found


def blank_row(graph: Graph, schedule: Schedule, ref: Ref, wanted: Wanted) -> Row:
    """The row of a tensor that was not sampled."""
    nothing = math.nan
    real = graph.sort(ref) is REAL
    return Row(
        tensor=str(ref), name=name_of(graph, ref), output=wanted.output,
        format=storage_name(schedule.of(ref.node).storage) if real else "exact",
        elements=0, of=0, largest=nothing, error=nothing, bound=nothing, ratio=nothing,
        dominated="", bias=0.0, headroom=math.inf, overflows=0, underflows=0,
        budget="" if wanted.budget is None else str(wanted.budget), used=nothing, proved=nothing,
        standing=Standing.UNPROVED if ref.output else Standing.PASS, judged=wanted.judged,
        is_input=not ref.output,
    )  # fmt: skip


def cut(values: Array, sample: Sample, graph: Graph) -> Array:
    """The part of a tensor that was sampled."""
    if sample.tile is None or values.shape == sample.value.shape:
        return values
    return values[sample.tile.of(graph.node(sample.ref.node).tensor(sample.ref.output).dims)]


def name_of(graph: Graph, ref: Ref) -> str:
    """A node's name, with the output where there are several that matter."""
    if not ref.output or ref.output == "value":
        return ref.node
    return str(ref)


# --- a row ----------------------------------------------------------------------------------------


def _row(
    graph: Graph, pieces: Sequence[Sample], wanted: Wanted, scales: Sequence[Array] | None
) -> Row:
    sample = pieces[0]
    value, exact = _joined(pieces, "value"), _joined(pieces, "exact")
    bound, error = _joined(pieces, "bound"), distance(value, exact)
    allowed = _allowed(exact, wanted.budget, sample.format, scales)
    used, proved = _used(error, allowed), _used(bound, allowed)
    share = wanted.budget.percentile if wanted.budget else 100.0
    at = _nth(used, share)
    dominated, bias = _dominated(pieces), _bias(value, exact)
    largest, overflows, underflows = _range(value, exact, sample.format)
    at_most, numbers = float(np.max(bound, initial=0.0)), int(np.isfinite(exact).sum())
    return Row(
        tensor=str(sample.ref), name=name_of(graph, sample.ref), output=wanted.output,
        format="exact" if sample.format is None else sample.format.name,
        elements=value.size, of=len(pieces) * _count(graph, sample.ref), largest=largest,
        error=float(np.max(error, initial=0.0)), bound=at_most,
        ratio=_ratio(at_most, error), dominated=dominated, bias=bias,
        headroom=_headroom(largest, sample.format), overflows=overflows, underflows=underflows,
        budget="" if wanted.budget is None else str(wanted.budget),
        used=_at(used, at), proved=_at(proved, _nth(proved, share)),
        standing=_standing(used, at, at_most, largest, error, numbers),
        judged=wanted.judged, is_input=not sample.ref.output,
        worst=_worst(graph, pieces, at, value, exact, allowed), numbers=numbers,
    )  # fmt: skip


def _joined(pieces: Sequence[Sample], plane: str) -> F64Array:
    parts = [np.ravel(getattr(p, plane)) for p in pieces]
    return np.concatenate(parts) if len(parts) > 1 else np.asarray(parts[0], np.float64)


def _count(graph: Graph, ref: Ref) -> int:
    return math.prod(p.constant for p in graph.shape(ref))


def _allowed(
    exact: Array,
    budget: ErrorBudget | None,
    format_: Format | None,
    scales: Sequence[Array] | None,
) -> F64Array | None:
    if budget is None:
        return None
    if format_ is None:
        return np.zeros(np.shape(exact))
    terms = None if scales is None else np.concatenate([np.ravel(t) for t in scales])
    return np.where(np.isfinite(exact), tolerance(exact, budget, format_, terms), 0.0)


def _used(error: Array, allowed: F64Array | None) -> F64Array | None:
    """error / allowed per element, 0 where there is no error."""
    if allowed is None:
        return None
    with np.errstate(all="ignore"):
        return np.asarray(np.where(error == 0, 0.0, error / allowed))


def _nth(used: F64Array | None, percentile: float) -> int:
    """The place of the element that the percentile asks about; −1 where there is none.

    An element that became NaN or infinite counts before every percentile.
    """
    if used is None or not used.size:
        return -1
    worst = int(np.argmax(used))
    if percentile == 100 or not math.isfinite(used[worst]):
        return worst
    rank = max(math.ceil(percentile * used.size / 100) - 1, 0)
    return int(np.argpartition(used, rank)[rank])


def _at(values: F64Array | None, at: int) -> float:
    if values is None:
        return math.nan
    return float(values[at]) if at >= 0 else 0.0


def _standing(
    used: F64Array | None, at: int, bound: float, largest: float, error: Array, numbers: int
) -> Standing:
    if used is not None and at >= 0 and not used[at] <= 1:
        return Standing.OVER
    if not np.all(np.isfinite(error)):
        return Standing.OVER
    nothing = error.size > 0 and not numbers
    return Standing.VACUOUS if nothing or is_vacuous(bound, largest) else Standing.PASS


def is_vacuous(bound: float, largest: float) -> bool:
    """Whether a bound is no smaller than the values that it speaks of."""
    return not math.isfinite(bound) or (bound > 0 and bound >= largest)


def _ratio(bound: float, error: F64Array) -> float:
    most = float(np.max(error, initial=0.0))
    return bound / most if 0 < most < math.inf else math.nan


def _dominated(pieces: Sequence[Sample]) -> str:
    found = dict.fromkeys(("inherited", "storage", "accumulation"), 0.0)
    for p in pieces:
        for name, size in parts_of(p).items():
            found[name] = max(found[name], size)
    name = max(found, key=lambda n: found[n])
    return name if found[name] else ""


def parts_of(sample: Sample, at: tuple[int, ...] | None = None) -> dict[str, float]:
    """The error of an element, or the largest, by how it arose: inherited, by storing, else."""
    where: Any = ... if at is None else at
    return {
        "inherited": _largest(sample.carried[where], sample.exact[where]),
        "storage": _largest(sample.kept[where], sample.carried[where]),
        "accumulation": _largest(sample.value[where], sample.kept[where]),
    }


def _largest(a: Array, b: Array) -> float:
    return float(np.max(distance(a, b), initial=0.0))


def _bias(value: Array, exact: Array) -> float:
    finite = np.isfinite(value) & np.isfinite(exact)
    gap = value[finite] - exact[finite]
    size = float(np.sum(np.abs(gap)))
    return float(np.sum(gap)) / size if size else 0.0


def _range(value: Array, exact: Array, format_: Format | None) -> tuple[float, int, int]:
    """The largest exact size, how many left the format above, and how many lost bits below."""
    finite = np.isfinite(exact)
    size = np.abs(exact[finite])
    largest = float(np.max(size, initial=0.0))
    if format_ is None:
        return largest, 0, 0
    top, small = float(format_.largest), math.ldexp(1.0, format_.emin)
    got = np.abs(value[finite])
    over = ~(got <= top) | ((got == top) & (size > top * (1 + float(format_.unit_roundoff))))
    under = (size > 0) & (size < small) & (got != size)
    return largest, int(np.count_nonzero(over)), int(np.count_nonzero(under))


def _headroom(largest: float, format_: Format | None) -> float:
    if format_ is None or not largest:
        return math.inf
    return math.log2(float(format_.largest)) - math.log2(largest)


def _worst(
    graph: Graph,
    pieces: Sequence[Sample],
    at: int,
    value: Array,
    exact: Array,
    allowed: F64Array | None,
) -> Worst | None:
    if at < 0 or allowed is None:
        return None
    sample = pieces[0]
    inside = np.unravel_index(at % sample.value.size, sample.value.shape)
    place = tuple(int(i) for i in inside)
    if sample.tile is not None and sample.ref.output:
        dims = graph.node(sample.ref.node).tensor(sample.ref.output).dims
        starts = [s.start or 0 for s in sample.tile.of(dims)]
        starts += [0] * (len(place) - len(starts))
        place = tuple(i + s for i, s in zip(place, starts, strict=True))
    return Worst(place, float(value[at]), float(exact[at]), float(allowed[at]))


# --- verdicts and culprits ------------------------------------------------------------------------


def used_of(
    value: Array,
    exact: Array,
    budget: ErrorBudget,
    format_: Format | None,
    terms: Array | None = None,
) -> float:
    """The part of its budget that a tensor takes: above 1 it is over, infinite where it is lost."""
    flat, reference = np.ravel(np.asarray(value, np.float64)), np.ravel(exact).astype(np.float64)
    error = distance(flat, reference)
    if not np.all(np.isfinite(error)):
        return math.inf
    used = _used(error, _allowed(reference, budget, format_, None if terms is None else [terms]))
    return _at(used, _nth(used, budget.percentile))


def culprit_of(
    setting: Setting, measured: Measured, ref: Ref, at: tuple[int, ...] | None = None
) -> tuple[list[Ref], str]:
    """From an element to the tensor in which the largest part of its error arises, and how.

    Where most was inherited, the walk goes on to the source that alone causes the largest error.
    """
    path = [ref]
    while True:
        sample = measured.of(path[-1])
        if sample is None:
            return path[:-1] or path, "storage"
        here = at if len(path) == 1 else None
        parts = parts_of(sample, here)
        origin = max(parts, key=lambda n: parts[n])
        if origin != "inherited" or not path[-1].output:
            return path, origin if path[-1].output else "storage"
        path.append(_worst_source(setting, measured, sample, here))


def _worst_source(
    setting: Setting, measured: Measured, sample: Sample, at: tuple[int, ...] | None
) -> Ref:
    where: Any = ... if at is None else at
    node = setting.graph.node(sample.ref.node)
    tile = sample.tile or whole(node)
    found: dict[Ref, float] = {}
    for ref in sources_of(node):
        tensors: Mapping[Ref, Array] = {**setting.exact, ref: measured.emulated[ref]}
        alone = evaluated(setting.graph, node, tensors, tile)[sample.ref]
        wide = np.asarray(alone, np.float64)
        found[ref] = _largest(wide[where], np.asarray(sample.exact, np.float64)[where])
    return max(found, key=lambda r: found[r])
