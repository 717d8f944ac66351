"""From a program, a precision and a budget to a report.

Defines `Question`, `budget_report` and `work_of`. Relies on the measurements and the judge of this
package, and tries cures by measuring again. It prints nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tang.budget.precision import applied
from tang.budget.report import BudgetReport, Cure, Row, Standing
from tang.budget.report_inputs import Ranges, check_ranges, checked_ranges, drawn_inputs
from tang.budget.report_judge import (
    culprit_of,
    cut,
    name_of,
    rows_of,
    used_of,
    wanted_of,
)
from tang.budget.report_samples import (
    Measured,
    Setting,
    measure,
    outputs_under,
    setting_of,
    stored_everywhere,
)
from tang.budget.report_terms import terms_of
from tang.emulator.budget import Budgets, ErrorBudget, budgets_from
from tang.errors import BudgetError
from tang.ir.bind import bind, infer_sizes
from tang.ir.format import Format, format_named
from tang.ir.graph import Graph
from tang.ir.validate import validate
from tang.ir.view import Ref
from tang.kernel.ir import F32, F64
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.rewrite import rewrite
from tang.verify.subject import checked_inputs

Array = npt.NDArray[Any]

LIMIT: Final = 2**25
"""Steps of folds and points of maps up to which a program is replayed whole."""
CURES: Final = 8
CURES_ON_TILES: Final = 3
"""How many nodes are tried in f32, at most."""
INPUTS: Final = "the inputs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked of a precision.

    budget    an ErrorBudget, Budgets, or a mapping of them by output or node
    inputs    arrays by name; None draws `samples` sets of them from `seed`
    sizes     of symbolic extents, where inputs are drawn
    ranges    of real inputs: what is drawn lies in them, what is given must
    rules     what the program is rewritten by first: None takes the pipeline, () nothing
    whole     replay every element, however large the program is
    """

    budget: object = None
    inputs: Mapping[str, Any] | None = None
    samples: int = 1
    seed: int = 0
    sizes: Mapping[str, int] = field(default_factory=dict)
    ranges: Ranges = field(default_factory=dict)
    certified: bool = False
    rules: Iterable[str] | None = None
    strict: bool = False
    whole: bool = False
    cures: bool = True


def budget_report(
    graph: Graph, precision: object, question: Question, name: str = "graph"
) -> BudgetReport:
    """Judge a precision on inputs; raises TangError for a request that makes no sense.

    precision  a preset's name, JSON, a file or a Schedule, for the rewritten program
    """
    case = case_of(graph, precision, question)
    measured = [measure(s, case.schedule, question.seed, tiles=case.tiles) for s in case.settings]
    rows = rows_of(case.settings, measured, case.budgets, case.terms)
    report = BudgetReport(
        name=name, precision=precision_name(precision), rows=rows, samples=len(case.settings),
        given=question.inputs is not None, seed=question.seed, tiles=case.tiles,
    )  # fmt: skip
    if report.ok or not question.cures:
        return report
    return replace(report, cure=_cure(case, measured, rows))


def precision_name(precision: object) -> str:
    """What a report calls a precision."""
    if isinstance(precision, str) and not precision.lstrip().startswith("{"):
        return precision
    return "the precision given"


# --- a case ---------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class Case:
    """A program ready to be measured: rewritten, its precision chosen, its data there."""

    schedule: Schedule
    settings: list[Setting]
    budgets: Budgets
    tiles: bool
    seed: int
    _terms: dict[int, Mapping[Ref, Array]] = field(default_factory=dict)

    @property
    def graph(self) -> Graph:
        return self.settings[0].graph

    def terms(self, sample: int, ref: Ref) -> Array:
        """T of a tensor, computed when it is first asked for."""
        if sample not in self._terms:
            setting = self.settings[sample]
            self._terms[sample] = terms_of(setting.graph, setting.exact)
        return self._terms[sample][ref]


def case_of(graph: Graph, precision: object, question: Question) -> Case:
    """The program as it will be compiled, with its data checked and its exact values computed."""
    validate(graph)
    budgets = budgets_from(question.budget)
    ranges = checked_ranges(graph, question.ranges)
    sets = _inputs(graph, question, ranges)
    sizes = infer_sizes(graph, {n: a.shape for n, a in sets[0].items()})
    bound = bind(graph, sizes) if sizes else graph
    made, schedule = applied(precision, rewrite(bound, question.rules, question.strict).graph)
    budgets.check([o.name for o in made.outputs], [n.name for n in made.nodes])
    tiles = not question.whole and work_of(made) > LIMIT
    settings = [setting_of(made, s) for s in sets]
    return Case(schedule, settings, budgets, tiles, question.seed)


