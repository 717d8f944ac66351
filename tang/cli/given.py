"""Options that were given although a request leaves them without effect.

Defines `Idle` and `refuse_idle`. Relies on click, which knows whether a value came from the command
line. It looks at no values: which options a mode does not take, its command says.
"""

from __future__ import annotations

from dataclasses import dataclass

import typer

from tang.cli.load import UsageError


@dataclass(frozen=True, slots=True)
class Idle:
    """Parameters of a command that do nothing in one of its modes.

    when  the mode, as in "without --trace";  cure  what to give instead
    """

    names: tuple[str, ...]
    when: str
    cure: str


def refuse_idle(ctx: typer.Context, *rows: Idle) -> None:
    """Raise UsageError naming the first option that was given and has no effect."""
    for row in rows:
        for name in row.names:
            if is_given(ctx, name):
                option = _option(ctx, name)
                text = f"{option} has no effect {row.when}: {row.cure}, or leave {option} out"
                raise UsageError(text)


def is_given(ctx: typer.Context, name: str) -> bool:
    """Whether a parameter's value came from the command line."""
    source = ctx.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _option(ctx: typer.Context, name: str) -> str:
    """How the parameter is written."""
    return next(max(p.opts, key=len) for p in ctx.command.params if p.name == name)
