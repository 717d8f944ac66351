"""Certificates against budgets: what is proved for all inputs, not for samples.

Defines `certified_rows`, `certified_share` and `share_of`. Relies on `tang.emulator.certify`, whose
bounds count the rounding of inputs to their format as error, as samples do, where ranges tell how
large inputs are; without ranges they are of inputs as they are stored. It samples nothing.

A certificate says |computed − exact| ≤ relative·T + absolute, T ≤ top, where T is |exact| itself or
the program over |inputs| with every subtraction an addition. A budget allows abs + rel·|exact| +
ulp·ulp + c·u·T, T of the last reduction alone. `rel` and `ulp` grow with T only where T is |exact|;
`c` also where both T are the same: in reductions over inputs, and maps of these.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from tang.budget.report import Row, Standing
from tang.budget.report_case import Case
from tang.budget.report_judge import blank_row, refs_of, wanted_of
from tang.emulator import Certificate, certify
from tang.emulator.budget import ErrorBudget
from tang.emulator.certificate import NodeBound
from tang.ir.expr import REAL
from tang.ir.format import Format
from tang.ir.graph import Graph, reads_of
from tang.ir.monoids import is_plain_sum
from tang.ir.view import Ref
from tang.kernel.schedule import Schedule, storage_of


def certified_rows(case: Case, rows: Sequence[Row]) -> tuple[str, tuple[Row, ...]]:
    """The strength of the certificate, and the rows with what it says of them.

    Without samples the rows are made here, of what the certificate knows.
    """
    made = _certificate(case, case.schedule)
    known = {r.tensor: r for r in rows}
    found = []
    for ref in refs_of(case.graph):
        wanted = wanted_of(case.graph, case.budgets, ref)
        row = known.get(str(ref)) or blank_row(case.graph, case.schedule, ref, wanted)
        found.append(_row(case, made, ref, row, wanted.budget))
    return made.strength, tuple(found)


def certified_share(case: Case, schedule: Schedule) -> float:
    """The largest part of its budget that a judged tensor may take, for all inputs."""
    made = _certificate(case, schedule)
    worst = 0.0
    for ref in refs_of(case.graph):
        wanted = wanted_of(case.graph, case.budgets, ref)
        if wanted.judged and wanted.budget is not None and ref.output:
            if case.graph.sort(ref) is not REAL:
                return math.inf
            bound = made.bound(ref.node, ref.output)
            worst = max(worst, _share(case.graph, made, bound, wanted.budget, schedule))
    return worst


def _certificate(case: Case, schedule: Schedule) -> Certificate:
    spans = case.ranges or None
    return certify(case.graph, schedule, {}, spans, quantised=spans is not None)


def _row(case: Case, made: Certificate, ref: Ref, row: Row, budget: ErrorBudget | None) -> Row:
    if not ref.output or case.graph.sort(ref) is not REAL:
        unproved = row.judged and row.standing is not Standing.OVER
        return replace(row, standing=Standing.UNPROVED) if unproved else row
    bound = made.bound(ref.node, ref.output)
    share = math.nan
    if budget is not None:
        share = _share(case.graph, made, bound, budget, case.schedule)
    standing = row.standing
    if standing is not Standing.OVER:
        standing = _standing(made, bound, share, row.standing)
    return replace(
        row, certified=share, certificate=bound.error, standing=standing, reason=bound.reason
    )


def _standing(made: Certificate, bound: NodeBound, share: float, before: Standing) -> Standing:
    if proves_nothing(bound, made):  # never a pass, even where the budget is wider still
        return Standing.VACUOUS
    if share <= 1:
        return Standing.CERTIFIED
    return before if math.isnan(share) else Standing.UNPROVED


def proves_nothing(bound: NodeBound, made: Certificate) -> bool:
    """Whether a bound is vacuous: by shape, where it may be as large as T itself."""
    if made.strength == "shape":
        return not (math.isfinite(bound.absolute) and bound.relative < 1)
    return bound.vacuous


def _share(
    graph: Graph, made: Certificate, bound: NodeBound, budget: ErrorBudget, schedule: Schedule
) -> float:
    ref = Ref(bound.node, bound.output)
    top = made.steps[bound.step].claim.top
    return share_of(bound, top, budget, storage_of(schedule, ref), same_terms(graph, ref))


def share_of(
    bound: NodeBound, top: float, budget: ErrorBudget, format_: Format, same: bool
) -> float:
    """The largest part of a budget that a bound may take at any T from 0 to top.

    ulp(x) is at least max(quantum, u·|x|). Between 0, the point where these meet and top the ratio
    is monotone in T, so its extremes are at these.
    """
    u, quantum = float(format_.unit_roundoff), float(format_.quantum)
    slope = budget.c * u if bound.pure or same else 0.0
    if bound.pure:
        slope += budget.rel

    def share(t: float) -> float:
        step = max(quantum, u * t) if bound.pure else quantum
        return _ratio(
            bound.relative * t + bound.absolute, budget.abs + slope * t + budget.ulp * step
        )

    ends = [share(0.0), share(min(top, quantum / u))]
    if math.isfinite(top):
        ends.append(share(top))
    else:
        ends.append(_ratio(bound.relative, slope + (budget.ulp * u if bound.pure else 0.0)))
    return max(ends)


def _ratio(error: float, allowed: float) -> float:
    if error == 0:
        return 0.0
    return error / allowed if allowed > 0 and math.isfinite(error) else math.inf


def same_terms(graph: Graph, ref: Ref) -> bool:
    """Whether T of the last reduction is T of the whole program: it reads inputs alone."""
    if not ref.output:
        return True
    node = graph.node(ref.node)
    sources = [r.source for r in reads_of(node) if graph.sort(r.source) is REAL]
    if node.monoid is None:
        return all(same_terms(graph, s) for s in sources)
    return is_plain_sum(node.monoid) and all(not s.output for s in sources)
