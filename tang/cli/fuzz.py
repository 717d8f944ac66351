"""`tang fuzz`: a differential campaign.

Relies on `tang.fuzz`. Exit code 1 when anything was found; findings are folders under --out.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from tang.cli.given import Idle, refuse_idle
from tang.cli.load import UsageError, load_factory

if TYPE_CHECKING:
    from tang.fuzz.mutants import Mutant

_Backends = Annotated[
    str,
    typer.Option(
        help="comma-separated: c, opencl, …; `all` (or `available`) for every language that "
        "runs here, `none` for the rungs up to replay, or package.module:factory for your own "
        "compiler"
    ),
]
_Examples = Annotated[
    int,
    typer.Option(min=1, help="how many programs to draw; with --power, at most for a mutant"),
]
_Seconds = Annotated[
    float,
    typer.Option(
        min=0.0,
        help="begin no batch after so long, and cut off what has not ended a quarter later "
        "(3 s at least); with --power, begin no mutant then; 0 never does",
    ),
]
_Patience = Annotated[
    float, typer.Option(min=0.1, help="seconds that your compiler's answer may take")
]
_Coverage = Annotated[
    bool, typer.Option("--coverage", help="count what the draws cover, and run nothing")
]
_Power = Annotated[
    bool, typer.Option("--power", help="plant every mutant in turn: is it found and blamed?")
]
_Seeds = Annotated[str, typer.Option(help="with --power: the seeds of each campaign")]
_Rotate = Annotated[
    int, typer.Option(min=0, help="with --power: one mutant in so many, other ones every day")
]
_Rung = Annotated[
    str, typer.Option(help="with --power: only mutants of this rung (`rewrite`: needs no backend)")
]
_Table = Annotated[
    Path | None,
    typer.Option(help="with --power: a JSON file of rows, gone on from and kept up to date"),
]


_OF_CAMPAIGNS = ("patience", "out")
_OF_POWER = Idle(
    ("seeds", "rotate", "rung", "table"), "without --power", "give --power, which plants mutants"
)
_WITH_POWER = (
    Idle(("seed",), "with --power", "give --seeds"),
    Idle(_OF_CAMPAIGNS, "with --power", "leave --power out"),
)
_WITH_COVERAGE = Idle(
    ("jobs", "seconds", *_OF_CAMPAIGNS),
    "with --coverage, which runs nothing",
    "leave --coverage out",
)


def command(
    ctx: typer.Context,
    backends: _Backends = "available",
    examples: _Examples = 500,
    seed: Annotated[int, typer.Option(min=0, help="the draws: same seed, same programs")] = 0,
    jobs: Annotated[int, typer.Option(min=0, help="worker processes; 0 is one a core")] = 0,
    seconds: _Seconds = 0.0,
    patience: _Patience = 20.0,
    out: Annotated[Path, typer.Option(help="where findings go, a folder each")] = Path("findings"),
    coverage: _Coverage = False,
    power: _Power = False,
    seeds: _Seeds = "1,2,3",
    rotate: _Rotate = 0,
    rung: _Rung = "",
    table: _Table = None,
    as_json: Annotated[bool, typer.Option("--json", help="the report as JSON")] = False,
) -> None:
    """Draw random programs, schedules and inputs; check each on every rung of the ladder.

    A finding is shrunk and written as a folder: graph.json, a paste-ready repro.py (exit 1 with
    the fault, 0 without), the kernel's text, both sides up to the first differing value.

    Ctrl-C ends it with the report of what was done (exit 130 when nothing was found).

    Examples:

      tang fuzz --backends c --examples 2000 --seed 1

      tang fuzz --backends mycompiler.tang:backend --examples 300
    """
    _refuse_idle(ctx, power=power, coverage=coverage)
    if power:
        _power(
            as_json,
            seeds=_numbers(seeds),
            mutants=_rotated(rotate, rung),
            backends=_backends(backends),
            examples=examples,
            jobs=jobs or os.cpu_count() or 1,
            seconds=seconds or None,
            table=table,
        )
    if coverage:
        _coverage(_backends(backends), examples, seed, as_json)
    from tang.fuzz.campaign import Options, run_campaign

    options = Options(
        backends=_backends(backends),
        examples=examples,
        seed=seed,
        jobs=jobs or os.cpu_count() or 1,
        seconds=seconds or None,
        out=out,
        patience=patience,
    )
    _check_writable(out)
    report = run_campaign(options)
    print(json.dumps(report.to_data(), indent=1) if as_json else report.to_text())
    raise typer.Exit(1 if report.found else 130 if report.interrupted else 0)


def _refuse_idle(ctx: typer.Context, *, power: bool, coverage: bool) -> None:
    """Refuse the options that have no effect in the mode that was asked for."""
    if power and coverage:
        raise UsageError("--coverage has no effect with --power: ask for one of them")
    refuse_idle(ctx, *(_WITH_POWER if power else (_OF_POWER,)))
    if coverage:
        refuse_idle(ctx, _WITH_COVERAGE)


def _coverage(backends: tuple[str, ...], examples: int, seed: int, as_json: bool) -> NoReturn:
    """What a campaign with these options would cover; nothing is compiled or run."""
    from tang.fuzz.coverage import coverage_of_draws
    from tang.fuzz.formats import formats_of

    found = coverage_of_draws(seed, examples, formats_of(backends))
    data = {"draws": found.draws, "cells": found.counts(), "thin": found.thin()}
    print(json.dumps(data, indent=1) if as_json else f"{found.text()}\n{found.thin_text()}")
    raise typer.Exit(0)


def _check_writable(out: Path) -> None:
    """Whether findings can be written there, before any time is spent on them."""
    place = out.absolute()
    while not place.exists() and place != place.parent:
        place = place.parent
    try:
        with tempfile.TemporaryDirectory(prefix=".writing-", dir=place):
            return
    except OSError as e:
        raise UsageError(f"--out {out}: cannot write there: {e.strerror}") from e


def _rotated(rotate: int, rung: str) -> tuple[Mutant, ...]:
    """All mutants, those of a rung, or the part of them that is today's."""
    from tang.fuzz.mutants import MUTANTS

    found = tuple(m for m in MUTANTS if not rung or m.rung.value == rung)
    if not found:
        known = ", ".join(dict.fromkeys(m.rung.value for m in MUTANTS))
        raise UsageError(f"--rung {rung}: no mutants there, but on {known}")
    return found[int(time.time() // 86400) % rotate :: rotate] if rotate else found


def _check_planted(backends: tuple[str, ...], mutants: tuple[Mutant, ...]) -> None:
    """Refuse backends that are not tang's own, and those on which no mutant exists."""
    foreign = next((b for b in backends if ":" in b), "")
    if foreign:
        raise UsageError(
            f"--backends {foreign} has no effect with --power: mutants are planted in tang alone"
        )
    idle = [m for m in mutants if m.rung.value != "rewrite" and not {*backends} & {*m.languages}]
    if len(idle) == len(mutants):
        places = ", ".join(dict.fromkeys(x for m in idle for x in m.languages))
        raise UsageError(f"--power plants nothing on these --backends: give one of {places}")


def _power(as_json: bool, **asked: Any) -> NoReturn:  # noqa: ANN401 - fields of PowerOptions
    """The stock campaign against mutants; exits with 1 when one is missed or misblamed."""
    from tang.fuzz.mutants.power import PowerOptions, run_power

    _check_planted(asked["backends"], asked["mutants"])
    report = run_power(PowerOptions(baseline=50, **asked))
    print(json.dumps(report.to_data(), indent=1) if as_json else report.to_text())
    raise typer.Exit(0 if report.ok else 1)


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(n) for n in text.split(","))
    except ValueError:
        raise UsageError(f"--seeds takes numbers, as in 1,2,3, not {text!r}") from None


def _backends(text: str) -> tuple[str, ...]:
    """Backend names; `available` says on stderr what does not run here and why."""
    from tang.verify.backends import BACKENDS, available

    if text == "none":
        return ()
    if text in ("all", "available"):
        states = available()
        for name, reason in states.items():
            if reason:
                typer.echo(f"tang: backend {name} does not run here: {reason}", err=True)
        running = tuple(n for n, reason in states.items() if not reason)
        if not running:
            typer.echo("tang: no backend runs here; checking the rungs up to replay", err=True)
        return running
    names = tuple(n.strip() for n in text.split(",") if n.strip())
    for name in names:
        if ":" in name:
            with redirect_stdout(sys.stderr):  # what a module prints is no part of the report
                load_factory(name)
        elif name not in BACKENDS:
            known = ", ".join(BACKENDS)
            raise UsageError(f"unknown backend {name!r}: one of {known}, or module:factory")
    return names
