"""Foreign kernels: hand-written text against a tang graph.

Defines `verify_kernel`. Relies on targets for running the text and on `judge` for everything that
is said about it. It changes no text, and what a target cannot run is UNSUPPORTED, never a pass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy.typing as npt

from tang.emulator.budget import ErrorBudget
from tang.errors import DeviceError, LimitError
from tang.ir.graph import Graph
from tang.ir.validate import validate
from tang.verify.foreign.cases import Case, cases_of
from tang.verify.foreign.criterion import Fault
from tang.verify.foreign.judge import Judged, judge
from tang.verify.foreign.launch import LaunchError, LaunchSpec, load_launch
from tang.verify.foreign.names import check_named
from tang.verify.foreign.targets import Target, open_target
from tang.verify.report import Finding, Report, RungResult
from tang.verify.verdict import Rung, Verdict

Array = npt.NDArray[Any]
Sizes = Mapping[str, int]


def verify_kernel(
    text: str,
    language: str = "",
    *,
    spec: Graph,
    launch: LaunchSpec | Mapping[str, Any] | str | Path,
    budget: ErrorBudget | None = None,
    inputs: Mapping[str, Any] | None = None,
    sizes: Sequence[Sizes] | Sizes | None = None,
    seed: int = 0,
    backend: str | None = None,
    specials: bool = False,
    deadline: float = 20.0,
    name: str = "kernel",
) -> Report:
    """Run a kernel's text as it stands and compare it with its specification.

    language  "c", "opencl", "cuda" or "msl"; "" takes the launch description's
    launch    a file, plain data, or what `load_launch` made of them
    budget    None accepts whatever an honest evaluation in the format of computation may give
    inputs    arrays by name; None draws them from the seed, for several sizes
    sizes     one binding of the symbolic extents or several; None: the description's, or a choice
    backend   None takes a GPU if there is one, else the CPU; "simt" runs CUDA on the CPU
    specials  also run on inputs with NaN and infinities
    Raises GraphError and LaunchError for a specification or a description that is wrong; the
    latter also for a kernel that the text does not have.
    """
    validate(spec)
    how = launch if isinstance(launch, LaunchSpec) else load_launch(launch, spec)
    chosen = language or how.language
    if not chosen:
        raise LaunchError('language: give one, here or in the description: "language": "cuda"')
    cases = cases_of(spec, how, inputs, sizes, seed, specials)
    try:
        target = open_target(chosen, backend, text, how.kernel)
    except (DeviceError, LimitError) as e:
        return Report(name, (RungResult(Rung.FOREIGN, backend or chosen, unsupported=str(e)),))
    try:
        check_named(text, chosen, how.kernel)
        return _verified(target, how.kernel, cases, budget, deadline, name)
    except (DeviceError, LimitError) as e:
        return Report(name, (RungResult(Rung.FOREIGN, target.name, unsupported=str(e)),))
    finally:
        target.close()


def _verified(
    target: Target,
    symbol: str,
    cases: Sequence[Case],
    budget: ErrorBudget | None,
    deadline: float,
    name: str,
) -> Report:
    target.build(cases[0].launch)
    judged = list[Judged]()
    for case in cases:
        found = judge(case, target.run(case, deadline), budget)
        hung = any(f.verdict is Verdict.TIMEOUT for f in found.faults)
        seen = [] if hung else target.check(case, deadline)
        judged.append(found)
        if seen or found.faults:
            faults = _without_echoes(seen, found.faults)
            findings = tuple(finding(f, case, symbol, target.name) for f in faults)
            return Report(name, (result_of(judged, target.name, target.note),), findings)
    return Report(name, (result_of(judged, target.name, target.note),))


def _without_echoes(seen: Sequence[Fault], found: Sequence[Fault]) -> list[Fault]:
    """Faults of the instrumented run first, which name lines; a crash of the same kind once."""
    kinds = {f.verdict for f in seen}
    return [*seen, *(f for f in found if f.verdict not in kinds or f.cause)]


def finding(fault: Fault, case: Case, symbol: str, backend: str) -> Finding:
    """A fault as a finding of a report."""
    outputs = {o.name: o.ref.node for o in case.graph.outputs}
    sizes = f"with {case.text()}" if case.sizes else ""
    detail = fault.detail if sizes in fault.detail else f"{sizes}\n{fault.detail}".strip()
    return Finding(
        Rung.FOREIGN,
        fault.verdict,
        fault.message,
        symbol,
        outputs.get(fault.where, ""),
        backend,
        detail,
        origin=fault.cause or fault.where,
    )


def result_of(judged: Sequence[Judged], backend: str, more: str = "") -> RungResult:
    """The counts of all cases, and what else there is to say."""
    cases = f"{len(judged)} case{'s' if len(judged) != 1 else ''}"
    return RungResult(
        Rung.FOREIGN,
        backend,
        sum(j.elements for j in judged),
        sum(j.exact for j in judged),
        undecided=sum(j.undecided for j in judged),
        note=f"{cases}, {more}" if more else cases,
    )
