"""`tang rules`: the table of rewrite rules.

Relies on `tang.rewrite.RULES`; it applies none of them.
"""

from __future__ import annotations

import json
import textwrap
from typing import Annotated

import typer

WIDTH = 96


def command(
    as_json: Annotated[bool, typer.Option("--json", help="the table as JSON")] = False,
) -> None:
    """List every rule: before → after, the algebra in which it holds, and what it needs.

    Rules that need finite operands are off in strict mode.
    """
    from tang.rewrite import PIPELINE, RULES

    rows = [
        {
            "name": r.name,
            "doc": r.doc,
            "algebra": r.algebra,
            "preconditions": sorted(p.value for p in r.preconditions),
            "theorem": r.theorem,
            "strict": r.strict,
            "default": r.name in PIPELINE,
        }
        for r in RULES.values()
    ]
    if as_json:
        print(json.dumps(rows, indent=1, ensure_ascii=False))
        return
    for r in RULES.values():
        print(r.name)
        print(textwrap.fill(r.doc, WIDTH, initial_indent="  ", subsequent_indent="  "))
        needs = ", ".join(sorted(p.value for p in r.preconditions)) or "nothing"
        print(f"  in: {r.algebra}; needs: {needs}; theorem: {r.theorem}")
