"""What would bring a program within its budget, found by trying.

Defines `cure_of`, `used_under` and `in_f32`. Relies on measuring a program again under another
schedule. A cure that it names was tried on the samples at hand; it searches no further than single
nodes and beginnings of one list. Nodes that a precision added are said as what its file names, a
node or an input; they are tried together in f32, and scales stay where they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from typing import Final

import numpy as np

from tang.budget.report import Cure, Row, Standing, Worst
from tang.budget.report_case import Case
from tang.budget.report_judge import culprit_of, cut, name_of, used_of, wanted_of
from tang.budget.report_samples import Measured, outputs_under, stored_everywhere
from tang.emulator.budget import ErrorBudget
from tang.ir.graph import Graph
from tang.ir.view import Ref
from tang.kernel.ir import F32, F64
from tang.kernel.schedule import NodeSchedule, Schedule, storage_of

CURES: Final = 8
CURES_ON_TILES: Final = 2
"""How many nodes are tried in f32, at most."""
INPUTS: Final = "the inputs"


def cure_of(case: Case, measured: Sequence[Measured], rows: Sequence[Row]) -> Cure | None:
    """What in f32 would bring the outputs within their budgets, found by trying."""
    over = [(k, r) for k, r in enumerate(rows) if r.judged and r.standing is Standing.OVER]
    if not over:
        return None
    worst = max(over, key=lambda pair: pair[1].used)[0]
    ref = measured[0].samples[worst].ref
    n, at = _place(case, measured, worst, rows[worst].worst)
    path, origin = culprit_of(case.settings[n], measured[n], ref, at)
    parts = _parts(case)
    candidates = _candidates(case, measured[0], path, parts)
    tried = candidates[: CURES_ON_TILES if case.tiles else CURES]
    trial = _trial(case, measured, parts)
    node = next((n for n in tried if trial({n})), "")
    used = tried[: tried.index(node) + 1] if node else tried
    everywhere: bool | None = None
    several: tuple[str, ...] = ()
    if not node and candidates:
        everywhere = trial(set(candidates))
        if everywhere and not case.tiles:
            several = _shortest(candidates, trial)
    culprit = name_of(case.graph, path[-1])
    if origin == "storage":
        culprit = case.names.get(path[-1].node, culprit)
    return Cure(
        culprit=culprit, origin=origin, node=node, tried=tuple(used),
        of=len(candidates), everywhere=everywhere, several=several,
    )  # fmt: skip


def _said(case: Case, node: str) -> str:
    """What a precision file calls a node."""
    return case.names.get(node, node)


def _parts(case: Case) -> dict[str, set[str]]:
    """The nodes behind what a precision file names; those of the inputs are their default."""
    found: dict[str, set[str]] = {}
    for node in case.graph.nodes:
        found.setdefault(_said(case, node.name), set()).add(node.name)
    return {**found, INPUTS: {INPUTS}}


def _place(
    case: Case, measured: Sequence[Measured], k: int, worst: Worst | None
) -> tuple[int, tuple[int, ...] | None]:
    """The set of inputs that a row's worst element is of, and its place in what was sampled."""
    if worst is None:
        return 0, None
    pieces = [m.samples[k] for m in measured]
    mark = np.zeros_like(case.settings[0].exact[pieces[0].ref], np.bool_)
    mark[worst.at] = True
    at = tuple(int(i) for i in np.argwhere(cut(mark, pieces[0], case.graph))[0])
    numbers = (worst.actual, worst.exact)
    found = (np.array_equal((p.value[at], p.exact[at]), numbers, equal_nan=True) for p in pieces)
    return next(n for n, same in enumerate(found) if same), at


def _shortest(names: Sequence[str], holds: Callable[[Set[str]], bool]) -> tuple[str, ...]:
    """The shortest beginning of a list that is enough, by bisection; () where it is most of it."""
    low, high = 1, len(names)
    while high - low > 1:
        middle = (low + high) // 2
        if holds(set(names[:middle])):
            high = middle
        else:
            low = middle
    return tuple(names[:high]) if 2 * high <= len(names) else ()


