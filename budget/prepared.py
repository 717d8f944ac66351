"""Programs ready for prediction: rewritten, with their precision, lowered, data as it is stored.

Defines `subject_of`. Relies on the rewriter, on lowering and on the verifier's `Subject`, so that
what is predicted is what `tang.compile` compiles. It replays nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from tang.budget.precision import applied
from tang.ir.graph import Graph
from tang.ir.validate import validate
from tang.kernel.schedule import Schedule
from tang.rewrite import rewrite
from tang.verify.subject import Subject, Task, prepare


def subject_of(
    graph: Graph,
    inputs: Mapping[str, Any],
    precision: object = None,
    *,
    rules: Iterable[str] | None = None,
    change: Callable[[Schedule], Schedule] | None = None,
    cure: str = "",
    math: Literal["portable", "native"] = "portable",
) -> Subject:
    """The program as `tang.compile(graph, schedule=…, rules=rules)` lowers it, with its data.

    precision  of `precision_from`, for the rewritten program; None takes `schedule_auto`
    change     what becomes of the schedule before it is lowered
    cure       of functions in f64, of which there are no portable ones, for the error
    math       "portable", or "native": functions stay calls, and may be in f64
    Raises GraphError for inputs that do not fit and ScheduleError for a bad precision.
    """
    validate(graph)
    made, schedule = applied(precision, rewrite(graph, rules).graph)
    chosen = schedule if change is None else change(schedule)
    return prepare(Task(graph=made, inputs=inputs, schedule=chosen, math=math), cure)
