"""Checks: what a campaign asks about its cases.

Defines the `Check` protocol and its kinds by name: the ladder over tang's own backends, and
foreign backends as black boxes. Relies on `verify` and `blackbox`. It draws nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from tang.fuzz.blackbox import BlackBox
from tang.fuzz.case import Case
from tang.fuzz.ladder import Ladder
from tang.verify.report import Report


class Check(Protocol):
    """One report per case, in order."""

    def check(self, cases: Sequence[Case]) -> list[Report]: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Every:
    """Several checks, their reports joined case by case."""

    checks: tuple[Check, ...]

    def check(self, cases: Sequence[Case]) -> list[Report]:
        """The joined reports."""
        columns = [check.check(cases) for check in self.checks]
        return [_joined(row) for row in zip(*columns, strict=True)]

    def close(self) -> None:
        """End all processes."""
        for check in self.checks:
            check.close()


def make_check(backends: Sequence[str], seconds: float = 20.0) -> Every:
    """The check for backend names: "c" is tang's own, "module:factory" a black box.

    Without any backend the ladder still runs up to replay.
    """
    own = tuple(b for b in backends if not is_foreign(b))
    foreign = tuple(b for b in backends if is_foreign(b))
    checks: list[Check] = [BlackBox(factory, seconds) for factory in foreign]
    if own or not foreign:
        checks.insert(0, Ladder(own))
    return Every(tuple(checks))


def is_foreign(backend: str) -> bool:
    """Whether the name is that of a factory."""
    return ":" in backend


def _joined(reports: Sequence[Report]) -> Report:
    results = tuple(r for report in reports for r in report.results)
    findings = tuple(f for report in reports for f in report.findings)
    return replace(reports[0], results=results, findings=findings)