def _candidates(
    case: Case, measured: Measured, path: Sequence[Ref], parts: Mapping[str, Set[str]]
) -> list[str]:
    """What is not in f32 yet, as files name it: first what is on the way of the error, then the
    least exact."""

    def said(ref: Ref) -> str:
        return _said(case, ref.node) if ref.output else INPUTS

    wanted = [said(ref) for ref in reversed(path)]
    own: dict[str, float] = {}
    for s in measured.samples:
        name = said(s.ref)
        finite = np.isfinite(s.exact) & np.isfinite(s.value) & np.isfinite(s.carried)
        size = float(np.max(np.abs(s.exact[finite]), initial=0.0))
        gap = float(np.max(np.abs(s.value[finite] - s.carried[finite]), initial=0.0))
        if not s.ref.output:
            gap = float(np.max(np.abs(s.value[finite] - s.exact[finite]), initial=0.0))
        own[name] = max(own.get(name, 0.0), gap / size if size else 0.0)
    ranked = sorted(own, key=lambda n: -own[n])
    opened = stored_everywhere(case.graph, case.schedule)
    narrow = {n for n, s in opened.nodes if not _is_f32(s)}
    if opened.default.storage not in (F32, F64):
        narrow.add(INPUTS)
    cheap = [n for n in parts if narrow & parts[n]]
    return [n for n in dict.fromkeys((*wanted, *ranked, *cheap)) if n in cheap]


def _is_f32(s: NodeSchedule) -> bool:
    return all(f in (F32, F64) for f in (s.storage, s.accumulate))


def in_f32(schedule: Schedule, graph: Graph, names: set[str]) -> Schedule:
    """The schedule with some nodes, or the inputs, in f32, and otherwise as it is."""
    chosen = schedule.by_name(graph)
    nodes = tuple((n, _lifted(s) if n in names else s) for n, s in chosen.items())
    default = _lifted(schedule.default) if INPUTS in names else schedule.default
    return replace(schedule, nodes=nodes, default=default)


def _lifted(s: NodeSchedule) -> NodeSchedule:
    return NodeSchedule(
        split=s.split, workgroup=s.workgroup, lanes=s.lanes, place=s.place,
        storage=s.storage if s.storage is F64 else F32,
        accumulate=s.accumulate if s.accumulate is F64 else F32,
    )  # fmt: skip


def _trial(
    case: Case, measured: Sequence[Measured], parts: Mapping[str, Set[str]]
) -> Callable[[Set[str]], bool]:
    """Whether every judged tensor keeps its budget with some in f32, on all samples."""

    def holds(names: Set[str]) -> bool:
        nodes = {part for n in names for part in parts[n]}
        return used_under(case, measured, in_f32(case.schedule, case.graph, nodes)) <= 1

    return holds


def used_under(case: Case, measured: Sequence[Measured], schedule: Schedule) -> float:
    """The largest part of its budget that a judged tensor takes under another schedule."""
    judged = {
        s.ref: w.budget for s in measured[0].samples
        if (w := wanted_of(case.graph, case.budgets, s.ref)).judged and w.budget is not None
    }  # fmt: skip
    parts = (_used_by(case, k, m, judged, schedule) for k, m in enumerate(measured))
    return max(parts, default=0.0)


def _used_by(
    case: Case, k: int, measured: Measured, judged: Mapping[Ref, ErrorBudget], schedule: Schedule
) -> float:
    before = (stored_everywhere(case.graph, case.schedule), measured) if case.tiles else None
    found = outputs_under(case.settings[k], schedule, list(judged), case.seed, before=before)
    worst = 0.0
    for ref, (value, exact) in found.items():
        sample, terms = measured.of(ref), None
        if sample is None:
            continue
        if judged[ref].c and sample.format is not None:
            terms = cut(case.terms(k, ref), sample, case.graph)
        format_ = None if sample.format is None else storage_of(schedule, ref)
        worst = max(worst, used_of(value, exact, judged[ref], format_, terms))
    return worst
