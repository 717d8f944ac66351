"""`tang verify KERNEL --spec GRAPH --launch LAUNCH.json`: foreign kernels on the command line.

Defines `reports_of`. Relies on `tang.verify.foreign`; which language a text has, its description or
the ending of its file says. It prints nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tang.cli.load import KERNELS, UsageError, load_graph, parse_budget, parse_sizes

if TYPE_CHECKING:
    from tang.emulator.budget import ErrorBudget
    from tang.ir.graph import Graph
    from tang.verify.report import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the command line says about foreign kernels; "" where it says nothing."""

    spec: str
    launch: str
    language: str = ""
    on: str = ""
    budget: str = ""
    seed: int = 0
    sizes: Sequence[str] = ()


def reports_of(kernels: Sequence[str], request: Request) -> list[Report]:
    """One report per kernel file; raises UsageError for a request that makes no sense."""
    if not request.spec or not request.launch:
        missing = "--spec GRAPH" if not request.spec else "--launch LAUNCH.json"
        raise UsageError(f"a foreign kernel needs {missing} as well")
    graph = load_graph(request.spec)
    budget, sizes = parse_budget(request.budget), parse_sizes(request.sizes, [graph])
    return [_report(kernel, graph, request, budget, sizes) for kernel in kernels]


def _report(
    kernel: str,
    graph: Graph,
    request: Request,
    budget: ErrorBudget | None,
    sizes: dict[str, int],
) -> Report:
    from tang.verify.foreign import load_launch, verify_kernel

    launch = load_launch(request.launch, graph)
    language = request.language or launch.language or KERNELS.get(Path(kernel).suffix, "")
    if not language:
        known = ", ".join(sorted(set(KERNELS.values())))
        raise UsageError(f"{kernel}: say its language: --language {known.split(', ')[0]} ({known})")
    return verify_kernel(
        _text(kernel),
        language,
        spec=graph,
        launch=launch,
        budget=budget,
        sizes=sizes or None,
        seed=request.seed,
        backend=request.on or None,
        name=kernel,
    )


def _text(kernel: str) -> str:
    try:
        return Path(kernel).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as e:
        raise UsageError(f"cannot read {kernel}: {e}") from e
