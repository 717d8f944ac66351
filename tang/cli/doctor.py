"""`tang doctor`: which backends run on this machine, and what would enable the others.

Relies on the device registry; probes, but changes nothing.
"""

from __future__ import annotations

import json
from typing import Annotated

import typer


def command(
    as_json: Annotated[bool, typer.Option("--json", help="the table as JSON")] = False,
) -> None:
    """List languages and devices, their profiles, and how to enable a missing one.

    Errors of builtins are measured: the largest over some 16,000 arguments each; --json has the
    arguments too. They bound no verdict where the language documents a bound of its own. What is
    measured is kept, so only the first run takes long.
    """
    from tang.device import survey

    rows = survey(lambda line: typer.echo(f"tang: {line}", err=True))
    if as_json:
        print(json.dumps([r.to_data() for r in rows], indent=1))
        return
    for row in rows:
        print(row.to_text())
