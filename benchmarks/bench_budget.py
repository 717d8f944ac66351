"""How long `tang budget` takes on a transformer layer of 512 tokens and d = 1024.

Prints one line per measurement: by sampled tiles (below it an estimate for the replay of every
element), by shape certificate, and, with --full, by that replay. Relies on nothing but tang. It
judges no precision: the budget is loose.
Run: python benchmarks/bench_budget.py [--full]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable

from tang.budget import Question, budget_report
from tang.budget.report_case import work_of
from tang.emulator import ErrorBudget
from tang.ir.graph import Graph
from tang.models import TransformerSizes, transformer_block
from tang.rewrite import rewrite

LOOSE = ErrorBudget(rel=1.0, abs=1.0)
TIGHT = ErrorBudget(rel=1e-3, abs=1e-3)


def layer() -> Graph:
    """A pre-norm block: 16 heads, hidden width 4096."""
    sizes = TransformerSizes(batch=1, seq=512, width=1024, heads=16, hidden=4096)
    return transformer_block(sizes)


def timed(what: str, graph: Graph, question: Question) -> None:
    start, spent = time.perf_counter(), time.process_time()
    report = budget_report(graph, "bf16", question)
    passed, busy = time.perf_counter() - start, time.process_time() - spent
    print(f"{what:52}{passed:8.1f} s ({busy:.1f} s of processor)  {report.sentence()}", flush=True)
    for note in report.times.notes():
        print(f"    {note}", flush=True)


def asked(rules: Iterable[str] | None, budget: ErrorBudget = LOOSE, **more: bool | int) -> Question:
    return Question(budget=budget, rules=rules, **more)  # type: ignore[arg-type]  # by name


def main() -> None:
    """Measure; --full replays every element, which takes long."""
    graph = layer()
    for name, rules in (("as written", ()), ("rewritten", None)):
        made = graph if rules == () else rewrite(graph).graph
        print(f"{name}: {len(made.nodes)} nodes, {work_of(made) / 1e9:.2f} G points and steps")
        timed("  tiles of 64 x 64, within budget", graph, asked(rules))
        timed("  tiles, over budget, cures tried", graph, asked(rules, TIGHT))
        timed("  shape certificate", graph, asked(rules, certified=True, samples=0))
        if "--full" in sys.argv:
            timed("  every element", graph, asked(rules, whole=True))


if __name__ == "__main__":
    main()
