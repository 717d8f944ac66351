"""Running a finding again.

Defines `reproduce`, which the repro program of every finding calls. Relies on the same checks as
the campaign. It draws and shrinks nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from tang.fuzz.case import Case
from tang.fuzz.check import is_foreign, make_check
from tang.fuzz.child import load
from tang.fuzz.derivations import recipe_from
from tang.fuzz.schedule_json import schedule_from_json
from tang.ir import from_json, infer_sizes

Array = NDArray[Any]


def reproduce(
    graph: str,
    schedule: str,
    inputs: Mapping[str, Array],
    backends: Sequence[str] = ("c",),
    recipe: Mapping[str, Any] | None = None,
) -> int:
    """Check one program and print the report: 1 with a finding, 0 without, 2 without the backend.

    graph, schedule  JSON text;  backends  names or factories, as for `tang fuzz --backends`
    recipe  what is done to the program first, as `recipe_data` wrote it; it then has the schedule
    """
    program = from_json(graph)
    sizes = infer_sizes(program, {name: a.shape for name, a in inputs.items()})
    case = Case(program, sizes, schedule_from_json(schedule), inputs)
    if recipe is not None:
        found, formats = recipe_from(recipe)
        case = replace(case, recipe=found, formats=formats)
    for backend in filter(is_foreign, backends):
        try:
            load(backend)
        except (ImportError, AttributeError) as e:
            print(f"cannot load {backend}: {e}")
            return 2
    check = make_check(backends)
    try:
        report = check.check([case])[0]
    finally:
        check.close()
    print(report.to_text())
    return 1 if report.findings else 0
