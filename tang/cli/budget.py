"""`tang budget`: is a precision safe within an error budget, before any device runs it.

Relies on `tang.budget`; it runs nothing on a device.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from tang.cli.given import Idle, is_given, refuse_idle
from tang.cli.load import UsageError, load_graph, parse_budget, parse_sizes

if TYPE_CHECKING:
    from tang.budget.report import BudgetReport
    from tang.budget.report_run import Question
    from tang.emulator.budget import Budgets
    from tang.ir.graph import Graph

_Precision = Annotated[
    str,
    typer.Option(help="a preset (f32, bf16, f16-acc, fp8-e4m3, mxfp8-e4m3, …) or FILE.json"),
]
_Budget = Annotated[
    list[str] | None,
    typer.Option(help="of one output or node: --budget y:rel=1e-3,abs=1e-6; repeatable"),
]
_Inputs = Annotated[
    Path | None, typer.Option(help="data: FILE.npz or FILE.safetensors, a tensor per input")
]
_Range = Annotated[
    list[str] | None,
    typer.Option("--range", help="of a real input: --range x=-1:1; repeatable"),
]
_Size = Annotated[
    list[str] | None, typer.Option(help="a symbolic extent: --size seq=16; repeatable")
]
_Rules = Annotated[
    str, typer.Option(help="rewrite rules first: pipeline, none, or names with commas between")
]
_Rel = Annotated[float, typer.Option(help="allowed of the size of a result")]
_Abs = Annotated[float, typer.Option("--abs", help="allowed whatever the size")]
_Ulp = Annotated[float, typer.Option(help="allowed units in the last place of the format")]
_C = Annotated[
    float, typer.Option(help="allowed times u T: unit roundoff times the sum of |terms|")
]
_Percentile = Annotated[float, typer.Option(help="of elements that must be within, in percent")]
_Samples = Annotated[
    int, typer.Option(min=0, help="how many sets of inputs to draw; 0 only with --certified")
]
_Seed = Annotated[int, typer.Option(min=0, help="of inputs, and of where tiles lie")]
_Certified = Annotated[
    bool, typer.Option("--certified", help="accept nothing but a proof for all inputs")
]
_Whole = Annotated[
    bool, typer.Option("--whole", help="replay every element, however many there are")
]
_Tune = Annotated[
    bool,
    typer.Option("--tune", help="search for cheaper formats that keep the budget, and judge these"),
]
_Strict = Annotated[bool, typer.Option("--strict", help="rules that keep NaN and inf")]
_Json = Annotated[bool, typer.Option("--json", help="the report as JSON")]
_Html = Annotated[Path | None, typer.Option(help="write a picture and a table to this file too")]

_OF_DRAWS = Idle(("samples", "size"), "with --inputs", "give --samples or --size without a file")
_OF_RULES = Idle(("strict",), "with --rules none", "give it with rules")
_OF_ERRORS = Idle(("percentile",), "with --certified", "certificates hold for every element")


def command(
    ctx: typer.Context,
    graph: Annotated[str, typer.Argument(help="FILE.json or FILE.py:NAME")],
    precision: _Precision = "f32",
    rel: _Rel = 0.0,
    absolute: _Abs = 0.0,
    ulp: _Ulp = 0.0,
    c: _C = 0.0,
    percentile: _Percentile = 100.0,
    budget: _Budget = None,
    inputs: _Inputs = None,
    samples: _Samples = 1,
    seed: _Seed = 0,
    spans: _Range = None,
    size: _Size = None,
    certified: _Certified = False,
    whole: _Whole = False,
    tune: _Tune = False,
    rules: _Rules = "pipeline",
    strict: _Strict = False,
    html: _Html = None,
    as_json: _Json = False,
) -> None:
    """Judge a precision: safe or not, which node, why, and what would cure it.

    An output is accepted where |value - f64| <= abs + rel |f64| + ulp ulps + c u T. Errors are
    those of emulation, bit for bit what a device of IEEE arithmetic computes; bounds are sound for
    these inputs. Without --inputs data are drawn: parameters (a dot in their names) from
    N(0, 1/fan-in), --range uniformly, other reals from N(0, 1).

    Exit codes: 0 safe, 1 over budget (with --certified: not proved), 2 a wrong request.

    Examples:

      tang budget examples/attention.py --precision bf16 --rel 1e-2 --abs 1e-3

      tang budget model.json --precision f16 --c 4 --inputs data.safetensors --html out.html
    """
    _refuse(ctx, inputs, rules, certified)
    terms = {"rel": rel, "abs": absolute, "ulp": ulp, "c": c, "percentile": percentile}
    given = {n: v for n, v in terms.items() if is_given(ctx, "absolute" if n == "abs" else n)}
    asked = _Asked(
        given, budget or [], inputs, samples, seed, spans or [], size or [], certified, whole,
        tune, parse_rules(rules), strict,
    )  # fmt: skip
    _show(_report(graph, precision, asked), html, as_json)


def _refuse(ctx: typer.Context, inputs: Path | None, rules: str, certified: bool) -> None:
    """Refuse what has no effect."""
    refuse_idle(
        ctx,
        *([_OF_DRAWS] if inputs is not None else []),
        *([_OF_RULES] if rules == "none" else []),
        *([_OF_ERRORS] if certified else []),
    )


def _show(report: BudgetReport, html: Path | None, as_json: bool) -> NoReturn:
    if html is not None:
        from tang.budget.html import report_html

        write_whole(html, report_html(report))
    print(json.dumps(report.to_data(), indent=1) if as_json else report.to_text())
    raise typer.Exit(0 if report.ok else 1)


@dataclass(frozen=True, slots=True)
class _Asked:
    """The options as they came."""

    terms: dict[str, float]
    budgets: list[str]
    inputs: Path | None
    samples: int
    seed: int
    ranges: list[str]
    sizes: list[str]
    certified: bool
    whole: bool
    tune: bool
    rules: tuple[str, ...] | None
    strict: bool


def _report(argument: str, precision: str, asked: _Asked) -> BudgetReport:
    from tang.budget.report_run import budget_report

    program = load_graph(argument)
    question = _question(program, asked)
    if not asked.tune:
        return budget_report(program, precision, question, argument)
    return _tuned(program, precision, question, argument)


def _tuned(program: Graph, start: str, question: Question, argument: str) -> BudgetReport:
    """The report of the cheapest formats that a search found, with the way there."""
    from tang.budget.report_run import budget_report
    from tang.budget.tune import tuned
    from tang.schedule.serial import schedule_to_json

    found = tuned(program, start, question)
    report = budget_report(program, found.schedule, question, argument)
    schedule = json.loads(schedule_to_json(found.schedule))
    precision = (
        f"formats found from {start}" if start.isidentifier() else "the precision that was found"
    )
    return replace(report, precision=precision, front=tuple(found.lines()), schedule=schedule)


def _question(program: Graph, asked: _Asked) -> Question:
    from tang.budget.files import load_inputs
    from tang.budget.report_run import Question

    sizes = parse_sizes(asked.sizes, [program])
    return Question(
        budget=_budgets(asked.terms, asked.budgets),
        inputs=None if asked.inputs is None else load_inputs(asked.inputs, program),
        samples=asked.samples,
        seed=asked.seed,
        sizes=sizes,
        ranges=parse_ranges(asked.ranges),
        certified=asked.certified,
        rules=asked.rules,
        strict=asked.strict,
        whole=asked.whole,
    )


def _budgets(terms: dict[str, float], named: Iterable[str]) -> Budgets:
    """The budget of all outputs, and those of the ones that are named."""
    from tang.emulator.budget import Budgets, ErrorBudget, budget_from

    found: dict[str, ErrorBudget] = {}
    for text in named:
        name, colon, rest = text.rpartition(":")
        own = parse_budget(rest) if colon and name else None
        if own is None:
            raise UsageError(f"--budget takes NAME:rel=1e-3,abs=1e-6, not {text!r}")
        if name in found:
            raise UsageError(f"--budget {name} is given twice: give it once")
        found[name] = own
    default = budget_from(terms) if set(terms) - {"percentile"} else None
    if default is None and terms:
        raise UsageError("--percentile has no effect without --rel, --abs, --ulp or --c: give one")
    if default is None and not found:
        raise UsageError("give a budget: --rel, --abs, --ulp, --c, or --budget NAME:rel=1e-3")
    return Budgets(default=default, named=found)


def parse_rules(text: str) -> tuple[str, ...] | None:
    """None for the pipeline, names for everything else."""
    if text == "pipeline":
        return None
    return () if text == "none" else tuple(n.strip() for n in text.split(",") if n.strip())


def parse_ranges(texts: Iterable[str]) -> dict[str, tuple[float, float]]:
    """Every `--range NAME=LO:HI`; which names there are, the program says."""
    found: dict[str, tuple[float, float]] = {}
    for text in texts:
        name, _, span = text.rpartition("=")
        lo, _, hi = span.partition(":")
        try:
            ends = float(lo), float(hi)
        except ValueError:
            raise UsageError(f"--range takes NAME=LO:HI, as in x=-1:1, not {text!r}") from None
        if not name or name in found:
            reason = "is given twice: give it once" if name else "names no input"
            raise UsageError(f"--range {text} {reason}")
        found[name] = ends
    return found


def write_whole(path: Path, text: str) -> None:
    """A text file, written beside its place and renamed."""
    if not path.name or path.is_dir():
        raise UsageError(f"{path}: this is a folder: name a file in it")
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    except OSError as e:
        beside.unlink(missing_ok=True)
        raise UsageError(f"{path}: cannot write there: {e.strerror}") from e
