"""The command line: `tang fuzz|verify|budget|tolerance|emit|show|rules|prove|atoms|doctor`.

Exit codes: 0 all is well, 1 something was found, 2 the request was wrong. Each command lives in a
module of its own and imports what it needs when it runs, so `tang --help` stays fast.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from tang.cli.atoms import command as atoms
from tang.cli.budget import command as budget
from tang.cli.doctor import command as doctor
from tang.cli.emit import command as emit
from tang.cli.fuzz import command as fuzz
from tang.cli.prove import command as prove
from tang.cli.rules import command as rules
from tang.cli.show import command as show
from tang.cli.tolerance import command as tolerance
from tang.cli.verify import command as verify
from tang.errors import TangError

HELP = """tang: a verification-first tensor compiler.

A program is a JSON file or FILE.py:NAME, where NAME is a tang.Graph (default: graph).

  tang fuzz --backends c --examples 500     differential fuzzing of every rung
  tang verify examples/attention.py         check one program, rung by rung
  tang budget examples/attention.py --precision bf16 --rel 1e-2 --abs 1e-3
                                            is a precision safe, before it runs
  tang tolerance examples/matmul.py         the tolerance that a test of it should use
  tang emit examples/matmul.py --target c   print its kernels
  tang show examples/attention.py --trace   how rules rewrite it, step by step
  tang rules                                the rewrite rules
  tang prove                                check the Lean proofs behind the rules
  tang atoms --selftest                     does this GPU compute as its model says?
  tang doctor                               what runs on this machine

Exit codes: 0 fine, 1 findings, 2 usage or input error.
"""

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


def _version(asked: bool) -> None:
    """Print tang's version and end, if asked to."""
    if asked:
        from importlib.metadata import PackageNotFoundError, version

        try:
            print(f"tang {version('tang')}")
        except PackageNotFoundError:
            print("tang, not installed: run from a checkout")
        raise typer.Exit(0)


@app.callback(help=HELP)
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="print the version"),
    ] = False,
) -> None:
    """What `tang` takes before a command."""


app.command("fuzz")(fuzz)
app.command("verify")(verify)
app.command("budget")(budget)
app.command("tolerance")(tolerance)
app.command("emit")(emit)
app.command("show")(show)
app.command("rules")(rules)
app.command("prove")(prove)
app.command("atoms")(atoms)
app.command("doctor")(doctor)


def main() -> None:
    """Run the command line; a TangError becomes one line on stderr and exit code 2."""
    try:
        app()
    except TangError as e:
        print(f"tang: {type(e).__name__}: {e}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
