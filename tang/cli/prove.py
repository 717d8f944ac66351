"""`tang prove`: every theorem that the compiler relies on, checked by Lean.

Relies on `tang.proofs`; prints what the gate found and decides nothing itself.
"""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Annotated

import typer

from tang.cli.given import Idle, refuse_idle
from tang.errors import ProofError

if TYPE_CHECKING:
    from tang.proofs import Report, Theorem


_OF_TEXT = Idle(("rule",), "with --json, which has every theorem", "leave --json out")


def command(
    ctx: typer.Context,
    rule: Annotated[str, typer.Option("--rule", help="show one rule with its theorem")] = "",
    fresh: Annotated[bool, typer.Option("--fresh", help="build from source, no cache")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="the report as JSON")] = False,
) -> None:
    """Build the Lean sources, read every theorem's axioms, and fail at the first error.

    Unchanged sources are not checked again unless --fresh. Exit code 1: something is not proved.
    """
    from tang.proofs import prove

    if as_json:
        refuse_idle(ctx, _OF_TEXT)
    report = prove(fresh=fresh, say=lambda line: typer.echo(f"tang: {line}", err=True))
    if as_json:
        print(json.dumps(report.to_data(), indent=1, ensure_ascii=False))
    elif report.problems:
        print(f"not proved ({report.lean}):")
        print("\n".join(report.problems[:20]))
    else:
        print(_rule_text(rule, report) if rule else _text(report))
    if not report.ok:
        raise typer.Exit(1)


def _text(report: Report) -> str:
    """Theorems by module, with time and axioms; one line each."""
    lines = []
    for module, found in itertools.groupby(report.theorems, lambda t: t.module):
        lines.append(f"{module}  {report.seconds.get(module, 0):.2f} s")
        lines += [
            f"  {t.name:36s} {1000 * t.seconds:7.1f} ms  {', '.join(t.axioms) or 'no axioms'}"
            for t in found
        ]
    how = f"in {report.elapsed:.1f} s"
    if report.cached:
        how = "(unchanged, not checked again)"
    lines.append(f"{len(report.theorems)} theorems proved {how}; {report.lean}")
    return "\n".join(lines)


def _rule_text(name: str, report: Report) -> str:
    """Rule, theorem, axioms and statement."""
    from tang.rewrite import RULES

    if name not in RULES:
        raise ProofError(f"no rule is called {name!r}; `tang rules` lists them")
    row = RULES[name]
    theorem = _named(row.theorem, report)
    lines = [f"{row.name}: {row.doc}", f"  in: {row.algebra}"]
    if theorem is None:
        return "\n".join([*lines, f"  {row.theorem} is not proved; docs/proofs.md says why"])
    lines += [f"  {theorem.name} ({theorem.module.replace('.', '/')}.lean:{theorem.line})"]
    lines += [f"  axioms: {', '.join(theorem.axioms) or 'none'}", f"  {theorem.statement}"]
    return "\n".join(lines)


def _named(name: str, report: Report) -> Theorem | None:
    return next((t for t in report.theorems if t.name == name), None)
