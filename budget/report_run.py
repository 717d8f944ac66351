"""From a program, a precision and a budget to a report.

Defines `budget_report`, `precision_name` and `odd_inputs`. Relies on the measurements, the judge,
the certificates and the cures of this package. It prints nothing.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from tang.budget.functions_said import functions_of
from tang.budget.report import BudgetReport, Times
from tang.budget.report_case import Case, Question, case_of
from tang.budget.report_certified import certified_rows
from tang.budget.report_cures import cure_of
from tang.budget.report_judge import rows_of
from tang.budget.report_samples import measure
from tang.errors import BudgetError
from tang.ir.expr import REAL
from tang.ir.graph import Graph
from tang.ir.view import Ref

__all__ = ["Case", "Question", "budget_report", "case_of"]


def budget_report(
    graph: Graph, precision: object, question: Question, name: str = "graph"
) -> BudgetReport:
    """Judge a precision; raises TangError for a request that makes no sense.

    precision  a preset's name, JSON, a file or a Schedule, for the rewritten program
    """
    if not isinstance(name, str):
        raise BudgetError(f"name is what the report calls the program, no {type(name).__name__}")
    start = time.perf_counter()
    case = case_of(graph, precision, question)
    measured = [measure(s, case.schedule, case.seed, tiles=case.tiles) for s in case.settings]
    rows = rows_of(case.settings, measured, case.budgets, case.terms) if measured else ()
    tiles, between = case.tiles and bool(measured), time.perf_counter()
    strength = ""
    if question.certified:
        strength, rows = certified_rows(case, rows)
    times = Times(
        sampled=between - start, whole=sum(m.whole for m in measured), estimated=tiles,
        certified=time.perf_counter() - between if strength else 0.0,
    )  # fmt: skip
    report = BudgetReport(
        name=name, precision=precision_name(precision), rows=rows, samples=len(case.settings),
        given=question.inputs is not None, seed=question.seed,
        tiles=tiles, times=times, certificate=strength, odd=odd_inputs(case),
        functions=functions_of(case.graph),
    )  # fmt: skip
    if report.ok or not measured or not question.cures:
        return report
    return replace(report, cure=cure_of(case, measured, rows))


def precision_name(precision: object) -> str:
    """What a report calls a precision."""
    if isinstance(precision, str) and not precision.lstrip().startswith("{"):
        return precision
    return "the precision given"


def odd_inputs(case: Case) -> str:
    """Which real inputs hold NaN or infinities, and how many; "" where none does."""
    found = []
    for i in case.graph.inputs:
        planes = [np.asarray(s.exact[Ref(i.name)]) for s in case.settings if i.sort is REAL]
        for word, test in (("NaN", np.isnan), ("infinities", np.isinf)):
            count = sum(int(test(p).sum()) for p in planes)
            if count:
                found.append(
                    f"{word} in {i.name} ({count} of {sum(p.size for p in planes)} elements)"
                )
    return " and ".join(found)
