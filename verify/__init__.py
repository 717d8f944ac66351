"""The verifier: the ladder of tight equalities, verdicts and reports.

Gathers the names that users rely on. Relies on everything below it. It changes no program.
"""

from tang.verify.backends import available
from tang.verify.foreign import verify_callable, verify_kernel
from tang.verify.ladder import verify, verify_batch
from tang.verify.report import Finding, Report, RungResult
from tang.verify.subject import Task
from tang.verify.verdict import Rung, Verdict

__all__ = [
    "Finding",
    "Report",
    "Rung",
    "RungResult",
    "Task",
    "Verdict",
    "available",
    "verify",
    "verify_batch",
    "verify_callable",
    "verify_kernel",
]
