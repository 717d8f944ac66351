"""Proofs in Lean of what the compiler relies on, and the bridge from programs to them.

Offers `prove` (the gate), `theorems`, `check_combine`, `check_certificate` and `loop_program`.
Relies on Lean 4.35 in the wheel of the extra `proofs`, or else on PATH. It says nothing about
floats: theorems are about rings, fields and orders.
"""

from __future__ import annotations

from tang.errors import ProofError
from tang.proofs.certificate import LinearProgram, check_certificate
from tang.proofs.combine import Proof, check_combine
from tang.proofs.gate import Report, Theorem, prove
from tang.proofs.loops import loop_program

__all__ = [
    "LinearProgram",
    "Proof",
    "Report",
    "Theorem",
    "check_certificate",
    "check_combine",
    "loop_program",
    "prove",
    "theorems",
]


def theorems() -> list[Theorem]:
    """Every theorem with its statement and axioms, as checked; ProofError if the gate fails."""
    report = prove()
    if not report.ok:
        raise ProofError(f"the proofs do not pass: {report.problems[0]}")
    return list(report.theorems)
