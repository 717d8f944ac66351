"""`tang-verify`: the merge gate of a project.

Relies on `tang.verify.gate`. Exit codes: 0 all is well, 1 a verdict that is not allowed, 2 the
request was wrong. Reports go to stdout, or whole or not at all to files; the rest to stderr.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tang.cli.given import is_given
from tang.cli.load import UsageError
from tang.errors import TangError

if TYPE_CHECKING:
    from tang.verify.gate import GateResult
    from tang.verify.gate.config import Config

FORMATS = ("text", "json", "junit", "sarif", "github")

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def command(
    ctx: typer.Context,
    paths: Annotated[
        list[str] | None,
        typer.Argument(help="FILE.json, FILE.py or FILE.py:NAME; default: the configured graphs"),
    ] = None,
    config: Annotated[Path, typer.Option(help="the file with the table tool.tang.verify")] = Path(
        "pyproject.toml"
    ),
    backends: Annotated[
        str, typer.Option(help="comma-separated names, `available` or `all`, for every program")
    ] = "",
    since: Annotated[
        str, typer.Option(help="a git revision: only programs that differ from it, and how")
    ] = "",
    form: Annotated[str, typer.Option("--format", help=f"one of {', '.join(FORMATS)}")] = "text",
    output: Annotated[Path | None, typer.Option(help="file of the report; default: stdout")] = None,
    report: Annotated[
        list[str] | None, typer.Option(help="a further report: --report sarif=FILE; repeatable")
    ] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="verify unchanged ones too")] = False,
    jobs: Annotated[int, typer.Option(min=0, help="processes; 0 is one a core")] = 1,
    allow: Annotated[
        list[str] | None, typer.Option(help="a further verdict to accept, by name; repeatable")
    ] = None,
) -> None:
    """Verify the programs of a project and fail unless every one passes on every rung.

    Examples:

      tang-verify --since origin/main --jobs 0

      tang-verify models/attention.py:graph --backends available --report sarif=tang.sarif
    """
    from tang.verify.gate import Gate, run_gate

    wanted = [(form, output), *(_report(r) for r in report or [])]
    for name, _ in wanted:
        if name not in FORMATS:
            raise UsageError(f"unknown format {name!r}: one of {', '.join(FORMATS)}")
    _check_apart([file for _, file in wanted])
    found = _config(config, bool(paths) and not is_given(ctx, "config"))
    gate = Gate(
        config=found,
        patterns=tuple(_pattern(p, found.root) for p in paths or ()),
        backends=tuple(b.strip() for b in backends.split(",") if b.strip()),
        since=since,
        cached=not no_cache,
        jobs=jobs or os.cpu_count() or 1,
    )
    result = _allowed(run_gate(gate), allow or [])
    _tell(result)
    for name, file in wanted:
        _write(_text(result, name), file)
    raise typer.Exit(0 if result.ok else 1)


def _config(file: Path, named: bool) -> Config:
    """The configuration; programs that are named need none, unless one was asked for."""
    from tang.verify.gate.config import Config, read_config

    if named and not file.exists():
        return Config(file=file, root=Path.cwd())
    return read_config(file, optional=named)


def _check_apart(files: Sequence[Path | None]) -> None:
    """Refuse a report that another one would replace."""
    written = [f.absolute() for f in files if f is not None]
    twice = next((f for f in written if written.count(f) > 1), None)
    if twice is not None:
        raise UsageError(f"two reports go to {twice}: give each a file of its own")


def _pattern(argument: str, root: Path) -> str:
    """A path of the command line, relative to the project's root where it lies inside."""
    from tang.verify.gate.snapshot import split

    stem, name = split(argument)
    path = Path(os.path.normpath(Path.cwd() / stem))
    shown = path.relative_to(root) if path.is_relative_to(root) else path
    return f"{shown.as_posix()}:{name}" if name else shown.as_posix()


def _report(text: str) -> tuple[str, Path | None]:
    name, equals, file = text.partition("=")
    if not equals or not file:
        raise UsageError(f"--report takes FORMAT=FILE, as in sarif=tang.sarif, not {text!r}")
    return name, Path(file)


def _allowed(result: GateResult, names: Sequence[str]) -> GateResult:
    from dataclasses import replace

    from tang.cli.verify import _verdict

    verdicts = [_verdict(n) for n in names]
    return replace(result, reports=tuple(r.allow(verdicts) for r in result.reports))


def _tell(result: GateResult) -> None:
    """On stderr: what no report holds."""
    for note in result.notes:
        print(f"tang-verify: {note}", file=sys.stderr)
    if result.diff is not None:
        print(result.diff.to_text(), file=sys.stderr)
    print(f"tang-verify: {result.summary()}", file=sys.stderr)


def _text(result: GateResult, form: str) -> str:
    from importlib.metadata import version

    from tang.verify.export import to_github, to_junit, to_sarif

    writers: dict[str, Callable[[], str]] = {
        "text": lambda: "".join(r.to_text() + "\n" for r in result.reports),
        "json": lambda: json.dumps(_data(result), indent=1) + "\n",
        "junit": lambda: to_junit(result.reports),
        "sarif": lambda: to_sarif(result.reports, version("tang")),
        "github": lambda: to_github(result.reports),
    }
    return writers[form]()


def _data(result: GateResult) -> dict[str, Any]:
    diff = result.diff
    kernels = None
    if diff is not None:
        kernels = {
            "total": diff.total,
            "changed": diff.changed,
            "added": diff.added,
            "removed": diff.removed,
        }
    return {
        "ok": result.ok,
        "cached": result.hits,
        "programs": result.programs,
        "skipped": result.skipped,
        "kernels": kernels,
        "notes": result.notes,
        "reports": [r.to_data() for r in result.reports],
    }


def _write(text: str, file: Path | None) -> None:
    from tang.verify.gate.cache import write_atomically

    if file is None:
        sys.stdout.write(text)
        return
    try:
        write_atomically(file, text)
    except OSError as e:
        raise UsageError(f"cannot write {file}: {e}") from e


def main() -> None:
    """Run the command line; a TangError becomes one line on stderr and exit code 2."""
    try:
        app()
    except TangError as e:
        print(f"tang-verify: {type(e).__name__}: {e}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)


if __name__ == "__main__":
    main()
