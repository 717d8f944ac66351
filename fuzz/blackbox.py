"""Foreign backends against the definition of the IR.

Defines `BlackBox`, which runs a backend twice on every case and compares the answers with each
other and with the enclosure of all honest f32 results. Relies on `freedom` for the criterion and on
`backend` for the process. It sees outputs alone: it cannot say which kernel is wrong, and what
rounding could decide it leaves undecided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tang.fuzz.backend import Died, Host, Hung, Unsupported
from tang.fuzz.case import Case
from tang.interpreter import interpret
from tang.ir.bind import bind
from tang.ir.expr import Sort
from tang.ir.graph import Graph
from tang.verify.compare import bit_equal, describe
from tang.verify.freedom import Allowed, allowed, distances, show
from tang.verify.report import Finding, Report, RungResult
from tang.verify.verdict import Rung, Verdict

Array = NDArray[Any]
_KINDS: Final = {Sort.REAL: "f", Sort.INDEX: "iu", Sort.BOOL: "b"}


class BlackBox:
    """A check that runs one foreign backend."""

    def __init__(self, factory: str, seconds: float = 20.0) -> None:
        self._name, self._host = factory, Host(factory, seconds)

    def check(self, cases: Sequence[Case]) -> list[Report]:
        """One report per case."""
        return [self._check(case) for case in cases]

    def close(self) -> None:
        """End the backend's process."""
        self._host.close()

    def _check(self, case: Case) -> Report:
        graph = bind(case.graph, case.sizes)
        first = self._host.run(graph, case.inputs)
        if not isinstance(first, dict):
            return self._no_answer(case, first)
        second = self._host.run(graph, case.inputs)
        if isinstance(second, Died | Hung):
            return self._no_answer(case, second)
        problem = _difference(first, second)
        if problem:
            text = "the second answer to one question differs from the first"
            return self._fault(case, Verdict.NONDETERMINISTIC, text, problem, "second answer")
        return self._compare(case, graph, first)

    def _no_answer(self, case: Case, answer: Unsupported | Died | Hung) -> Report:
        if isinstance(answer, Unsupported):
            result = RungResult(Rung.BACKEND, self._name, unsupported=answer.reason)
            return Report(case.name, (result,))
        if isinstance(answer, Died):
            text = f"the backend {answer.reason.partition(chr(10))[0]}"
            return self._fault(case, Verdict.CRASH, text, answer.reason)
        text = f"{answer.what} within {answer.seconds:g} s"
        return self._fault(case, Verdict.TIMEOUT, text, "")

    def _fault(
        self, case: Case, verdict: Verdict, message: str, detail: str, origin: str = ""
    ) -> Report:
        origin = origin or detail.strip().rpartition("\n")[2][:200]
        finding = Finding(
            Rung.BACKEND, verdict, message, backend=self._name, detail=detail, origin=origin
        )
        return Report(case.name, (), (finding,))

    def _compare(self, case: Case, graph: Graph, answer: Mapping[str, Array]) -> Report:
        bounds = allowed(graph, case.inputs)
        reference = interpret(graph, case.inputs)
        findings, elements, exact, skipped = [], 0, 0, 0
        for name, expected in reference.items():
            problem = _wrong_type(answer.get(name), expected, graph, name)
            if problem:
                findings.append(self._wrong(graph, name, problem, ""))
                continue
            fits, known = distances(answer[name], bounds[name])
            elements += fits.size
            exact += int(np.sum(_same(answer[name], expected)))
            skipped += int(np.sum(~known))
            if not fits.all():
                detail = _both_sides(answer[name], expected, bounds[name], fits)
                text = f"output {name}: {int(np.sum(~fits))} of {fits.size} elements are wrong"
                findings.append(self._wrong(graph, name, text, detail))
        result = RungResult(Rung.BACKEND, self._name, elements, exact, skipped=skipped)
        return Report(case.name, (result,), tuple(findings[:1]))

    def _wrong(self, graph: Graph, output: str, message: str, detail: str) -> Finding:
        ref = next(o.ref for o in graph.outputs if o.name == output)
        return Finding(
            Rung.BACKEND,
            Verdict.WRONG,
            message,
            node=ref.node,
            backend=self._name,
            detail=detail,
            origin="values" if detail else "type",
        )


def _difference(first: Mapping[str, Array], second: object) -> str:
    """How a second answer differs from the first; "" when every bit is the same, NaNs apart."""
    if not isinstance(second, dict):
        return "the backend declined what it had answered"
    if first.keys() != second.keys():
        return f"outputs {', '.join(sorted(first))}, then {', '.join(sorted(second))}"
    for name, array in first.items():
        if array.dtype.kind not in "fiub" or array.dtype.itemsize > 8:
            continue  # no answer that could be right: see _wrong_type
        equal = bit_equal(array, second[name])
        if not equal.all():
            detail = describe(array, second[name], equal, ("first answer", "second answer"))
            return f"output {name}: {detail}"
    return ""


def _wrong_type(answer: Array | None, expected: Array, graph: Graph, name: str) -> str:
    """What is wrong with an answer's presence, shape or dtype; "" when nothing is."""
    if answer is None:
        return f"output {name} is missing"
    if answer.shape != expected.shape:
        return f"output {name} has shape {answer.shape}, not {expected.shape}"
    sort = graph.sort(next(o.ref for o in graph.outputs if o.name == name))
    if answer.dtype.kind not in _KINDS[sort]:
        return f"output {name} has dtype {answer.dtype}, but its sort is {sort.value}"
    return ""


def _same(a: Array, b: Array) -> Array:
    with np.errstate(all="ignore"):
        equal = np.asarray(a == b)
    if a.dtype.kind == "f":
        equal = equal | (np.isnan(a) & np.isnan(b))
    return equal


def _both_sides(answer: Array, expected: Array, bounds: Allowed, fits: Array) -> str:
    """The first values of both sides up to the first that is wrong, with distance and bound."""
    flat = [np.ravel(x) for x in (answer, expected, bounds.numbers, fits)]
    first = int(np.argmin(flat[3]))
    lines = [f"criterion: {bounds.rule()}"]
    for at in range(max(0, first - 4), first + 1):
        place = tuple(int(i) for i in np.unravel_index(at, answer.shape))
        mark = "  <- first wrong value" if at == first else ""
        got, right, may = flat[0][at], flat[1][at], show(flat[2][at])
        lines.append(f"{place!s:<10} got {got!s:<24} f64 {right!s:<24} allowed {may}{mark}")
    if answer.dtype.kind == "f":
        distance = abs(float(flat[0][first]) - float(flat[1][first]))
        lines.append(f"distance to f64: {distance:.3g}")
    return "\n".join(lines)
