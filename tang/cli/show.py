"""`tang show`: a program in readable text, or its plan.

Relies on the text forms of the IR and of plans; it computes nothing.
"""

from __future__ import annotations

import json
from typing import Annotated

import typer


def command(
    graph: Annotated[str, typer.Argument(help="FILE.json or FILE.py:NAME")],
    plan: Annotated[bool, typer.Option("--plan", help="show buffers and kernels too")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print the program as JSON")] = False,
) -> None:
    """Print a program in index notation.

    Example: tang show examples/attention.py --plan
    """
    from tang.cli.load import load_graph
    from tang.ir import to_json, to_text

    g = load_graph(graph)
    if as_json:
        print(json.dumps(json.loads(to_json(g)), indent=1))
        return
    print(to_text(g))
    if plan:
        from tang.kernel.lower import lower
        from tang.kernel.text import plan_text
        from tang.schedule import schedule_auto

        print()
        print(plan_text(lower(g, schedule_auto(g))))
