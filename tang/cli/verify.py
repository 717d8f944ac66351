"""`tang verify`: programs through the whole ladder.

Relies on `tang.verify`; exit code 1 when any report holds a verdict that was not allowed.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from tang.cli.load import UsageError

if TYPE_CHECKING:
    from tang.verify.verdict import Verdict


def command(
    graphs: Annotated[list[str], typer.Argument(help="FILE.json or FILE.py:NAME, one or more")],
    backends: Annotated[str, typer.Option(help="comma-separated backends: c")] = "c",
    seed: Annotated[int, typer.Option(help="seed of the random inputs")] = 0,
    size: Annotated[
        list[str] | None, typer.Option(help="a symbolic extent: --size seq=16; repeatable")
    ] = None,
    allow: Annotated[
        list[str] | None, typer.Option(help="a verdict to accept, by name: --allow UNDECIDED")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="reports as JSON")] = False,
) -> None:
    """Check programs rung by rung: lower, expand, emit, round.

    Inputs are random and reproducible by --seed. A failure names the rung, the kernel, the node
    and shows both sides up to the first differing value.

    Example: tang verify examples/*.py
    """
    from tang.cli.load import load_graph
    from tang.verify import verify

    names = tuple(b.strip() for b in backends.split(",") if b.strip())
    allowed = [_verdict(a) for a in allow or []]
    sizes = dict(_size(s) for s in size or [])
    reports = []
    for argument in graphs:
        report = verify(load_graph(argument), None, names, seed, name=argument, sizes=sizes)
        reports.append(report.allow(allowed))
        if not as_json:
            print(reports[-1].to_text())
    if as_json:
        print(json.dumps([r.to_data() for r in reports], indent=1))
    raise typer.Exit(0 if all(r.ok for r in reports) else 1)


def _verdict(name: str) -> Verdict:
    from tang.verify.verdict import Verdict

    if name.upper() not in Verdict.__members__:
        raise UsageError(f"unknown verdict {name!r}: one of {', '.join(Verdict.__members__)}")
    return Verdict[name.upper()]


def _size(text: str) -> tuple[str, int]:
    symbol, _, number = text.partition("=")
    if not symbol or not number.isdigit():
        raise UsageError(f"--size takes SYMBOL=NUMBER, as in seq=16, not {text!r}")
    return symbol, int(number)
