"""What replay's sanitizer saw, as findings of a rung.

Defines the table from sanitizer kinds to verdicts, and `sanitizer_findings`. Relies on replay's
records. It judges no values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tang.emulator.records import Finding as Seen
from tang.emulator.records import Kind
from tang.kernel.plan import Plan
from tang.verify.report import Finding
from tang.verify.verdict import Rung, Verdict

VERDICT: Final = {
    Kind.OUT_OF_BOUNDS: Verdict.OUT_OF_BOUNDS,
    Kind.UNINITIALISED: Verdict.NONDETERMINISTIC,
    Kind.RACE: Verdict.RACE,
    Kind.DIVERGENT_BARRIER: Verdict.RACE,
    Kind.OVERFLOW: Verdict.WRONG,
    Kind.CONVERSION: Verdict.WRONG,
    Kind.DIVISION: Verdict.WRONG,
    Kind.UNWRITTEN: Verdict.UNWRITTEN,
}
"""Every kind has a verdict; a test asserts that the table is complete."""


def sanitizer_findings(seen: tuple[Seen, ...], plan: Plan, rung: Rung) -> list[Finding]:
    """One finding per record, naming kernel and node."""
    nodes = {step.kernel.name: step.kernel.origin for step in plan.launches}
    return [_finding(s, nodes, rung) for s in seen]


def _finding(s: Seen, nodes: Mapping[str, str], rung: Rung) -> Finding:
    return Finding(
        rung,
        VERDICT[s.kind],
        str(s),
        kernel=s.kernel,
        node=nodes.get(s.kernel, ""),
        origin=f"sanitizer {s.kind.value}",
    )
