"""`tang tolerance`: which atol, rtol or T-tolerance a test of a kernel should use, and why.

Relies on `tang.budget`; it runs no kernel and compares nothing.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from tang.cli.budget import parse_ranges
from tang.cli.given import Idle, refuse_idle
from tang.cli.load import load_graph, parse_sizes

if TYPE_CHECKING:
    from tang.budget.tolerance import Tolerance
    from tang.ir.graph import Graph

BLIND: Final = 0.1
"""The share of elements at which zeros pass, from which on it is said."""
_OF_DRAWS = Idle(("samples", "seed", "size"), "with --inputs", "give --samples without a file")


def command(
    ctx: typer.Context,
    graph: Annotated[str, typer.Argument(help="FILE.json or FILE.py:NAME")],
    precision: Annotated[
        str, typer.Option(help="formats of the kernel: a preset (f32, bf16, …) or a FILE.json")
    ] = "f32",
    inputs: Annotated[
        Path | None, typer.Option(help="data of the test: FILE.npz or FILE.safetensors")
    ] = None,
    samples: Annotated[int, typer.Option(min=1, help="how many sets of inputs to draw")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="of drawn inputs")] = 0,
    spans: Annotated[
        list[str] | None,
        typer.Option("--range", help="of a real input: --range x=-1:1; repeatable"),
    ] = None,
    size: Annotated[
        list[str] | None, typer.Option(help="a symbolic extent: --size seq=16; repeatable")
    ] = None,
    math: Annotated[
        str | None,
        typer.Option(
            help="whose functions the kernel has: any library's (any: of presets by default), "
            "tang's own (portable: of files), or a language's (c, cuda, opencl, …)"
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="the tolerances as JSON")] = False,
) -> None:
    """Print the tolerance of every output, with its derivation.

    A preset stands for kernels that sum in any order. T is the sum of |terms|: the program over
    |inputs| with every subtraction an addition; tang.testing.assert_within computes it. A bound
    larger than the largest result is no tolerance: what holds for fewer inputs is printed instead.

    Exit codes: 0 all outputs have a tolerance, 1 one has none, 2 a wrong request.

    Example: tang tolerance examples/matmul.py --precision bf16
    """
    if inputs is not None:
        refuse_idle(ctx, _OF_DRAWS)
    program = load_graph(graph)
    found = _tolerances(program, precision, inputs, samples, seed, spans or [], size or [], math)
    if as_json:
        print(json.dumps([t.to_data() for t in found], indent=1, ensure_ascii=False))
    else:
        source = "the given inputs" if inputs is not None else _drawn(samples, seed)
        print("\n\n".join(_text(t, source, inputs is not None) for t in found))
    if not all(t.ok for t in found):
        raise typer.Exit(1)


def _drawn(samples: int, seed: int) -> str:
    if samples == 1:
        return f"random inputs of seed {seed}"
    return f"{samples} sets of random inputs, of seeds {seed} to {seed + samples - 1}"


def _tolerances(
    program: Graph,
    precision: str,
    inputs: Path | None,
    samples: int,
    seed: int,
    spans: list[str],
    size: list[str],
    math: str | None,
) -> tuple[Tolerance, ...]:
    from tang.budget.files import load_inputs
    from tang.budget.report_inputs import (
        check_ranges,
        checked_ranges,
        checked_samples,
        checked_seed,
        drawn_inputs,
    )
    from tang.budget.report_tolerance import tolerances_of
    from tang.ir.bind import infer_sizes

    ranges = checked_ranges(program, parse_ranges(spans))
    sets: list[dict[str, Any]]
    if inputs is None:
        sizes = parse_sizes(size, [program])
        first, many = checked_seed(seed), checked_samples(samples)
        sets = [drawn_inputs(program, sizes, ranges, first + n) for n in range(many)]
    else:
        sets = [load_inputs(inputs, program)]
        sizes = infer_sizes(program, {n: a.shape for n, a in sets[0].items()})
        check_ranges(sets[0], ranges)
    return tolerances_of(program, precision, sizes=sizes, inputs=sets, ranges=ranges, math=math)


def _text(t: Tolerance, source: str, given: bool) -> str:
    scope = t.scope.replace("these inputs", source)
    lines = [f"{t.output} ({t.format}): {t.formula()}" + (f"   {scope}" if scope else "")]
    if t.vacuous:
        lines.append(f"  VACUOUS: {t.vacuity(source)}, so zeros would pass")
    elif t.kind != "none" and t.format != "exact":
        lines += _plain(t, source)
        if t.blind > BLIND:
            lines.append(f"  zeros would pass at {t.blind:.0%} of the elements: it tests little")
    if not t.ok:
        lines.append(f"  cure: {_cure(t, given)}")
    lines.append("  derivation:")
    return "\n".join((*lines, *(f"    {line}" for line in t.derivation)))


def _plain(t: Tolerance, source: str) -> list[str]:
    """The numbers that tests of other tools take, each with what it holds for."""
    if t.scale:
        where = f"only where T <= {t.largest:.6g}, its largest on {source}"
        lines = [f"  without T: atol={t.plain:.3g} rtol={t.rtol:.3g}   {where}"]
    else:
        lines = [f"  atol={t.plain:.3g} rtol={t.rtol:.3g}"]
    if t.kind != "data" and t.tight > 0:
        lines.append(f"  atol={t.tight:.3g} rtol=0   for {source} alone, {t.order}")
    return lines


def _cure(t: Tolerance, given: bool) -> str:
    from tang.budget.tolerance import CURE

    data = "" if given else "give the data of the test with --inputs, or "
    some = t.bound is not None and 0 < t.unknown < t.bound.size
    skip = ', or judge the others: assert_within(..., doubtful="skip")' if some else ""
    return f"{data}state narrower ranges with --range, or {CURE}{skip}"
