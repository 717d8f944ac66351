"""`tang atoms`: the models of tensor cores, and whether this GPU computes as they say.

Relies on `tang.ir.tensorcore` and, with --selftest, on a CUDA device and the self-test of
`tang.budget`. It decides nothing itself.
"""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tang.cli.given import Idle, refuse_idle
from tang.cli.load import UsageError

if TYPE_CHECKING:
    from tang.budget.selftest import SelfTest
    from tang.ir.tensorcore import FusedDot

_OF_TEST = Idle(("seconds", "out"), "without --selftest, which asks a GPU", "ask for --selftest")


def command(
    ctx: typer.Context,
    test: Annotated[bool, typer.Option("--selftest", help="ask this machine's GPU")] = False,
    only: Annotated[
        str, typer.Option("--only", help="words of a model's key, or functions, or operations")
    ] = "",
    seconds: Annotated[
        float, typer.Option("--seconds", help="go on with further questions until then")
    ] = 40.0,
    out: Annotated[Path | None, typer.Option("--out", help="write the report there too")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="models or report as JSON")] = False,
) -> None:
    """Print what each matrix instruction does to a dot product; --selftest certifies a GPU.

    The self-test asks every instruction of the GPU's architecture, measures every f32 argument of
    its functions, samples its operations, and compares with the models, with what CUDA documents
    and with the device's profile. Exit code 1: the GPU is refused. 2: there is none.
    """
    if not test:
        refuse_idle(ctx, _OF_TEST)
        _print_models(only, as_json)
        return
    if not seconds >= 0:
        raise UsageError(f"--seconds {seconds}: give a number of seconds, 0 or more")
    if out is not None and (out.is_dir() or not out.name):
        raise UsageError(f"--out {out}: this is a folder: name a file in it")
    if out is not None and not out.parent.is_dir():
        raise UsageError(f"--out {out}: there is no folder {out.parent}: create it first")
    report = _asked(only, seconds)
    text = json.dumps(report.to_data(), indent=1, ensure_ascii=False)
    if out is not None:
        from tang.cli.budget import write_whole

        write_whole(out, text + "\n")
    print(text if as_json else report.to_text())
    if not report.certified:
        raise typer.Exit(1)


def _asked(only: str, seconds: float) -> SelfTest:
    from dataclasses import replace

    from tang.budget.selftest import chosen, selftest
    from tang.device.atoms import AtomProbe
    from tang.device.cuda import Cuda
    from tang.device.profiling import measured

    device = Cuda()
    try:
        atoms, parts = chosen(device.architecture, only)
        profile = device.profile
        if "functions" in parts:
            profile = replace(profile, functions=measured(device).functions)
        probe = AtomProbe(device, device.architecture, atoms)
        about = dict(zip(("device", "driver", "compiler", "loader"), device.identity, strict=True))
        return selftest(
            probe, about, atoms, parts, profile, seconds=seconds,
            say=lambda line: typer.echo(f"tang: {line}", err=True),
        )  # fmt: skip
    finally:
        device.close()


def _print_models(only: str, as_json: bool) -> None:
    from dataclasses import asdict

    from tang.errors import FormatError
    from tang.ir.tensorcore import ATOMS

    words = set(only.replace("-", " ").split())
    rows = [a for a in ATOMS.values() if words <= set(a.key)]
    if not rows:
        known = "; ".join(" ".join(k) for k in ATOMS)
        raise FormatError(f"--only {only!r} names no model: there are {known}")
    if as_json:
        data: list[dict[str, Any]] = [{"key": list(a.key), **asdict(a)} for a in rows]
        print(json.dumps(data, indent=1))
        return
    print("\n".join(_model_text(a) for a in rows))


def _model_text(atom: FusedDot) -> str:
    """Two lines: how terms are added, and what that rests on."""
    sizes = sorted({len(g) for g in atom.groups})
    terms = f"{atom.k} terms, {'/'.join(map(str, sizes))} at once"
    kept = "exact" if atom.fraction is None else f"{atom.fraction} bits below the largest exponent"
    parts = [terms, kept]
    if atom.fraction is not None:
        parts.append(f"exponents from {atom.floor} up")
    if not atom.joined:
        parts.append("c added at the end, to nearest")
    if atom.truncated:
        parts.append("the low 13 bits of operands dropped")
    parts.append(f"to {atom.output} {atom.rounding}")
    if atom.result == "f64":
        parts.append(f"NaN of operands made quiet, else {atom.nan:#x}")
    else:
        parts.append(f"NaN {atom.nan:#x}, no payload or sign; infinities kept; no −0")
    body = textwrap.fill("; ".join(parts), 96, initial_indent="  ", subsequent_indent="  ")
    return f"{' '.join(atom.key)}\n{body}\n  {atom.evidence}"
