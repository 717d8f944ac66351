"""`tang show`: a program in readable text, its plan, or the derivation by rewrite rules.

Relies on the text forms of the IR and of plans, and on `tang.rewrite`; it computes nothing.
"""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING, Annotated

import typer

from tang.cli.given import Idle, refuse_idle

if TYPE_CHECKING:
    from tang.ir.extent import Poly
    from tang.ir.graph import Graph
    from tang.rewrite.derivation import Stage


_OF_TRACES = Idle(("size",), "without --trace", "give --trace, which counts bytes")
_OF_RULES = Idle(("strict",), "with --json but no --trace", "give --trace, which applies rules")


def command(
    ctx: typer.Context,
    graph: Annotated[str, typer.Argument(help="FILE.json or FILE.py:NAME")],
    plan: Annotated[bool, typer.Option("--plan", help="show buffers and kernels too")] = False,
    trace: Annotated[
        bool, typer.Option("--trace", help="show the derivation, step by step, and its result")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="rules that keep NaN and inf")] = False,
    size: Annotated[
        list[str] | None, typer.Option(help="a symbolic extent: --size seq=16; repeatable")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print it as JSON")] = False,
) -> None:
    """Print a program in index notation, what rules make of it, and how that is scheduled.

    Traffic (--trace) counts every distinct tensor that a kernel reads and every result that it
    has to store once, four bytes an element; a polynomial in the extents without a --size.
    Examples: tang show examples/attention.py --plan; tang show examples/attention.py --trace
    """
    from tang.cli.load import UsageError, load_graph, parse_sizes
    from tang.ir import to_json, to_text

    if plan and (trace or as_json):
        raise UsageError("--plan goes with neither --trace nor --json: ask for one of them")
    if not trace:
        refuse_idle(ctx, _OF_TRACES, *([_OF_RULES] if as_json else []))
    g = load_graph(graph)
    if trace:
        _show_trace(g, strict, parse_sizes(size or [], [g]), as_json)
        return
    if as_json:
        print(json.dumps(json.loads(to_json(g)), indent=1))
        return
    from tang.rewrite import rewrite
    from tang.schedule import explain

    done = rewrite(g, None, strict)
    found = explain(done.graph)
    print(to_text(g))
    if done.trace:
        print(f"rewritten in {len(done.trace)} steps (--trace shows them)")
        print(to_text(done.graph))
    print(f"schedule\n{textwrap.indent(str(found), '  ')}")
    if plan:
        from tang.kernel.lower import lower
        from tang.kernel.text import plan_text

        print()
        print(plan_text(lower(done.graph, found.schedule)))


def _show_trace(graph: Graph, strict: bool, sizes: dict[str, int], as_json: bool) -> None:
    from tang.ir import to_text
    from tang.rewrite.derivation import derivation

    done, stages = derivation(graph, None, strict)
    if as_json:
        print(json.dumps([_row(s, sizes) for s in stages], indent=1, ensure_ascii=False))
        return
    rows = [(str(s.kernels), _bytes(s.bytes, sizes), _text(s)) for s in stages]
    columns = [max(len(r[c]) for r in [*rows, HEAD]) for c in (0, 1)]
    for kernels, moved, text in [HEAD, *rows]:
        print(f"{kernels:>{columns[0]}}  {moved:>{columns[1]}}  {text}")
    needs = ", ".join(sorted(n.value for n in done.assumptions())) or "nothing"
    print(f"assumes: {needs}\n")
    print(to_text(done.graph))


HEAD = ("kernels", "bytes", "step")


def _text(stage: Stage) -> str:
    return "the program as given" if stage.step is None else str(stage.step)


def _bytes(p: Poly, sizes: dict[str, int]) -> str:
    bound = p.bind(sizes)
    return f"{bound.constant:,}" if bound.is_constant else str(bound)


def _row(stage: Stage, sizes: dict[str, int]) -> dict[str, object]:
    step, moved = stage.step, stage.bytes.bind(sizes)
    return {
        "rule": None if step is None else step.rule,
        "node": None if step is None else step.node,
        "text": _text(stage) if step is None else step.text,
        "requires": [] if step is None else sorted(n.value for n in step.requires),
        "kernels": stage.kernels,
        "bytes": moved.constant if moved.is_constant else str(moved),
    }
