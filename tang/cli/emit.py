"""`tang emit`: the kernels of a program as text.

Relies on lowering, expand-math and the emitters; it runs nothing.
"""

from __future__ import annotations

import json
from typing import Annotated

import typer


def command(
    graph: Annotated[str, typer.Argument(help="FILE.json or FILE.py:NAME")],
    target: Annotated[str, typer.Option(help="language of the kernels: c")] = "c",
    as_json: Annotated[
        bool, typer.Option("--json", help="a list of {name, language, text}")
    ] = False,
) -> None:
    """Print every kernel that a program compiles to.

    Example: tang emit examples/matmul.py --target c
    """
    from tang.api import kernel_texts
    from tang.cli.load import load_graph

    texts = kernel_texts(load_graph(graph), target)
    if as_json:
        rows = [{"name": t.name, "language": t.language, "text": t.text} for t in texts]
        print(json.dumps(rows, indent=1))
        return
    print("\n".join(t.text for t in texts))
