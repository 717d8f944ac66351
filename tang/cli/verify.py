"""`tang verify`: programs through the whole ladder, foreign kernels against a graph.

Relies on `tang.verify`; exit code 1 when any report holds a verdict that was not allowed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tang.cli.given import Idle, refuse_idle
from tang.cli.load import UsageError

if TYPE_CHECKING:
    from tang.verify.derive import Derivation
    from tang.verify.report import Report
    from tang.verify.verdict import Verdict


_OF_KERNELS = Idle(
    ("language", "on"), "without --spec and --launch", "give both, for foreign kernels"
)
_OF_GRAPHS = Idle(
    ("backends", "math", "rules", "strict"),
    "on foreign kernels",
    "--language and --on say where their text runs",
)
_OF_RULES = Idle(("strict",), "with --rules none", "name rules")


def command(
    ctx: typer.Context,
    graphs: Annotated[
        list[str],
        typer.Argument(help="FILE.json or FILE.py:NAME, or kernel files with --spec and --launch"),
    ],
    backends: Annotated[str, typer.Option(help="comma-separated backends: c")] = "c",
    seed: Annotated[int, typer.Option(help="seed of the random inputs")] = 0,
    size: Annotated[
        list[str] | None, typer.Option(help="a symbolic extent: --size seq=16; repeatable")
    ] = None,
    allow: Annotated[
        list[str] | None, typer.Option(help="a verdict to accept, by name: --allow UNDECIDED")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="reports as JSON")] = False,
    math: Annotated[str, typer.Option(help="portable, or native: the device's own functions")] = (
        "portable"
    ),
    rules: Annotated[
        str, typer.Option(help="rewrite rules applied first: pipeline, none, or names with commas")
    ] = "pipeline",
    strict: Annotated[
        bool, typer.Option("--strict", help="rewriting keeps NaN and infinities exactly")
    ] = False,
    spec: Annotated[str, typer.Option(help="what foreign kernels must compute: a graph")] = "",
    launch: Annotated[str, typer.Option(help="how foreign kernels are launched: a file")] = "",
    language: Annotated[str, typer.Option(help="of foreign kernels: c, cuda, msl, opencl")] = "",
    on: Annotated[str, typer.Option(help="where CUDA text runs: cuda (a GPU) or simt")] = "",
    budget: Annotated[
        str, typer.Option(help="errors to stay within besides: rel=1e-3,abs=1e-6")
    ] = "",
) -> None:
    """Check programs rung by rung: rewrite, lower, expand, emit, round; or foreign kernels.

    Inputs are random and reproducible by --seed. A failure names the rung, the kernel, the node
    and shows both sides up to the first differing value.

    Example: tang verify examples/matmul.py examples/attention.py
    Example: tang verify K.cu --spec SPECS.py:softmax --launch K.json
    """
    from tang.cli.foreign import Request, reports_of
    from tang.verify.derive import Derivation

    allowed = [_verdict(a) for a in allow or []]
    if spec or launch:
        refuse_idle(ctx, _OF_GRAPHS)
        request = Request(
            spec=spec, launch=launch, language=language, on=on, budget=budget, seed=seed,
            sizes=size or (),
        )  # fmt: skip
        _shown((r.allow(allowed) for r in reports_of(graphs, request)), as_json)
    else:
        derivation = Derivation(rules=_rules(rules), strict=strict)
        refuse_idle(ctx, _OF_KERNELS, *([_OF_RULES] if derivation.rules == () else []))
        found = _climbed(graphs, backends, seed, size or [], math, derivation, budget)
        _shown((r.allow(allowed) for r in found), as_json)


def _rules(text: str) -> tuple[str, ...] | None:
    if text == "pipeline":
        return None
    return () if text == "none" else tuple(n.strip() for n in text.split(",") if n.strip())


def _climbed(
    graphs: list[str],
    backends: str,
    seed: int,
    size: list[str],
    math: str,
    derivation: Derivation,
    budget: str,
) -> Iterator[Report]:
    """The reports of programs, one by one, once all of them are there."""
    from tang.cli.load import load_graph, parse_budget, parse_sizes
    from tang.verify import verify

    names = tuple(b.strip() for b in backends.split(",") if b.strip())
    if math not in ("portable", "native"):
        raise UsageError(f"--math is portable or native, not {math!r}")
    kind: Literal["portable", "native"] = "native" if math == "native" else "portable"
    loaded = [load_graph(argument) for argument in graphs]
    sizes, within = parse_sizes(size, loaded), parse_budget(budget)
    for argument, graph in zip(graphs, loaded, strict=True):
        own = {symbol: n for symbol, n in sizes.items() if symbol in graph.symbols}
        yield verify(
            graph, None, names, seed, name=argument, sizes=own, math=kind, budget=within,
            rules=derivation.rules, strict=derivation.strict,
        )  # fmt: skip


def _shown(found: Iterable[Report], as_json: bool) -> None:
    """Print reports as they come and exit with the code that they deserve."""
    reports = []
    for report in found:
        reports.append(report)
        if not as_json:
            print(report.to_text(), flush=True)
    if as_json:
        print(json.dumps([r.to_data() for r in reports], indent=1))
    raise typer.Exit(0 if all(r.ok for r in reports) else 1)


def _verdict(name: str) -> Verdict:
    from tang.verify.verdict import Verdict

    if name.upper() not in Verdict.__members__:
        raise UsageError(f"unknown verdict {name!r}: one of {', '.join(Verdict.__members__)}")
    if name.upper() == Verdict.PASS.name:
        raise UsageError("--allow PASS has no effect: it is always accepted; leave it out")
    return Verdict[name.upper()]