def _inputs(graph: Graph, question: Question, ranges: Ranges) -> list[dict[str, Array]]:
    if question.inputs is not None:
        given = checked_inputs(graph, question.inputs)
        check_ranges(given, ranges)
        return [given]
    if question.samples < 1:
        raise BudgetError(f"samples are 1 or more, not {question.samples}")
    seeds = range(question.seed, question.seed + question.samples)
    return [drawn_inputs(graph, question.sizes, ranges, s) for s in seeds]


def work_of(graph: Graph) -> int:
    """Steps of folds and points of maps of a program whose extents are numbers."""
    return sum(prod(d.extent.constant for d in n.dims) for n in graph.nodes)


# --- cures ----------------------------------------------------------------------------------------


def _cure(case: Case, measured: Sequence[Measured], rows: Sequence[Row]) -> Cure | None:
    """What in f32 would bring the outputs within their budgets, found by trying."""
    over = [(k, r) for k, r in enumerate(rows) if r.judged and r.standing is Standing.OVER]
    if not over:
        return None
    worst = max(over, key=lambda pair: pair[1].used)[0]
    ref = measured[0].samples[worst].ref
    path, origin = culprit_of(case.settings[0], measured[0], ref)
    candidates = _candidates(case, measured[0], path)
    tried = candidates[: CURES_ON_TILES if case.tiles else CURES]
    trial = _trial(case, measured)
    node = next((n for n in tried if trial(in_f32(case.schedule, case.graph, {n}))), "")
    used = tried[: tried.index(node) + 1] if node else tried
    everywhere, several = None, ()
    if not node and candidates:
        everywhere = trial(in_f32(case.schedule, case.graph, set(candidates)))
        if everywhere:
            several = _shortest(candidates, lambda n: trial(in_f32(case.schedule, case.graph, n)))
    return Cure(
        culprit=name_of(case.graph, path[-1]), origin=origin, node=node, tried=tuple(used),
        of=len(candidates), everywhere=everywhere, several=several,
    )  # fmt: skip


def _shortest(names: Sequence[str], holds: Callable[[set[str]], bool]) -> tuple[str, ...]:
    """The shortest beginning of a list that is enough, by bisection; () where it is most of it."""
    low, high = 1, len(names)
    while high - low > 1:
        middle = (low + high) // 2
        if holds(set(names[:middle])):
            high = middle
        else:
            low = middle
    return tuple(names[:high]) if 2 * high <= len(names) else ()


def _candidates(case: Case, measured: Measured, path: Sequence[Ref]) -> list[str]:
    """What is not in f32 yet: first what is on the way of the error, then the least exact."""
    wanted = [INPUTS if not ref.output else ref.node for ref in reversed(path)]
    own: dict[str, float] = {}
    for s in measured.samples:
        name = s.ref.node if s.ref.output else INPUTS
        finite = np.isfinite(s.exact) & np.isfinite(s.value) & np.isfinite(s.carried)
        size = float(np.max(np.abs(s.exact[finite]), initial=0.0))
        gap = float(np.max(np.abs(s.value[finite] - s.carried[finite]), initial=0.0))
        if not s.ref.output:
            gap = float(np.max(np.abs(s.value[finite] - s.exact[finite]), initial=0.0))
        own[name] = max(own.get(name, 0.0), gap / size if size else 0.0)
    ranked = sorted(own, key=lambda n: -own[n])
    opened = stored_everywhere(case.graph, case.schedule)
    cheap = [n for n, s in opened.nodes if not _is_f32(s)]
    if not _is_f32(opened.default):
        cheap.append(INPUTS)
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


def _trial(case: Case, measured: Sequence[Measured]) -> Callable[[Schedule], bool]:
    """Whether every judged tensor keeps its budget under another schedule, on all samples."""
    return lambda schedule: used_under(case, measured, schedule) <= 1


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


def storage_of(schedule: Schedule, ref: Ref) -> Format:
    """The format in which a schedule stores a tensor."""
    kind = schedule.of(ref.node).storage
    return kind if isinstance(kind, Format) else format_named(kind.value)
