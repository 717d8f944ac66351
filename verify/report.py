"""Reports: what was checked, what was found, in a fixed order and stable words.

Defines `Finding`, `RungResult` and `Report` with their text and plain-data forms. Relies on the
verdicts. It decides nothing: checks fill it, callers print it or turn it into an exit code.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from tang.ir.graph import Graph
from tang.verify.verdict import SUSPECT, Rung, Verdict


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault.

    rung, verdict  what was tested and found
    kernel, node   the launch at fault and the graph node it computes ("" when none is)
    backend        the device, "" for rungs that need none
    message        one line for the reader
    detail         both sides up to the first differing value, distances, bounds
    origin         what the fault is bucketed by besides rung, verdict and backend
    """

    rung: Rung
    verdict: Verdict
    message: str
    kernel: str = ""
    node: str = ""
    backend: str = ""
    detail: str = ""
    origin: str = ""

    @property
    def bucket(self) -> tuple[str, str, str, str]:
        """Findings of one bucket have one cause: rung, verdict, backend, origin."""
        return self.rung.value, self.verdict.value, self.backend, self.origin

    def to_text(self) -> str:
        """The finding in reader's order: message, place, then the two sides."""
        where = f" on {self.backend}" if self.backend else ""
        node = f" (node {self.node})" if self.node else ""
        kernel = f", kernel {self.kernel}{node}" if self.kernel else ""
        head = f"{self.verdict.value} at rung {self.rung.value}{where}{kernel}"
        lines = [f"{head}: {self.message}", f"  suspect: {SUSPECT[self.rung]}"]
        lines += [f"  {line}" for line in self.detail.splitlines()]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class RungResult:
    """How a rung ended on one backend.

    elements     values compared, of which `exact` were equal to the last bit
    undecided    values on which balls of 1024 bits still overlap without being small
    skipped      values that met a non-finite (outside strict) or an admissible decision flip
    unsupported  why the backend could not run the program; "" when it could
    note         what else the rung has to say, such as error, prediction and bound
    rules        the rewrite rules that had something to do
    """

    rung: Rung
    backend: str = ""
    elements: int = 0
    exact: int = 0
    undecided: int = 0
    skipped: int = 0
    unsupported: str = ""
    note: str = ""
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that one verification did.

    derived  what the derivation made of the program; None without one, or when a step failed
    """

    name: str = "graph"
    results: tuple[RungResult, ...] = ()
    findings: tuple[Finding, ...] = ()
    allowed: tuple[Verdict, ...] = field(default=())
    derived: Graph | None = field(default=None, compare=False, repr=False)

    @property
    def ok(self) -> bool:
        """No finding but allowed ones; nothing unsupported or undecided but by allowance."""
        return all(v in self.allowed for v in self.verdicts())

    def verdicts(self) -> tuple[Verdict, ...]:
        """Every verdict but PASS that this report holds, in order."""
        found = [f.verdict for f in self.findings]
        found += [Verdict.UNSUPPORTED for r in self.results if r.unsupported]
        found += [Verdict.UNDECIDED for r in self.results if r.undecided]
        return tuple(dict.fromkeys(found))

    def rules(self) -> frozenset[str]:
        """The rewrite rules that had something to do."""
        return frozenset(name for r in self.results for name in r.rules)

    def allow(self, verdicts: Collection[Verdict]) -> Report:
        """The same report with some verdicts accepted."""
        return replace(self, allowed=(*self.allowed, *verdicts))

    def to_text(self) -> str:
        """The whole report as plain text."""
        empty = self.ok and not any(r.elements for r in self.results)
        words = " (nothing to compare: 0 elements)" if empty and self.results else ""
        lines = [f"{self.name}: {'PASS' if self.ok else 'FAIL'}{words}"]
        lines += [_result_line(r) for r in self.results]
        lines += [f.to_text() for f in self.findings]
        return "\n".join(lines)

    def to_data(self) -> dict[str, object]:
        """The report as plain data, for JSON."""
        return {
            "name": self.name,
            "ok": self.ok,
            "results": [_result_data(r) for r in self.results],
            "findings": [_finding_data(f) for f in self.findings],
        }


_BITWISE = (Rung.EMIT, Rung.ROUND)


def _result_line(r: RungResult) -> str:
    label = f"{r.rung.value} {r.backend}".strip()
    if r.unsupported:
        return f"  {label:<14} UNSUPPORTED: {r.unsupported}"
    parts = [f"{r.elements} elements"]
    parts += [f"{r.exact} bit-equal"] if r.rung in _BITWISE else []
    parts += [f"{r.skipped} skipped"] if r.skipped else []
    parts += [f"{r.undecided} UNDECIDED"] if r.undecided else []
    parts += [r.note] if r.note else []
    return f"  {label:<14} " + ", ".join(parts)


def _result_data(r: RungResult) -> dict[str, object]:
    return {
        "rung": r.rung.value,
        "backend": r.backend,
        "elements": r.elements,
        "exact": r.exact,
        "undecided": r.undecided,
        "skipped": r.skipped,
        "unsupported": r.unsupported,
        "note": r.note,
        "rules": list(r.rules),
    }


def _finding_data(f: Finding) -> dict[str, object]:
    return {
        "rung": f.rung.value,
        "verdict": f.verdict.value,
        "kernel": f.kernel,
        "node": f.node,
        "backend": f.backend,
        "message": f.message,
        "detail": f.detail,
        "origin": f.origin,
    }
